import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newestVersion, schemaVersion } from '../../../../src/node/store/database/migrations';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import { storeFiles } from '../../../../src/node/store/database/storeFiles';
import { projectRoot } from '../../../support/paths';
import { SearchStore } from '../../../support/store/searchStore';
import { openHost, tempFolder, wasmFile, type TempFolder } from '../../../support/store/storeTemp';

/** Made by the program when it knew no later version: two sessions, six entries, a draft. */
const fixture = stored('v1');
/** The same: a session with a fork, a compaction, a long tool result, an answer cut off in mid-stream, most of it indexed. */
const fixtureV2 = stored('v2');
/** In the header of a SQLite file. */
const userVersionAt = 60;

describe('store: a file of version 1', () => {
  let temp: TempFolder;
  beforeEach(() => {
    temp = tempFolder();
    copyFileSync(fixture, storeFiles(temp.path).main);
  });
  afterEach(() => temp.remove());

  const entries = 'SELECT e.*, b.content_json, b.text, b.crc32 FROM entries e JOIN bodies b ON b.entry = e.seq ORDER BY e.seq';

  it('becomes the newest, with every entry as it was, the old file kept aside, and everything found', async () => {
    const { main } = storeFiles(temp.path);
    const store = await SearchStore.open(temp.path);
    assert.equal(schemaVersion(store.database.connection), newestVersion());
    const kept = readFileSync(`${main}.v1.bak`);
    assert.deepEqual([kept.length, kept.readUInt32BE(userVersionAt)], [readFileSync(fixture).length, 1]);
    assert.deepEqual(
      store.database.connection.all(entries).map((row) => row['entry_type']),
      ['message', 'message', 'tool_call', 'tool_result', 'message', 'message'],
    );
    assert.equal(store.core.draft('s-b')?.text, 'a draft');
    const finds = () => [store.texts('marmalade')[0], store.texts('DEJA VU')[0], store.texts('東京')[0], store.texts('run test')[0]];
    const expected = [
      'The password hint is marmalade, kept in src/config/hints.ts.',
      'Noted: the naïve café déjà vu.',
      '会議は東京駅の近くで開かれます。',
      'half \ud83d and \0 nul, running tests',
    ];
    assert.deepEqual(finds(), expected);
    store.index();
    assert.equal(store.core.index.pending, 0);
    assert.deepEqual(finds(), expected);
    assert.throws(() => store.database.connection.run("UPDATE bodies SET text = 'x' WHERE entry = 1"), /append-only/);
    assert.throws(() => store.database.connection.run('DELETE FROM entries WHERE seq = 1'), /append-only/);
    store.database.close();
  });

  it('is searched by a reader that must not change it', async () => {
    const reader = await openHost(temp.path, { readonly: true });
    const { hits, complete } = await reader.call('search', [{ text: 'marmalade', limit: 1 }]);
    assert.deepEqual([hits[0]?.text, complete], ['The password hint is marmalade, kept in src/config/hints.ts.', true]);
    await reader.close();
    assert.deepEqual(readFileSync(storeFiles(temp.path).main), readFileSync(fixture));
    assert.equal(existsSync(`${storeFiles(temp.path).main}.v1.bak`), false);
  });
});

describe('store: a file of version 2', () => {
  let temp: TempFolder;
  beforeEach(() => {
    temp = tempFolder();
    copyFileSync(fixtureV2, storeFiles(temp.path).main);
  });
  afterEach(() => temp.remove());

  const rows =
    'SELECT e.seq, e.uuid, e.session, e.parent, e.tool_args_json, b.* FROM entries e JOIN bodies b ON b.entry = e.seq ORDER BY e.seq';
  const others = [
    'sessions',
    'usage',
    'compactions',
    'pins',
    'drafts',
    'queue',
    'retry_queue',
    'partial_chunks',
    'id_counters',
    'entries_fts_docsize',
  ];

  it('becomes the newest with every row as it was, goes on where it stood, and keeps the old file', async () => {
    const old = (await loadSqlite(wasmFile)).openMemory(readFileSync(fixtureV2));
    const before = [rows, ...others.map((table) => `SELECT * FROM ${table}`)].map((sql) => old.exec(sql));
    old.close();
    const store = await SearchStore.open(temp.path);
    const { connection } = store.database;
    assert.equal(schemaVersion(connection), newestVersion());
    const after = [rows, ...others.map((table) => `SELECT * FROM ${table}`)].map((sql) => {
      const found = connection.all(sql);
      return found.length === 0 ? [] : [{ columns: Object.keys(found[0]!), values: found.map((row) => Object.values(row)) }];
    });
    assert.deepEqual(after, before);
    assert.equal(readFileSync(`${storeFiles(temp.path).main}.v2.bak`).readUInt32BE(userVersionAt), 2);
    for (const word of ['pantry', 'quince', 'needle', '東京']) assert.ok(store.texts(word)[0]?.includes(word), word);

    assert.deepEqual(
      store.core.recoverPartials('s-a').map(({ uuid, parent, content }) => [uuid, parent, content]),
      [['e10', 'e9', { type: 'message', role: 'assistant', text: 'cut off', provider: 'p', model: 'm', interrupted: 'crashed' }]],
    );
    assert.deepEqual(
      store.core.liveBranch('s-b').entries.map(({ uuid }) => uuid),
      ['e1', 'e2', 'e3', 'e4', 'e8'],
    );
    assert.equal(store.core.liveBranch('s-a').entries[0]?.uuid, 'e4');
    assert.throws(() => connection.run("UPDATE entries SET session = 's-b' WHERE uuid = 'e1'"), /append-only/);
    assert.throws(() => connection.run("UPDATE entries SET parent = NULL WHERE uuid = 'e4'"), /append-only/);
    store.database.close();
  });

  it('is read as it is by a reader', async () => {
    const reader = await openHost(temp.path, { readonly: true });
    assert.deepEqual(
      (await reader.call('page', ['s-a', { limit: 50 }])).entries.map(({ uuid }) => uuid),
      ['e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7', 'e9'],
    );
    await reader.close();
    assert.deepEqual(readFileSync(storeFiles(temp.path).main), readFileSync(fixtureV2));
  });

  it('leaves no page unused when it is made anew: a damaged schema is mended from one', async () => {
    mkdirSync(join(temp.path, 'new'));
    const store = await SearchStore.open(join(temp.path, 'new'));
    assert.deepEqual(store.database.connection.get('PRAGMA freelist_count'), { freelist_count: 0 });
    store.database.close();
  });
});

function stored(version: string): string {
  return join(projectRoot, 'test', 'fixtures', 'stores', `${version}.db`);
}
