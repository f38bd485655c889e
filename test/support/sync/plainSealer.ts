import type { Change } from '../../../src/core/sync/change';
import type { Opened, SealedRecord, Sealer, SessionKey, WrappedKey } from '../../../src/core/sync/sealedRecord';

/** Seals nothing, as fast as can be: for what is said of order and loss, not of secrecy. Knows the keys that it was given or has made. */
export class PlainSealer implements Sealer {
  /** Sessions by the ids of their keys. */
  private readonly keys = new Map<string, string>();

  constructor(
    private readonly device: string,
    keys: readonly WrappedKey[],
  ) {
    this.addKeys(keys);
  }

  mark(before: number, { device, index, id, sealed }: Omit<SealedRecord, 'mark'>): number {
    let hash = before ^ index;
    for (const char of device + id) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619);
    return (hash ^ sealed.length) >>> 0;
  }

  seal({ id }: { readonly id: string }, change: Change): { readonly sealed: Uint8Array; readonly newKey: SessionKey | null } {
    const { session } = change;
    if (change.kind === 'purge') return { sealed: Buffer.from(JSON.stringify({ keyId: null, change })), newKey: null };
    const known = [...this.keys].find(([, one]) => one === session)?.[0];
    const keyId = known ?? `${this.device}/${id}`;
    const newKey = known === undefined ? { id: keyId, wrapped: Buffer.from(session), session } : null;
    this.keys.set(keyId, session);
    return { sealed: Buffer.from(JSON.stringify({ keyId, change })), newKey };
  }

  open({ sealed }: SealedRecord): Opened {
    const { keyId, change } = JSON.parse(Buffer.from(sealed).toString()) as { readonly keyId: string | null; readonly change: Change };
    if (keyId !== null && !this.keys.has(keyId)) return { kind: 'no_key', session: change.session, keyId };
    return { kind: 'change', change, keyId: keyId ?? '' };
  }

  addKeys(keys: readonly WrappedKey[]): { readonly accepted: readonly SessionKey[]; readonly refused: readonly string[] } {
    const accepted = keys.map((key) => ({ ...key, session: Buffer.from(key.wrapped).toString() }));
    for (const { id, session } of accepted) this.keys.set(id, session);
    return { accepted, refused: [] };
  }
}
