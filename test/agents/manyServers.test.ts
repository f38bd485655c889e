import assert from 'node:assert/strict';
import { setTimeout as rest } from 'node:timers/promises';
import { setShared } from '../../src/node/mcp/agentSharing';
import { WindowProcess } from '../support/agents/windowProcess';
import { McpClient } from '../support/run/mcpClient';
import { openTestStore, tempFolder, userMessage, type TempFolder } from '../support/store/storeTemp';

/** THREADKEEPER_AGENT_SECONDS=600 is what is promised: ten minutes. */
const seconds = Number(process.env['THREADKEEPER_AGENT_SECONDS'] ?? 20);
const servers = 20;
const windows = 2;
/** Somebody at work asks less often than an agent at work: a call of each server in so many milliseconds, a turn of each window. */
const pace = { call: 4_000, turn: 2_000 };
const seeded = 3_000;

const calls = [
  ['search_history', { query: 'wombatkey' }],
  ['list_sessions', {}],
  ['recall', { query: 'numbat' }],
  ['read_session', { session: 'seed' }],
] as const;

/** What each kind of work took, in milliseconds. */
type Times = Map<string, number[]>;

describe(`${servers} servers and ${windows} windows on one store for ${seconds} seconds`, function () {
  this.timeout(seconds * 3_000 + 300_000);
  let temp: TempFolder;
  const open: { close(): Promise<unknown> }[] = [];
  const opened = <T extends { close(): Promise<unknown> }>(one: T): T => {
    open.push(one);
    return one;
  };
  const server = async () => {
    const one = opened(McpClient.of('--store', temp.path));
    await one.initialize();
    return one;
  };

  before(async () => {
    temp = tempFolder();
    await setShared(temp.path, true);
    const store = await openTestStore(temp.path);
    await store.createSession({ uuid: 'seed', key: 'cli:seed', channel: 'cli', title: 'Seed', createdAt: Date.now() });
    const entries = Array.from({ length: seeded }, (_, i) =>
      userMessage('seed', i === 0 ? null : `s${i - 1}`, `${'word '.repeat(i % 200)} wombatkey${i % 50 === 0 ? '' : i}`, { uuid: `s${i}` }),
    );
    await store.append('seed', { entries });
    await store.close();
  });
  after(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
    temp.remove();
  });

  it('has no error, loses nothing, and prints its times beside those of one alone', async () => {
    const all: WindowProcess[] = [];
    for (let i = 0; i < windows; i++) all.push(opened(await WindowProcess.open(temp.path)));
    const one = await server();
    await warm(all, [one]);
    const alone: Times = new Map();
    const share = Math.max(5_000, (seconds * 1_000) / 6);
    // Each window beside itself: the second asks the first for everything, so that its turns take longer by nature.
    for (const at of all.keys()) await workFor(share, alone, new Map([[at, all[at]!]]), []);
    await workFor(share, alone, new Map(), [one]);

    const agents = [one];
    while (agents.length < servers) agents.push(await server());
    await warm(all, agents);
    const together: Times = new Map();
    await workFor(seconds * 1_000, together, new Map(all.entries()), agents);

    const rows = [...alone].map(([work, times]) => {
      const both = together.get(work) ?? [];
      const ratio = (at: number) => Math.round((quantile(both, at) / quantile(times, at)) * 100) / 100;
      const ms = (of: readonly number[], at: number) => Math.round(quantile(of, at) * 10) / 10;
      return {
        work,
        count: both.length,
        'median alone': ms(times, 0.5),
        'median together': ms(both, 0.5),
        '×': ratio(0.5),
        'p95 alone': ms(times, 0.95),
        'p95 together': ms(both, 0.95),
        '× ': ratio(0.95),
      };
    });
    console.table(rows);

    for (const agent of agents) assert.match((await agent.call('search_history', { query: all[1]!.entries.at(-1)! })).text, /numbat/);
    const written = all.flatMap(({ entries }) => entries);
    await Promise.all(open.splice(0).map((other) => other.close()));
    assert.deepEqual(
      all.flatMap(({ failures }) => failures),
      [],
    );
    const store = await openTestStore(temp.path);
    try {
      const found = new Set((await store.entries(written)).map(({ uuid }) => uuid));
      assert.deepEqual([written.filter((uuid) => !found.has(uuid)), store.status.note], [[], null]);
      console.log(`      ${written.length} entries written and found, none lost`);
    } finally {
      await store.close();
    }
  });
});

/** What is opened and compiled for the first call of each is no part of the comparison. */
async function warm(windowsAt: readonly WindowProcess[], agents: readonly McpClient[]): Promise<void> {
  for (const window of windowsAt) await window.turn();
  for (const agent of agents) for (const [name, args] of calls) await agent.call(name, args);
}

/** Each works at its own pace, beginning at its own moment. Rejects with the first error. */
async function workFor(
  ms: number,
  times: Times,
  windowsAt: ReadonlyMap<number, WindowProcess>,
  agents: readonly McpClient[],
): Promise<void> {
  const end = performance.now() + ms;
  const note = (work: string, took: number) => times.set(work, [...(times.get(work) ?? []), took]);
  const again = async (index: number, of: number, every: number, work: (round: number) => Promise<void>) => {
    const start = performance.now() + (index / of) * every;
    for (let round = 0; ; round++) {
      const due = start + round * every;
      if (due >= end) return;
      await rest(Math.max(0, due - performance.now()));
      await work(round);
    }
  };
  await Promise.all([
    ...[...windowsAt].map(([i, window]) =>
      again(
        i,
        windows,
        pace.turn,
        async () => void note(i === 0 ? 'turn, in the window that has the store' : 'turn, in the other window', await window.turn()),
      ),
    ),
    ...agents.map((agent, i) =>
      // One that is alone is asked as often as a few together, so that there is enough to compare.
      again(i, agents.length, agents.length === 1 ? pace.call / 8 : pace.call, async (round) => {
        const [name, args] = calls[(i + round) % calls.length]!;
        const began = performance.now();
        const { text, isError } = await agent.call(name, args);
        if (isError) throw new Error(`${name}: ${text}`);
        note(name, performance.now() - began);
      }),
    ),
  ]);
}

function quantile(times: readonly number[], at: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0;
}
