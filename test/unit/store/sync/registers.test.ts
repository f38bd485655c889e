import { deepStrictEqual } from 'node:assert';
import { MemoryEngine } from '../../../support/sync/memoryEngine';
import { alterStore, nextMillisecond, SyncDevice } from '../../../support/sync/syncRig';

describe('what is set in a session on three devices', function () {
  this.timeout(30_000);
  let engine: MemoryEngine;
  let one: SyncDevice;
  let two: SyncDevice;
  let three: SyncDevice;
  let session: string;
  beforeEach(async () => {
    engine = new MemoryEngine();
    [one, two, three] = [await SyncDevice.open(), await SyncDevice.open(), await SyncDevice.open()];
    for (const device of [one, two, three]) await device.join();
    session = await one.begin('Quince');
    await one.say(session, 'Hello');
    await meet();
  });
  afterEach(async () => {
    for (const device of [one, two, three]) await device.close();
  });

  const meet = async () => {
    for (let round = 0; round < 3; round++)
      for (const device of [one, two, three]) deepStrictEqual((await device.sync(engine)).problems, []);
  };
  const titles = () => Promise.all([one, two, three].map(async ({ store }) => (await store.session(session))?.title));

  it('is what was set last also where an earlier one waits to be sent', async () => {
    // The logs are read in the order in which they begin.
    for (const device of [two, three]) {
      await device.begin('Another');
      await device.sync(engine);
    }
    await one.store.updateSession(session, { title: 'First' });
    await nextMillisecond();
    await three.store.updateSession(session, { title: 'Second' });
    await nextMillisecond();
    await two.store.updateSession(session, { title: 'Third' });
    await three.sync(engine);
    await two.sync(engine);
    await meet();
    deepStrictEqual(await titles(), ['Third', 'Third', 'Third']);
  });

  /** Sets a title, and looks at the time that is kept of it. */
  async function setAndCheck(title: string): Promise<void> {
    await nextMillisecond();
    const before = Date.now();
    await one.store.updateSession(session, { title });
    const after = Date.now();
    const { changes } = await one.store.syncPending(1_000);
    const at = changes.flatMap((change) => (change.kind === 'registers' ? change.values : [])).map(({ tick }) => Math.floor(tick / 1024));
    deepStrictEqual([at.length, at[0]! >= before && at[0]! <= after], [1, true], `${at} is not from ${before} to ${after}`);
  }

  it('has the time at which it was set, to the millisecond', async () => {
    for (let i = 0; i < 60; i++) await setAndCheck(`Title ${i}`);
  });

  it('has it also where synchronizing was switched on by an earlier version', async () => {
    const old = `DROP TRIGGER sync_registers; CREATE TRIGGER sync_registers AFTER UPDATE OF title ON sessions BEGIN
      INSERT INTO sync_outbox(kind, session, target, tick) VALUES ('register', new.uuid, 'title', 1024); END`;
    one = await one.reopened((folder) => alterStore(folder, old));
    await setAndCheck('Quince jam');
  });

  it('is what a device has set that left, went on and has set sync up again', async () => {
    await two.store.stopSync();
    await two.store.updateSession(session, { title: 'Renamed', pinnedAt: 5 });
    await two.say(session, 'Said since', { createdAt: Date.now() + 1_000 });
    await two.join();
    await meet();
    deepStrictEqual(await titles(), ['Renamed', 'Renamed', 'Renamed']);
    const pins = await Promise.all([one, two, three].map(async ({ store }) => (await store.session(session))?.pinnedAt));
    deepStrictEqual(pins, [5, 5, 5]);
  });

  it('stays taken back where a device sets sync up again that knows of it', async () => {
    const set = { deletedAt: 6, archivedAt: 7, metadata: { mark: 1 } };
    await one.store.updateSession(session, set);
    await one.sync(engine);
    await nextMillisecond();
    await three.sync(engine);
    await three.store.updateSession(session, { deletedAt: null, archivedAt: null, metadata: { mark: null } });
    await meet();
    await two.say(session, 'Said since', { createdAt: Date.now() + 1_000 });
    await two.store.stopSync();
    await two.join();
    await meet();
    const seen = await Promise.all(
      [one, two, three].map(async ({ store }) => {
        const { deletedAt, archivedAt, metadata } = (await store.session(session))!;
        return { deletedAt, archivedAt, metadata };
      }),
    );
    const nothing = { deletedAt: null, archivedAt: null, metadata: {} };
    deepStrictEqual(seen, [nothing, nothing, nothing]);
  });
});
