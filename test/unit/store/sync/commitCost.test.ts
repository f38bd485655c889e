import { deepStrictEqual, ok } from 'node:assert';
import { SyncDevice } from '../../../support/sync/syncRig';
import { testUuid, userMessage } from '../../../support/store/storeTemp';

/** Turns on each side, taken in turns. Only a thousand of them, on a machine that does nothing else, say whether 1.2 is kept. */
const turns = Number(process.env['THREADKEEPER_ROUNDS'] ?? 60);

describe('a turn that is committed', function () {
  this.timeout(120_000);

  it('costs about the same with synchronising on as off', async () => {
    const on = await SyncDevice.open();
    const off = await SyncDevice.open();
    await on.join();
    const times = { on: [] as number[], off: [] as number[] };
    const sessions = { on: await on.begin('On'), off: await off.begin('Off') };
    const turn = async (side: 'on' | 'off', { store }: SyncDevice) => {
      const session = sessions[side];
      const entry = userMessage(session, (await store.session(session))!.leaf, 'What was said, in a few words. '.repeat(40));
      const usage = {
        entry: entry.uuid,
        provider: 'p',
        model: 'm',
        kind: 'turn',
        input: 1,
        output: 1,
        cacheRead: 0,
        cacheWrite: 0,
      } as const;
      const answer = userMessage(session, entry.uuid, 'What was answered, in more words. '.repeat(200), { uuid: testUuid() });
      const begun = performance.now();
      await store.append(session, { entries: [entry, answer], usage: [{ ...usage, cost: null, at: Date.now() }] });
      times[side].push(performance.now() - begun);
    };
    for (let i = 0; i < turns; i++) {
      await turn('on', on);
      await turn('off', off);
    }
    // The quicker ones: what else the machine does is in the others.
    const quick = (list: number[]) => list.sort((a, b) => a - b)[Math.floor(list.length / 4)]!;
    const ratio = quick(times.on) / quick(times.off);
    console.log(`      on : off = ${ratio.toFixed(2)} (${quick(times.off).toFixed(2)} ms off)`);
    const stored = async ({ store }: SyncDevice, session: string) => (await store.session(session))!.messageCount;
    deepStrictEqual([await stored(on, sessions.on), await stored(off, sessions.off)], [2 * turns, 2 * turns]);
    await on.close();
    await off.close();
    if (turns >= 1_000) ok(ratio <= 1.2, `${ratio}`);
  });
});
