import type { Change } from './change';

/**
 * One row of a device's log, as an engine keeps it. What it says, and of which session, is sealed; `index` is contiguous from 0, and no
 * device writes another's log.
 */
export interface SealedRecord {
  readonly device: string;
  readonly index: number;
  /** UUID of the record. */
  readonly id: string;
  readonly version: number;
  /**
   * A digest (32 bits) of this row and the mark of the row before it: two logs whose marks agree at an index agree up to there.
   */
  readonly mark: number;
  readonly sealed: Uint8Array;
}

/** A session's key as an engine keeps it: wrapped by the key of the history. */
export interface WrappedKey {
  /** Random, so that it says nothing about the session. */
  readonly id: string;
  readonly wrapped: Uint8Array;
}

/** A key where it may be known whose it is: in a store. */
export interface SessionKey extends WrappedKey {
  readonly session: string;
}

/** What a row turned out to be when it was opened. */
export type Opened =
  | { readonly kind: 'change'; readonly change: Change; readonly keyId: string }
  /** The key of its session is not there: it has been purged, or somebody withholds the key. */
  | { readonly kind: 'no_key'; readonly session: string; readonly keyId: string }
  /** A newer program has written it. */
  | { readonly kind: 'newer' }
  /** It is not what its device has written at this place. */
  | { readonly kind: 'damaged'; readonly detail: string };

/** Seals and opens; the keys never leave it but wrapped. */
export interface Sealer {
  /** The mark of a row whose predecessor has the mark `before` (0 for the first). */
  mark(before: number, row: Omit<SealedRecord, 'mark'>): number;
  /**
   * Seals under the session's key; one that is made for it comes back too, wrapped, and is to be kept with the row. A note, which belongs
   * to no session, and a purge, which outlives the session's key, are sealed under the history's.
   */
  seal(place: Omit<SealedRecord, 'mark' | 'sealed'>, change: Change): { readonly sealed: Uint8Array; readonly newKey: SessionKey | null };
  open(row: SealedRecord): Opened;
  /** Takes in wrapped keys; those of another history, or which were tampered with, are named. */
  addKeys(keys: readonly WrappedKey[]): { readonly accepted: readonly SessionKey[]; readonly refused: readonly string[] };
}
