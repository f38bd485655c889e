import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newestVersion, schemaVersion } from '../../../src/node/store/migrations';
import { storeFiles } from '../../../src/node/store/storeFiles';
import { projectRoot } from '../../support/paths';
import { SearchStore } from '../../support/searchStore';
import { openHost, tempFolder, type TempFolder } from '../../support/storeTemp';

/** Made by the program when it knew no later version: two sessions, six entries, a draft. */
const fixture = join(projectRoot, 'test', 'fixtures', 'stores', 'v1.db');
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
    assert.deepEqual(store.database.connection.all(entries).map((row) => row['entry_type']), ['message', 'message', 'tool_call', 'tool_result', 'message', 'message']);
    assert.equal(store.core.draft('s-b')?.text, 'a draft');
    const finds = () => [store.texts('marmalade')[0], store.texts('DEJA VU')[0], store.texts('東京')[0], store.texts('run test')[0]];
    const expected = ['The password hint is marmalade, kept in src/config/hints.ts.', 'Noted: the naïve café déjà vu.', '会議は東京駅の近くで開かれます。', 'half \ud83d and \0 nul, running tests'];
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
