import { deepStrictEqual, rejects } from 'node:assert';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MemoryEngine } from '../../../support/sync/memoryEngine';
import { SyncDevice, unreadable } from '../../../support/sync/syncRig';

/** Long enough to be kept in a file of its own. */
const text = 'A long answer. '.repeat(10_000);

describe('long texts on several devices', function () {
  this.timeout(30_000);
  let engine: MemoryEngine;
  let one: SyncDevice;
  let two: SyncDevice;
  let session: string;
  beforeEach(async () => {
    engine = new MemoryEngine();
    one = await SyncDevice.open();
    two = await SyncDevice.open();
    await one.join();
    session = await one.begin('Quince');
    await one.say(session, text);
  });
  afterEach(async () => {
    await one.close();
    await two.close();
  });

  const isWhole = async (device: SyncDevice) => (await device.texts(session)).join() === text;

  it('are sent whole when their file can be read, where it could not be at first', async () => {
    await unreadable(fileOf(one), () => rejects(one.sync(engine), { reason: 'io' }));
    await one.sync(engine);
    await two.join();
    await two.sync(engine);
    deepStrictEqual([await isWhole(one), await isWhole(two)], [true, true]);
  });

  it('come from a device that has them where another one has lost them, whichever log is read first', async () => {
    await one.sync(engine);
    await two.join();
    await two.sync(engine);
    rmSync(fileOf(two));
    // It tells what it has when it takes part again.
    await two.store.stopSync();
    await two.join();
    await two.sync(engine);
    for (const logs of [[...engine.logs], [...engine.logs].reverse()]) {
      engine.logs.clear();
      for (const [device, log] of logs) engine.logs.set(device, log);
      const fresh = await SyncDevice.open();
      await fresh.join();
      deepStrictEqual((await fresh.sync(engine)).problems, []);
      deepStrictEqual(await isWhole(fresh), true);
      await fresh.close();
    }
  });
});

/** The file of the only long text. */
function fileOf({ store }: SyncDevice): string {
  const blobs = join(dirname(store.status.file), 'blobs');
  const [file] = readdirSync(blobs).flatMap((shard) => readdirSync(join(blobs, shard)).map((name) => join(blobs, shard, name)));
  return file!;
}
