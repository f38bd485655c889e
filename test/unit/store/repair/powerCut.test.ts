import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { entryText, type EntryContent } from '../../../../src/core/session/entry';
import { BlobFiles } from '../../../../src/node/store/rows/blobFiles';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import type { Sqlite } from '../../../../src/node/store/wasm/sqlite';
import { openOperations, type StoreOperations } from '../../../../src/node/store/owner/storeOperations';
import { openForWriting } from '../../../../src/node/store/database/storeDatabase';
import type { StoreDatabase } from '../../../../src/node/store/database/storeDatabase';
import { storeFiles } from '../../../../src/node/store/database/storeFiles';
import { enduranceRounds, seededRandom } from '../../../support/chat/endurance';
import { projectRoot } from '../../../support/paths';
import { FaultyFs } from '../../../support/store/storeFaults';
import { powerCut } from '../../../support/store/storePowerCut';
import type { DiskEvent } from '../../../support/store/storePowerCut';
import { tempFolder, testUuid, userMessage, wasmFile } from '../../../support/store/storeTemp';
import type { TempFolder } from '../../../support/store/storeTemp';

const fixture = join(projectRoot, 'test', 'fixtures', 'stores', 'v1.db');
const cuts = enduranceRounds(30);

/** Characters of an entry, or of an answer that is still streaming, that were promised to be safe after the first `at` events. */
interface Promised {
  readonly uuid: string;
  readonly length: number;
  readonly at: number;
}

/** What a store did to the disk, and what it has promised meanwhile. */
interface Recording {
  readonly root: string;
  readonly events: readonly DiskEvent[];
  readonly promised: readonly Promised[];
}

describe('store: when the power fails', () => {
  const faulty = new FaultyFs();
  let temp: TempFolder;
  let sqlite: Sqlite;
  before(async () => {
    sqlite = await loadSqlite(wasmFile, faulty.fs);
  });
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(() => temp.remove());

  /** Appends, long tool results in files of their own, answers that stream, compactions, checkpoints and closings of a store, by turns. */
  function record(synchronous: 'FULL' | 'OFF', begin: 'new' | 'version 1', blobs: typeof faulty.fs = faulty.fs): Recording {
    const events: DiskEvent[] = [];
    const promised: Promised[] = [];
    const source = tempFolder();
    const { main } = storeFiles(source.path);
    if (begin === 'version 1') {
      copyFileSync(fixture, main);
      events.push(
        { type: 'create', path: main },
        { type: 'write', path: main, position: 0, bytes: readFileSync(fixture) },
        { type: 'sync', path: main },
        { type: 'syncFolder', path: source.path },
      );
    }
    faulty.record = (event) => {
      if (event.path.startsWith(source.path)) events.push(event);
    };
    for (let opening = 0; opening < 3; opening++) {
      const database = openForWriting(sqlite, storeFiles(source.path), () => undefined, 'file');
      database.connection.exec(`PRAGMA synchronous = ${synchronous}`);
      database.connection.get('PRAGMA wal_autocheckpoint = 40');
      work(openOperations(database.connection, source.path, 'owner', new BlobFiles(source.path, blobs)), (uuid, length) =>
        promised.push({ uuid, length, at: events.length }),
      );
      if (opening % 2 === 0) database.close();
      else database.abandon();
    }
    faulty.record = () => undefined;
    source.remove();
    return { root: source.path, events, promised };
  }

  function work(core: StoreOperations, promise: (uuid: string, length: number) => void): void {
    const session = core.createSession({ uuid: 'session', key: 'cli:power', channel: 'cli', createdAt: 1 }).uuid;
    const append = (content: EntryContent, uuid = testUuid()) => {
      core.append(session, { entries: [userMessage(session, core.session(session)?.leaf ?? null, '', { uuid, content })] });
      promise(uuid, entryText(content).length);
    };
    core.recoverPartials(session);
    for (let turn = 0; turn < 8; turn++) {
      append({ type: 'message', role: 'user', text: 'x'.repeat(turn * 900) });
      const answer = testUuid();
      const parent = core.session(session)?.leaf ?? null;
      for (let part = 1; part <= 3; part++) {
        core.writePartial({
          entry: answer,
          session,
          parent,
          kind: 'message',
          provider: 'p',
          model: 'm',
          createdAt: 1,
          text: 'y'.repeat(300),
        });
        promise(answer, part * 300);
      }
      if (turn < 7) append({ type: 'message', role: 'assistant', text: 'y'.repeat(1000) }, answer);
      // Outside of the row: as long as what a tool may say.
      if (turn % 2 === 0)
        append({ type: 'tool_result', callId: testUuid(), name: 'read_file', text: `${testUuid()} `.repeat(2_000 + turn), status: 'ok' });
      if (turn % 3 === 2) {
        append({
          type: 'compaction',
          operationId: testUuid(),
          summaryText: 'summary',
          firstKeptEntry: answer,
          coversFrom: null,
          tokensBefore: 9,
          tokensAfter: 1,
          messagesBefore: 4,
          messagesAfter: 2,
          trigger: 'automatic',
          rung: 'model',
          model: 'm',
          durationMs: 1,
          heldMs: 0,
          needsSummaryRetry: false,
        });
      }
    }
  }

  /** What is wrong after each of `count` power cuts. */
  function cut({ root, events, promised }: Recording, count: number, least: number, seed: number): string[] {
    const random = seededRandom(seed);
    const problems: string[] = [];
    for (let round = 0; round < count; round++) {
      // Two of three right behind a promise, where something has just been made durable; the others anywhere.
      const near = promised[Math.floor(random() * promised.length)]?.at ?? 0;
      const at = round % 3 === 0 ? Math.floor(random() * (events.length + 1)) : near + Math.floor(random() * 3);
      for (const name of readdirSync(temp.path)) rmSync(join(temp.path, name), { recursive: true });
      for (const [path, content] of powerCut(events.slice(0, at), root, random)) {
        const file = join(temp.path, relative(root, path));
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, content);
      }
      const problem = check(
        promised.filter((promise) => promise.at <= at),
        least,
      );
      if (problem !== null) problems.push(`power cut at ${at} of ${events.length}: ${problem}`);
    }
    return problems;
  }

  function check(promised: readonly Promised[], least: number): string | null {
    let database: StoreDatabase | undefined;
    try {
      database = openForWriting(sqlite, storeFiles(temp.path), () => undefined, 'file');
      const check = database.connection.get('PRAGMA quick_check')?.['quick_check'];
      if (check !== 'ok') return String(check);
      const core = openOperations(database.connection, temp.path, 'owner');
      if (Number(database.connection.get('SELECT count(*) AS n FROM entries')?.['n']) < least) return 'what version 1 held is lost';
      if (core.session('session')) core.recoverPartials('session');
      const lengths = new Map(
        core.entries([...new Set(promised.map(({ uuid }) => uuid))]).map(({ uuid, content }) => [uuid, entryText(content).length]),
      );
      const lost = promised.filter(({ uuid, length }) => (lengths.get(uuid) ?? -1) < length);
      return lost.length === 0 ? null : `${lost.length} promises broken`;
    } catch (error) {
      return String(error);
    } finally {
      database?.abandon();
    }
  }

  it(`keeps every promise, wherever it fails: ${cuts} times in daily work, ${cuts} times from a migration on`, function () {
    this.timeout(30_000 + cuts * 400);
    assert.deepEqual(cut(record('FULL', 'new'), cuts, 0, 12345), []);
    assert.deepEqual(cut(record('FULL', 'version 1'), cuts, 6, 54321), []);
  });

  it('would break promises if writes were not synced, which shows that the test can tell', function () {
    this.timeout(30_000);
    const problems = cut(record('OFF', 'new'), 30, 0, 12345);
    assert.ok(problems.length > 5, `${problems.length} of 30`);
  });

  it('would break promises if the files of long texts were not synced', function () {
    this.timeout(30_000);
    const problems = cut(record('FULL', 'new', { ...faulty.fs, fsyncSync: () => undefined }), 30, 0, 12345);
    assert.ok(problems.length > 5, `${problems.length} of 30`);
  });
});
