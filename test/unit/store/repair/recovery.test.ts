import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { StoreError } from '../../../../src/core/errors';
import type { StoredEntry } from '../../../../src/core/session/entry';
import { Connection } from '../../../../src/node/store/database/connection';
import { finishRecovery } from '../../../../src/node/store/repair/recoverStore';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import type { Sqlite } from '../../../../src/node/store/wasm/sqlite';
import { openOperations } from '../../../../src/node/store/owner/storeOperations';
import { openForWriting } from '../../../../src/node/store/database/storeDatabase';
import { newPageSize, storeFiles } from '../../../../src/node/store/database/storeFiles';
import type { StoreFiles } from '../../../../src/node/store/database/storeFiles';
import type { StoreSupervisor } from '../../../../src/node/store/owner/storeSupervisor';
import { FaultyFs } from '../../../support/store/storeFaults';
import { openHost, testUuid, userMessage, wasmFile } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

const texts = Array.from({ length: 60 }, (_, i) => `message ${i}: ${'word '.repeat(20 + ((i * 37) % 400))}`);

/** One closed store with two sessions, copied for every test. */
interface Sample {
  readonly main: Buffer;
  readonly wal: Buffer | null;
  readonly generation: Buffer;
  readonly sessions: readonly string[];
}

describe('store: recovery', function () {
  this.timeout(60_000);
  const faulty = new FaultyFs();
  let sqlite: Sqlite;
  let closed: Sample;
  let killed: Sample;
  let folder = '';
  let files: StoreFiles;

  before(async () => {
    sqlite = await loadSqlite(wasmFile, faulty.fs);
    closed = makeSample('close');
    killed = makeSample('abandon');
  });
  beforeEach(() => newFolder());
  afterEach(() => {
    faulty.heal();
    rmSync(folder, { recursive: true, force: true });
  });

  function newFolder(): void {
    if (folder) rmSync(folder, { recursive: true, force: true });
    folder = mkdtempSync(join(tmpdir(), 'tk-recover-'));
    files = storeFiles(folder);
  }

  function makeSample(end: 'close' | 'abandon'): Sample {
    newFolder();
    const opened = openForWriting(sqlite, files, () => undefined, 'file');
    const core = openOperations(opened.connection, files.folder, 'owner');
    const sessions = ['a', 'b'].map((title) => core.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1, title }).uuid);
    texts.forEach((text, i) => {
      const session = sessions[i % 2]!;
      core.append(session, { entries: [userMessage(session, core.session(session)?.leaf ?? null, text)] });
    });
    core.saveDraft(sessions[0]!, { text: 'a draft', attachments: [], at: 1 });
    core.saveQueue(sessions[1]!, [{ id: 'q', text: 'queued' }]);
    opened[end]();
    return {
      main: readFileSync(files.main),
      wal: existsSync(files.wal) ? readFileSync(files.wal) : null,
      generation: readFileSync(files.generation),
      sessions,
    };
  }

  function lay(sample: Sample, change: { main?: Buffer; wal?: Buffer } = {}): void {
    newFolder();
    writeFileSync(files.main, change.main ?? sample.main);
    if (sample.wal) writeFileSync(files.wal, change.wal ?? sample.wal);
    writeFileSync(files.generation, sample.generation);
  }

  const open = (options: Parameters<typeof openHost>[1] = {}) => openHost(folder, { fs: faulty.fs, ...options });
  const everything = (host: StoreSupervisor) => host.call('entriesBySeq', [Array.from({ length: 1000 }, (_, i) => 1000 - i)]);
  const textOf = (entry: StoredEntry) => ('text' in entry.content ? entry.content.text : '');
  const aside = () => readdirSync(folder).filter((name) => /^threadkeeper\.db\.damaged-\d{8}T\d{6}Z(-\d+)?$/.test(name));

  /** Either nothing is missing, or the loss is told; and the damaged file is kept as it was. */
  async function expectHonest(before: Buffer, what: string): Promise<{ found: number; reason: string | undefined }> {
    let host: StoreSupervisor;
    try {
      host = await open();
    } catch (error) {
      assert.ok(StoreError.is(error), `${what}: ${String(error)}`);
      assert.deepEqual(readFileSync(files.main), before, what);
      return { found: -1, reason: error.reason };
    }
    try {
      const { note } = host.status;
      if (note?.reason !== 'recovered') return { found: -1, reason: note?.reason };
      assert.deepEqual(readFileSync(join(folder, aside()[0]!)), before, `${what}: the damaged file was kept`);
      const found = new Set((await everything(host)).map(textOf));
      const missing = texts.filter((text) => !found.has(text)).length;
      if (missing > 0) assert.match(note.detail, /not readable: |Nothing could be read/, `${what}: ${missing} are missing`);
      assert.match(note.detail, /kept as .*damaged-/);
      return { found: texts.length - missing, reason: 'recovered' };
    } finally {
      await host.close();
      const again = await open();
      assert.equal(again.status.note?.reason === 'recovered', false, `${what}: one recovery is enough`);
      await again.close();
    }
  }

  it('loses nothing to a torn last page or a header that was overwritten', async () => {
    for (const [what, change] of [
      ['torn page', (main: Buffer) => main.subarray(0, main.length - 700)],
      ['magic', (main: Buffer) => (main.write('garbage', 0), main)],
      ['whole header', (main: Buffer) => main.fill(0, 0, 100)],
      ['first page', (main: Buffer) => main.fill(0xff, 0, newPageSize)],
    ] as const) {
      const main = change(Buffer.from(closed.main));
      lay(closed, { main });
      const { found, reason } = await expectHonest(main, what);
      assert.equal(reason, 'recovered', what);
      assert.ok(found >= texts.length - 1, `${what}: ${found}`);
    }
  });

  it('brings sessions, leaves, drafts and queue over, and records what it did', async () => {
    const main = Buffer.from(closed.main).fill(0, 0, 100);
    lay(closed, { main });
    const host = await open();
    assert.equal((await host.call('draft', [closed.sessions[0]!]))?.text, 'a draft');
    assert.deepEqual(await host.call('queue', [closed.sessions[1]!]), [{ id: 'q', text: 'queued' }]);
    for (const [i, session] of closed.sessions.entries()) {
      const branch = await host.call('liveBranch', [session]);
      assert.deepEqual(
        branch.entries.map(textOf),
        texts.filter((_, n) => n % 2 === i),
      );
      assert.equal(branch.entries[0]?.parent, null);
      assert.equal(branch.session.title, ['a', 'b'][i]);
    }
    assert.match(host.status.note!.detail, /2 sessions with 60 entries were brought over; nothing was lost/);
    await host.close();
    const database = sqlite.openMemory(readFileSync(files.main));
    assert.match(
      String(database.exec("SELECT value FROM meta WHERE key LIKE 'recovery:%'")[0]?.values[0]?.[0]),
      /"salvage":\{"sessions":2/,
    );
    database.close();
  });

  it('opens or recovers a file with flipped bytes at any offset, and hides no loss', async () => {
    let seed = 7;
    const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % n;
    const outcomes: Record<string, number> = {};
    for (let round = 0; round < 60; round++) {
      const main = Buffer.from(closed.main);
      const at = round < 25 ? random(newPageSize) : random(main.length);
      for (let i = 0; i < 1 + (round % 3) * 8; i++) main[(at + i) % main.length]! ^= 1 + random(255);
      lay(closed, { main });
      const { reason } = await expectHonest(main, `round ${round} at ${at}`);
      outcomes[reason ?? 'opened'] = (outcomes[reason ?? 'opened'] ?? 0) + 1;
    }
    // Most flips lie in text or unused space, which opening does not look at.
    assert.ok((outcomes['recovered'] ?? 0) > 0, JSON.stringify(outcomes));
  });

  it('rebuilds every entry that can be read when pages are gone, and keeps the branch connected', async () => {
    let withoutRoot = 0;
    for (let page = 2; page * newPageSize < closed.main.length; page += 11) {
      const main = Buffer.from(closed.main).fill(0xa5, (page - 1) * newPageSize, page * newPageSize);
      lay(closed, { main });
      const host = await open({ repair: true });
      const found = new Set((await everything(host)).map(textOf));
      const missing = texts.filter((text) => !found.has(text)).length;
      if (missing > 0) assert.match(host.status.note!.detail, /not readable: /, `page ${page}`);
      // The root of a table is all that leads to its other pages.
      if (missing > 4) withoutRoot++;
      const sessions = await host.call('listSessions', []);
      let reached = 0;
      for (const { uuid } of sessions) reached += (await host.call('page', [uuid, { limit: 500 }])).entries.length;
      assert.ok(reached >= texts.length - missing, `page ${page}: ${reached} of ${texts.length - missing} are reached from a session`);
      await host.close();
    }
    assert.ok(withoutRoot <= 2, `${withoutRoot}`);
  });

  it('finds the commits behind a damaged frame of the log', async () => {
    assert.ok(killed.wal && killed.wal.length > 20_000);
    for (let at = 3; at < killed.wal.length * 0.8; at += Math.floor(killed.wal.length / 23)) {
      const wal = Buffer.from(killed.wal);
      wal[at]! ^= 0x55;
      lay(killed, { wal });
      const host = await open();
      const found = new Set((await everything(host)).map(textOf));
      const missing = texts.filter((text) => !found.has(text)).length;
      assert.ok(missing <= 1, `byte ${at}: ${missing} are missing`);
      if (missing > 0) assert.match(host.status.note?.detail ?? '', /not readable/, `byte ${at}`);
      await host.close();
    }
  });

  it('takes the torn tail of a log for what it is', async () => {
    lay(killed, { wal: killed.wal!.subarray(0, killed.wal!.length - 100) });
    const host = await open();
    assert.equal(host.status.note, null);
    await host.close();
  });

  it('recovers a file that was cut off at any length', async () => {
    for (const length of [
      1,
      99,
      100,
      newPageSize - 1,
      newPageSize,
      newPageSize + 1,
      10_000,
      closed.main.length >> 1,
      closed.main.length - newPageSize,
      closed.main.length - 1,
    ]) {
      const main = closed.main.subarray(0, length);
      lay(closed, { main });
      assert.equal((await expectHonest(main, `${length} bytes`)).reason, 'recovered', `${length} bytes`);
    }
  });

  it('begins a new history where the file is missing, empty or no database, and says so', async () => {
    for (const content of [null, Buffer.alloc(0), Buffer.alloc(8192, 7), Buffer.from('not a database'), Buffer.from('SQLite format 3\0')]) {
      lay(closed);
      if (content) writeFileSync(files.main, content);
      else rmSync(files.main);
      const host = await open();
      assert.equal(host.status.note?.reason, 'recovered');
      assert.match(host.status.note.detail, /Nothing could be read of it, so a new, empty history was begun/);
      assert.deepEqual(await host.call('listSessions', []), []);
      assert.equal(aside().length, content ? 1 : 0);
      if (content) assert.deepEqual(readFileSync(join(folder, aside()[0]!)), content);
      assert.ok(readdirSync(folder).some((name) => name.startsWith('generation.json.damaged-')));
      await host.close();
    }
  });

  it('leaves a store of a newer program alone, damaged or not', async () => {
    const main = Buffer.from(closed.main);
    main.writeUInt32BE(99, 60);
    for (const damaged of [main, Buffer.from(main).fill(0, 0, 16)]) {
      lay(closed, { main: damaged });
      await open().then(
        (host) => (assert.equal(host.status.note?.reason, 'newer_schema'), host.close()),
        (error: unknown) => assert.ok(StoreError.is(error)),
      );
      assert.deepEqual(readFileSync(files.main), damaged);
      assert.deepEqual(aside(), []);
    }
  });

  it('changes nothing when the disk is full while it recovers', async () => {
    const main = closed.main.subarray(0, closed.main.length - 3000);
    for (const n of [1, 2, 10]) {
      lay(closed, { main });
      let left = n;
      faulty.fault = (call, path) => (call === 'write' && path.includes('threadkeeper.db.') && --left <= 0 ? 'ENOSPC' : undefined);
      await assert.rejects(open(), hasReason('disk_full'));
      faulty.heal();
      assert.deepEqual(readFileSync(files.main), main);
      assert.deepEqual(readFileSync(files.generation), closed.generation);
      assert.deepEqual(readdirSync(folder).sort(), ['generation.json', 'selftest.json', 'threadkeeper.db']);
      assert.equal((await expectHonest(main, 'with room again')).reason, 'recovered');
    }
  });

  it('does not recover what it may not read or write', async () => {
    lay(closed);
    faulty.fault = (call, path) => (call === 'open' && path.endsWith('threadkeeper.db') ? 'EACCES' : undefined);
    const host = await open();
    assert.deepEqual([host.status.access, host.status.note?.reason], ['readonly', 'folder_readonly']);
    await host.close();
    faulty.heal();
    assert.deepEqual([readFileSync(files.main), aside()], [closed.main, []]);
  });

  it('does not recover in a folder it may not write', async function () {
    if (process.platform === 'win32') return this.skip();
    const isRoot = process.getuid?.() === 0;
    const parent = dirname(folder);
    // Permissions do not bind root, so it becomes nobody for the moment; nobody has to get as far as the folder.
    if (isRoot) chmodSync(parent, (statSync(parent).mode & 0o7777) | 0o011);
    const main = closed.main.subarray(0, closed.main.length - 3000);
    lay(closed, { main });
    chmodSync(files.main, 0o444);
    chmodSync(folder, 0o555);
    try {
      if (isRoot) process.seteuid!(65534);
      await open().then(
        (host) => (assert.equal(host.status.access, 'readonly'), host.close()),
        (error: unknown) => assert.ok(StoreError.is(error)),
      );
    } finally {
      if (isRoot) process.seteuid!(0);
      chmodSync(folder, 0o755);
    }
    assert.deepEqual([readFileSync(files.main), aside()], [main, []]);
  });

  it('does not recover what another process owns', async () => {
    lay(closed);
    const owner = await open();
    truncateSync(files.main, statSync(files.main).size - 3000);
    const damaged = readFileSync(files.main);
    await open().then(
      (host) => (assert.equal(host.status.access, 'shared'), host.close()),
      (error: unknown) => assert.ok(StoreError.is(error)),
    );
    await open({ repair: true }).then(
      (host) => (assert.equal(host.status.note?.reason, 'other_owner'), host.close()),
      (error: unknown) => assert.ok(StoreError.is(error)),
    );
    assert.deepEqual([readFileSync(files.main), aside()], [damaged, []]);
    await owner.close();
  });

  it('says which window keeps it from a repair, goes on with that one, and does not repair later unasked', async () => {
    lay(closed);
    const owner = await openHost(folder, { label: 'the owning window' });
    const guest = await openHost(folder, { repair: true, pursuitPollMs: 10 });
    try {
      assert.deepEqual([guest.status.access, guest.status.note?.reason], ['readonly', 'other_owner']);
      assert.match(guest.status.note!.detail, new RegExp(`: the owning window, process ${process.pid} on `));
      await waitFor('the owner', () => guest.status.access === 'shared', { interval: 5 });
      await owner.close();
      await waitFor('ownership', () => guest.status.access === 'owner', { interval: 5 });
      assert.deepEqual([guest.status.note, aside()], [null, []]);
    } finally {
      await guest.close();
      await owner.close();
    }
  });

  it('completes an exchange of files that a crash has interrupted', async () => {
    for (const done of [0, 1, 2, 3]) {
      lay(killed);
      const fresh = `${files.main}.new.tmp`;
      writeFileSync(fresh, closed.main);
      const keptAt = `${files.main}.damaged-20260101T000000Z`;
      // Odd: in a folder that was moved between the crash and now.
      const planned = (file: string) => (done % 2 === 0 ? file : join('/where', 'it', 'was', basename(file)));
      writeFileSync(files.watched, '{}');
      writeFileSync(join(folder, 'recovery.json'), JSON.stringify({ fresh: planned(fresh), keptAt: planned(keptAt) }));
      // As far as it had come: the log, the file, the new one in place.
      if (done >= 1) writeFileSync(`${keptAt}.live`, killed.wal!), rmSync(files.wal);
      if (done >= 2) writeFileSync(keptAt, killed.main), rmSync(files.main);
      if (done >= 3) writeFileSync(files.main, closed.main), rmSync(fresh);
      finishRecovery(files);
      finishRecovery(files);
      assert.deepEqual(
        [readFileSync(files.main), readFileSync(keptAt), readFileSync(`${keptAt}.live`)],
        [closed.main, killed.main, killed.wal],
      );
      assert.deepEqual(
        [fresh, files.wal, files.watched, join(folder, 'recovery.json')].filter((file) => existsSync(file)),
        [],
      );
    }
  });

  it('keeps content that does not add up as damaged', async () => {
    const text = texts[30]!.slice(0, 60);
    const at = closed.main.indexOf(text);
    assert.ok(at > 0);
    const main = Buffer.from(closed.main);
    main.write('MASSAGE', at);
    lay(closed, { main });
    const host = await open({ repair: true });
    const branch = await host.call('liveBranch', [closed.sessions[0]!]);
    const damaged = branch.entries.filter(({ content }) => content.type === 'custom');
    assert.equal(branch.entries.length, 30);
    assert.deepEqual(
      damaged.map(({ content, modelFacing }) => [content.type === 'custom' && content.customType, modelFacing]),
      [['damaged', false]],
    );
    assert.match(JSON.stringify(damaged[0]!.content), /MASSAGE 30/);
    assert.match(host.status.note!.detail, /not readable: the content of 1 entry \(in \d{8}_\d{3} “a”\)/);
    await host.close();
  });

  it('is tested on what it says it is', () => {
    const connection = new Connection(sqlite.openMemory(closed.main), { file: 'x', beforeCommit: () => undefined });
    assert.equal(connection.get('SELECT count(*) AS n FROM entries')?.['n'], texts.length);
    connection.close();
  });
});

function hasReason(reason: StoreError['reason']): (error: unknown) => boolean {
  return (error) => StoreError.is(error) && error.reason === reason;
}
