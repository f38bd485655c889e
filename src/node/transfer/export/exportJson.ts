import { fileContentMime } from '../../../core/rewind/fileChanges';
import type { SessionStore } from '../../../core/ports';
import type { StoredEntry } from '../../../core/session/entry';
import type { Session } from '../../../core/session/session';
import {
  exportFormat,
  exportVersion,
  redactEntry,
  redactRecord,
  type ExportedEntry,
  type ExportedSession,
} from '../../../core/transfer/exportDocument';
import { redactText } from '../../../core/redaction/redactText';
import { isImportedId } from '../../../core/transfer/sourceRecord';

export interface ExportOptions {
  readonly redact: boolean;
  /** With what stood in files before and after calls, so that they can be restored where it is imported; never where it is redacted. */
  readonly fileContents?: boolean;
  /** Looked at, not kept: a transcript then shows as damaged what cannot be read at the moment, instead of ending there. */
  readonly isForNow?: boolean;
  readonly signal?: AbortSignal;
  /** Entries that are done, of all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Read at a time: a few megabytes at most in ordinary histories. */
const pageEntries = 200;

/**
 * The sessions as one JSON document (core/transfer/exportDocument.ts), in pieces, an entry a line: so a history of any size takes
 * the memory of a page, and two exports can be compared line by line. The same history gives the same bytes. Rejects with `StoreError`
 * where something cannot be read now: what is left out of an export is missed when the history is gone. What is lost is left out.
 */
export async function* exportJson(
  store: SessionStore,
  sessions: readonly Session[],
  { redact, fileContents = false, signal, onProgress }: ExportOptions,
): AsyncGenerator<string, void, void> {
  const seqs = new Map<string, readonly number[]>();
  for (const { uuid } of sessions) seqs.set(uuid, await store.entrySeqs(uuid));
  const total = [...seqs.values()].reduce((sum, { length }) => sum + length, 0);
  const written = new WrittenOnce();
  let done = 0;
  yield `{"format":${JSON.stringify(exportFormat)},"version":${exportVersion},"redacted":${String(redact)},"sessions":[`;
  let isFirst = true;
  for (const one of sessions) {
    const record = recordOf(one);
    yield `${isFirst ? '' : ','}\n{"session":${JSON.stringify(redact ? redactRecord(record) : record)},"entries":[`;
    isFirst = false;
    const lines = new Lines();
    const wanted = (seqs.get(one.uuid) ?? []).filter((seq) => written.isNew('entry', seq));
    for (let from = 0; from < wanted.length; from += pageEntries) {
      signal?.throwIfAborted();
      const page = await store.entriesBySeq(wanted.slice(from, from + pageEntries), true);
      for (const entry of page) {
        if (!redact && (entry.content.type === 'message' || entry.content.type === 'tool_result'))
          for (const { hash, mime } of entry.content.attachments ?? []) written.blobs.set(hash, mime);
        if (!redact && fileContents && entry.content.type === 'file_changes')
          for (const { before, after } of entry.content.files)
            for (const blob of [before?.blob, after?.blob]) if (blob) written.blobs.set(blob, fileContentMime);
        const exported = entryOf(entry);
        yield lines.next(redact ? redactEntry(exported) : exported);
      }
      done += page.length;
      onProgress?.(done, total);
    }
    yield `],"usage":[${listed((await store.usageRecords(one.uuid)).filter((row) => written.isNew('usage', JSON.stringify(row))))}`;
    yield `],"pins":[${listed((await store.pins(one.uuid)).map(({ kind, target, contentHash, at }): ExportedSession['pins'][number] => ({ kind, target: redact ? redactText(target) : target, contentHash, at })))}`;
    const writes = await store.memoryWrites(one.uuid, { limit: Number.MAX_SAFE_INTEGER });
    yield `],"memoryWrites":[${listed(writes.reverse().map((write) => (redact ? { ...write, path: redactText(write.path) } : write)))}`;
    yield `],"retries":[${listed((await store.summaryRetries(one.uuid)).map(({ compaction, nextAt, attempts }) => ({ compaction, nextAt, attempts })))}]}`;
  }
  yield '\n],"blobs":[';
  const lines = new Lines();
  for (const [hash, mime] of [...written.blobs].sort(([a], [b]) => (a < b ? -1 : 1))) {
    signal?.throwIfAborted();
    const bytes = await store.blob(hash, true);
    if (bytes) yield lines.next({ hash, mime, data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') });
  }
  yield ']}\n';
}

/** Every session, those in the trash included, a fork behind the session that it comes from. */
export async function allSessions(store: SessionStore): Promise<Session[]> {
  const sessions = [...(await store.listSessions()), ...(await store.listSessions({ trashed: true }))];
  return sessions.sort((a, b) => a.createdAt - b.createdAt || (a.uuid < b.uuid ? -1 : 1));
}

class WrittenOnce {
  readonly blobs = new Map<string, string>();
  private readonly seen = new Set<string>();

  isNew(kind: 'entry' | 'usage', id: string | number): boolean {
    const key = `${kind} ${id}`;
    if (this.seen.has(key)) return false;
    this.seen.add(key);
    return true;
  }
}

class Lines {
  private isFirst = true;

  next(value: unknown): string {
    const line = `${this.isFirst ? '' : ','}\n${JSON.stringify(value)}`;
    this.isFirst = false;
    return line;
  }
}

function listed(rows: readonly unknown[]): string {
  const lines = new Lines();
  return rows.map((row) => lines.next(row)).join('');
}

function recordOf(session: Session): ExportedSession['session'] {
  const { totalTokens: _tokens, messageCount: _messages, ...record } = session;
  return record;
}

function entryOf({ session: _session, seq, sourceId, ...entry }: StoredEntry): ExportedEntry {
  return { seq, ...entry, ...(typeof sourceId === 'string' && !isImportedId(sourceId) ? { sourceId } : {}) };
}
