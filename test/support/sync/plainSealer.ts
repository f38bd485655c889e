import type { Change } from '../../../src/core/sync/change';
import type { Opened, SealedRecord, Sealer, SessionKey, WrappedKey } from '../../../src/core/sync/sealedRecord';

/** The keys that a replica has kept: looked at, not copied, so that a sealer costs nothing to make. */
export interface KeptKeys {
  sessionOfKey(id: string): string | undefined;
  keyOfSession(session: string): string | undefined;
}

/** Seals nothing, as fast as can be: for what is said of order and loss, not of secrecy. Knows keys that are kept or that it has made. */
export class PlainSealer implements Sealer {
  private readonly sessions = new Map<string, string>();
  private readonly ids = new Map<string, string>();

  constructor(
    private readonly device: string,
    private readonly kept: KeptKeys,
  ) {}

  mark(before: number, { device, index, id, sealed }: Omit<SealedRecord, 'mark'>): number {
    let hash = before ^ index;
    for (const char of device + id) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619);
    return (hash ^ sealed.length) >>> 0;
  }

  seal({ id }: { readonly id: string }, change: Change): { readonly sealed: Uint8Array; readonly newKey: SessionKey | null } {
    const { session } = change;
    if (session === '' || change.kind === 'purge') return { sealed: sealedOf({ keyId: null, change }), newKey: null };
    const known = this.ids.get(session) ?? this.kept.keyOfSession(session);
    const keyId = known ?? `${this.device}/${id}`;
    const newKey = known === undefined ? { id: keyId, wrapped: Buffer.from(session), session } : null;
    if (newKey) this.add(keyId, session);
    return { sealed: sealedOf({ keyId, change }), newKey };
  }

  open({ sealed }: SealedRecord): Opened {
    const { keyId, change } = JSON.parse(Buffer.from(sealed).toString()) as { readonly keyId: string | null; readonly change: Change };
    const isKnown = keyId === null || this.sessions.has(keyId) || this.kept.sessionOfKey(keyId) !== undefined;
    return isKnown ? { kind: 'change', change, keyId: keyId ?? '' } : { kind: 'no_key', session: change.session, keyId };
  }

  addKeys(keys: readonly WrappedKey[]): { readonly accepted: readonly SessionKey[]; readonly refused: readonly string[] } {
    const accepted = keys.map((key) => ({ ...key, session: Buffer.from(key.wrapped).toString() }));
    for (const { id, session } of accepted) this.add(id, session);
    return { accepted, refused: [] };
  }

  private add(id: string, session: string): void {
    this.sessions.set(id, session);
    if (!this.ids.has(session)) this.ids.set(session, id);
  }
}

function sealedOf(content: { readonly keyId: string | null; readonly change: Change }): Uint8Array {
  return Buffer.from(JSON.stringify(content));
}
