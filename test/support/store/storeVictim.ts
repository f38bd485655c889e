import { writeSync } from 'node:fs';
import type { ContentOf, NewEntry } from '../../../src/core/session/entry';
import { loadSqlite } from '../../../src/node/store/wasm/sqlite';
import { openOperations, type StoreOperations } from '../../../src/node/store/owner/storeOperations';
import { openForWriting } from '../../../src/node/store/database/storeDatabase';
import { storeFiles } from '../../../src/node/store/database/storeFiles';
import { seededRandom } from '../chat/endurance';
import { FaultyFs } from './storeFaults';
import { wasmFile } from './storeTemp';

/** What the victim was doing when it died. */
export type Ordeal = 'append' | 'stream' | 'compaction' | 'checkpoint' | 'close' | 'migration' | 'index';

/** Written at once: what was reported is true even if the next instruction is the last. */
export type VictimReport =
  | { readonly type: 'opened' | 'closed' }
  | { readonly type: 'stored'; readonly uuid: string; readonly length: number }
  /** So many characters of an answer that is still streaming are safe. */
  | { readonly type: 'streamed'; readonly uuid: string; readonly length: number };

const report = (line: VictimReport) => writeSync(1, `${JSON.stringify(line)}\n`);

const [folder, ordeal, dieAt, seed] = process.argv.slice(2) as [string, Ordeal, string, string];
const disk = new FaultyFs();
let calls = 0;
// Counted from the opening on, so that recovery and migration are hit as well. 0: dies when it is killed.
disk.fault = () => {
  if (++calls === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
  return undefined;
};
void live();

/** A process that does one kind of thing to a store until it dies: by its own hand before a given call to the disk, or by another's. */
async function live(): Promise<void> {
  const random = seededRandom(Number(seed) + 1);
  const sqlite = await loadSqlite(wasmFile, disk.fs);
  for (let opening = 0; ; opening++) {
    const database = openForWriting(sqlite, storeFiles(folder), () => undefined, 'file');
    // Often, so that a checkpoint is something to die in.
    if (ordeal === 'checkpoint') database.connection.get('PRAGMA wal_autocheckpoint = 15');
    report({ type: 'opened' });
    const core = openOperations(database.connection, folder, 'owner');
    const session = core.createSession({ uuid: 'victim', key: 'cli:victim', channel: 'cli', createdAt: 1 }).uuid;
    core.recoverPartials(session);
    const append = (content: NewEntry['content'], uuid = `${process.pid}-${opening}-${calls}`) => {
      const parent = core.session(session)?.leaf ?? null;
      const entry: NewEntry = { uuid, session, parent, createdAt: Date.now(), modelFacing: true, display: true, tokenEstimate: 1, content };
      core.append(session, { entries: [entry] });
      report({ type: 'stored', uuid, length: 'text' in content ? String(content.text).length : 0 });
    };
    for (let turn = 0; ; turn++) {
      // One in ten is long enough to be kept in a file of its own.
      const text = 'word '.repeat(Math.floor(random() * (random() < 0.1 ? 30_000 : 1_500)));
      if (ordeal === 'index') {
        append({ type: 'message', role: 'user', text: `common ${'filler '.repeat(Math.floor(random() * 300))}` });
        if (random() < 0.2) core.index.indexBatch(random() * 4);
      } else if (ordeal === 'stream') stream(core, session, text, append);
      else append({ type: 'message', role: 'user', text });
      if (ordeal === 'compaction') append(compaction(core.session(session)?.leaf ?? null));
      if (ordeal === 'close' || ordeal === 'migration') break;
    }
    database.close();
    report({ type: 'closed' });
  }
}

function stream(core: StoreOperations, session: string, text: string, append: (content: NewEntry['content'], uuid: string) => void): void {
  const uuid = `${process.pid}-streamed-${calls}`;
  const parent = core.session(session)?.leaf ?? null;
  for (let at = 0; at < text.length; at += 700) {
    core.writePartial({
      entry: uuid,
      session,
      parent,
      kind: 'message',
      provider: 'p',
      model: 'm',
      createdAt: 1,
      text: text.slice(at, at + 700),
    });
    report({ type: 'streamed', uuid, length: Math.min(at + 700, text.length) });
  }
  append({ type: 'message', role: 'assistant', text }, uuid);
}

function compaction(firstKeptEntry: string | null): ContentOf<'compaction'> {
  return {
    type: 'compaction',
    operationId: `${process.pid}-${calls}`,
    summaryText: 'a summary',
    firstKeptEntry,
    coversFrom: null,
    tokensBefore: 100,
    tokensAfter: 10,
    messagesBefore: 4,
    messagesAfter: 2,
    trigger: 'automatic',
    rung: 'model',
    model: 'm',
    durationMs: 1,
    heldMs: 0,
    needsSummaryRetry: false,
  };
}
