import type { StoredEntry } from '../../../core/session/entry';
import type { AttachmentPlace, AttachmentState, CameAs } from '../../../core/sync/attachmentPlace';
import type { Operations } from '../client/storeCalls';
import type { Connection } from '../database/connection';
import { sha256, type BlobFiles } from '../rows/blobFiles';
import type { EntryRows } from '../rows/entryRows';

/** Bytes that one record has, and one message to another window. */
const pieceBytes = 1024 * 1024;

/** What is done first comes first; of the same kind, the newest. */
const order: readonly AttachmentState[] = ['asked', 'unsent', 'gone', 'wanted'];

/** The `sync_attachments` table: what is to be done about the bytes of each attachment of each session. */
export class AttachmentRows {
  /** What has come of one that is fetched in pieces; begun again by the next process. */
  private readonly pieces = new Map<string, Uint8Array[]>();

  constructor(
    private readonly connection: Connection,
    private readonly blobs: BlobFiles,
    private readonly entries: EntryRows,
  ) {}

  /** What is told of the entry: whoever has the bytes sends them, everybody else wants them. */
  placesOf(session: string, { content, createdAt: at }: Pick<StoredEntry, 'content' | 'createdAt'>): AttachmentPlace[] {
    const attached = content.type === 'message' || content.type === 'tool_result' ? (content.attachments ?? []) : [];
    return attached
      .filter(({ hash }) => /^[0-9a-f]{64}$/.test(hash))
      .map(({ hash, mime }) => ({ session, hash, mime, at, pieces: 1, state: this.blobs.has(hash) ? 'unsent' : 'wanted' }));
  }

  /** Merged from another device. */
  want(session: string, entry: Pick<StoredEntry, 'content' | 'createdAt'>): void {
    this.add(this.placesOf(session, entry).filter(({ state }) => state === 'wanted'));
  }

  /** The entry belongs to another session from now on, whose key opens its bytes. */
  wantAgain(session: string, entry: string): void {
    for (const found of this.entries.findAll([entry])) this.want(session, found);
  }

  add(places: readonly AttachmentPlace[]): void {
    for (const { session, hash, mime, at, state } of places)
      this.connection.run('INSERT OR IGNORE INTO sync_attachments(session, hash, mime, at, state) VALUES (?, ?, ?, ?, ?)', [
        session,
        hash,
        mime,
        at,
        state,
      ]);
  }

  next(): AttachmentPlace | null {
    for (const state of order) {
      const [found] = this.list(state, 1);
      if (found) return found;
    }
    return null;
  }

  list(state: AttachmentState, most = -1): AttachmentPlace[] {
    return this.connection
      .all(
        `SELECT session, hash, mime, at, (SELECT bytes FROM blobs b WHERE b.hash = a.hash) AS bytes FROM sync_attachments a
         WHERE state = ? ORDER BY at DESC LIMIT ?`,
        [state, most],
      )
      .map((row) => ({
        session: String(row['session']),
        hash: String(row['hash']),
        mime: String(row['mime']),
        at: Number(row['at']),
        pieces: piecesOf(Number(row['bytes'] ?? 0)),
        state,
      }));
  }

  /** Null: nothing is to be done about it any more. */
  set(places: readonly AttachmentPlace[], state: AttachmentState | null): void {
    for (const { session, hash } of places) {
      if (state === null) this.connection.run('DELETE FROM sync_attachments WHERE session = ? AND hash = ?', [session, hash]);
      else this.connection.run('UPDATE sync_attachments SET state = ? WHERE session = ? AND hash = ?', [state, session, hash]);
    }
  }

  ask(hash: string): boolean {
    const isWanted = this.connection.get("SELECT 1 FROM sync_attachments WHERE hash = ? AND state IN ('wanted', 'asked', 'tried')", [hash]);
    if (isWanted)
      this.connection.run("UPDATE sync_attachments SET state = 'asked' WHERE hash = ? AND state IN ('wanted', 'tried')", [hash]);
    return isWanted !== undefined;
  }

  /** Null: it is lost. Throws a `StoreError` where its file cannot be read now. */
  piece(hash: string, index: number): { readonly bytes: Uint8Array; readonly of: number } | null {
    const bytes = this.blobs.readOrThrow(hash);
    if (!bytes) return null;
    return { bytes: bytes.slice(index * pieceBytes, (index + 1) * pieceBytes), of: piecesOf(bytes.length) };
  }

  came({ hash, mime }: AttachmentPlace, index: number, of: number, bytes: Uint8Array): CameAs {
    const before = index === 0 ? [] : (this.pieces.get(hash) ?? []);
    if (before.length !== index) return 'damaged';
    const all = [...before, bytes];
    this.pieces.delete(hash);
    if (all.length < of) {
      this.pieces.set(hash, all);
      return 'part';
    }
    const whole = Buffer.concat(all);
    if (sha256(whole) !== hash) return 'damaged';
    this.keep(hash, mime, whole);
    return 'whole';
  }

  /** In the caller's transaction. */
  keep(hash: string, mime: string, bytes: Uint8Array): void {
    this.entries.addBlob(this.blobs.write(bytes), bytes.length, mime);
    this.connection.run("UPDATE sync_attachments SET state = 'kept' WHERE hash = ? AND state IN ('wanted', 'asked', 'tried')", [hash]);
  }
}

function piecesOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / pieceBytes));
}

export const attachmentOperations = {
  syncAttachment: ({ attachments }) => attachments.next(),
  syncAttachments: ({ attachments }, state) => attachments.list(state),
  syncSettleAttachments: ({ connection, attachments }, places, state) => connection.transaction(() => attachments.set(places, state)),
  syncAskAttachment: {
    run: ({ connection, attachments }, hash) => connection.transaction(() => attachments.ask(hash)),
    tells: (isWanted) => (isWanted ? { kind: 'session', session: null } : null),
  },
  syncAttachmentPiece: ({ attachments }, hash, index) => attachments.piece(hash, index),
  syncAttachmentCame: {
    run: ({ connection, attachments }, place, index, of, bytes) => connection.transaction(() => attachments.came(place, index, of, bytes)),
    tells: (came, { session }) => (came === 'whole' ? { kind: 'session', session } : null),
  },
} satisfies Partial<Operations<{ readonly connection: Connection; readonly attachments: AttachmentRows }>>;
