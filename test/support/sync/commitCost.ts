import { deepStrictEqual } from 'node:assert';
import { testUuid, userMessage } from '../store/storeTemp';
import { SyncDevice } from './syncRig';

/** Milliseconds of the same turn where synchronizing is on and off: the middle one, and the one that a quarter of them are below. */
export interface CommitCost {
  readonly median: Record<Side, number>;
  readonly quick: Record<Side, number>;
}

type Side = 'on' | 'off';

/** The two stores take turns, so that what else the machine does is in both. */
export async function commitCost(turns: number): Promise<CommitCost> {
  const devices = { on: await SyncDevice.open(), off: await SyncDevice.open() };
  await devices.on.join();
  const sessions = { on: await devices.on.begin('On'), off: await devices.off.begin('Off') };
  const times = { on: [] as number[], off: [] as number[] };
  const turn = async (side: Side) => {
    const [session, { store }] = [sessions[side], devices[side]];
    const entry = userMessage(session, (await store.session(session))!.leaf, 'What was said, in a few words. '.repeat(40));
    const counts = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
    const usage = { entry: entry.uuid, provider: 'p', model: 'm', kind: 'turn', ...counts } as const;
    const answer = userMessage(session, entry.uuid, 'What was answered, in more words. '.repeat(200), { uuid: testUuid() });
    const begun = performance.now();
    await store.append(session, { entries: [entry, answer], usage: [{ ...usage, cost: null, at: Date.now() }] });
    times[side].push(performance.now() - begun);
  };
  for (let i = 0; i < turns; i++) {
    await turn('on');
    await turn('off');
  }
  const stored = async (side: Side) => (await devices[side].store.session(sessions[side]))!.messageCount;
  deepStrictEqual([await stored('on'), await stored('off')], [2 * turns, 2 * turns]);
  await devices.on.close();
  await devices.off.close();
  const at = (share: number) => ({ on: quantile(times.on, share), off: quantile(times.off, share) });
  return { median: at(0.5), quick: at(0.25) };
}

function quantile(list: readonly number[], share: number): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length * share)]!;
}
