import { createHash } from 'node:crypto';
import { zstdFrame } from './zstdFrame';

/** An archive as OpenClaw 2026.9.6 makes them of an old session: its bytes, the table of its database, and its row in it. */
export function coldArchive(
  session: string,
  events: readonly unknown[],
  stored: 'sqlite' | 'file' = 'sqlite',
): { readonly name: string; readonly bytes: Buffer; readonly table: string; readonly row: string } {
  const lines = [
    { kind: 'header', version: 1, sessionId: session, generation: 'g1' },
    ...events.map((event, seq) => ({ kind: 'event', row: { seq, event_json: JSON.stringify(event), created_at: 0 } })),
    {
      kind: 'identity',
      row: { event_id: 'a1', seq: 1, event_type: 'message', parent_id: null, message_idempotency_key: null, created_at: 0 },
    },
    { kind: 'fts', row: { text: 'first', message_id: 'a1', role: 'user', timestamp: 0 } },
  ];
  const bytes = zstdFrame(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const name = `${sha256}.jsonl.zst`;
  return {
    name,
    bytes,
    table:
      'TABLE session_transcript_cold_archives(session_id TEXT PRIMARY KEY, generation TEXT, archive_name TEXT, archive_sha256 TEXT, event_count INTEGER, raw_bytes INTEGER, archive_bytes INTEGER, last_seq INTEGER, archived_at INTEGER, storage TEXT, archive_blob BLOB)',
    row: `INSERT INTO session_transcript_cold_archives VALUES ('${session}', 'g1', '${name}', '${sha256}', ${events.length}, 0, ${bytes.length}, ${events.length - 1}, 0, '${stored}', ${stored === 'file' ? 'NULL' : `x'${bytes.toString('hex')}'`});`,
  };
}
