import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { StoreError } from '../../../../src/core/errors';
import type { StoreStatus } from '../../../../src/core/ports';
import { Connection } from '../../../../src/node/store/database/connection';
import { undoJournal } from '../../../../src/node/store/database/logDamage';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import type { Sqlite } from '../../../../src/node/store/wasm/sqlite';
import { newPageSize, storeFiles, type StoreFiles } from '../../../../src/node/store/database/storeFiles';
import type { StoreSupervisor } from '../../../../src/node/store/owner/storeSupervisor';
import { FaultyFs } from '../../../support/store/storeFaults';
import { alteredSample, layStoreSample, makeStoreSample, sampleTexts, type StoreSample } from '../../../support/store/storeSample';
import { openHost, tempFolder, type TempFolder, userMessage, wasmFile } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

/** Rungs of the ladder that recovery.test.ts does not stand on. */
describe('store: recovery ladder', function () {
  this.timeout(60_000);
  const faulty = new FaultyFs();
  const hosts: StoreSupervisor[] = [];
  let sqlite: Sqlite;
  let closed: StoreSample;
  let temp: TempFolder;
  let files: StoreFiles;

  before(async () => {
    sqlite = await loadSqlite(wasmFile, faulty.fs);
    closed = makeStoreSample(sqlite, 'close');
  });
  beforeEach(() => {
    temp = tempFolder();
    files = storeFiles(temp.path);
  });
  afterEach(async () => {
    faulty.heal();
    for (const host of hosts.splice(0)) await host.close();
    temp.remove();
  });

  const open = async (...options: Parameters<typeof openHost> extends [string, ...infer Rest] ? Rest : never) => {
    const host = await openHost(temp.path, ...options);
    hosts.push(host);
    return host;
  };
  const texts = async (host: StoreSupervisor) =>
    (await host.call('entriesBySeq', [Array.from({ length: 1000 }, (_, i) => 1000 - i)]))
      .flatMap(({ content }) => (content.type === 'message' ? content.text : []))
      .reverse();
  const say = async (host: StoreSupervisor, text: string) => {
    const { uuid, leaf } = (await host.call('listSessions', []))[0]!;
    return host.call('append', [uuid, { entries: [userMessage(uuid, leaf, text)] }]);
  };
  const rootOf = (name: string) => {
    const database = sqlite.openMemory(new Uint8Array(closed.main));
    const root = Number(database.exec(`SELECT rootpage FROM sqlite_master WHERE name = '${name}'`)[0]?.values[0]?.[0]);
    database.close();
    return root;
  };

  it('reads on while the disk is full, and writes again once there is room', async () => {
    layStoreSample(temp.path, closed);
    const seen: StoreStatus[] = [];
    faulty.failFrom(1, 'ENOSPC', ['write']);
    const host = await open({}, (status) => seen.push(status));
    assert.deepEqual([host.status.access, host.status.note?.reason], ['readonly', 'disk_full']);
    assert.deepEqual(await texts(host), sampleTexts);
    await assert.rejects(say(host, 'no room'), hasReason('disk_full'));
    await assert.rejects(say(host, 'still none'), hasReason('disk_full'));
    assert.deepEqual(await texts(host), sampleTexts);
    faulty.heal();
    await host.refresh();
    assert.deepEqual(
      { statusAccess: host.status.access, note: host.status.note, lastSeenAccess: seen.at(-1)?.access },
      { statusAccess: 'owner', note: null, lastSeenAccess: 'owner' },
    );
    await say(host, 'room again');
    assert.equal((await texts(host)).at(-1), 'room again');
  });

  it('writes again after a refused write, too', async () => {
    layStoreSample(temp.path, closed);
    faulty.failFrom(1, 'ENOSPC', ['write']);
    const host = await open();
    faulty.heal();
    await assert.rejects(say(host, 'too early'), hasReason('disk_full'));
    await say(host, 'now');
    assert.deepEqual([host.status.access, (await texts(host)).at(-1)], ['owner', 'now']);
  });

  it('does not take a full disk for an empty history', async () => {
    faulty.failFrom(1, 'ENOSPC', ['write']);
    await assert.rejects(open(), hasReason('disk_full'));
    assert.deepEqual(readdirSync(temp.path), []);
  });

  for (const table of ['sessions', 'entries', 'bodies']) {
    it(`brings every text over when the page is lost that leads to all ${table}`, async () => {
      const root = rootOf(table);
      for (const value of [0, 0xa5]) {
        layStoreSample(temp.path, closed, { main: Buffer.from(closed.main).fill(value, (root - 1) * newPageSize, root * newPageSize) });
        const host = await open({ repair: true });
        const found = new Set(await texts(host));
        assert.deepEqual(
          sampleTexts.filter((text) => !found.has(text)),
          [],
          `${table} of ${value}`,
        );
        assert.equal(host.status.note?.reason, 'recovered');
        const titles = (await host.call('listSessions', [])).map(({ title }) => title).sort();
        // Two sessions fit on one page: what was on it is lost, and said to be.
        if (table !== 'sessions') assert.deepEqual(titles, ['Ports and adapters', 'b']);
        // By what they begin with.
        else
          assert.deepEqual(titles, [
            'message 0: word word word word word word word word word…',
            'message 1: word word word word word word word word word…',
          ]);
        if (table === 'sessions') assert.match(host.status.note.detail, /titles and settings of 2 sessions/);
        await host.close();
      }
    });
  }

  it('keeps texts whose entries are lost as one conversation, in their order', async () => {
    layStoreSample(temp.path, closed, { main: alteredSample(sqlite, closed, 'DELETE FROM entries') });
    const host = await open({ repair: true });
    const found = (await host.call('listSessions', [])).find(({ key }) => key?.startsWith('recovered:'));
    assert.match(host.status.note?.detail ?? '', /kept in a session of their own/);
    const { entries } = await host.call('liveBranch', [found!.uuid]);
    assert.deepEqual(
      entries.flatMap(({ content }) => (content.type === 'message' ? content.text : [])),
      sampleTexts,
    );
    assert.deepEqual(
      entries.map(({ parent }) => parent),
      [null, ...entries.slice(0, -1).map(({ uuid }) => uuid)],
    );
  });

  it('loses nothing to flipped bytes in an index or in a page that is not in use', async () => {
    for (const index of ['entries_by_session', 'entries_by_parent', 'sqlite_autoindex_entries_1']) {
      const root = rootOf(index);
      layStoreSample(temp.path, closed, { main: Buffer.from(closed.main).fill(0xff, (root - 1) * newPageSize, root * newPageSize) });
      const host = await open({ repair: true });
      assert.deepEqual(await texts(host), sampleTexts, index);
      await host.close();
    }
    const main = alteredSample(sqlite, closed, 'CREATE TABLE gone AS SELECT * FROM bodies; DROP TABLE gone');
    const trunk = main.readUInt32BE(32);
    assert.ok(trunk > 0);
    layStoreSample(temp.path, closed, { main: main.fill(0xff, (trunk - 1) * newPageSize, trunk * newPageSize) });
    assert.deepEqual(await texts(await open({ repair: true })), sampleTexts);
  });

  it('undoes a transaction that was never finished before it salvages', () => {
    // A real journal: of a large update that was spilled to the file and then cut off.
    const copy = `${files.main}.copy`;
    const { database, binding } = sqlite.openFiles(files);
    const connection = new Connection(database, { file: files.main, beforeCommit: () => undefined });
    connection.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 2048; PRAGMA journal_mode = DELETE; PRAGMA cache_size = 5; CREATE TABLE t(a, b)',
    );
    for (let i = 0; i < 60; i++) connection.run('INSERT INTO t VALUES (?, ?)', [i, 'x'.repeat(500)]);
    const before = readFileSync(files.main);
    connection.exec("BEGIN; UPDATE t SET b = replace(b, 'x', 'y'); INSERT INTO t SELECT a + 1000, b FROM t");
    copyFileSync(files.main, copy);
    copyFileSync(files.journal, `${copy}.undo`);
    connection.exec('ROLLBACK');
    connection.close();
    sqlite.release(binding);
    assert.notDeepEqual(readFileSync(copy).subarray(0, before.length), before);
    const undone = Buffer.from(undoJournal(readFileSync(copy), `${copy}.undo`, 2048));
    // What the transaction had changed and spilled is as it was; what it never touched is, too.
    assert.deepEqual(undone.subarray(0, before.length), before);
  });

  it('finds damage that opening does not see, while nobody asks for anything, and says so', async () => {
    const main = alteredSample(sqlite, closed, "UPDATE bodies SET text = 'changed' WHERE entry IN (5, 9)");
    layStoreSample(temp.path, closed, { main });
    const seen: StoreStatus[] = [];
    const elsewhere: StoreStatus[] = [];
    const host = await open({ verifyPace: { idleMs: 300, gapMs: 1, stepMs: 1 } }, (status) => seen.push(status));
    const atFirst = host.status;
    // The check begins when nobody has asked for anything in a while, and is to be over after the other window has come.
    const asking = setInterval(() => void host.call('listSessions', []), 50);
    const guest = await openHost(temp.path, { waitForOwnerMs: 2_000 }, (status) => elsewhere.push(status));
    clearInterval(asking);
    await waitFor('the check, in both windows', () => seen.length > 0 && elsewhere.length > 0);
    assert.deepEqual([elsewhere, guest.status], [[guest.status], { ...host.status, access: 'shared' }]);
    await guest.close();
    const { access, note } = host.status;
    assert.deepEqual({ note: atFirst.note, access, reason: note?.reason }, { note: null, access: 'owner', reason: 'damage_found' });
    assert.match(
      note?.detail ?? '',
      /^2 entries do not say what was written; the newest is entry #9 of session \d{8}_001 “Ports and adapters”\.$/,
    );
    await say(host, 'goes on');
    await host.close();
    const repaired = await open({ repair: true, verifyPace: { idleMs: 1, gapMs: 1, stepMs: 1 } });
    assert.match(repaired.status.note?.detail ?? '', /the content of 2 entries/);
  });

  it('keeps what a restore put aside out of the way of the next recovery', async () => {
    mkdirSync(temp.path, { recursive: true });
    layStoreSample(temp.path, closed);
    writeFileSync(`${files.main}.replaced-20260101T000000Z`, 'kept');
    await (await open({ repair: true })).close();
    assert.equal(readFileSync(`${files.main}.replaced-20260101T000000Z`, 'utf8'), 'kept');
    rmSync(`${files.main}.replaced-20260101T000000Z`);
    assert.equal(existsSync(files.main), true);
  });
});

function hasReason(reason: StoreError['reason']): (error: unknown) => boolean {
  return (error) => StoreError.is(error) && error.reason === reason;
}
