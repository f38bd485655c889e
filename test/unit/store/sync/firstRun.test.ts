import { deepStrictEqual, ok } from 'node:assert';
import type { NewEntry } from '../../../../src/core/session/entry';
import { CancelledError } from '../../../../src/core/errors';
import { MemoryEngine } from '../../../support/sync/memoryEngine';
import { SyncDevice } from '../../../support/sync/syncRig';
import { testUuid, userMessage } from '../../../support/store/storeTemp';

const sessions = 300;
const messages = 4;

describe('a long history on a new device', function () {
  this.timeout(60_000);
  const engine = new MemoryEngine();
  let one: SyncDevice;
  let newest: string;

  before(async () => {
    one = await SyncDevice.open();
    for (let n = 0; n < sessions; n++) {
      newest = await one.begin(`Session ${n}`);
      const entries: NewEntry[] = [];
      for (let m = 0; m < messages; m++)
        entries.push(
          userMessage(newest, entries.at(-1)?.uuid ?? null, `Message ${m} of ${n}`, { createdAt: 1_763_800_000_000 + n * 1000 + m }),
        );
      await one.store.append(newest, { entries });
    }
    // It existed before it was synchronized, so that its log tells the sessions first and what was said last at its end.
    await one.join();
    await one.sync(engine);
    for (let n = 0; n < 500; n++) await one.store.savePin({ session: newest, kind: 'text', target: `Pin ${n}`, contentHash: null, at: n });
    await one.sync(engine);
    await one.say(newest, 'The last word', { uuid: testUuid(), createdAt: 1_763_900_000_000 });
    await one.sync(engine);
  });

  after(() => one.close());

  it('is of use before it is there whole', async () => {
    const fresh = await SyncDevice.open();
    await fresh.join();
    let early: unknown;
    const seen: Promise<void>[] = [];
    await fresh.sync(engine, {
      onUsable: () => {
        seen.push(
          (async () => {
            early = { texts: await fresh.texts(newest), title: (await fresh.store.session(newest))?.title };
          })(),
        );
      },
    });
    await Promise.all(seen);
    const texts = [0, 1, 2, 3].map((m) => `Message ${m} of ${sessions - 1}`).concat('The last word');
    ok(early, 'it was told');
    deepStrictEqual([(early as { texts: unknown }).texts, (early as { title: unknown }).title], [texts, `Session ${sessions - 1}`]);
    deepStrictEqual(
      [await fresh.store.countSessions(), (await fresh.store.syncHeld()).logs.map(({ next }) => next).sort()],
      [sessions, (await one.store.syncHeld()).logs.map(({ next }) => next).sort()],
    );
    deepStrictEqual(await fresh.texts(newest), texts);
    await fresh.close();
  });

  it('goes on where it was cancelled', async () => {
    const fresh = await SyncDevice.open();
    await fresh.join();
    const cancel = new AbortController();
    const cancelled = await fresh.sync(engine, { signal: cancel.signal, onUsable: () => cancel.abort() }).catch((error: unknown) => error);
    ok(CancelledError.is(cancelled));
    deepStrictEqual((await fresh.texts(newest)).at(-1), 'The last word');
    deepStrictEqual((await fresh.sync(engine)).problems, []);
    deepStrictEqual(await fresh.store.countSessions(), sessions);
    await fresh.close();
  });

  it('keeps the keys that came early where there is nothing to be shown early', async () => {
    const [empty, origin, fresh] = [new MemoryEngine(), await SyncDevice.open(), await SyncDevice.open()];
    for (let n = 0; n < 70; n++) await origin.begin(`Empty session ${n}`);
    await origin.join();
    await origin.sync(empty);
    await fresh.join();
    await fresh.sync(empty);
    const idsOf = async ({ store }: SyncDevice) => (await store.syncKeys('all')).map(({ id }) => id);
    deepStrictEqual([(await idsOf(fresh)).length > 0, await idsOf(fresh)], [true, await idsOf(origin)]);
    await origin.close();
    await fresh.close();
  });

  it('is of use as soon however many sessions there are', async () => {
    const [there, origin, fresh] = [new MemoryEngine(), await SyncDevice.open(), await SyncDevice.open()];
    const many = 450;
    for (let n = 0; n < many; n++)
      await origin.say(await origin.begin(`Session ${n}`), `Message of ${n}`, { createdAt: 1_763_800_000_000 + n });
    await origin.join();
    await origin.sync(there);
    await fresh.join();
    let pulled = 0;
    const pull = there.pull.bind(there);
    there.pull = async (range) => {
      const rows = await pull(range);
      pulled += rows.length;
      return rows;
    };
    let before = NaN;
    await fresh.sync(there, { onUsable: () => (before = pulled) });
    // The records that are asked for at the two ends of a log.
    ok(before <= 80, `${before} of ${pulled} records`);
    const [newest] = await fresh.store.listSessions({ limit: 1 });
    deepStrictEqual(
      [newest?.title, await fresh.texts(newest!.uuid), await fresh.store.countSessions()],
      [`Session ${many - 1}`, [`Message of ${many - 1}`], many],
    );
    await origin.close();
    await fresh.close();
  });
});
