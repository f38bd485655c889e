import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreError } from '../../../../src/core/errors';
import { backUpStore } from '../../../../src/node/store/copies/backupStore';
import { migrations } from '../../../../src/node/store/database/migrations';
import { restoreStore } from '../../../../src/node/store/repair/restoreStore';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import type { Sqlite } from '../../../../src/node/store/wasm/sqlite';
import { storeFiles } from '../../../../src/node/store/database/storeFiles';
import { blobFile, sha256 } from '../../../../src/node/store/rows/blobFiles';
import { alteredSample, layStoreSample, makeStoreSample, sampleTexts, type StoreSample } from '../../../support/store/storeSample';
import { openHost, tempFolder, type TempFolder, userMessage, wasmFile } from '../../../support/store/storeTemp';

const attachment = Buffer.from('an attachment \0 of bytes');
const hash = sha256(attachment);

describe('store: backup and restore', function () {
  this.timeout(60_000);
  let sqlite: Sqlite;
  let killed: StoreSample;
  let withBlob: Buffer;
  let temp: TempFolder;
  let folder: string;
  let target: string;

  before(async () => {
    sqlite = await loadSqlite(wasmFile);
    killed = makeStoreSample(sqlite, 'abandon');
    withBlob = alteredSample(sqlite, makeStoreSample(sqlite, 'close'), `INSERT INTO blobs VALUES ('${hash}', ${attachment.length}, 'x/y')`);
  });
  beforeEach(() => {
    temp = tempFolder();
    folder = join(temp.path, 'store');
    mkdirSync(folder);
    target = join(temp.path, 'backups', 'copy.db');
  });
  afterEach(() => temp.remove());

  const backUp = (overwrite = false) =>
    backUpStore(sqlite, { files: storeFiles(folder), target, temporary: `${target}.tmp`, overwrite }, () => undefined);
  const restore = (to = folder, backup = target, salvage = false) =>
    restoreStore(
      sqlite,
      { backup, files: storeFiles(to), temporary: join(to, 'threadkeeper.db.new.tmp'), label: 'test', salvage },
      () => undefined,
    );
  const layBlob = (content = attachment) => {
    mkdirSync(dirname(blobFile(folder, hash)), { recursive: true });
    writeFileSync(blobFile(folder, hash), content);
  };
  const textsIn = async (at: string) => {
    const host = await openHost(at);
    try {
      assert.equal(host.status.note, null);
      const entries = await host.call('entriesBySeq', [Array.from({ length: 1000 }, (_, i) => 1000 - i)]);
      return entries.flatMap(({ content }) => (content.type === 'message' ? content.text : [])).reverse();
    } finally {
      await host.close();
    }
  };

  it('restores what can be read of a backup that was cut off, when it is asked to', async () => {
    layStoreSample(folder, killed);
    backUp();
    truncateSync(target, Math.floor(statSync(target).size * 0.8) - 100);
    const before = await textsIn(folder);
    await assert.rejects(restore(), hasReason('corrupt'));
    assert.deepEqual(await textsIn(folder), before);
    const { entries, salvage, keptAt } = await restore(folder, target, true);
    assert.ok(entries > 0 && salvage !== null && salvage.entries === entries && keptAt !== null);
    assert.ok(salvage.damaged > 0 || salvage.lost.length > 0);
    const after = await textsIn(folder);
    assert.ok(after.length > 0 && after.every((text) => before.includes(text)), after.join());
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('.tmp')),
      [],
    );
  });

  it('restores a backup whose first page is gone, and nothing of a file that is none', async () => {
    layStoreSample(folder, killed);
    backUp();
    const before = await textsIn(folder);
    const content = readFileSync(target);
    writeFileSync(target, content.fill(0, 0, 512));
    const { salvage } = await restore(folder, target, true);
    assert.deepEqual([salvage?.damaged, await textsIn(folder)], [0, before]);
    writeFileSync(target, 'no history at all');
    await assert.rejects(
      restore(folder, target, true),
      (error) => hasReason('corrupt')(error) && /Nothing can be read of .*, so nothing was changed/.test(String(error)),
    );
    assert.deepEqual(await textsIn(folder), before);
  });

  it('does not restore what a window has open, says which one, and leaves it undisturbed', async () => {
    layStoreSample(folder, killed);
    await backUp();
    const owner = await openHost(folder, { label: 'the owning window' });
    try {
      await assert.rejects(
        restore(),
        (error) =>
          StoreError.is(error) &&
          error.reason === 'readonly' &&
          error.message.includes(`in use by the owning window, process ${process.pid}.`),
      );
      await owner.call('createSession', [{ uuid: 'goes-on', channel: 'cli', createdAt: 1 }]);
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.includes('replaced') || name.endsWith('.tmp')),
        [],
      );
    } finally {
      await owner.close();
    }
  });

  it('writes one ordinary SQLite file while the store is in use, with all that was acknowledged', async () => {
    layStoreSample(folder, killed);
    const owner = await openHost(folder);
    const session = killed.sessions[0]!;
    await owner.call('append', [
      session,
      { entries: [userMessage(session, (await owner.call('session', [session]))!.leaf, 'the last word')] },
    ]);
    const { checked } = backUp();
    assert.equal(checked.entries, 64);
    await owner.call('append', [session, { entries: [userMessage(session, null, 'after the backup')] }]);
    await owner.close();
    assert.deepEqual(readdirSync(dirname(target)), ['copy.db']);
    const bytes = readFileSync(target);
    assert.deepEqual([bytes[18], bytes[19]], [1, 1]);
    if (spawnSync('sqlite3', ['--version']).status === 0) {
      const asked = execFileSync('sqlite3', [
        target,
        "PRAGMA integrity_check; SELECT count(*) FROM entries; SELECT content FROM messages WHERE content = 'the last word';",
      ]).toString();
      assert.equal(asked, 'ok\n64\nthe last word\n');
      assert.deepEqual(readdirSync(dirname(target)), ['copy.db']);
    }
  });

  it('brings everything back, attachments included, and keeps what was there', async () => {
    writeFileSync(join(folder, 'threadkeeper.db'), withBlob);
    layBlob();
    backUp();
    const other = join(temp.path, 'other');
    mkdirSync(other);
    layStoreSample(other, killed);
    const before = [readFileSync(storeFiles(other).main), readFileSync(storeFiles(other).wal)];
    const { keptAt, ...counts } = await restore(other);
    assert.deepEqual(counts, { sessions: 2, entries: 63, salvage: null });
    assert.match(keptAt ?? '', /threadkeeper\.db\.replaced-\d{8}T\d{6}Z$/);
    assert.deepEqual([readFileSync(keptAt!), readFileSync(`${keptAt}.live`)], before);
    assert.deepEqual(readFileSync(blobFile(other, hash)), attachment);
    assert.deepEqual(await textsIn(other), sampleTexts);
    const database = sqlite.openMemory(readFileSync(storeFiles(other).main));
    assert.deepEqual(database.exec("SELECT count(*) FROM sqlite_master WHERE name = 'blob_content'")[0]?.values, [[0]]);
    database.close();

    const empty = join(temp.path, 'empty');
    assert.equal((await restore(empty)).keptAt, null);
    assert.deepEqual(await textsIn(empty), sampleTexts);
  });

  it('takes a file that a repair or a restore has put aside for a backup, with its log', async () => {
    layStoreSample(folder, killed);
    const { main, wal } = storeFiles(folder);
    const kept = join(temp.path, 'threadkeeper.db.replaced-x');
    writeFileSync(kept, readFileSync(main));
    writeFileSync(`${kept}.live`, readFileSync(wal));
    await restore(join(temp.path, 'again'), kept);
    assert.deepEqual(await textsIn(join(temp.path, 'again')), sampleTexts);
  });

  it('overwrites nothing unasked, and backs nothing damaged up', () => {
    layStoreSample(folder, killed);
    backUp();
    const first = readFileSync(target);
    assert.throws(() => backUp(), hasReason('invalid'));
    backUp(true);
    const wal = Buffer.from(killed.wal!);
    wal[5000]! ^= 0x55;
    layStoreSample(folder, killed, { wal });
    const good = readFileSync(target);
    assert.equal(good.length, first.length);
    assert.throws(
      () => backUp(true),
      (error) => StoreError.is(error) && error.reason === 'corrupt' && /damaged.*repair it first/.test(error.message),
    );
    assert.deepEqual(readFileSync(target), good);
  });

  it('puts no backup into the folder of a history, whatever may be overwritten', async () => {
    layStoreSample(folder, killed);
    const owner = await openHost(folder);
    target = storeFiles(folder).main;
    const before = readFileSync(target);
    assert.throws(
      () => backUp(true),
      (error) => StoreError.is(error) && error.reason === 'invalid' && /folder of a history.*Choose another folder/.test(error.message),
    );
    assert.deepEqual(readFileSync(target), before);
    await owner.close();
    assert.deepEqual(await textsIn(folder), sampleTexts);
  });

  it('backs up what lacks an attachment, which no repair brings back, and replaces no backup that may have it', async () => {
    writeFileSync(join(folder, 'threadkeeper.db'), withBlob);
    layBlob();
    backUp();
    const whole = readFileSync(target);
    rmSync(blobFile(folder, hash));
    assert.throws(
      () => backUp(true),
      (error) => StoreError.is(error) && error.reason === 'corrupt' && /lacks attachments.*Name another file/.test(error.message),
    );
    assert.deepEqual(readFileSync(target), whole);
    target = join(temp.path, 'lacking.db');
    const { problems, more } = backUp();
    assert.deepEqual([problems.map(({ kind, repairHelps }) => [kind, repairHelps]), more], [[['blob', false]], 0]);
    const other = join(temp.path, 'of lacking');
    await restore(other, target, true);
    assert.deepEqual(await textsIn(other), sampleTexts);
  });

  it('changes nothing when the store is in use, or the file is of a newer program or none of ours', async () => {
    layStoreSample(folder, killed);
    backUp();
    const newer = Buffer.from(readFileSync(target));
    newer.writeUInt32BE(99, 60);
    const foreign = Buffer.from(readFileSync(target));
    foreign.writeUInt32BE(7, 68);
    const before = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]);
    for (const [content, reason, said] of [
      [newer, 'newer_schema', /newer version of Threadkeeper\. Update/],
      [foreign, 'corrupt', /not a Threadkeeper history/],
      [Buffer.alloc(5000, 7), 'corrupt', /./],
    ] as const) {
      writeFileSync(target, content);
      await assert.rejects(restore(), (error) => StoreError.is(error) && error.reason === reason && said.test(error.message));
      assert.deepEqual(
        readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]),
        before,
      );
    }
    const owner = await openHost(folder);
    await assert.rejects(restore(), hasReason('readonly'));
    await owner.close();
  });

  it('migrates a backup of an older version when the store is opened', async () => {
    const database = sqlite.openMemory();
    database.run(
      `${migrations[0]!.sql}; PRAGMA user_version = 1; INSERT INTO sessions(uuid, id, key, title, created_at, updated_at, last_opened_at) VALUES ('u', '20260101_001', 'k', 'old', 1, 1, 1)`,
    );
    mkdirSync(dirname(target));
    writeFileSync(target, database.export());
    database.close();
    await restore();
    const host = await openHost(folder);
    assert.deepEqual(
      (await host.call('listSessions', [])).map(({ title }) => title),
      ['old'],
    );
    await host.close();
  });
});

function hasReason(reason: StoreError['reason']): (error: unknown) => boolean {
  return (error) => StoreError.is(error) && error.reason === reason;
}
