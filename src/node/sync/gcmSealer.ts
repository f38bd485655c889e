import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { errorText } from '../../core/errors';
import { english } from '../../core/l10n';
import { Change, changeVersion } from '../../core/sync/change';
import type { Opened, SealedRecord, Sealer, SessionKey, WrappedKey } from '../../core/sync/sealedRecord';
import type { HistoryKeys } from './historyKeys';

const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
/** Nothing that is opened is larger; a text that says more would be one that was never sealed here. */
const mostBytes = 512 * 1024 * 1024;

/** Their places are what the header says, so they never change. A number that is not here comes from a newer program. */
const kinds = ['session', 'entries', 'registers', 'attachment', 'purge', 'note'] as const satisfies readonly Change['kind'][];

type Place = Omit<SealedRecord, 'mark' | 'sealed'>;

interface Header {
  readonly kind: number;
  /** Empty: it is sealed under the history's own key. */
  readonly keyId: string;
  readonly session: string;
}

/**
 * AES-256-GCM with random nonces. A record is a header under the history's key and a body under the session's. Both are bound to history,
 * device, index, id and version, the body to what its header says too: in any other place neither opens. The layout of the header is the
 * same in all versions, so that a record of a newer one is told from one that was tampered with.
 */
export class GcmSealer implements Sealer {
  private readonly keys = new Map<string, { readonly session: string; readonly key: Buffer }>();
  private readonly keyOf = new Map<string, string>();

  constructor(
    private readonly history: HistoryKeys,
    keys: readonly WrappedKey[] = [],
  ) {
    this.addKeys(keys);
  }

  mark(before: number, { device, index, id, version, sealed }: Omit<SealedRecord, 'mark'>): number {
    const place = JSON.stringify([before, device, index, id, version]);
    return createHash('sha256').update(place).update(sealed).digest().readUInt32BE(0);
  }

  seal(place: Place, change: Change): { readonly sealed: Uint8Array; readonly newKey: SessionKey | null } {
    const { session } = change;
    const isOwn = session === '' || change.kind === 'purge';
    const known = this.keyOf.get(session);
    const newKey = isOwn || known !== undefined ? null : this.makeKey(session);
    const keyId = isOwn ? '' : (newKey?.id ?? known!);
    const header = { kind: kinds.indexOf(change.kind), keyId, session };
    const heading = encrypt(this.history.heading, this.boundTo(place), encodeHeader(header));
    const body = encrypt(this.bodyKey(keyId)!, this.boundTo(place, header), deflateRawSync(JSON.stringify(change)));
    const length = Buffer.alloc(2);
    length.writeUInt16BE(heading.length);
    return { sealed: Buffer.concat([length, heading, body]), newKey };
  }

  open(row: SealedRecord): Opened {
    try {
      const sealed = Buffer.from(row.sealed.buffer, row.sealed.byteOffset, row.sealed.byteLength);
      const end = 2 + sealed.readUInt16BE(0);
      const header = decodeHeader(decrypt(this.history.heading, this.boundTo(row), sealed.subarray(2, end)));
      if (row.version > changeVersion || header.kind >= kinds.length) return { kind: 'newer' };
      const key = this.bodyKey(header.keyId);
      if (!key) return { kind: 'no_key', session: header.session, keyId: header.keyId };
      const body = inflateRawSync(decrypt(key, this.boundTo(row, header), sealed.subarray(end)), { maxOutputLength: mostBytes });
      const parsed = Change.safeParse(JSON.parse(body.toString('utf8')));
      // Nobody without the key can have sealed it: what is not understood comes from a program that knows more.
      if (!parsed.success) return { kind: 'newer' };
      const change = parsed.data;
      if (change.kind !== kinds[header.kind] || change.session !== header.session)
        return { kind: 'damaged', detail: english('it is not of the kind or session that it says') };
      return { kind: 'change', change, keyId: header.keyId };
    } catch (error) {
      return { kind: 'damaged', detail: english('it was changed, or belongs to another place or history ({0})', errorText(error)) };
    }
  }

  addKeys(keys: readonly WrappedKey[]): { readonly accepted: readonly SessionKey[]; readonly refused: readonly string[] } {
    const accepted: SessionKey[] = [];
    const refused: string[] = [];
    for (const { id, wrapped } of keys) {
      try {
        const plain = decrypt(this.history.wrapping, this.keyBoundTo(id), Buffer.from(wrapped));
        const session = plain.subarray(keyBytes).toString('utf8');
        this.keys.set(id, { session, key: plain.subarray(0, keyBytes) });
        if (!this.keyOf.has(session)) this.keyOf.set(session, id);
        accepted.push({ id, wrapped, session });
      } catch {
        refused.push(id);
      }
    }
    return { accepted, refused };
  }

  private makeKey(session: string): SessionKey {
    const id = randomUUID();
    const key = randomBytes(keyBytes);
    this.keys.set(id, { session, key });
    this.keyOf.set(session, id);
    return { id, session, wrapped: encrypt(this.history.wrapping, this.keyBoundTo(id), Buffer.concat([key, Buffer.from(session)])) };
  }

  private bodyKey(keyId: string): Buffer | undefined {
    return keyId === '' ? this.history.heading : this.keys.get(keyId)?.key;
  }

  private boundTo({ device, index, id, version }: Place, header?: Header): Buffer {
    const bound = ['record', this.history.history, device, index, id, version];
    return Buffer.from(JSON.stringify(header ? [...bound, header.kind, header.keyId, header.session] : bound));
  }

  private keyBoundTo(id: string): Buffer {
    return Buffer.from(JSON.stringify(['key', this.history.history, id]));
  }
}

/** One byte of kind, 16 of the key's id (zeros: none), the rest the session. */
function encodeHeader({ kind, keyId, session }: Header): Buffer {
  const id = keyId === '' ? Buffer.alloc(16) : Buffer.from(keyId.replaceAll('-', ''), 'hex');
  return Buffer.concat([Buffer.from([kind]), id, Buffer.from(session)]);
}

function decodeHeader(bytes: Buffer): Header {
  const hex = bytes.subarray(1, 17).toString('hex');
  const keyId = /^0+$/.test(hex) ? '' : hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return { kind: bytes.readUInt8(0), keyId, session: bytes.subarray(17).toString('utf8') };
}

export function encrypt(key: Buffer, bound: Buffer, plain: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

export function decrypt(key: Buffer, bound: Buffer, sealed: Buffer): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new RangeError(`${sealed.length} bytes`);
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes }).setAAD(bound);
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
}
