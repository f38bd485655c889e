import { deepStrictEqual } from 'node:assert';
import type { Sealer } from '../../../../src/core/sync/sealedRecord';
import { MemoryEngine } from '../../../support/sync/memoryEngine';
import { damaged, SyncDevice } from '../../../support/sync/syncRig';

/** As a program does that knows nothing of what stands in for entries. */
const older = (sealer: Sealer): Sealer => ({
  mark: (before, row) => sealer.mark(before, row),
  seal: (place, change) => sealer.seal(place, change),
  addKeys: (given) => sealer.addKeys(given),
  open: (row) => (row.version > 1 ? { kind: 'newer' } : sealer.open(row)),
});

describe('what a repair has made up for', function () {
  this.timeout(20_000);
  let engine: MemoryEngine;
  let one: SyncDevice;
  let two: SyncDevice;
  beforeEach(async () => {
    engine = new MemoryEngine();
    one = await SyncDevice.open();
    two = await SyncDevice.open();
    await one.join();
    await two.join();
  });
  afterEach(async () => {
    await one.close();
    await two.close();
  });

  it('is left alone by a program that would take it for what was said', async () => {
    const session = await one.begin('Quince');
    for (const text of ['First', 'Second', 'Third']) await one.say(session, text);
    await one.sync(new MemoryEngine());
    const known = new MemoryEngine();
    await two.sync(known);
    one = await damaged(one, 'DROP TRIGGER bodies_keep; DELETE FROM bodies WHERE entry = 2');
    await one.sync(engine);
    const { problems } = await two.syncAs(engine, older);
    deepStrictEqual([problems.map(({ kind }) => kind), await two.texts(session)], [['newer'], []]);
    deepStrictEqual((await two.sync(engine)).problems, []);
    deepStrictEqual(await two.texts(session), ['First', 'Third']);
  });
});
