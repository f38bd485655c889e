import { deepStrictEqual } from 'node:assert';
import { mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { blobFile } from '../../../src/node/store/rows/blobFiles';
import { MemoryEngine } from '../../support/sync/memoryEngine';
import { SyncDevice } from '../../support/sync/syncRig';

describe('long texts', function () {
  this.timeout(60_000);

  it('are not told as damaged because their file could not be read at that moment', async () => {
    const engine = new MemoryEngine();
    const [one, two] = [await SyncDevice.open(), await SyncDevice.open()];
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    const text = 'A long answer. '.repeat(10_000);
    const entry = await one.say(session, text);
    const blobs = join(dirname(one.store.status.file), 'blobs');
    const file = readdirSync(blobs).flatMap((shard) => readdirSync(join(blobs, shard)).map((name) => join(blobs, shard, name)))[0]!;
    // Any error but that it is not there: a virus scanner has it, the disk does not answer, too many files are open.
    renameSync(file, `${file}.away`);
    mkdirSync(file);
    await one.sync(engine).catch(() => undefined);
    rmdirSync(file);
    renameSync(`${file}.away`, file);
    for (const device of [one, two, one, two]) await device.sync(engine);
    const told = async ({ store }: SyncDevice) => {
      const [found] = await store.entries([entry]);
      return found?.content.type === 'message' ? found.content.text.length : found?.content;
    };
    deepStrictEqual([await told(one), await told(two)], [text.length, text.length]);
    await one.close();
    await two.close();
  });

  it('that are lost here come from a device that has them, whichever log is read first', async () => {
    const engine = new MemoryEngine();
    const [one, two, three] = [await SyncDevice.open(), await SyncDevice.open(), await SyncDevice.open()];
    await one.join();
    const session = await one.begin('Quince');
    const text = 'A long answer. '.repeat(10_000);
    const entry = await one.say(session, text);
    await one.sync(engine);
    await two.join();
    await two.sync(engine);
    // Its file is lost on the second device, which leaves and comes back: it tells what it has.
    const blobs = join(dirname(two.store.status.file), 'blobs');
    const file = readdirSync(blobs).flatMap((shard) => readdirSync(join(blobs, shard)).map((name) => join(blobs, shard, name)))[0]!;
    renameSync(file, join(dirname(two.store.status.file), 'lost'));
    await two.store.stopSync();
    await two.join();
    await two.sync(engine);
    const [first, last] = [...engine.logs];
    engine.logs.clear();
    engine.logs.set(...last!);
    engine.logs.set(...first!);
    await three.join();
    await three.sync(engine);
    await three.sync(engine);
    const [found] = await three.store.entries([entry]);
    deepStrictEqual(found?.content.type === 'message' ? found.content.text.length : found?.content, text.length);
    for (const device of [one, two, three]) await device.close();
  });

  it('and attachments that could not be read once are sent when they can be', async () => {
    const engine = new MemoryEngine();
    const [one, two] = [await SyncDevice.open(), await SyncDevice.open()];
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    const hash = await one.attach(session, Buffer.from('a picture'));
    const file = blobFile(dirname(one.store.status.file), hash);
    renameSync(file, `${file}.away`);
    mkdirSync(file);
    await one.syncWhole(engine).catch(() => undefined);
    rmdirSync(file);
    renameSync(`${file}.away`, file);
    for (const device of [one, two, one, two]) await device.syncWhole(engine);
    deepStrictEqual((await two.store.blob(hash))?.length, 9);
    await one.close();
    await two.close();
  });
});
