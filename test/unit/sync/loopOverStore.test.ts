import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { EngineError } from '../../../src/core/sync/syncEngine';
import { noSyncYet, type SyncState } from '../../../src/core/sync/syncState';
import { historyKeys, newPhrase, readPhrase } from '../../../src/node/sync/historyKeys';
import { pace, SyncLoop } from '../../../src/node/sync/syncLoop';
import { syncStoreOnce } from '../../../src/node/sync/syncStore';
import { TestClock } from '../../support/chat/testClock';
import { openTestStore, tempFolder, testUuid, userMessage, type TempFolder } from '../../support/store/storeTemp';
import { MemoryEngine } from '../../support/sync/memoryEngine';
import { waitFor } from '../../support/waitFor';

const keys = historyKeys(readPhrase(newPhrase()), 'main');
const soon = { interval: 1, timeout: 20_000 };

/** It can fail, be asked what has been called, and tell of news. */
class FaultyEngine extends MemoryEngine {
  failing = 0;
  hears = false;
  /** Attachments cannot be exchanged. */
  failsBeside = false;
  onPull: () => void = () => undefined;
  onNews: () => void = () => undefined;

  override heads(): ReturnType<MemoryEngine['heads']> {
    if (this.failing-- > 0) return Promise.reject(new EngineError('unreachable', 'The connection broke'));
    return super.heads();
  }

  override attachments(): MemoryEngine {
    const beside = super.attachments();
    if (this.failsBeside) beside.counts = () => Promise.reject(new EngineError('slow', 'It takes too long'));
    return beside;
  }

  override pull(range: Parameters<MemoryEngine['pull']>[0]): ReturnType<MemoryEngine['pull']> {
    this.onPull();
    return super.pull(range);
  }

  override listen(onNews?: () => void): Promise<boolean> {
    this.onNews = onNews ?? this.onNews;
    return Promise.resolve(this.hears);
  }

  get asked(): number {
    return this.calls.filter((call) => call === 'heads').length;
  }
}

describe('the loop that keeps a store and an engine together', () => {
  let temp: TempFolder;
  let store: SessionStore;
  /** Of what another window says the loop is told, as in its thread. */
  let window: SessionStore;
  let engine: FaultyEngine;
  let clock: TestClock;
  let opened: number;
  let leads: boolean;
  let states: SyncState[];
  let refused: EngineError | null;
  let stop: AbortController;
  let loop: SyncLoop;
  let ended: Promise<void>;

  beforeEach(async () => {
    temp = tempFolder();
    [store, engine, clock, states] = [await openTestStore(join(temp.path, 'here')), new FaultyEngine(), new TestClock(), []];
    [opened, leads, refused, stop] = [0, true, null, new AbortController()];
    await store.startSync(randomUUID(), { history: keys.history, name: 'main', engine: 'memory' });
    window = await openTestStore(join(temp.path, 'here'), 'window');
    loop = new SyncLoop({
      store,
      keys,
      open: async () => {
        opened++;
        if (refused) throw refused;
        return engine;
      },
      leads: () => Promise.resolve(leads),
      noted: () => ({ ...noSyncYet, phase: 'idle', at: 7 }),
      tell: (state) => states.push(state),
      clock,
    });
  });
  afterEach(async () => {
    stop.abort();
    await ended;
    await window.close();
    await store.close();
    temp.remove();
  });

  const phases = () => states.map(({ phase }) => phase);
  /** It waits for a timer, or to be woken. */
  const asleep = (timers = 1) => waitFor('its pause', () => clock.timers === timers, soon);
  const begin = async () => {
    ended = loop.run(stop.signal);
    await asleep();
  };
  /** A wake ends its pause at once. */
  const woken = async (wake: () => void) => {
    wake();
    await asleep();
  };
  const say = async (text: string) => {
    const session = testUuid();
    await window.createSession({ uuid: session, channel: 'cli', createdAt: 1_763_800_000_000, title: text });
    await window.append(session, { entries: [userMessage(session, null, text)] });
  };

  /** On another device of the history. */
  const sayFar = async (title: string, lines = 1) => {
    const far = await openTestStore(join(temp.path, 'there'));
    await far.startSync(randomUUID(), { history: keys.history, name: 'main', engine: 'memory' });
    const session = testUuid();
    await far.createSession({ uuid: session, channel: 'cli', createdAt: 1_763_800_000_000, title });
    for (let i = 0; i < lines; i++) await far.append(session, { entries: [userMessage(session, null, `line ${i}`)] });
    await syncStoreOnce(far, engine, keys);
    await far.close();
  };

  it('asks at once, then ever more seldom while nothing comes, and sends what is said a second after its first word', async () => {
    await begin();
    deepStrictEqual(
      [states[0], states.at(-1), phases()],
      [{ ...noSyncYet, at: 7 }, { ...noSyncYet, phase: 'idle', at: clock.now(), usable: true }, ['starting', 'syncing', 'idle', 'idle']],
    );
    for (const [pauses, asked] of [
      [2 * pace.ask, 2],
      [4 * pace.ask, 3],
    ] as const) {
      clock.pass(pauses - 1);
      strictEqual(engine.asked, asked - 1);
      await woken(() => clock.pass(1));
      strictEqual(engine.asked, asked);
    }
    await say('More sugar.');
    await say('And less salt.');
    await asleep(2);
    strictEqual(engine.logs.size, 0);
    await woken(() => clock.pass(pace.afterChange));
    deepStrictEqual([engine.asked, [...engine.logs.values()].map(({ size }) => size > 3)], [4, [true]]);
    // It is on its way already: the engine is not asked again.
    await woken(() => loop.wake('changed'));
    strictEqual(engine.asked, 4);
  });

  it('looks when somebody looks, unless it has just done so, and hears what an engine tells', async () => {
    engine.hears = true;
    await begin();
    loop.wake('looked');
    clock.pass(pace.look);
    strictEqual(engine.asked, 1);
    await woken(() => loop.wake('looked'));
    await woken(() => engine.onNews());
    strictEqual(engine.asked, 3);
    clock.pass(pace.mostQuiet - 1);
    strictEqual(engine.asked, 3);
    await woken(() => clock.pass(1));
    strictEqual(engine.asked, 4);
  });

  it('leaves it to the window that does it, unless the user asks here', async () => {
    leads = false;
    await begin();
    deepStrictEqual([states.at(-1), opened], [{ ...noSyncYet, phase: 'elsewhere', at: 7 }, 0]);
    await woken(() => loop.wake('asked'));
    deepStrictEqual([phases().at(-1), engine.asked], ['idle', 1]);
    await woken(() => clock.pass(2 * pace.ask));
    deepStrictEqual([phases().at(-1), engine.asked], ['elsewhere', 1]);
  });

  it('takes in nothing more once the user has cancelled, until they ask for it', async () => {
    await sayFar('Far', 3);
    engine.mostRows = 1;
    engine.onPull = () => loop.cancel();
    await begin();
    deepStrictEqual({ ...states.at(-1)!, usable: true }, { ...noSyncYet, phase: 'paused', at: 7, usable: true });
    const asked = engine.asked;
    await woken(() => loop.wake('news'));
    await woken(() => clock.pass(pace.mostQuiet));
    strictEqual(engine.asked, asked);
    engine.onPull = () => undefined;
    await woken(() => loop.wake('asked'));
    deepStrictEqual(
      [phases().at(-1), (await store.listSessions()).map(({ title, messageCount }) => `${title} ${messageCount}`)],
      ['idle', ['Far 3']],
    );
  });

  it('opens a connection that broke once more before it says so, and tries less and less then', async () => {
    await begin();
    engine.failing = 1;
    await woken(() => loop.wake('news'));
    deepStrictEqual([opened, states.filter(({ failure }) => failure !== null)], [2, []]);
    refused = new EngineError('refused', 'The password is wrong');
    engine.failing = 1;
    await woken(() => loop.wake('news'));
    const failed = (again: number) => ({ reason: 'refused', message: 'The password is wrong', again: clock.now() + again });
    deepStrictEqual([opened, states.at(-1)!.failure], [3, failed(2_000)]);
    await woken(() => clock.pass(2_000));
    deepStrictEqual([opened, states.at(-1)!.failure], [4, failed(4_000)]);
    // What is said meanwhile, and what others say, does not make it answer sooner.
    await woken(() => loop.wake('changed'));
    await woken(() => clock.pass(3_999));
    await woken(() => loop.wake('news'));
    strictEqual(opened, 4);
    refused = null;
    await woken(() => clock.pass(1));
    deepStrictEqual([opened, states.at(-1)!.failure, states.at(-1)!.phase], [5, null, 'idle']);
  });

  it('tries less and less where attachments fail, and sends and fetches what is said meanwhile', async () => {
    await begin();
    engine.failsBeside = true;
    const session = testUuid();
    const hash = await window.putBlob(new Uint8Array([1, 2, 3]), 'image/png');
    await window.createSession({ uuid: session, channel: 'cli', createdAt: 1_763_800_000_000, title: 'Picture' });
    const attachments = [{ kind: 'image' as const, name: 'a.png', hash, mime: 'image/png' }];
    await window.append(session, {
      entries: [userMessage(session, null, '', { content: { type: 'message', role: 'user', text: 'See', attachments } })],
    });
    await asleep(2);
    await woken(() => clock.pass(pace.afterChange));
    const failed = (again: number) => ({ reason: 'slow', message: 'It takes too long', again: clock.now() + again });
    deepStrictEqual(states.at(-1)!.failure, failed(2_000));
    await woken(() => clock.pass(2_000));
    deepStrictEqual(states.at(-1)!.failure, failed(4_000));
    const rows = () => [...engine.logs.values()].reduce((sum, log) => sum + log.size, 0);
    const before = rows();
    await say('More sugar.');
    await asleep(2);
    await woken(() => clock.pass(pace.afterChange));
    deepStrictEqual([rows() > before, states.at(-1)!.failure], [true, failed(8_000)]);
    await woken(() => clock.pass(8_000));
    await woken(() => clock.pass(16_000));
    deepStrictEqual(states.at(-1)!.failure, failed(pace.ask));
    const asked = engine.asked;
    clock.pass(pace.look);
    await woken(() => loop.wake('looked'));
    deepStrictEqual([engine.asked, states.at(-1)!.failure], [asked + 1, failed(pace.ask)]);
    await sayFar('And less salt.');
    clock.pass(pace.ask);
    await waitFor('the next failure', () => states.at(-1)!.failure?.again === clock.now() + pace.ask, soon);
    deepStrictEqual((await store.listSessions()).map(({ title }) => title).sort(), ['And less salt.', 'More sugar.', 'Picture']);
  });

  for (const reason of ['changed', 'news'] as const)
    it(`ends when it is switched off in the store, however it learns of that: ${reason}`, async () => {
      await begin();
      await store.stopSync();
      loop.wake(reason);
      await ended;
      ok(states.every(({ failure }) => failure === null));
      strictEqual(clock.timers, 0);
    });
});
