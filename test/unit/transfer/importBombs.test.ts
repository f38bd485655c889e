import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { openStore } from '../../../src/node/store/client/openStore';
import { loadSqlite } from '../../../src/node/store/wasm/sqlite';
import { ForeignDatabase } from '../../../src/node/transfer/foreign/foreignDatabase';
import { importInThread } from '../../../src/node/transfer/import/importInThread';
import { LivePages } from '../../../src/node/transfer/foreign/livePages';
import { brief, ImportRig } from '../../support/store/importRig';
import { tempFolder, wasmFile, workerFile, type TempFolder } from '../../support/store/storeTemp';
import { treeBomb, walBomb } from '../../support/store/databaseBombs';
import { zstdFrame } from '../../support/store/zstdFrame';

const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const deepPlace = '@deep@';
/** JSON with `deep` in the place of a word. */
const withDeep = (value: unknown) => JSON.stringify(value).replaceAll(`"${deepPlace}"`, deep);
const tooDeep = 'nested deeper than 200 levels, left out';
const header = { type: 'session', version: 3, id: 's1', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' };
const user = (id: string, parentId: string | null, text: string) => ({
  type: 'message',
  id,
  parentId,
  timestamp: '2026-09-01T10:00:01Z',
  message: { role: 'user', content: text },
});

const gooseTables = [
  'CREATE TABLE sessions(id TEXT PRIMARY KEY, description TEXT, created_at TIMESTAMP)',
  'CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT)',
  "INSERT INTO sessions VALUES ('g', 'Named', '2026-09-01 10:00:00')",
];
const gooseMessage = (id: number, session: string, blocks: string) =>
  `INSERT INTO messages VALUES (${id}, '${session}', 'user', '${blocks}', ${id}, '{}')`;
const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT';

async function databaseOf(...sql: readonly string[]): Promise<{ readonly bytes: Uint8Array; readonly rootOf: (table: string) => number }> {
  const database = (await loadSqlite(wasmFile)).openMemory();
  for (const one of sql) database.run(one);
  const roots = new Map(
    database.exec('SELECT name, rootpage FROM sqlite_master')[0]!.values.map(([name, root]) => [String(name), Number(root)]),
  );
  const bytes = database.export();
  database.close();
  return { bytes, rootOf: (table) => roots.get(table)! };
}

describe('an import of what is made never to end', function () {
  this.timeout(60_000);
  let rig: ImportRig;
  beforeEach(async () => {
    rig = await ImportRig.open();
  });
  afterEach(() => rig.close());

  describe('records that are nested 100,000 levels deep', () => {
    it('are left out of a session file, and named, and the rest of it comes', async () => {
      const calling = {
        type: 'message',
        id: 'b',
        parentId: 'a',
        message: {
          role: 'assistant',
          content: [
            { type: 'text', text: 'calls' },
            { type: 'toolCall', id: 'c', name: 'x', arguments: { given: deepPlace } },
          ],
        },
      };
      const unknown = { type: 'nobody knows', id: 'c', parentId: 'b', data: deepPlace };
      const { uuid, repaired } = await rig.only(
        rig.source('deep.jsonl', [header, user('a', null, 'before'), withDeep(calling), withDeep(unknown), deep, user('d', 'c', 'behind')]),
      );
      assert.deepEqual(repaired, [{ kind: tooDeep, count: 3 }]);
      assert.deepEqual(
        (await rig.branch(uuid)).filter(({ display }) => display).map((entry) => brief(entry).slice(0, 199)),
        ['user: before', 'assistant: calls', `call c x {"given":${'['.repeat(181)}`, 'user: behind'],
      );
    });

    it('are left out of files that are one value, and of databases', async () => {
      const blocks = [
        { role: 'user', content: 'before', ts: 1 },
        { role: 'user', content: [{ type: 'odd', of: deepPlace }], ts: 2 },
        { role: 'user', content: 'behind', ts: 3 },
      ];
      const history = blocks.map((message) => ({
        message: { ...message, toolCalls: [] },
        contextItems: message.ts === 2 ? deepPlace : [],
      }));
      const goose = await databaseOf(
        ...gooseTables,
        gooseMessage(1, 'g', '[{"type":"text","text":"before"}]'),
        gooseMessage(2, 'g', `[${deep}]`),
        gooseMessage(3, 'g', '[{"type":"text","text":"behind"}]'),
      );
      const sources = {
        cline: rig.source('1788000000000/api_conversation_history.json', withDeep(blocks)),
        continue: rig.source('continue.json', withDeep({ sessionId: 'c', title: 'Named', history })),
        goose: rig.source('goose.db', goose.bytes),
      };
      for (const [name, file] of Object.entries(sources)) {
        const { uuid, repaired } = await rig.only(file);
        assert.ok(
          repaired.some(({ kind }) => kind === tooDeep),
          name,
        );
        const said = (await rig.branch(uuid)).map(brief).filter((text) => text.startsWith('user'));
        assert.deepEqual([said[0], said.at(-1)], ['user: before', 'user: behind'], name);
      }
    });

    it('leave no empty session behind where nothing could be stored', async () => {
      const refusing: SessionStore = Object.create(rig.store, {
        importEntries: { value: () => Promise.reject(new TypeError('cannot be passed on')) },
      }) as SessionStore;
      const { sessions, failed } = await rig.import(rig.source('one.jsonl', [header, user('a', null, 'x')]), { store: refusing });
      assert.deepEqual(
        { sessions, failed: failed.map(({ reason }) => reason), countSessions: await rig.store.countSessions() },
        { sessions: [], failed: ['cannot be passed on'], countSessions: 0 },
      );
    });
  });

  describe('databases', () => {
    const failures = async (bytes: Uint8Array) => {
      const { sessions, failed } = await rig.import(rig.source('bomb.sqlite', bytes));
      return [...sessions.map(({ title }) => title), ...failed.map(({ reason }) => reason)];
    };
    const endsNever =
      'There is more to read in the database than can be in a file of its size: it is damaged, or made so that it never ends.';

    const longerThanFiles = 'The log of the database says that it is far longer than its files: it is damaged, or made to fill the memory.';

    it('are read without their views and generated columns', async () => {
      const row = `INSERT INTO transcript_events VALUES ('s', 1, '${JSON.stringify(user('a', null, 'stored'))}')`;
      const view = await databaseOf(
        'CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT)',
        row,
        `CREATE VIEW session_nodes AS ${endless} i AS session_key, i AS current_session_id FROM n`,
      );
      assert.deepEqual(await failures(view.bytes), ['stored']);
      const isView = await databaseOf(`CREATE VIEW transcript_events AS ${endless} i AS session_id, i AS seq, i AS event_json FROM n`);
      assert.deepEqual(await failures(isView.bytes), ['The database is none of the kinds that can be imported.']);
      const columns = 'session_id TEXT, seq INTEGER, event_json TEXT, kept TEXT AS (hex(zeroblob(50000000)))';
      const generated = await databaseOf(`CREATE TABLE transcript_events(${columns}, event_zstd BLOB AS (zeroblob(50000000)))`, row);
      assert.deepEqual(await failures(generated.bytes), ['stored']);
      const keyed = await databaseOf(
        'CREATE TABLE transcript_events(event_json TEXT, seq INTEGER, session_id TEXT AS (hex(zeroblob(50000000))))',
      );
      assert.deepEqual(await failures(keyed.bytes), ['The database has no column session_id in its table transcript_events.']);
    });

    it('come to an end whose pages lead to each other', async () => {
      const many = (count: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
      const { bytes, rootOf } = await databaseOf(
        'PRAGMA page_size=512',
        ...gooseTables.slice(0, 2),
        `${many(1000)} INSERT INTO sessions SELECT 's' || i, 'x', '2026-09-01' FROM n`,
        `${many(300)} INSERT INTO messages SELECT i, 's1', 'user', '[{"type":"text","text":"hello"}]', i, '{}' FROM n`,
      );
      for (const table of ['sessions', 'messages'])
        assert.deepEqual((await failures(treeBomb(bytes, rootOf(table)))).at(-1), endsNever, table);
    });

    it('come to an end whose schema leads to itself', async () => {
      const tables = Array.from({ length: 60 }, (_, i) => `CREATE TABLE t${i}(a TEXT, b TEXT, c TEXT, d TEXT)`);
      const { bytes } = await databaseOf('PRAGMA page_size=512', ...tables);
      const image = Buffer.from(bytes);
      assert.equal(image[100], 5, 'the schema has more than one page');
      const [first, second] = [112, 114].map((at) => image.readUInt16BE(at));
      image.writeUInt32BE(image.readUInt32BE(first!), second!);
      assert.deepEqual(await failures(image), ['The schema of the database is damaged.']);
      const file = rig.source('live.sqlite', image);
      await assert.rejects(
        ForeignDatabase.glance(new LivePages(file), wasmFile, (database) => [...database.tables()]),
        /schema of the database is damaged/,
      );
    });

    it('are no longer than their files, whatever their log says', async () => {
      const { bytes, rootOf } = await databaseOf(
        'PRAGMA page_size=512',
        ...gooseTables.slice(0, 2),
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO sessions SELECT 's' || i, 'x', '2026-09-01' FROM n`,
      );
      const file = rig.source('long.sqlite', treeBomb(bytes, rootOf('sessions')));
      for (const pages of [1_000_000, 0xffffffff]) {
        rig.source('long.sqlite-wal', walBomb(bytes, pages));
        await assert.rejects(ForeignDatabase.open(file, wasmFile), { message: longerThanFiles });
      }
      await assert.rejects(
        ForeignDatabase.glance(new LivePages(file), wasmFile, (database) => [...database.rows('sessions', ['description'])].length),
        { message: endsNever },
      );
    });

    it('give no more than they are long, whatever a column is by default', async () => {
      const long = 'x'.repeat(1_000_000);
      const rows = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)';
      const { bytes } = await databaseOf(
        'CREATE TABLE transcript_events(session_id TEXT, seq INTEGER)',
        `${rows} INSERT INTO transcript_events SELECT 's', i FROM n`,
        `ALTER TABLE transcript_events ADD COLUMN event_json TEXT DEFAULT '${long}'`,
      );
      assert.equal((await failures(bytes)).at(-1), endsNever);
    });
  });

  it('unpacks no more of small blocks and large windows than a file of its size can be worth', async () => {
    const blocks = Array.from({ length: 1_000 }, (_, i) => Buffer.from([(1 << 3) | (i === 999 ? 1 : 0), 0, 0, 0x61]));
    const bomb = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 17 << 3]), ...blocks]).toString('hex');
    const frames = Array.from({ length: 20 }, () => zstdFrame(Buffer.from(JSON.stringify(user('b', null, 'small'))))).map((frame) =>
      frame.toString('hex'),
    );
    const rows = [bomb, frames[0]!, bomb].map((hex, i) => `INSERT INTO transcript_events VALUES ('s', ${i}, NULL, x'${hex}')`);
    const { bytes } = await databaseOf(
      'CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB)',
      ...rows,
    );
    const { title, keptRaw } = await rig.only(rig.source('zstd.sqlite', bytes));
    assert.deepEqual([title, keptRaw], ['small', [{ kind: 'too_large', count: 2 }]]);
  });
});

describe('stopping an import', function () {
  this.timeout(60_000);
  let temp: TempFolder;
  let store: SessionStore;
  const options = { workerFile: join(workerFile, '..', 'storeTaskWorker.js') };

  beforeEach(async () => {
    temp = tempFolder();
    store = await openStore({ folder: join(temp.path, 'store'), workerFile, label: 'test' });
  });
  afterEach(async () => {
    await store.close();
    temp.remove();
  });

  it('is heard while SQLite goes through a table for ever so long', async () => {
    const many = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)';
    // Each session has to go through all messages: 16 million rows.
    const { bytes } = await databaseOf(
      ...gooseTables.slice(0, 2),
      `${many} INSERT INTO sessions SELECT 's' || i, 'x', '2026-09-01' FROM n`,
      `${many} INSERT INTO messages SELECT i, 's' || i, 'user', '[{"type":"text","text":"${'long '.repeat(2000)}"}]', i, '{}' FROM n`,
    );
    const file = join(temp.path, 'slow.db');
    writeFileSync(file, bytes);
    const stop = new AbortController();
    const { cancelled, sessions, failed } = await importInThread(store, [file], {
      ...options,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    assert.deepEqual({ cancelled, sessionsCount: sessions.length < 4000, failed }, { cancelled: true, sessionsCount: true, failed: [] });
    assert.equal(await store.countSessions(), sessions.length, 'and every session that has come is in the report');
  });

  it('ends a thread that does not end by itself, with the report it has told', async () => {
    const script = join(temp.path, 'never.js');
    writeFileSync(
      script,
      "const { parentPort } = require('node:worker_threads');\nparentPort.postMessage({ type: 'outcome', outcome: { type: 'failed', source: 'a', reason: 'odd' } });\nparentPort.postMessage({ type: 'progress', progress: { index: 0, files: 1, fraction: 0, records: 0 } });\nsetTimeout(() => { for (;;); }, 0);\n",
    );
    const stop = new AbortController();
    const report = await importInThread(store, ['b'], { workerFile: script, signal: stop.signal, onProgress: () => stop.abort() });
    assert.deepEqual(report, { sessions: [], failed: [{ source: 'a', reason: 'odd' }], passedOver: [], cancelled: true });
  });

  it('is not needed where the thread dies of a file: the report names it', async () => {
    const script = join(temp.path, 'dies.js');
    writeFileSync(
      script,
      "const { parentPort } = require('node:worker_threads');\nparentPort.postMessage({ type: 'outcome', outcome: { type: 'begun', source: 'big.json' } });\nsetTimeout(() => { throw new Error('no memory left'); }, 0);\n",
    );
    const { failed, cancelled } = await importInThread(store, ['big.json'], { workerFile: script });
    assert.deepEqual(
      [failed, cancelled],
      [
        [
          {
            source: 'big.json',
            reason: 'Reading it has ended the import: The worker failed: no memory left. What comes after it was not looked at.',
          },
        ],
        false,
      ],
    );
  });
});
