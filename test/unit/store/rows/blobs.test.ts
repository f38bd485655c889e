import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NewEntry, StoredEntry } from '../../../../src/core/session/entry';
import { StoreError } from '../../../../src/core/errors';
import { BlobFiles } from '../../../../src/node/store/rows/blobFiles';
import { Connection } from '../../../../src/node/store/database/connection';
import { longPartBytes } from '../../../../src/node/store/rows/entryCodec';
import { migrate } from '../../../../src/node/store/database/migrations';
import { openStore } from '../../../../src/node/store/client/openStore';
import { rebuildStore } from '../../../../src/node/store/repair/rebuildStore';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import { openOperations } from '../../../../src/node/store/owner/storeOperations';
import { SearchStore } from '../../../support/store/searchStore';
import { FaultyFs } from '../../../support/store/storeFaults';
import { openHost, tempFolder, testUuid, userMessage, wasmFile, workerFile, type TempFolder } from '../../../support/store/storeTemp';

describe('store: long texts and attachments', () => {
  let temp: TempFolder;
  let store: SearchStore;
  beforeEach(async () => {
    temp = tempFolder();
    store = await SearchStore.open(temp.path);
    store.session('s');
  });
  afterEach(() => {
    store.database.close();
    temp.remove();
  });

  const long = (seed: string, length = 1_000_000) => `${seed} `.repeat(Math.ceil(length / (seed.length + 1))).slice(0, length);
  const result = (text: string): NewEntry =>
    userMessage('s', null, '', { content: { type: 'tool_result', callId: testUuid(), name: 'run', text, status: 'ok' } });
  const append = (...entries: NewEntry[]) => store.core.append('s', { entries });
  const rowOf = (entry: StoredEntry) =>
    store.database.connection.get('SELECT b.*, e.tool_args_json FROM bodies b JOIN entries e ON e.seq = b.entry WHERE b.entry = ?', [
      entry.seq,
    ])!;
  const files = () => listFiles(join(temp.path, 'blobs'));

  it('returns every kind of long content exactly as it came', () => {
    const hostile = [
      long('日本語 👩‍👩‍👧'),
      `\0${long('nul')}`,
      `${long('half')}\ud800`,
      `\ufeff${long('mark')}`,
      '👩'.repeat(40_000),
      `x${'👩'.repeat(40_000)}`,
      long('"\\\u2028'),
    ];
    const contents: NewEntry['content'][] = [
      ...hostile.map((text): NewEntry['content'] => ({
        type: 'message',
        role: 'user',
        text,
        attachments: [{ kind: 'file', name: 'a', hash: 'h', mime: 'm' }],
      })),
      { type: 'tool_call', callId: 'c', name: 'write', input: { path: 'a', text: hostile[1], half: '\ud800' } },
      { type: 'custom', customType: 'error', data: { rows: hostile } },
      { type: 'thinking', text: hostile[0]!, signature: 's' },
    ];
    const entries = contents.map((content) => userMessage('s', null, '', { content }));
    const stored = append(...entries);
    const read = store.core.entries(entries.map(({ uuid }) => uuid));
    assert.deepEqual(read, stored);
    assert.deepEqual(
      read.map(({ seq: _, ...entry }) => entry),
      entries,
    );
    assert.deepEqual(append(...entries), stored, 'the same again');
    for (const entry of stored) {
      const row = rowOf(entry);
      assert.equal(typeof row['blob_hash'], 'string');
      assert.ok(JSON.stringify(row).length < 60_000 * (row['text'] instanceof Uint8Array ? 3 : 1));
    }
    assert.throws(
      () => append({ ...entries[0]!, content: { ...contents[0]!, text: `${hostile[0]}!` } as NewEntry['content'] }),
      isStoreError('invalid'),
    );
  });

  it('keeps both ends in the row, says where the rest is, and leaves shorter texts in it', () => {
    const [whole, longer] = append(result('x'.repeat(longPartBytes - 1)), result(`begin ${'y'.repeat(longPartBytes)} end`));
    assert.deepEqual([rowOf(whole!)['blob_hash'], String(rowOf(whole!)['text']).length], [null, longPartBytes - 1]);
    const { text, blob_hash: hash } = rowOf(longer!);
    assert.match(
      String(text),
      new RegExp(`^begin y+\\n\\[… \\d+ characters; the whole is in blobs/${String(hash).slice(0, 2)}/${String(hash)} …\\]\\ny+ end$`),
    );
    assert.deepEqual(store.database.connection.all('SELECT * FROM blobs'), [{ hash, bytes: longPartBytes + 10, mime: 'text/plain' }]);
  });

  it('stores the same 1 MB tool output 50 times as one file', () => {
    const text = long('the same output');
    for (let i = 0; i < 50; i++) append(result(text));
    assert.deepEqual(
      files().map((file) => statSync(file).size),
      [1_000_000],
    );
    assert.ok(statSync(join(temp.path, 'threadkeeper.db')).size + statSync(join(temp.path, 'threadkeeper.db.live')).size < 4_000_000);
    assert.deepEqual(store.database.connection.get('SELECT count(*) AS n, count(DISTINCT blob_hash) AS hashes FROM bodies'), {
      n: 50,
      hashes: 1,
    });
  });

  it('finds a word in the middle of a long text, before and after it is indexed', () => {
    append(result(`${long('filler', 500_000)} marmalade ${long('filler', 500_000)}`));
    assert.ok(store.texts('marmalade')[0]?.includes('marmalade'));
    store.index();
    assert.equal(store.core.index.pending, 0);
    assert.ok(store.texts('marmalade')[0]?.includes('marmalade'));
  });

  it('marks an entry whose file is missing or changed, shows what the row has, and takes the text again', () => {
    const text = long('precious');
    const entry = result(text);
    const [stored] = append(entry);
    const [file] = files();
    const damaged = () => {
      const { entries } = store.core.page('s', { limit: 5 });
      assert.deepEqual(
        entries.map(({ uuid, modelFacing, display }) => [uuid, modelFacing, display]),
        [[entry.uuid, false, true]],
      );
      const { content } = entries[0]!;
      assert.ok(content.type === 'custom' && content.customType === 'damaged');
      const data = content.data as { entryType: string; text: string };
      assert.equal(data.entryType, 'tool_result');
      assert.ok(data.text.startsWith('precious precious') && data.text.length < 10_000);
    };
    const bytes = readFileSync(file!);
    bytes[500_000]! ^= 1;
    writeFileSync(file!, bytes);
    damaged();
    rmSync(file!);
    damaged();
    assert.deepEqual(
      append(entry).map(({ uuid }) => uuid),
      [entry.uuid],
      'a repeated append is no conflict',
    );
    append(result(text));
    assert.deepEqual(store.core.entries([entry.uuid]), [stored], 'the same text, stored again, mends it');
    writeFileSync(file!, bytes);
    append(result(text));
    assert.deepEqual(store.core.entries([entry.uuid]), [stored]);
  });

  it('writes nothing when the disk is full, and everything when it no longer is', () => {
    let isFull = true;
    const disk = new FaultyFs();
    disk.halfWrites = true;
    disk.fault = (call) => (call === 'write' && isFull ? 'ENOSPC' : undefined);
    const core = openOperations(store.database.connection, temp.path, 'owner', new BlobFiles(temp.path, disk.fs));
    const entry = result(long('too much'));
    const before = userMessage('s', null, 'in the same batch');
    assert.throws(() => core.append('s', { entries: [before, entry] }), isStoreError('disk_full', /blobs/));
    assert.throws(() => core.putBlob(new Uint8Array(10), 'a/b'), isStoreError('disk_full'));
    assert.deepEqual(
      {
        entries: core.entries([before.uuid, entry.uuid]),
        files: files(),
        connection: store.database.connection.all('SELECT * FROM blobs'),
      },
      { entries: [], files: [], connection: [] },
    );
    isFull = false;
    assert.deepEqual(
      core.append('s', { entries: [before, entry] }).map(({ uuid }) => uuid),
      [before.uuid, entry.uuid],
    );
    assert.deepEqual(
      readdirSync(temp.path).filter((name) => name.includes('.tmp')),
      [],
    );
  });

  it('leaves nothing under the name when a write ends half-way', () => {
    rmSync(join(temp.path, 'blobs'), { recursive: true, force: true });
    writeFileSync(join(temp.path, 'blobs'), 'a file where the folder should be');
    assert.throws(() => append(result(long('x'))), StoreError);
    rmSync(join(temp.path, 'blobs'));
    assert.equal(append(result(long('x'))).length, 1);
  });

  it('is carried over by a rebuild: sound entries whole, damaged ones with the name of their file', async () => {
    const { connection } = store.database;
    const [sound, broken] = append(result(long('sound')), result(long('broken')));
    connection.exec('DROP TRIGGER bodies_keep_content');
    connection.run("UPDATE bodies SET text = text || '!' WHERE entry = ?", [broken!.seq]);
    const target = new Connection((await loadSqlite(wasmFile)).openMemory(), { file: 'rebuilt', beforeCommit: () => undefined });
    migrate(target, () => undefined);
    assert.deepEqual(rebuildStore(connection, target), {
      sessions: 1,
      entries: 2,
      damaged: 1,
      damagedIn: [store.core.session('s')!.id],
      lost: [],
    });
    const rebuilt = openOperations(target, temp.path, 'owner');
    assert.deepEqual(rebuilt.entries([sound!.uuid]), [sound]);
    const named = 'SELECT entry, blob_hash FROM bodies ORDER BY entry';
    assert.deepEqual(target.all(named), connection.all(named));
    assert.deepEqual(target.all('SELECT * FROM blobs'), connection.all('SELECT * FROM blobs'));
    const [marked] = rebuilt.entries([broken!.uuid]);
    assert.ok(marked?.content.type === 'custom' && marked.content.customType === 'damaged');
    assert.equal((marked.content.data as { text: string }).text, long('broken'), 'the file still has it');
    target.close();
  });

  it('reaches readers of a copy, and crosses the worker', async () => {
    const [stored] = append(result(long('shared')));
    const reader = await openHost(temp.path, { readonly: true });
    assert.deepEqual(await reader.call('entries', [[stored!.uuid]]), [stored]);
    await reader.close();

    const client = await openStore({ folder: join(temp.path, 'other'), workerFile, label: 'test', waitForOwnerMs: 0 });
    for (const length of [0, 10, 5_000, 3_000_000]) {
      const bytes = new Uint8Array(length).map((_, i) => i % 251);
      const hash = await client.putBlob(bytes, 'image/png');
      assert.equal(hash, createHash('sha256').update(bytes).digest('hex'));
      assert.equal(await client.putBlob(bytes, 'image/png'), hash);
      for (let i = 0; i < 2; i++) assert.deepEqual(await client.blob(hash), bytes);
    }
    assert.equal(await client.blob('0'.repeat(64)), undefined);
    assert.equal(await client.blob('../../threadkeeper.db'), undefined);
    assert.equal(listFiles(join(temp.path, 'other', 'blobs')).length, 4);
    await client.close();
  });
});

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name));
  } catch {
    return [];
  }
}

function isStoreError(reason: StoreError['reason'], message = /./): (error: unknown) => boolean {
  return (error) => StoreError.is(error) && error.reason === reason && message.test(error.message);
}
