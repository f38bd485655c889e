import { PGlite } from '@electric-sql/pglite';
import { deepStrictEqual, ok, rejects } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { syncOnce } from '../../../src/core/sync/exchange';
import type { SealedRecord } from '../../../src/core/sync/sealedRecord';
import { EngineError, type SyncEngine } from '../../../src/core/sync/syncEngine';
import { FolderEngine } from '../../../src/node/sync/folderEngine';
import { GcmSealer } from '../../../src/node/sync/gcmSealer';
import { historyKeys, newPhrase, readPhrase } from '../../../src/node/sync/historyKeys';
import { openPostgres, PostgresEngine, tlsFor } from '../../../src/node/sync/postgresEngine';
import { readWhole } from '../../../src/node/sync/wholeFiles';
import { seededRandom } from '../../support/chat/endurance';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';
import { MemoryReplica } from '../../support/sync/memoryReplica';
import { PostgresServer } from '../../support/sync/postgresServer';
import { waitFor } from '../../support/waitFor';

const keys = historyKeys(readPhrase(newPhrase()), 'main');

/** The host that the client itself makes of an address. */
function hostReached(connectionString: string): string {
  return new pg.Client({ connectionString }).host;
}

interface Subject {
  readonly name: string;
  /** Another connection each time. */
  open(history?: string, create?: boolean): Promise<SyncEngine>;
  /** Rows that are lost. */
  lose(device: string, index: number): Promise<void>;
  /** Nothing is in it, as at the beginning: a database of its own for each test costs seconds. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

const dropTables =
  'DROP TABLE IF EXISTS threadkeeper_histories, threadkeeper_devices, threadkeeper_records, threadkeeper_keys, threadkeeper_version';

function folderSubject(): Subject {
  let temp: TempFolder | undefined;
  const folder = () => (temp ??= tempFolder()).path;
  return {
    name: 'a folder',
    open: (history = keys.history, create = true) => FolderEngine.open(folder(), history, create),
    // Files hold several rows: the one that has this row goes.
    lose: (device, index) => {
      const logs = join(folder(), `threadkeeper-${keys.history}`, 'logs', device);
      const name = readdirSync(logs).find((one) => Number(one.slice(0, 10)) <= index && Number(one.slice(11, 21)) > index);
      if (name !== undefined) truncateSync(join(logs, name), 10);
      return Promise.resolve();
    },
    clear: () => {
      temp?.remove();
      temp = undefined;
      return Promise.resolve();
    },
    stop: () => Promise.resolve(),
  };
}

function embeddedSubject(): Subject {
  let database: PGlite | undefined;
  const get = () => (database ??= new PGlite());
  return {
    name: 'an embedded PostgreSQL',
    open: (history = keys.history, create = true) => {
      const embedded = get();
      const query = async (sql: string, values?: unknown[]) => ({
        rows: (await embedded.query<Record<string, unknown>>(sql, values)).rows,
      });
      return PostgresEngine.open({ query, onNotification: () => undefined, end: () => Promise.resolve() }, history, create);
    },
    lose: async (device, index) => {
      await get().query('DELETE FROM threadkeeper_records WHERE device = $1 AND place = $2', [device, index]);
    },
    clear: async () => void (await database?.exec(dropTables)),
    stop: async () => void (await database?.close()),
  };
}

function serverSubject(): Subject {
  let server: PostgresServer | undefined;
  return {
    name: 'a PostgreSQL server',
    open: async (history = keys.history, create = true) => (server ??= await PostgresServer.start()).open(history, create),
    lose: async (device, index) => {
      await server!.run(`DELETE FROM threadkeeper_records WHERE device = '${device}' AND place = ${index}`);
    },
    clear: async () => void (await server?.run(dropTables)),
    stop: async () => void (await server?.stop()),
  };
}

async function sync(replica: MemoryReplica, engine: SyncEngine) {
  return syncOnce({ replica, engine, sealer: new GcmSealer(keys), newId: randomUUID });
}

function talk(replica: MemoryReplica, turns: number): void {
  const session = randomUUID();
  replica.begin(session, null);
  for (let i = 0; i < turns; i++) replica.say(session, randomUUID(), `something ${i}`);
}

for (const make of [folderSubject, embeddedSubject, serverSubject]) {
  const subject = make();
  describe(`synchronising over ${subject.name}`, function () {
    this.timeout(120_000);
    before(function () {
      if (make === serverSubject && !PostgresServer.isThere) this.skip();
    });
    afterEach(() => subject.clear());
    after(() => subject.stop());

    it('gives back every row and key as it was given, once', async () => {
      const engine = await subject.open();
      const rows: SealedRecord[] = [0, 1, 2].map((index) => {
        const sealed = Buffer.from(`\n{}\0 ${index}`.repeat(index * 1000));
        return { device: 'a', index, id: randomUUID(), version: 1, mark: 4_294_967_290 + index, sealed };
      });
      const wrapped = [{ id: randomUUID(), wrapped: Buffer.from([0, 1, 255]) }];
      await engine.push(rows.slice(0, 2), wrapped);
      await engine.push(rows, []);
      await engine.push([{ ...rows[0]!, id: 'another', mark: 1 }], []);
      const bare = (found: readonly SealedRecord[]) => found.map((row) => ({ ...row, sealed: Buffer.from(row.sealed).toString('hex') }));
      const other = await subject.open(keys.history, false);
      deepStrictEqual(bare(await other.pull({ device: 'a', from: 0, to: 3 })).slice(1), bare(rows).slice(1));
      deepStrictEqual(await other.heads(), [{ device: 'a', next: 3, count: 3, mark: 4_294_967_292 }]);
      deepStrictEqual(
        await other.counts([
          { device: 'a', from: 1, to: 9 },
          { device: 'b', from: 0, to: 9 },
        ]),
        [2, 0],
      );
      const [key] = await other.keys([wrapped[0]!.id, randomUUID()]);
      deepStrictEqual([key?.id, Buffer.from(key!.wrapped)], [wrapped[0]!.id, wrapped[0]!.wrapped]);
      await other.dropKeys([wrapped[0]!.id]);
      deepStrictEqual(await engine.keys([wrapped[0]!.id]), []);
      await engine.close();
      await other.close();
    });

    it('keeps attachments beside the logs, and lets go of one, or of everything', async () => {
      const engine = await subject.open();
      const row = (device: string): SealedRecord => ({
        device,
        index: 0,
        id: randomUUID(),
        version: 1,
        mark: 7,
        sealed: Buffer.from(device),
      });
      await engine.push([row('a')], [{ id: randomUUID(), wrapped: Buffer.from('key') }]);
      for (const one of ['b', 'c']) await engine.attachments().push([row(one)], []);
      deepStrictEqual(
        (await engine.heads()).map(({ device }) => device),
        ['a'],
      );
      const other = await subject.open(keys.history, false);
      await other.attachments().dropLog('b');
      const counts = () => engine.attachments().counts(['a', 'b', 'c'].map((device) => ({ device, from: 0, to: 9 })));
      deepStrictEqual(await counts(), [0, 0, 1]);
      await engine.dropAll();
      deepStrictEqual(await counts(), [0, 0, 0]);
      // Who has it open still does not give it back, also where they were just sending something.
      await rejects(other.heads(), { reason: 'no_history' });
      await rejects(other.push([row('a')], []), { reason: 'no_history' });
      await rejects(other.push([], [{ id: randomUUID(), wrapped: Buffer.from('key') }]), { reason: 'no_history' });
      await rejects(other.attachments().push([row('b')], []), { reason: 'no_history' });
      await rejects(subject.open(keys.history, false), { reason: 'no_history' });
      for (const one of [engine, other]) await one.close();
    });

    it('refuses a history that is not there, and tells two apart', async () => {
      await rejects(subject.open(keys.history, false), (error) => error instanceof EngineError && error.reason === 'no_history');
      const engine = await subject.open();
      await rejects(subject.open('0123', false), (error) => error instanceof EngineError && error.reason === 'no_history');
      const other = await subject.open('0123');
      const one = new MemoryReplica('a', () => 1);
      talk(one, 3);
      await sync(one, engine);
      deepStrictEqual([(await engine.heads()).length, await other.heads()], [1, []]);
      await engine.close();
      await other.close();
    });

    it('carries what three devices say, and refills what is lost', async () => {
      const random = seededRandom(3);
      const devices = ['a', 'b', 'c'].map((name) => new MemoryReplica(name, () => 1));
      for (let round = 0; round < 6; round++) {
        for (const device of devices) {
          talk(device, 3);
          const engine = await subject.open();
          deepStrictEqual((await sync(device, engine)).problems, []);
          await engine.close();
        }
        const heads = await devices[0]!.held();
        const { device, next } = heads.logs[Math.floor(random() * heads.logs.length)]!;
        await subject.lose(device, Math.floor(random() * next));
      }
      const engine = await subject.open();
      // Once to give what was lost, twice for everybody to take it.
      for (let round = 0; round < 3; round++) for (const device of devices) await sync(device, engine);
      for (const device of devices) deepStrictEqual([(await sync(device, engine)).problems, device.state], [[], devices[0]!.state]);
      const fresh = new MemoryReplica('d', () => 1);
      await sync(fresh, engine);
      deepStrictEqual(fresh.state, devices[0]!.state);
      await engine.close();
    });

    it('has nothing of what was said', async () => {
      const engine = await subject.open();
      const one = new MemoryReplica('a', () => 1);
      const session = randomUUID();
      one.begin(session, null);
      for (let i = 0; i < 50; i++) one.say(session, randomUUID(), `the quince marmalade ${i}`);
      one.set(session, 'title', 'Marmalade');
      await sync(one, engine);
      const all: Buffer[] = [];
      for (const { device, next } of await engine.heads()) {
        for (const { sealed } of await engine.pull({ device, from: 0, to: next })) all.push(Buffer.from(sealed));
      }
      const text = Buffer.concat(all);
      ok(text.length > 1000);
      for (const word of ['quince', 'armalade', session, 'entries', 'title']) ok(!text.includes(word), word);
      await engine.close();
    });
  });
}

describe('a folder that is carried', () => {
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());

  it('in part counts as not there yet, and nothing of it is merged', async () => {
    const [here, there] = ['here', 'there'].map((name) => join(temp.path, name)) as [string, string];
    for (const folder of [here, there]) mkdirSync(folder);
    const one = new MemoryReplica('a', () => 1);
    const from = await FolderEngine.open(here, keys.history, true);
    for (let i = 0; i < 3; i++) {
      talk(one, 4);
      await sync(one, from);
    }
    const root = `threadkeeper-${keys.history}`;
    const other = await FolderEngine.open(there, keys.history, true);
    mkdirSync(join(there, root, 'logs', 'a'), { recursive: true });
    const two = new MemoryReplica('b', () => 1);
    const files = readdirSync(join(here, root, 'logs', 'a')).sort();
    for (const key of readdirSync(join(here, root, 'keys'))) {
      writeFileSync(join(there, root, 'keys', key), readFileSync(join(here, root, 'keys', key)));
    }
    const seen: number[] = [];
    for (const name of [files[2]!, files[0]!, files[1]!]) {
      const content = readFileSync(join(here, root, 'logs', 'a', name));
      for (const length of [0, 1, Math.floor(content.length / 2), content.length]) {
        writeFileSync(join(there, root, 'logs', 'a', name), content.subarray(0, length));
        await sync(two, other);
      }
      seen.push(two.entries.size);
    }
    deepStrictEqual(seen, [0, 4, 12]);
    deepStrictEqual(two.state, one.state);
  });

  it('without its empty folders is a history all the same: it is joined, and takes rows and keys', async () => {
    const keysFolder = join(temp.path, `threadkeeper-${keys.history}`, 'keys');
    const one = await FolderEngine.open(temp.path, keys.history, true);
    rmdirSync(keysFolder);
    deepStrictEqual(await one.heads(), []);
    const [device, other] = ['a', 'b'].map((name) => new MemoryReplica(name, () => 1)) as [MemoryReplica, MemoryReplica];
    talk(device, 1);
    deepStrictEqual((await sync(device, one)).problems, []);
    const two = await FolderEngine.open(temp.path, keys.history, false);
    deepStrictEqual([(await sync(other, two)).problems, other.state], [[], device.state]);
    // Once it is removed, nothing is given back to it.
    await two.dropAll();
    await rejects(one.push([], []), { reason: 'no_history' });
    await rejects(FolderEngine.open(temp.path, keys.history, false), { reason: 'no_history' });
  });

  it('takes a file that is gone when it is read for one that is not there, and tells one that cannot be read', async () => {
    deepStrictEqual(await readWhole(join(temp.path, 'gone.rows'), 100), undefined);
    // Windows says that such a name is not there.
    if (process.platform === 'win32') return;
    await rejects(readWhole(join(temp.path, `${'n'.repeat(300)}.rows`), 100), { code: 'ENAMETOOLONG' });
  });

  it('tells what others bring, until it is closed', async () => {
    const [one, two] = [await FolderEngine.open(temp.path, keys.history, true), await FolderEngine.open(temp.path, keys.history, false)];
    let news = 0;
    deepStrictEqual(await one.listen(() => news++), true);
    const other = new MemoryReplica('b', () => 1);
    talk(other, 1);
    await sync(other, two);
    await waitFor('the news', () => news > 0, { interval: 5 });
    const mine = new MemoryReplica('a', () => 1);
    await sync(mine, one);
    deepStrictEqual(mine.state, other.state);
    await one.close();
  });

  it('passes over what is no file of ours: pipes, folders, files without end', async function () {
    if (process.platform === 'win32') return this.skip();
    const engine = await FolderEngine.open(temp.path, keys.history, true);
    const one = new MemoryReplica('a', () => 1);
    talk(one, 3);
    await sync(one, engine);
    const root = join(temp.path, `threadkeeper-${keys.history}`);
    const name = (bytes: number) => `0000000900-0000000901-1-${bytes}-${'0'.repeat(16)}.rows`;
    const [pipe, key] = [join(root, 'logs', 'a', name(0)), randomUUID()];
    execFileSync('mkfifo', [pipe, join(root, 'keys', key), join(root, 'logs', 'pipe')]);
    writeFileSync(join(root, 'logs', 'note'), 'not a folder');
    const huge = join(root, 'logs', 'a', name(2 ** 31));
    writeFileSync(huge, '');
    truncateSync(huge, 2 ** 31);
    const two = new MemoryReplica('b', () => 1);
    deepStrictEqual((await sync(two, engine)).problems, []);
    deepStrictEqual([two.state, await engine.keys([key])], [one.state, []]);
    // A later one on the machine finds nothing that was left half written.
    deepStrictEqual(
      readdirSync(root, { recursive: true }).filter((file) => String(file).endsWith('.part')),
      [],
    );
  });

  it('says what is wrong: no folder, no rights', async () => {
    const reason = (open: Promise<unknown>) =>
      open.then(
        () => 'none',
        (error: unknown) => (error instanceof EngineError ? error.reason : String(error)),
      );
    deepStrictEqual(await reason(FolderEngine.open(join(temp.path, 'nowhere'), 'h', true)), 'unreachable');
    const file = join(temp.path, 'file');
    writeFileSync(file, '');
    deepStrictEqual(await reason(FolderEngine.open(file, 'h', true)), 'unreachable');
    // Root may write anywhere.
    if (process.getuid?.() !== 0 && process.platform !== 'win32') {
      const closed = join(temp.path, 'closed');
      mkdirSync(closed);
      chmodSync(closed, 0o500);
      deepStrictEqual(await reason(FolderEngine.open(closed, 'h', true)), 'refused');
      ok(existsSync(closed) && statSync(closed).isDirectory());
    }
  });
});

describe('a PostgreSQL server that is killed', function () {
  this.timeout(120_000);
  const rounds = Number(process.env['THREADKEEPER_ROUNDS'] ?? 4);
  before(function () {
    if (!PostgresServer.isThere) this.skip();
  });

  it(`with -9 in the middle of it, ${rounds} times: nothing is lost or doubled`, async () => {
    const server = await PostgresServer.start();
    const devices = ['a', 'b', 'c'].map((name) => new MemoryReplica(name, () => 1));
    const attempt = async (device: MemoryReplica) => {
      try {
        const engine = await server.open(keys.history, true);
        await sync(device, engine);
        await engine.close();
        return 'done';
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        return error.reason;
      }
    };
    const ends: string[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const device of devices) talk(device, 40);
      const working = Promise.all(devices.map(attempt));
      // At another moment each time, as the first of them gets further.
      await new Promise((resolve) => setTimeout(resolve, 15 * round));
      await server.kill();
      ends.push(...(await working));
      await server.run('');
    }
    for (let round = 0; round < 3; round++) for (const device of devices) deepStrictEqual(await attempt(device), 'done');
    ok(ends.every((end) => end === 'done' || end === 'unreachable') && ends.includes('unreachable'), ends.join(' '));
    deepStrictEqual(devices[0]!.entries.size, 3 * 40 * rounds);
    for (const device of devices) deepStrictEqual(device.state, devices[0]!.state);
    await server.stop();
  });

  it('tells those who listen, but not of their own, and refuses who has no right', async () => {
    const server = await PostgresServer.start();
    const [one, two] = [await server.open(keys.history, true), await server.open(keys.history, false)];
    let onNews = (): void => undefined;
    const told = new Promise<void>((resolve) => (onNews = resolve));
    let own = 0;
    await one.listen(() => own++);
    deepStrictEqual(await two.listen(() => onNews()), true);
    const device = new MemoryReplica('a', () => 1);
    talk(device, 1);
    await sync(device, one);
    await told;
    // What was told to it comes before the next answer.
    await one.heads();
    deepStrictEqual(own, 0);
    await one.close();
    await two.close();
    await server.run('CREATE ROLE nobody LOGIN');
    await rejects(
      openPostgres(server.address.replace('keeper', 'nobody'), keys.history, false, undefined),
      (error) => error instanceof EngineError && error.reason === 'refused',
    );
    await server.stop();
    await rejects(
      openPostgres(server.address, keys.history, false, undefined),
      (error) => error instanceof EngineError && error.reason === 'unreachable',
    );
  });
});

describe('the address of a database', () => {
  it('is reached by TLS unless it is this machine', () => {
    deepStrictEqual(
      ['postgres://u@localhost/d', 'postgres://u@127.0.0.1:5433/d', 'postgres://u@[::1]/d', 'postgres:///d?host=/run/postgresql'].map(
        tlsFor,
      ),
      [false, false, false, false],
    );
    deepStrictEqual(['postgres://u@db.example.com/d', 'postgres://u@10.0.0.7/d?sslmode=disable'].map(tlsFor), [{}, {}]);
  });

  it('asks for TLS by the host that is reached, whatever else the address says', () => {
    const addresses = [
      'postgres://u@db.example.com/d?host=',
      'postgres://u@db.example.com/d?host=localhost&host=db.example.com',
      'postgres://u@localhost/d?host=db.example.com',
      'postgres://u@db.example.com/d?host=localhost',
    ];
    deepStrictEqual(
      addresses.map((address) => [hostReached(address), tlsFor(address)]),
      [
        ['db.example.com', {}],
        ['db.example.com', {}],
        ['db.example.com', {}],
        ['localhost', false],
      ],
    );
    const before = process.env['PGHOST'];
    try {
      process.env['PGHOST'] = 'db.example.com';
      deepStrictEqual([hostReached('postgres:///d'), tlsFor('postgres:///d')], ['db.example.com', {}]);
      delete process.env['PGHOST'];
      deepStrictEqual([hostReached('postgres:///d'), tlsFor('postgres:///d')], ['localhost', false]);
    } finally {
      if (before !== undefined) process.env['PGHOST'] = before;
    }
  });
});
