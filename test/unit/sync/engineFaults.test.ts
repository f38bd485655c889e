import { deepStrictEqual, match, ok } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncOnce, type SyncReport } from '../../../src/core/sync/exchange';
import { EngineError, type SyncEngine } from '../../../src/core/sync/syncEngine';
import { FolderEngine } from '../../../src/node/sync/folderEngine';
import { GcmSealer } from '../../../src/node/sync/gcmSealer';
import { historyKeys, newPhrase, readPhrase } from '../../../src/node/sync/historyKeys';
import { openPostgres, PostgresEngine } from '../../../src/node/sync/postgresEngine';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';
import { MemoryReplica } from '../../support/sync/memoryReplica';
import { PostgresServer } from '../../support/sync/postgresServer';

const keys = historyKeys(readPhrase(newPhrase()), 'main');

async function sync(replica: MemoryReplica, engine: SyncEngine): Promise<SyncReport> {
  return syncOnce({ replica, engine, sealer: new GcmSealer(keys), newId: randomUUID });
}

function talk(replica: MemoryReplica, turns = 3): void {
  const session = randomUUID();
  replica.begin(session, null);
  for (let i = 0; i < turns; i++) replica.say(session, randomUUID(), `something ${i}`);
}

interface Place {
  open(create: boolean): Promise<SyncEngine>;
}

/** Two devices work through a fault of their engine: it is named, and in the end both have everything. */
class Devices {
  readonly one = new MemoryReplica('a', () => 1);
  readonly two = new MemoryReplica('b', () => 1);

  constructor(private readonly place: Place) {}

  async begin(): Promise<void> {
    for (const device of [this.one, this.two]) {
      talk(device);
      await this.sync(device, true);
    }
  }

  async sync(device: MemoryReplica, create = false): Promise<SyncReport> {
    const engine = await this.place.open(create);
    try {
      return await sync(device, engine);
    } finally {
      await engine.close();
    }
  }

  /** What a device is told that has something to send. */
  async told(): Promise<EngineError> {
    talk(this.one);
    try {
      const { problems } = await this.sync(this.one);
      throw new Error(`nothing is wrong: ${JSON.stringify(problems)}`);
    } catch (error) {
      if (error instanceof EngineError) return error;
      throw error;
    }
  }

  async agree(): Promise<void> {
    for (let round = 0; round < 3; round++) for (const device of [this.one, this.two]) await this.sync(device);
    deepStrictEqual([(await this.sync(this.two)).problems, this.two.state], [[], this.one.state]);
  }
}

describe('a database that fails', function () {
  this.timeout(120_000);
  let server: PostgresServer;
  let devices: Devices;
  before(async function () {
    if (!PostgresServer.isThere) this.skip();
    server = await PostgresServer.start();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    await server.run(
      'DROP TABLE IF EXISTS threadkeeper_histories, threadkeeper_devices, threadkeeper_records, threadkeeper_keys, threadkeeper_version',
    );
    devices = new Devices({ open: (create) => server.open(keys.history, create) });
    await devices.begin();
  });

  const faults: readonly (readonly [name: string, says: RegExp, begin: string, end: string])[] = [
    [
      'of a newer version',
      /newer version of Threadkeeper: update it/,
      'UPDATE threadkeeper_version SET version = 2',
      'UPDATE threadkeeper_version SET version = 1',
    ],
    [
      'whose tables somebody has changed',
      /not those of Threadkeeper/,
      'ALTER TABLE threadkeeper_records RENAME COLUMN sealed TO other',
      'ALTER TABLE threadkeeper_records RENAME COLUMN other TO sealed',
    ],
  ];
  for (const [name, says, begin, end] of faults) {
    it(`${name}: it is said, and nothing is lost`, async () => {
      await server.run(begin);
      const error = await devices.told();
      await server.run(end);
      deepStrictEqual(error.reason, 'version');
      match(error.message, says);
      await devices.agree();
    });
  }

  it('that can only be read: it is said, and nothing is lost', async () => {
    await server.run('CREATE ROLE standby LOGIN SUPERUSER; ALTER ROLE standby SET default_transaction_read_only = on');
    const reading = new Devices({ open: () => openPostgres(server.address.replace('keeper', 'standby'), keys.history, false, undefined) });
    const error = await reading.told();
    await server.run('DROP ROLE standby');
    deepStrictEqual(error.reason, 'readonly');
    match(error.message, /can only be read .*: use the address of the one that is written to/);
    reading.one.device = 'c';
    await devices.sync(reading.one);
    await devices.agree();
  });

  it('in which the user may only read: it is said, and nothing is lost', async () => {
    await server.run('DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader');
    const reading = new Devices({ open: () => openPostgres(server.address.replace('keeper', 'reader'), keys.history, false, undefined) });
    const error = await reading.told();
    await server.run('DROP OWNED BY reader; DROP ROLE reader');
    deepStrictEqual(error.reason, 'refused');
    match(error.message, /check its name, user and password, and the rights/);
    reading.one.device = 'c';
    deepStrictEqual((await devices.sync(reading.one)).problems, []);
    await devices.agree();
    deepStrictEqual(reading.one.state, devices.one.state);
  });

  it('that asks for a password takes the one that it is given, and no other', async () => {
    const password = 'tides & 100%25 @ noon';
    await server.run(`CREATE ROLE careful LOGIN PASSWORD '${password}'; GRANT ALL ON ALL TABLES IN SCHEMA public TO careful`);
    const rules = join(server.folder, 'pg_hba.conf');
    writeFileSync(rules, `host all careful 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, 'utf8')}`);
    await server.run('SELECT pg_reload_conf()');
    const open = (given: string | undefined) => openPostgres(server.address.replace('keeper', 'careful'), keys.history, false, given);
    await (await open(password)).close();
    const refusal = (given: string | undefined) =>
      open(given).then(
        () => 'opened',
        (error: unknown) => `${(error as EngineError).reason}: ${(error as EngineError).message.split('):')[0]}`,
      );
    deepStrictEqual(
      [await refusal('another'), await refusal(undefined)],
      [
        'refused: The database refuses it (password authentication failed for user "careful"',
        'refused: The database refuses it (it asks for a password',
      ],
    );
  });

  it('that does not answer: it is said, and nothing is lost', async () => {
    const blocking = await openPostgres(server.address, keys.history, false, undefined);
    const slow = new Devices({ open: () => openPostgres(server.address, keys.history, false, undefined, { connect: 5_000, answer: 300 }) });
    const client = (blocking as unknown as { readonly client: { query(sql: string): Promise<unknown> } }).client;
    await client.query('BEGIN');
    await client.query('LOCK TABLE threadkeeper_records IN ACCESS EXCLUSIVE MODE');
    const error = await slow.told();
    await client.query('ROLLBACK');
    await blocking.close();
    deepStrictEqual(error.reason, 'slow');
    match(error.message, /does not answer in time/);
    slow.one.device = 'c';
    await devices.sync(slow.one);
    await devices.agree();
  });

  it('that was put back to an older backup gets back what it has lost', async () => {
    talk(devices.one, 30);
    await devices.agree();
    await server.run(
      "DELETE FROM threadkeeper_records WHERE place > 1; DELETE FROM threadkeeper_keys; DELETE FROM threadkeeper_devices WHERE device = 'b'",
    );
    const { refilled, problems } = await devices.sync(devices.two);
    deepStrictEqual([refilled > 0, problems], [true, []]);
    await devices.agree();
    const fresh = new MemoryReplica('c', () => 1);
    deepStrictEqual((await devices.sync(fresh)).problems, []);
    deepStrictEqual(fresh.state, devices.one.state);
  });

  it('that gives back something else than it was given is named, and nothing of it is taken over', async () => {
    const before = devices.two.state;
    talk(devices.one);
    await devices.sync(devices.one);
    await server.run(
      "CREATE TABLE kept AS SELECT * FROM threadkeeper_records; UPDATE threadkeeper_records SET sealed = sealed || '\\x00' WHERE device = 'a' AND place > 3",
    );
    const { problems } = await devices.sync(devices.two);
    ok(problems.length > 0 && problems.every(({ kind, device }) => kind === 'damaged' && device === 'a'), JSON.stringify(problems));
    ok(devices.two.state.tree.length <= before.tree.length + 3);
    await server.run('TRUNCATE threadkeeper_records; INSERT INTO threadkeeper_records SELECT * FROM kept; DROP TABLE kept');
    await devices.agree();
  });
});

describe('what a database answers', () => {
  const codes: readonly (readonly [string, string])[] = [
    ['53100', 'full'],
    ['53200', 'full'],
    ['53300', 'slow'],
    ['57P03', 'slow'],
    ['28P01', 'refused'],
    ['28000', 'refused'],
    ['3D000', 'refused'],
    ['42501', 'refused'],
    ['25006', 'readonly'],
    ['ECONNREFUSED', 'unreachable'],
    ['57P01', 'unreachable'],
    ['08006', 'unreachable'],
  ];
  for (const [code, reason] of codes) {
    it(`${code} is ${reason}, and said so that somebody knows what to do`, async () => {
      const client = {
        query: (sql: string) =>
          sql.startsWith('WITH')
            ? Promise.reject(Object.assign(new Error('that'), { code }))
            : Promise.resolve({ rows: [{ version: 1, found: 1 }] }),
        onNotification: () => undefined,
        end: () => Promise.resolve(),
      };
      const engine = await PostgresEngine.open(client, 'h', false);
      const error: unknown = await engine.push([], [{ id: 'a', wrapped: Buffer.from('a') }]).catch((one: unknown) => one);
      deepStrictEqual(
        [error instanceof EngineError && error.reason, error instanceof EngineError && error.message.includes('that')],
        [reason, true],
      );
    });
  }
});

describe('a folder that fails', function () {
  this.timeout(120_000);
  let temp: TempFolder;
  let devices: Devices;
  const root = () => join(temp.path, `threadkeeper-${keys.history}`);
  beforeEach(async () => {
    temp = tempFolder();
    devices = new Devices({ open: (create) => FolderEngine.open(temp.path, keys.history, create) });
    await devices.begin();
  });
  afterEach(() => temp.remove());

  it('of a newer version: it is said, and nothing is lost', async () => {
    writeFileSync(join(root(), 'version'), '2\n');
    const error = await devices.told();
    writeFileSync(join(root(), 'version'), '1\n');
    deepStrictEqual(error.reason, 'version');
    match(error.message, /newer version of Threadkeeper: update it/);
    await devices.agree();
  });

  it('that is not there for a while: it is said, and nothing is lost', async () => {
    renameSync(temp.path, `${temp.path}-away`);
    const error = await devices.told();
    renameSync(`${temp.path}-away`, temp.path);
    deepStrictEqual(error.reason, 'unreachable');
    await devices.agree();
  });

  it('on a disk that is full or can only be read: it is said, and nothing is lost', async function () {
    const mount = (...args: string[]) => spawnSync('mount', args).status === 0;
    const disk = join(temp.path, 'disk');
    mkdirSync(disk);
    if (process.platform !== 'linux' || process.getuid?.() !== 0 || !mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk))
      return this.skip();
    try {
      const small = new Devices({ open: (create) => FolderEngine.open(disk, keys.history, create) });
      await small.begin();
      writeFileSync(join(disk, 'filler'), Buffer.alloc(40_000));
      let error = await small.told().catch(() => null);
      for (let turn = 0; turn < 40 && error === null; turn++) error = await small.told().catch(() => null);
      deepStrictEqual([error?.reason, /make room/.test(error?.message ?? '')], ['full', true]);
      rmSync(join(disk, 'filler'));
      ok(mount('-o', 'remount,size=2m', disk) && mount('-o', 'remount,ro', disk));
      const readonly = await small.told();
      deepStrictEqual([readonly.reason, /must be writable/.test(readonly.message)], ['readonly', true]);
      ok(mount('-o', 'remount,rw', disk));
      await small.agree();
    } finally {
      spawnSync('umount', [disk]);
    }
  });

  it('that was put back to an older backup gets back what it has lost', async () => {
    await devices.agree();
    for (const device of ['a', 'b'])
      for (const name of readdirSync(join(root(), 'logs', device)).slice(1)) rmSync(join(root(), 'logs', device, name));
    rmSync(join(root(), 'logs', 'a'), { recursive: true });
    await devices.agree();
    const fresh = new MemoryReplica('c', () => 1);
    deepStrictEqual([(await devices.sync(fresh)).problems, fresh.state], [[], devices.one.state]);
  });

  it('whose files somebody has changed is named, and nothing of it is taken over', async () => {
    talk(devices.one);
    await devices.sync(devices.one);
    const logs = join(root(), 'logs', 'a');
    const name = readdirSync(logs).sort().at(-1)!;
    const content = readFileSync(join(logs, name));
    const changed = Buffer.from(content);
    changed[changed.length - 1]! ^= 1;
    writeFileSync(join(logs, name), changed);
    const { problems } = await devices.sync(devices.two);
    deepStrictEqual(
      problems.map(({ kind, device }) => [kind, device]),
      [['missing', 'a']],
    );
    writeFileSync(join(logs, name), content);
    await devices.agree();
  });

  it('to which a carrier adds its copies of conflicts and drafts is as without them', async () => {
    talk(devices.one);
    await devices.sync(devices.one);
    const logs = join(root(), 'logs', 'a');
    for (const name of readdirSync(logs)) {
      writeFileSync(join(logs, name.replace('.rows', '.sync-conflict-20261123-101010-ABCDEFG.rows')), 'anything');
      writeFileSync(join(logs, `.syncthing.${name}.tmp`), readFileSync(join(logs, name)).subarray(0, 20));
    }
    writeFileSync(join(root(), 'logs', 'desktop.ini'), '');
    await devices.agree();
  });

  it('has few files however many turns there were, and no hole while they are merged', async () => {
    const engine = await FolderEngine.open(temp.path, keys.history, false);
    for (let turn = 0; turn < 200; turn++) {
      talk(devices.one, 1);
      await sync(devices.one, engine);
    }
    const logs = join(root(), 'logs', 'a');
    const large = readdirSync(logs).filter((name) => Number(name.slice(11, 21)) - Number(name.slice(0, 10)) > 60);
    ok(large.length > 0, 'small files were merged');
    const dayAgo = Date.now() / 1000 - 90_000;
    for (const name of large) utimesSync(join(logs, name), dayAgo, dayAgo);
    talk(devices.one, 1);
    await sync(devices.one, engine);
    ok(readdirSync(logs).length < 100, `${readdirSync(logs).length} files`);
    await devices.agree();
    const fresh = new MemoryReplica('c', () => 1);
    deepStrictEqual([(await devices.sync(fresh)).problems, fresh.state], [[], devices.one.state]);
    await engine.close();
  });
});
