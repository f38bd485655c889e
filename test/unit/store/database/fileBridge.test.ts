import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../../../src/core/errors';
import type { DatabaseFiles } from '../../../../src/node/store/wasm/fileBridge';
import { selfTest, selfTestOnce } from '../../../../src/node/store/wasm/selfTest';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import type { Sqlite } from '../../../../src/node/store/wasm/sqlite';
import { openForWriting } from '../../../../src/node/store/database/storeDatabase';
import { storeFiles } from '../../../../src/node/store/database/storeFiles';
import { FaultyFs } from '../../../support/store/storeFaults';
import { openHost, tempFolder, testUuid, userMessage, wasmFile } from '../../../support/store/storeTemp';

describe('store: SQLite on real files', () => {
  const temp = tempFolder();
  const faulty = new FaultyFs();
  let sqlite: Sqlite;

  before(async () => {
    sqlite = await loadSqlite(wasmFile, faulty.fs);
  });
  afterEach(() => faulty.heal());
  after(() => temp.remove());

  const filesOf = (name: string): DatabaseFiles => {
    const main = join(temp.path, name);
    return { main, wal: `${main}.live`, journal: `${main}.undo` };
  };
  const open = (files: DatabaseFiles) => {
    const { database, binding } = sqlite.openFiles(files);
    database.run('PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 512;');
    return { database, binding };
  };
  /** Ends as a killed process would: nothing is written any more. */
  const kill = ({ database, binding }: ReturnType<typeof open>) => {
    binding.revoked = true;
    try {
      database.close();
    } catch {
      // It could not checkpoint.
    }
    sqlite.release(binding);
  };

  it('is served by the proven wasm file and passes its self-test', () => {
    assert.equal(sqlite.unbridged, null);
    assert.equal(selfTest(sqlite, temp.path), null);
    assert.deepEqual(readdirSync(temp.path), []);
  });

  it('notices in the self-test when the disk does not do what it is told', () => {
    const write = faulty.fs.writeSync;
    // Pretends to write: what a wrong import mapping would look like.
    Object.assign(faulty.fs, { writeSync: (_fd: number, _bytes: Uint8Array, _offset: number, length: number) => length });
    try {
      assert.notEqual(selfTest(sqlite, temp.path), null);
    } finally {
      Object.assign(faulty.fs, { writeSync: write });
    }
    faulty.failFrom(3, 'ENOSPC', ['write']);
    assert.throws(() => selfTest(sqlite, temp.path), hasReason('disk_full'));
    faulty.failFrom(1, 'EROFS', ['open']);
    assert.throws(() => selfTest(sqlite, temp.path), hasReason('permission'));
    assert.deepEqual(readdirSync(temp.path), []);
  });

  it('repeats the self-test where anything differs from when it was passed, and only there', () => {
    const write = faulty.fs.writeSync;
    const record = join(temp.path, 'selftest.json');
    assert.equal(selfTestOnce(sqlite, temp.path), null);
    const passed = readFileSync(record, 'utf8');
    Object.assign(faulty.fs, { writeSync: (_fd: number, _bytes: Uint8Array, _offset: number, length: number) => length });
    try {
      assert.equal(selfTestOnce(sqlite, temp.path), null);
      for (const other of [passed.replace('"node":"', '"node":"9'), passed.slice(0, -1), '']) {
        writeFileSync(record, other);
        assert.notEqual(selfTestOnce(sqlite, temp.path), null);
        assert.equal(readFileSync(record, 'utf8'), other);
      }
    } finally {
      Object.assign(faulty.fs, { writeSync: write });
      rmSync(record);
    }
  });

  it('leads to a slower store that says so when the self-test fails', async () => {
    const folder = tempFolder();
    const write = faulty.fs.writeSync;
    Object.assign(faulty.fs, { writeSync: (_fd: number, _bytes: Uint8Array, _offset: number, length: number) => length });
    try {
      const host = await openHost(folder.path, { fs: faulty.fs });
      assert.deepEqual(
        { access: host.status.access, durability: host.status.durability, reason: host.status.note?.reason },
        { access: 'owner', durability: 'export', reason: 'self_test_failed' },
      );
      const session = (await host.call('createSession', [{ uuid: testUuid(), channel: 'cli', createdAt: 1 }])).uuid;
      const entry = userMessage(session, null, 'kept all the same');
      await host.call('append', [session, { entries: [entry] }]);
      await host.close();
      const again = await openHost(folder.path, { fs: faulty.fs });
      assert.deepEqual(
        (await again.call('entries', [[entry.uuid]])).map(({ content }) => content),
        [entry.content],
      );
      await again.close();
    } finally {
      Object.assign(faulty.fs, { writeSync: write });
      folder.remove();
    }
  });

  it('keeps the log under a name that no other program looks for', () => {
    const files = filesOf('names.db');
    const opened = open(files);
    opened.database.run('PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1);');
    assert.ok(statSync(files.wal).size > 0);
    assert.equal(existsSync(`${files.main}-wal`), false);
    assert.equal(existsSync(`${files.main}-shm`), false);
    assert.equal(statSync(files.main).mode & 0o777, 0o600);
    opened.database.run('PRAGMA journal_mode = DELETE;');
    opened.database.close();
    sqlite.release(opened.binding);
    assert.deepEqual(readdirSync(temp.path), ['names.db']);
  });

  it('writes nothing once it is told that the files belong to another', () => {
    const files = filesOf('revoked.db');
    const opened = open(files);
    opened.database.run('PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1);');
    const before = [readFileSync(files.main), readFileSync(files.wal)];
    opened.binding.revoked = true;
    assert.throws(() => opened.database.run('INSERT INTO t VALUES (2)'));
    kill(opened);
    assert.deepEqual([readFileSync(files.main), readFileSync(files.wal)], before);
  });

  it('loses at most the last transaction to a log torn or damaged at any of its last bytes', function () {
    this.timeout(20_000);
    const files = filesOf('torn.db');
    const writer = open(files);
    writer.database.run('PRAGMA journal_mode = WAL; CREATE TABLE t(a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2);');
    const complete = statSync(files.wal).size;
    writer.database.run('INSERT INTO t VALUES (3)');
    const end = statSync(files.wal).size;
    assert.equal(end - complete, 536, 'one frame');

    const copy = filesOf('torn-copy.db');
    const wal = readFileSync(files.wal);
    const rows = (content: Uint8Array) => {
      copyFileSync(files.main, copy.main);
      writeFileSync(copy.wal, content);
      const reader = open(copy);
      const [result] = reader.database.exec('SELECT count(*) FROM t');
      kill(reader);
      return result?.values[0]?.[0];
    };
    for (let length = complete; length < end; length++) assert.equal(rows(wal.subarray(0, length)), 2, `torn at ${length}`);
    assert.equal(rows(wal), 3);
    for (let at = complete; at < end; at += 9) {
      const damaged = Buffer.from(wal);
      damaged[at]! ^= 0x10;
      assert.equal(rows(damaged), 2, `damaged at ${at}`);
    }
    assert.equal(rows(Buffer.concat([wal, Buffer.alloc(600, 0xa5)])), 3, 'garbage behind it');
    kill(writer);
  });

  it('reports a full disk at any write, undoes that call and goes on when there is room again', async function () {
    this.timeout(20_000);
    const folder = tempFolder();
    const host = await openHost(folder.path, { fs: faulty.fs });
    const session = (await host.call('createSession', [{ uuid: testUuid(), channel: 'cli', createdAt: 1 }])).uuid;
    const append = (entries: readonly ReturnType<typeof userMessage>[]) => host.call('append', [session, { entries }]);
    const kept: string[] = [];
    let failures = 0;
    for (const halfWrites of [false, true]) {
      for (let n = 1; ; n++) {
        // Writes are gathered: these are a dozen for the system.
        const entries = Array.from({ length: 12 }, () => userMessage(session, kept.at(-1) ?? null, 'x'.repeat(60_000)));
        faulty.halfWrites = halfWrites;
        faulty.failFrom(n, 'ENOSPC', ['write', 'sync', 'truncate']);
        const outcome = await append(entries).then(
          () => 'stored',
          (error: unknown) => (hasReason('disk_full')(error) ? 'full' : error),
        );
        faulty.heal();
        if (outcome === 'stored') {
          kept.push(...entries.map(({ uuid }) => uuid));
          break;
        }
        assert.equal(outcome, 'full', `call ${n}`);
        failures++;
        assert.deepEqual(await host.call('entries', [entries.map(({ uuid }) => uuid)]), []);
        const next = userMessage(session, kept.at(-1) ?? null, 'fine');
        await append([next]);
        kept.push(next.uuid);
      }
    }
    assert.ok(failures > 20, `${failures} failures`);
    // As after a kill: what counts is what is on disk.
    const again = filesOf('full.db');
    copyFileSync(join(folder.path, 'threadkeeper.db'), again.main);
    copyFileSync(join(folder.path, 'threadkeeper.db.live'), again.wal);
    const reader = open(again);
    const [found] = reader.database.exec('SELECT count(*) FROM entries; PRAGMA integrity_check;');
    assert.deepEqual(found?.values, [[kept.length]]);
    kill(reader);
    await host.close();
    folder.remove();
  });

  it('survives a checkpoint that the disk has no room for', async () => {
    const folder = tempFolder();
    const host = await openHost(folder.path, { fs: faulty.fs });
    const session = (await host.call('createSession', [{ uuid: testUuid(), channel: 'cli', createdAt: 1 }])).uuid;
    faulty.fault = (call, path) => (call === 'write' && path.endsWith('.db') ? 'ENOSPC' : undefined);
    const big = userMessage(session, null, 'x'.repeat(6_000_000));
    const small = userMessage(session, big.uuid, 'small');
    await host.call('append', [session, { entries: [big] }]);
    await host.call('append', [session, { entries: [small] }]);
    faulty.heal();
    await host.close();
    const reopened = await openHost(folder.path, { fs: faulty.fs });
    assert.equal((await reopened.call('entries', [[big.uuid, small.uuid]])).length, 2);
    await reopened.close();
    folder.remove();
  });

  it('ends no transaction without the lease, and shows throughout that it works', () => {
    const folder = tempFolder();
    let [isLost, signs] = [false, 0];
    const verify = () => {
      if (isLost) throw new StoreError('lease_lost', 'gone');
    };
    const { connection, abandon } = openForWriting(sqlite, storeFiles(folder.path), verify, 'file', () => void signs++);
    const before = signs;
    const write = (loses: boolean) =>
      connection.transaction(() => {
        connection.run("INSERT OR REPLACE INTO meta(key, value) VALUES ('probe', ?)", [String(loses)]);
        isLost = loses;
      });
    write(false);
    assert.throws(() => write(true), hasReason('lease_lost'));
    isLost = false;
    assert.deepEqual(connection.get("SELECT value FROM meta WHERE key = 'probe'"), { value: 'false' });
    assert.ok(before > 0 && signs > before);
    abandon();
    folder.remove();
  });

  it('says so when the folder is gone, where SQLite speaks of memory', () => {
    const folder = tempFolder();
    const files = storeFiles(join(folder.path, 'gone'));
    assert.throws(
      () => openForWriting(sqlite, files, () => undefined, 'file'),
      (error) => hasReason('io')(error) && /ENOENT.*gone/.test(String(error)),
    );
    folder.remove();
  });

  it('reports a file it may not open', async () => {
    const folder = tempFolder();
    faulty.fault = (call, path) => (call === 'open' && path.endsWith('threadkeeper.db') ? 'EACCES' : undefined);
    await assert.rejects(openHost(folder.path, { fs: faulty.fs }), hasReason('permission'));
    faulty.heal();
    await (await openHost(folder.path, { fs: faulty.fs })).close();
    folder.remove();
  });
});

function hasReason(reason: StoreError['reason']): (error: unknown) => boolean {
  return (error) => StoreError.is(error) && error.reason === reason;
}
