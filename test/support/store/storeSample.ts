import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntryContent } from '../../../src/core/session/entry';
import type { Sqlite } from '../../../src/node/store/wasm/sqlite';
import { openOperations } from '../../../src/node/store/owner/storeOperations';
import { openForWriting } from '../../../src/node/store/database/storeDatabase';
import { storeFiles } from '../../../src/node/store/database/storeFiles';
import { testUuid, userMessage } from './storeTemp';

/** The files of a store that was closed or killed, to be laid into a folder and damaged. */
export interface StoreSample {
  readonly main: Buffer;
  readonly wal: Buffer | null;
  readonly generation: Buffer;
  /** Uuids. */
  readonly sessions: readonly string[];
  readonly texts: readonly string[];
}

export const sampleTexts: readonly string[] = Array.from(
  { length: 60 },
  (_, i) => `message ${i}: ${'word '.repeat(20 + ((i * 37) % 400))}`,
);

/** Two sessions, with something in every table that a window writes. */
export function makeStoreSample(sqlite: Sqlite, end: 'close' | 'abandon'): StoreSample {
  const folder = mkdtempSync(join(tmpdir(), 'tk-sample-'));
  try {
    const files = storeFiles(folder);
    const opened = openForWriting(sqlite, files, () => undefined, 'file');
    const core = openOperations(opened.connection, folder, 'owner');
    const sessions = ['Ports and adapters', 'b'].map(
      (title) => core.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1, title }).uuid,
    );
    const add = (session: string, content: EntryContent) =>
      core.append(session, { entries: [{ ...userMessage(session, core.session(session)?.leaf ?? null, ''), content }] })[0]!.uuid;
    const uuids = sampleTexts.map((text, i) => add(sessions[i % 2]!, { type: 'message', role: 'user', text }));
    add(sessions[0]!, { type: 'tool_call', callId: 'c', name: 'read_file', input: { path: 'a.txt' }, provider: 'p', model: 'm' });
    add(sessions[0]!, { type: 'tool_result', callId: 'c', name: 'read_file', status: 'ok', text: 'what the file said' });
    add(sessions[1]!, {
      type: 'compaction',
      operationId: 'op',
      summaryText: 'a summary',
      firstKeptEntry: uuids[41]!,
      coversFrom: uuids[1]!,
      tokensBefore: 9,
      tokensAfter: 3,
      messagesBefore: 20,
      messagesAfter: 10,
      trigger: 'manual',
      rung: 'extractive',
      model: null,
      durationMs: 1,
      heldMs: 1,
      needsSummaryRetry: false,
    });
    core.saveDraft(sessions[0]!, { text: 'a draft', attachments: [], at: 1 });
    core.saveQueue(sessions[1]!, [{ id: 'q', text: 'queued' }]);
    while (core.index.indexBatch(1000));
    opened[end]();
    return {
      main: readFileSync(files.main),
      wal: existsSync(files.wal) ? readFileSync(files.wal) : null,
      generation: readFileSync(files.generation),
      sessions,
      texts: sampleTexts,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function layStoreSample(folder: string, sample: StoreSample, change: { readonly main?: Buffer; readonly wal?: Buffer } = {}): void {
  const files = storeFiles(folder);
  writeFileSync(files.main, change.main ?? sample.main);
  if (sample.wal) writeFileSync(files.wal, change.wal ?? sample.wal);
  writeFileSync(files.generation, sample.generation);
}

/** The file with SQL run over it, as damage that only our own rules notice. */
export function alteredSample(sqlite: Sqlite, { main }: StoreSample, sql: string): Buffer {
  const database = sqlite.openMemory(new Uint8Array(main));
  try {
    database.run(
      `PRAGMA foreign_keys = OFF; DROP TRIGGER entries_keep_content; DROP TRIGGER entries_keep; DROP TRIGGER entries_keep_session; DROP TRIGGER bodies_keep_content; DROP TRIGGER bodies_keep; ${sql}`,
    );
    return Buffer.from(database.export());
  } finally {
    database.close();
  }
}
