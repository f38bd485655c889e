import assert from 'node:assert/strict';
import fs from 'node:fs';
import { openingReach } from '../../../../src/core/chat/branchState';
import type { NewEntry } from '../../../../src/core/session/entry';
import { loadSqlite, type Sqlite } from '../../../../src/node/store/wasm/sqlite';
import { openOperations, type StoreOperations } from '../../../../src/node/store/owner/storeOperations';
import { openForWriting } from '../../../../src/node/store/database/storeDatabase';
import { storeFiles } from '../../../../src/node/store/database/storeFiles';
import { compactionContent } from '../../../support/chat/compactionContent';
import { tempFolder, testUuid, userMessage, wasmFile, type TempFolder } from '../../../support/store/storeTemp';

const small = 1_000;
/** Measured with 50,000 too: 37, 37, 34 and 18 pages of 1,000 entries, 40, 44, 39 and 22 of 50,000. */
const large = 12_000;
const batch = 2_000;
/** Entries after the first kept one of the compaction. */
const liveEntries = 60;

/**
 * Reads of the database file since the last look. Every read is a window of pages (fileBuffer.ts); a new connection has none of them in
 * memory.
 */
class CountedReads {
  private count = 0;
  readonly fs: typeof fs = {
    ...fs,
    readSync: ((...args: Parameters<typeof fs.readSync>) => {
      this.count++;
      return fs.readSync(...args);
    }) as typeof fs.readSync,
  };

  take(): number {
    const taken = this.count;
    this.count = 0;
    return taken;
  }
}

describe('store: what reading a session costs', () => {
  const reads = new CountedReads();
  const temps: TempFolder[] = [];
  let sqlite: Sqlite;
  before(async () => {
    sqlite = await loadSqlite(wasmFile, reads.fs);
  });
  after(() => temps.forEach((temp) => temp.remove()));

  const open = (folder: string) => {
    const database = openForWriting(sqlite, storeFiles(folder), () => undefined, 'file');
    return { database, core: openOperations(database.connection, folder, 'owner') };
  };

  /** One session: messages with a measurement each, every tenth hidden, a label here and there, a compaction near the end. */
  const make = (entries: number): { readonly folder: string; readonly middle: string } => {
    const temp = tempFolder();
    temps.push(temp);
    const { core, database } = open(temp.path);
    core.createSession({ uuid: 's', channel: 'cli', createdAt: 1 });
    const main: NewEntry[] = [];
    for (let i = 0; i < entries; i += batch) {
      const from = main.length;
      const labels: NewEntry[] = [];
      while (main.length < Math.min(entries, i + batch)) {
        const n = main.length;
        const content = n === entries - 20 ? compactionContent('op', main[entries - liveEntries]!.uuid) : undefined;
        main.push(
          userMessage('s', main.at(-1)?.uuid ?? null, `message ${n} `.repeat(40), {
            display: n % 10 !== 3,
            ...(content ? { content } : {}),
          }),
        );
        if (n % 25 === 0)
          labels.push(userMessage('s', main[n]!.uuid, '', { content: { type: 'label', target: main[n]!.uuid, label: 'l' } }));
      }
      // The live part has no measurement of its own, as after a compaction just now.
      const usage = main.slice(from).filter((_, j) => from + j < entries - liveEntries);
      core.append('s', {
        entries: [...main.slice(from), ...labels],
        usage: usage.map(({ uuid }, j) => ({
          entry: uuid,
          provider: 'p',
          model: 'm',
          kind: 'turn',
          input: 1,
          output: 1,
          cacheRead: 0,
          cacheWrite: 0,
          cost: null,
          at: from + j,
        })),
      });
    }
    database.close();
    return { folder: temp.path, middle: main[entries >> 1]!.uuid };
  };

  const cost = (folder: string, work: (core: StoreOperations) => void): number => {
    const { core, database } = open(folder);
    reads.take();
    work(core);
    const pages = reads.take();
    database.close();
    return pages;
  };

  it('does not grow with the session: the first page, a page in the middle, the live branch, one more message', () => {
    const measured = [make(small), make(large)].map(({ folder, middle }) => [
      cost(folder, (core) =>
        assert.equal(core.page('s', { limit: 50 }).entries.filter(({ content }) => content.type !== 'label').length, 50),
      ),
      cost(folder, (core) => assert.equal(core.page('s', { limit: 50, before: middle }).hasMore, true)),
      cost(folder, (core) => {
        const { entries, lastUsage } = core.liveBranch('s');
        assert.deepEqual([entries.length, lastUsage], [liveEntries, null]);
      }),
      cost(folder, (core) => core.append('s', { entries: [userMessage('s', core.session('s')!.leaf, 'more', { uuid: testUuid() })] })),
    ]);
    console.log(`      reads of ${small} and of ${large} entries: ${JSON.stringify(measured)}`);
    const [few, many] = measured as [number[], number[]];
    // The trees of the indices get one or two levels deeper, each of which is a page or two for each of them.
    for (const [i, pages] of many.entries()) assert.ok(pages <= few[i]! * 1.25 + 12, `${pages} pages against ${few[i]}`);
  });

  /** A short session among so many others. */
  const makeAmong = (others: number): { readonly folder: string } => {
    const temp = tempFolder();
    temps.push(temp);
    const { core, database } = open(temp.path);
    for (let n = 0; n <= others; n++) {
      const session = n === others >> 1 ? 's' : `s${n}`;
      core.createSession({ uuid: session, channel: 'cli', createdAt: n * 86_400_000 });
      const entries: NewEntry[] = [];
      for (let i = 0; i < 6; i++) entries.push(userMessage(session, entries.at(-1)?.uuid ?? null, `message ${i} of ${n} `.repeat(20)));
      core.append(session, { entries });
    }
    database.close();
    return { folder: temp.path };
  };

  it('stays the same however long the history is: the list, a short session and its fork, an empty one, the live branch, one more message', () => {
    const measured = [150, 600].map((others) => {
      const { folder } = makeAmong(others);
      return [
        cost(folder, (core) => assert.equal(core.listSessions({ limit: 10 }).length, 10)),
        cost(folder, (core) => assert.equal(core.page('s', { limit: 50 }).entries.length, 6)),
        cost(folder, (core) => {
          const { leaf } = core.session('s')!;
          core.forkSession(leaf!, { uuid: 'fork', channel: 'cli', createdAt: 1 });
          assert.deepEqual(core.page('fork', { limit: 50 }).forks, []);
        }),
        cost(folder, (core) => {
          core.createSession({ uuid: 'empty', channel: 'cli', createdAt: 1 });
          assert.deepEqual(core.page('empty', { limit: 50 }).beyondLeaf, []);
        }),
        cost(folder, (core) => assert.equal(core.liveBranch('s', openingReach).entries.length, 6)),
        cost(folder, (core) => core.append('s', { entries: [userMessage('s', core.session('s')!.leaf, 'more', { uuid: testUuid() })] })),
      ];
    });
    console.log(`      reads among 150 and among 600 sessions: ${JSON.stringify(measured)}`);
    const [few, many] = measured as [number[], number[]];
    for (const [i, pages] of many.entries()) assert.ok(pages <= few[i]! * 1.25 + 12, `${pages} pages against ${few[i]}`);
  });
});
