import { deepStrictEqual } from 'node:assert';
import { MemoryEngine } from '../../support/sync/memoryEngine';
import { SyncDevice } from '../../support/sync/syncRig';
import { waitFor } from '../../support/waitFor';

describe('what is set in a session that several devices have', function () {
  this.timeout(60_000);
  let engine: MemoryEngine;
  let devices: SyncDevice[];
  beforeEach(async () => {
    engine = new MemoryEngine();
    devices = [await SyncDevice.open(), await SyncDevice.open(), await SyncDevice.open()];
  });
  afterEach(async () => {
    for (const device of devices) await device.close();
  });
  const meet = async () => {
    for (let round = 0; round < 3; round++) for (const device of devices) await device.sync(engine);
  };
  const later = async () => {
    const now = Date.now();
    await waitFor('a later moment', () => Date.now() > now);
  };
  const titles = (session: string) => Promise.all(devices.map(async ({ store }) => (await store.session(session))?.title));

  it('comes to the same title where one of three that renamed at once had not sent it yet', async () => {
    const session = await devices[0]!.begin('Quince');
    for (const device of devices) await device.join();
    await devices[0]!.say(session, 'Hello');
    for (const device of devices) {
      await device.sync(engine);
      await device.store.updateSession(await device.begin('own'), { title: 'own one' });
    }
    await meet();
    const ids = await Promise.all(devices.map(async ({ store }) => (await store.syncHeld()).device));
    const order = (await engine.heads()).map(({ device }) => devices[ids.indexOf(device)]!).filter((device) => device !== devices[0]);
    const [pulledFirst, pulledLast] = order as [SyncDevice, SyncDevice];
    await devices[0]!.store.updateSession(session, { title: 'first of three' });
    await later();
    await pulledLast.store.updateSession(session, { title: 'second of three' });
    await later();
    await pulledFirst.store.updateSession(session, { title: 'last of three' });
    await pulledLast.sync(engine);
    await pulledFirst.sync(engine);
    await meet();
    deepStrictEqual(await titles(session), ['last of three', 'last of three', 'last of three']);
  });

  it('keeps the name that was given last where somebody has left and come back', async () => {
    const [one, two] = devices as [SyncDevice, SyncDevice, SyncDevice];
    for (const device of devices) await device.join();
    const session = await one.begin('Quince');
    await one.say(session, 'Hello');
    await meet();
    await two.store.stopSync();
    await two.store.updateSession(session, { title: 'Renamed', pinnedAt: 5 });
    await two.say(session, 'Said later', { createdAt: Date.now() + 1000 });
    await two.join();
    await meet();
    deepStrictEqual(await titles(session), ['Renamed', 'Renamed', 'Renamed']);
  });

  it('counts the messages that two devices have handed to different forks', async () => {
    const [one, two, three] = devices as [SyncDevice, SyncDevice, SyncDevice];
    for (const device of devices) await device.join();
    const session = await one.begin('Quince');
    const entry = await one.say(session, 'Hello');
    await meet();
    const older = await three.store.forkSession(entry, {
      uuid: '00000000-0000-7000-8000-000000000001',
      channel: 'cli',
      createdAt: 1_763_900_000_000,
    });
    const younger = await two.store.forkSession(entry, {
      uuid: '00000000-0000-7000-8000-000000000002',
      channel: 'cli',
      createdAt: 1_763_900_001_000,
    });
    await three.say(older.uuid, 'Older');
    await two.say(younger.uuid, 'Younger');
    await one.store.updateSession(session, { deletedAt: 1 });
    await one.store.purge([session]);
    await one.sync(engine);
    await meet();
    const counts = await Promise.all(
      devices.map(async ({ store }) => [
        (await store.session(older.uuid))?.messageCount,
        (await store.session(younger.uuid))?.messageCount,
      ]),
    );
    deepStrictEqual(counts, [
      [2, 1],
      [2, 1],
      [2, 1],
    ]);
  });
});
