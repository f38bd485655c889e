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
/** The same: a session with a question, its answer, and what two requests were billed. */
const fixtureV3 = stored('v3');
/** Its index had a row for each entry: two sessions, five of six entries indexed. */
const fixtureV4 = stored('v4');
/** What the program made of that one when it knew no later version: all of it indexed, a row for each passage. */
const fixtureV5 = stored('v5');
/** What the program made of that one in its turn: nothing of it was ever synchronised. */
const fixtureV6 = stored('v6');
/** With synchronizing on, and everything told. */
const fixtureV7 = stored('v7');
/** What the program made of that one in its turn, with a message edited that had been the first. */
const fixtureV8 = stored('v8');
/** What the program made of that one: its triggers of synchronizing are those of version 7. */
const fixtureV9 = stored('v9');
/** What the program made of that one, which has synchronized everything. */
const fixtureV10 = stored('v10');
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
  /** The columns that it had then. */
  const usage = 'SELECT session, entry, provider, model, kind, input, output, cache_read, cache_write, cost, at FROM usage';
  const others = ['sessions', 'compactions', 'pins', 'drafts', 'queue', 'retry_queue', 'partial_chunks', 'id_counters'];

  it('becomes the newest with every row as it was, goes on where it stood, and keeps the old file', async () => {
    const old = (await loadSqlite(wasmFile)).openMemory(readFileSync(fixtureV2));
    const all = [rows, usage, ...others.map((table) => `SELECT * FROM ${table}`)];
    const before = all.map((sql) => old.exec(sql));
    old.close();
    const store = await SearchStore.open(temp.path);
    const { connection } = store.database;
    assert.equal(schemaVersion(connection), newestVersion());
    const after = all.map((sql) => {
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

describe('store: a file of version 3', () => {
  let temp: TempFolder;
  beforeEach(() => {
    temp = tempFolder();
    copyFileSync(fixtureV3, storeFiles(temp.path).main);
  });
  afterEach(() => temp.remove());

  const answered = { entry: 'e2', provider: 'anthropic', model: 'claude-sonnet-4-5', output: 5, cacheRead: 30_000, cacheWrite: 1_000 };
  const turn = { ...answered, kind: 'turn' as const, input: 12, cost: 0.0125, at: 1_763_800_001_000 };
  const summary = { ...turn, kind: 'compaction' as const, cost: null, at: 1_763_800_002_000, estimated: true as const };

  it('becomes the newest with its usage as it was, and tells from then on what is kept for an hour', async () => {
    const host = await openHost(temp.path);
    const requests = () => host.call('usageRecords', ['s-a']);
    assert.deepEqual(await requests(), [turn, summary]);
    const hour = { ...turn, at: 1_763_800_003_000, cacheWriteHour: 600 };
    await host.call('append', ['s-a', { entries: [], usage: [hour] }]);
    assert.deepEqual(await requests(), [turn, summary, hour]);
    assert.deepEqual(
      (await host.call('usageTotals', [{}])).map(({ requests: count, cacheWrite, cost }) => [count, cacheWrite, cost]),
      [[3, 3_000, 0.025]],
    );
    await host.close();
    assert.equal(readFileSync(`${storeFiles(temp.path).main}.v3.bak`).readUInt32BE(userVersionAt), 3);
  });

  it('is read as it is by a reader', async () => {
    const reader = await openHost(temp.path, { readonly: true });
    assert.deepEqual(await reader.call('usageRecords', ['s-a']), [turn, summary]);
    assert.equal((await reader.call('usageTotals', [{}]))[0]?.cacheWrite, 2_000);
    await reader.close();
    assert.deepEqual(readFileSync(storeFiles(temp.path).main), readFileSync(fixtureV3));
  });
});

describe('store: a file of version 4', () => {
  it('finds everything as it is opened, and by the new index once that is made', async () => {
    const temp = tempFolder();
    copyFileSync(fixtureV4, storeFiles(temp.path).main);
    const store = await SearchStore.open(temp.path);
    try {
      assert.equal(schemaVersion(store.database.connection), newestVersion());
      assert.equal(readFileSync(`${storeFiles(temp.path).main}.v4.bak`).readUInt32BE(userVersionAt), 4);
      const finds = () => ['quince', 'needle', '東京', 'E_CONN_4711', '8007'].map((text) => store.texts(text).slice(0, 2).join('\n'));
      assert.equal(store.core.index.indexedThrough, 0);
      const before = finds();
      for (const [i, word] of ['quince', 'needle', '東京', 'E_CONN_4711', '8007'].entries()) assert.ok(before[i]?.includes(word), word);
      store.index();
      assert.equal(store.core.index.pending, 0);
      assert.deepEqual(finds(), before);
      assert.deepEqual(store.database.connection.all('SELECT session, passages FROM passage_sessions ORDER BY number'), [
        { session: 's-a', passages: 6 },
        { session: 's-b', passages: 2 },
      ]);
    } finally {
      store.database.close();
      temp.remove();
    }
  });

  it('is searched by a reader that must not change it', async () => {
    const temp = tempFolder();
    copyFileSync(fixtureV4, storeFiles(temp.path).main);
    const reader = await openHost(temp.path, { readonly: true });
    const { hits, complete } = await reader.call('search', [{ text: 'quince jam', limit: 1 }]);
    assert.deepEqual([hits.length, complete], [1, true]);
    await reader.close();
    assert.deepEqual(readFileSync(storeFiles(temp.path).main), readFileSync(fixtureV4));
    temp.remove();
  });
});

describe('store: a file of version 5', () => {
  it('keeps its index, and has room for vectors', async () => {
    const temp = tempFolder();
    copyFileSync(fixtureV5, storeFiles(temp.path).main);
    const store = await SearchStore.open(temp.path);
    try {
      assert.equal(schemaVersion(store.database.connection), newestVersion());
      assert.equal(readFileSync(`${storeFiles(temp.path).main}.v5.bak`).readUInt32BE(userVersionAt), 5);
      assert.equal(store.core.index.pending, 0);
      assert.ok(store.texts('quince jam').some((text) => text.includes('quince')));
      const { passages, more } = store.core.unembedded('1 ollama/embed', 100);
      // Two of the eight passages have the same text.
      assert.deepEqual([passages.length, more], [7, true]);
      store.core.saveVectors('1 ollama/embed', [{ hash: passages[0]!.hash, vector: [1, 2] }]);
      assert.equal(store.core.vectorStatus().bytes, 2);
    } finally {
      store.database.close();
      temp.remove();
    }
  });

  it('is searched by a reader that must not change it, by words whatever it is asked', async () => {
    const temp = tempFolder();
    copyFileSync(fixtureV5, storeFiles(temp.path).main);
    const reader = await openHost(temp.path, { readonly: true });
    const near = { space: '1 ollama/embed', vector: [1, 2] };
    const { hits } = await reader.call('search', [{ text: 'quince jam', limit: 1, near }]);
    assert.deepEqual([hits.length, hits[0]?.meant], [1, undefined]);
    assert.deepEqual(await reader.call('vectorStatus', []), { space: null, embedded: 0, passages: 0, bytes: 0, full: false });
    await reader.close();
    assert.deepEqual(readFileSync(storeFiles(temp.path).main), readFileSync(fixtureV5));
    temp.remove();
  });
});

describe('store: a file of version 6', () => {
  it('notes nothing of what is said, until all that it holds is to be synchronised', async () => {
    const temp = tempFolder();
    copyFileSync(fixtureV6, storeFiles(temp.path).main);
    const store = await openHost(temp.path);
    const setup = { history: 'h', name: 'main', engine: 'memory' };
    assert.equal(readFileSync(`${storeFiles(temp.path).main}.v6.bak`).readUInt32BE(userVersionAt), 6);
    await store.call('updateSession', ['s-a', { title: 'Quince' }]);
    assert.deepEqual([await store.call('syncSetup', []), (await store.call('syncPending', [10])).receipt], [null, null]);
    await store.call('startSync', ['device', setup]);
    const { changes } = await store.call('syncPending', [100]);
    assert.deepEqual(
      [await store.call('syncSetup', []), changes.map((change) => [change.kind, change.session])],
      [
        setup,
        [
          ['session', 's-b'],
          ['session', 's-a'],
          ['entries', 's-a'],
          ['entries', 's-b'],
          ['registers', 's-b'],
          ['registers', 's-a'],
        ],
      ],
    );
    await store.close();
    temp.remove();
  });
});

describe('store: a file of version 7', () => {
  it('goes on synchronising, and has room for notes', async () => {
    const temp = tempFolder();
    copyFileSync(fixtureV7, storeFiles(temp.path).main);
    const store = await openHost(temp.path);
    await store.call('updateSession', ['s-a', { title: 'Quince' }]);
    await store.call('syncNoteWritten', ['plan.md', 'one\n']);
    const { changes } = await store.call('syncPending', [100]);
    assert.deepEqual(
      [await store.call('syncNoteText', ['plan.md']), changes.map((change) => [change.kind, change.session])],
      [
        'one\n',
        [
          ['registers', 's-a'],
          ['note', ''],
        ],
      ],
    );
    assert.deepEqual(await store.call('listSessions', [{ alias: 'nothing' }]), []);
    await store.close();
    temp.remove();
  });

  it('is read as it is by a reader', async () => {
    const temp = tempFolder();
    copyFileSync(fixtureV7, storeFiles(temp.path).main);
    const reader = await openHost(temp.path, { readonly: true });
    assert.deepEqual((await reader.call('listSessions', [{ text: '_001' }])).length > 0, true);
    assert.deepEqual(await reader.call('listSessions', [{ alias: '20260101_001' }]), []);
    await reader.close();
    assert.deepEqual(readFileSync(storeFiles(temp.path).main), readFileSync(fixtureV7));
    temp.remove();
  });
});

describe('store: a file of version 8', () => {
  const pageOf = async (folder: string, readonly: boolean) => {
    const store = await openHost(folder, { readonly });
    const { forks } = await store.call('page', ['s-b', { limit: 50 }]);
    await store.close();
    return forks.map(({ entry, branches }) => [entry, branches]);
  };
  const forks = [['second-root', ['01930000-0000-7000-8000-000000000009', 'second-root']]];

  it('finds where its branches begin by an index of their own, and is read without one by a reader', async () => {
    const temp = tempFolder();
    copyFileSync(fixtureV8, storeFiles(temp.path).main);
    assert.deepEqual(await pageOf(temp.path, true), forks);
    assert.deepEqual(readFileSync(storeFiles(temp.path).main), readFileSync(fixtureV8));
    assert.deepEqual(await pageOf(temp.path, false), forks);
    assert.equal(readFileSync(`${storeFiles(temp.path).main}.v8.bak`).readUInt32BE(userVersionAt), 8);
    temp.remove();
  });
});

describe('store: a file of version 9', () => {
  it('tells keys of sessions too, and has room for attachments', async () => {
    const temp = tempFolder();
    copyFileSync(fixtureV9, storeFiles(temp.path).main);
    const store = await openHost(temp.path);
    await store.call('updateSession', ['s-a', { key: 'cli:quince' }]);
    const hash = await store.call('putBlob', [Buffer.from('picture'), 'image/png']);
    const attachments = [{ kind: 'image' as const, name: 'a.png', hash, mime: 'image/png' }];
    const entry = { uuid: 'attached', session: 's-a', parent: null, createdAt: 1, modelFacing: true, display: true, tokenEstimate: null };
    await store.call('append', ['s-a', { entries: [{ ...entry, content: { type: 'message', role: 'user', text: 'See', attachments } }] }]);
    const { changes, receipt } = await store.call('syncPending', [100]);
    assert.deepEqual(
      [
        changes.flatMap((change) =>
          change.kind === 'registers' && change.session === 's-a' ? change.values.map(({ name }) => name).sort() : [],
        ),
        receipt?.attachments,
      ],
      [['key', 'leaf'], [{ session: 's-a', hash, mime: 'image/png', at: 1, pieces: 1, state: 'unsent' }]],
    );
    await store.close();
    temp.remove();
  });
});

describe('store: a file of version 10', () => {
  it('has keys by their sessions, and goes on synchronizing', async () => {
    const temp = tempFolder();
    copyFileSync(fixtureV10, storeFiles(temp.path).main);
    const store = await openHost(temp.path);
    const { device } = await store.call('syncHeld', []);
    const key = { id: 'k', session: 's-a', wrapped: new Uint8Array([1, 2, 3]) };
    await store.call('syncWrite', [[], [key], null]);
    const { keysToPush } = await store.call('syncHeld', []);
    const found = await store.call('syncKeys', [{ sessions: ['s-a', 'nobody'] }]);
    assert.deepEqual([typeof device, keysToPush, found, await store.call('syncKeys', [{ ids: ['l'] }])], ['string', [key], [key], []]);
    await store.close();
    temp.remove();
  });
});

function stored(version: string): string {
  return join(projectRoot, 'test', 'fixtures', 'stores', `${version}.db`);
}
