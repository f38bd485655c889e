import type { AttachmentPlace } from './attachmentPlace';
import type { Change } from './change';
import type { SealedRecord, SessionKey } from './sealedRecord';
import type { LogRange } from './syncEngine';

/** A log as far as this replica holds it, without holes. */
export interface HeldLog {
  readonly device: string;
  /** One more than the index of its last row. */
  readonly next: number;
  /** Mark of its last row. */
  readonly mark: number;
}

export interface Held {
  /** This replica's own. */
  readonly device: string;
  readonly logs: readonly HeldLog[];
  /** The engine may not have these. */
  readonly keysToPush: readonly SessionKey[];
  /** Ids of keys of purged sessions, and of them those that the engine may still have. */
  readonly droppedKeys: readonly string[];
  readonly keysToDrop: readonly string[];
  /** Something waits for a session to be free that was being worked in. */
  readonly waitsForTurn: boolean;
  /** In order: rows whose key was not there, of sessions that are not purged, and (with no key) what a newer program has written. */
  readonly unread: readonly { readonly device: string; readonly index: number; readonly keyId: string }[];
}

/** Keys by their ids or by their sessions: an exchange needs few of them, however many sessions there are. */
export type WantedKeys = { readonly ids: readonly string[] } | { readonly sessions: readonly string[] } | 'all';

/** A row that has passed every check, and what it says. */
export interface ReceivedRow {
  readonly row: SealedRecord;
  /** Null: it cannot be read yet, and is carried on. */
  readonly change: Change | null;
  /** It is merged ahead of its place in the log, where it comes once more (pullNewest.ts). */
  readonly early?: true;
  /** The session and the key that is missing; both are empty for what a newer program has written. */
  readonly unread?: { readonly session: string; readonly keyId: string };
}

/** What `write` is to be given back for what `pending` has told. */
export interface PendingReceipt {
  /** The last of what was told, in the order of the store's own. */
  readonly through: number;
  readonly stamps: readonly { readonly session: string; readonly name: string; readonly tick: number }[];
  /** What the entries name. */
  readonly attachments: readonly AttachmentPlace[];
}

export interface PendingChanges {
  readonly changes: readonly Change[];
  /** Null: there is nothing. */
  readonly receipt: PendingReceipt | null;
  readonly isLast: boolean;
}

/**
 * One store as synchronising sees it. Each call is one transaction: when it rejects (`StoreError`) nothing of it was done, and when it
 * resolves all of it is durable.
 */
export interface SyncReplica {
  held(): Promise<Held>;
  /** Wrapped keys that are here and not let go. */
  keys(wanted: WantedKeys): Promise<readonly SessionKey[]>;
  /** Rows from the start of the range on, as many as are at hand at once. */
  rows(range: LogRange): Promise<readonly SealedRecord[]>;
  /** What has changed here and stands in no log yet, oldest first. */
  pending(most: number): Promise<PendingChanges>;
  /** Puts rows at the end of the own log, and takes what they tell off the list of what is pending. */
  write(rows: readonly SealedRecord[], keys: readonly SessionKey[], receipt: PendingReceipt | null): Promise<void>;
  /** Puts rows at the end of another device's log and merges them. A row that is held already is merged again, which changes nothing. */
  receive(rows: readonly ReceivedRow[], keys: readonly SessionKey[]): Promise<void>;
  settleKeys(pushed: readonly string[], dropped: readonly string[]): Promise<void>;
  /** Goes on as another device, whose log begins with `rows`; the own log up to now ends before `from`, and is another's. */
  renew(device: string, from: number, rows: readonly SealedRecord[], keys: readonly SessionKey[]): Promise<void>;
}
