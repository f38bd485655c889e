import { deepStrictEqual, strictEqual } from 'node:assert';
import { noSyncYet } from '../../../../src/core/sync/syncState';
import type { SyncAnswer } from '../../../../src/node/sync/syncInThread';
import { Syncing } from '../../../../src/vscode/sync/syncing';
import { SyncSecrets } from '../../../../src/vscode/sync/syncSecrets';
import { TestClock } from '../../../support/chat/testClock';

/** Lets what was promised happen. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

class FakeThread {
  readonly asked: string[] = [];

  constructor(readonly say: (answer: SyncAnswer) => void) {}

  wake(reason: string): void {
    this.asked.push(reason);
  }

  cancel(): void {
    this.asked.push('cancel');
  }

  async stop(): Promise<void> {
    this.asked.push('stop');
  }
}

async function begun() {
  const clock = new TestClock();
  const kept = new Map<string, string>();
  const secrets = new SyncSecrets({
    get: async (key) => kept.get(key),
    store: async (key, value) => void kept.set(key, value),
    delete: async (key) => void kept.delete(key),
  });
  kept.set('threadkeeper.sync.key.h', 'ab'.repeat(32));
  const threads: FakeThread[] = [];
  let wanted: { readonly history: string; readonly engine: string } | null = { history: 'h', engine: '/shared' };
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const syncing = new Syncing({
    folder: async () => '/store',
    distDir: '/dist',
    secrets,
    wanted: () => wanted,
    deviceName: () => 'Desk',
    begin: (_request, heard) => {
      const thread = new FakeThread(heard);
      threads.push(thread);
      return thread;
    },
    notSetUp: async () => void (wanted = null),
    clock,
    log,
  });
  await syncing.apply();
  return { clock, syncing, threads, kept, wanted: () => wanted };
}

describe('the thread that synchronizes', () => {
  it('is begun anew after a failure, each time later, until it has synchronized', async () => {
    const { clock, syncing, threads } = await begun();
    const fail = async () => {
      threads.at(-1)!.say({ type: 'ended', failure: 'out of memory' });
      await settle();
    };
    const pauses: number[] = [];
    for (let time = 0; time < 3; time++) {
      await fail();
      const { failure } = syncing.state;
      const pause = failure!.again! - clock.now();
      pauses.push(pause);
      clock.pass(pause - 1);
      await settle();
      strictEqual(threads.length, time + 1);
      clock.pass(1);
      await settle();
      strictEqual(threads.length, time + 2);
    }
    deepStrictEqual(pauses, [1_000, 2_000, 4_000]);
    threads.at(-1)!.say({ type: 'state', state: { ...noSyncYet, phase: 'idle', at: 1 } });
    await fail();
    strictEqual(syncing.state.failure!.again! - clock.now(), 1_000);
    clock.pass(1_000);
    await settle();
    deepStrictEqual(syncing.state, { ...noSyncYet, at: 1 }, 'when it was the last time is not forgotten');
  });

  it('is begun at once when it is asked for', async () => {
    const { clock, syncing, threads } = await begun();
    threads[0]!.say({ type: 'ended', failure: 'gone' });
    await syncing.apply();
    syncing.wake('asked');
    deepStrictEqual(
      threads.map(({ asked }) => asked),
      [['stop'], ['asked']],
    );
    strictEqual(clock.timers, 0);
  });

  it('is not begun again where nothing is set up', async () => {
    const { clock, syncing, threads, wanted } = await begun();
    threads[0]!.say({ type: 'ended', failure: null });
    await settle();
    await syncing.apply();
    strictEqual(wanted(), null);
    deepStrictEqual(
      threads.map(({ asked }) => asked),
      [['stop']],
    );
    strictEqual(clock.timers, 0);
    deepStrictEqual(syncing.state, noSyncYet);
  });
});
