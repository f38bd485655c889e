import { deepStrictEqual } from 'node:assert';
import type { Sealer } from '../../../../src/core/sync/sealedRecord';
import { MemoryEngine } from '../../../support/sync/memoryEngine';
import { damaged, SyncDevice } from '../../../support/sync/syncRig';

const lostRows = (rows: string) => `DROP TRIGGER entries_keep; DROP TRIGGER bodies_keep; DELETE FROM entries WHERE seq IN (${rows});`;
const lostWhole = (rows: string) => `${lostRows(rows)} DELETE FROM bodies WHERE entry IN (${rows});`;

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

  const meet = async () => {
    for (const device of [one, two, one, two]) deepStrictEqual((await device.sync(engine)).problems, []);
  };
  const branchOf = async ({ store }: SyncDevice, session: string) => (await store.liveBranch(session)).entries;
  const titles = async ({ store }: SyncDevice, trashed = false) => (await store.listSessions({ trashed })).map(({ title }) => title).sort();

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

  it('says what it said again where the row of an entry was of another kind than its text', async () => {
    const session = await one.begin('Quince');
    for (const text of ['First', 'Second', 'Third']) await one.say(session, text);
    await meet();
    const before = await branchOf(one, session);
    const guard = 'DROP TRIGGER entries_keep_content';
    one = await damaged(
      one,
      `${guard}; UPDATE entries SET entry_type = 'custom', created_at = 7, display = 0, source_id = 'x' WHERE seq = 2`,
    );
    await meet();
    deepStrictEqual(await branchOf(one, session), before);
  });

  it('keeps a text for the entry that it was, whoever says the same elsewhere or later', async () => {
    const [fresh, session, other] = [await two.begin('Fresh'), await one.begin('Quince'), await one.begin('Other')];
    // What this device tells comes first.
    await two.sync(engine);
    for (const text of ['First', 'Yes', 'Third']) await one.say(session, text);
    await one.say(other, 'Something else');
    await meet();
    const before = await branchOf(one, session);
    one = await damaged(one, lostRows('2'));
    await two.say(other, 'Yes');
    await two.say(fresh, 'Yes', { createdAt: Date.now() + 60_000 });
    await two.sync(engine);
    await meet();
    deepStrictEqual(
      [await branchOf(one, session), await one.texts(other), await one.texts(fresh)],
      [before, ['Something else', 'Yes'], ['Yes']],
    );
    deepStrictEqual([await titles(one), await titles(one, true)], [['Fresh', 'Other', 'Quince'], []]);
  });

  it('leaves the session of a text that is known again to who works in it, and else puts it into the trash, everywhere', async () => {
    const session = await one.begin('Quince');
    for (const text of ['First', 'Lost', 'Third', 'Gone', 'Fifth']) await one.say(session, text);
    await meet();
    one = await damaged(one, lostRows('2'));
    // Somebody hears of it before what was said comes again.
    await one.sync(new MemoryEngine());
    await meet();
    const fresh = await SyncDevice.open();
    await fresh.join();
    deepStrictEqual((await fresh.sync(engine)).problems, []);
    for (const device of [one, two, fresh]) deepStrictEqual([await titles(device), await titles(device, true)], [['Quince'], ['Lost']]);
    await fresh.close();
    one = await damaged(one, lostRows('4'));
    const kept = (await one.store.listSessions()).find(({ title }) => title === 'Gone')!;
    await one.store.saveDraft(kept.uuid, { text: 'I was about to say', attachments: [], at: 1 });
    await meet();
    deepStrictEqual([await titles(one), await one.texts(kept.uuid)], [['Gone', 'Quince'], []]);
    deepStrictEqual((await one.store.draft(kept.uuid))?.text, 'I was about to say');
  });

  it('gives a number that somebody has seen to nobody else', async () => {
    const early = new MemoryEngine();
    const session = await one.begin('Quince');
    for (const text of ['First', 'Second']) await one.say(session, text);
    await one.sync(early);
    await meet();
    await two.say(session, 'Third');
    await two.sync(engine);
    await one.sync(engine);
    await one.say(session, 'Fourth');
    const before = await branchOf(one, session);
    one = await damaged(one, lostWhole('2, 3'));
    await one.sync(early);
    deepStrictEqual(
      (await one.store.entriesBySeq([5])).map(({ content }) => content.type === 'message' && content.text),
      ['Second'],
    );
    await one.sync(engine);
    deepStrictEqual(await branchOf(one, session), before);
    await one.say(session, 'Fifth');
    deepStrictEqual(
      (await branchOf(one, session)).map(({ seq }) => seq),
      [1, 2, 3, 4, 6],
    );
  });
});
