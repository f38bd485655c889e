import { openStore } from '../../../src/node/store/client/openStore';
import { searchTyped } from '../../../src/core/recall/parseSearchText';
import { otherHistories } from '../../../src/vscode/sessions/searchOthers';
import { OtherSessions } from '../../../src/vscode/sessions/tree/otherSessions';
import { silentLog } from '../../support/chat/conversationRig';
import { workerFile } from '../../support/store/storeTemp';
import { BenchStore } from '../store/benchStore';
import { writeYears } from '../years/twoYears';

/** Words, names and paths, common and rare, as somebody types them. */
const queries = [
  'karen',
  'tosolda renmi',
  'pasolne',
  'verinka lumse gorta',
  'riltoka',
  'renmi karen solda',
  'nowhere at all',
  'src/ka.ts',
  'torenka mi',
  'lumgor neta sol',
  'role:user karen',
  'where did we say tosolda',
];

/** Milliseconds of each search. */
export interface SearchTimes {
  /** Until this workspace's own results are there, which the list shows first. */
  readonly own: readonly number[];
  /** Until those of another one are. */
  readonly firstOther: readonly number[];
  /** Until all have answered. */
  readonly all: readonly number[];
}

/** Each in a process of its own. */
export const everywhereTasks = {
  async write({
    folder,
    entries,
    seed,
  }: {
    readonly folder: string;
    readonly entries: number;
    readonly seed: number;
  }): Promise<{ characters: number }> {
    const store = await BenchStore.open(folder);
    const { characters } = writeYears(store, entries, seed);
    store.index();
    store.close();
    return { characters };
  },

  /** As *Search History…* does it: this workspace, whose store is open, and then the others, which the first search opens. */
  async search({
    own,
    others,
    rounds,
  }: {
    readonly own: string;
    readonly others: readonly string[];
    readonly rounds: number;
  }): Promise<{ readonly cold: SearchTimes; readonly warm: SearchTimes }> {
    const store = await openStore({ folder: own, workerFile, label: 'bench', waitForOwnerMs: 0 });
    const sessions = new OtherSessions({
      list: async () =>
        others.map((folder) => ({ folder, name: folder, place: folder, sessionCount: 1, lastUsed: 0, uri: null, gone: false })),
      open: (folder) => openStore({ folder, workerFile, label: 'bench', readonly: 'join' }),
      log: silentLog,
    });
    const histories = otherHistories(sessions, silentLog);
    const search = async (text: string, times: Record<keyof SearchTimes, number[]>) => {
      const began = performance.now();
      await searchTyped(store, text);
      times.own.push(performance.now() - began);
      let isFirst = true;
      for await (const { result } of histories.read(
        (other) => searchTyped(other, text),
        () => true,
      )) {
        if (!result) throw new Error('A history could not be read');
        if (isFirst) times.firstOther.push(performance.now() - began);
        isFirst = false;
      }
      times.all.push(performance.now() - began);
    };
    const none = () => ({ own: [] as number[], firstOther: [] as number[], all: [] as number[] });
    const [cold, warm] = [none(), none()];
    await search(queries[0]!, cold);
    for (let round = 0; round < rounds; round++) for (const text of queries) await search(text, warm);
    sessions.dispose();
    await store.close();
    return { cold, warm };
  },
} as const;

export type EverywhereTasks = typeof everywhereTasks;
