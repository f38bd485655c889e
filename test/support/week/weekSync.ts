import { randomUUID } from 'node:crypto';
import { syncOnce } from '../../../src/core/sync/exchange';
import { EngineError, type SyncEngine } from '../../../src/core/sync/syncEngine';
import type { SessionStore } from '../../../src/core/ports';
import { GcmSealer } from '../../../src/node/sync/gcmSealer';
import { historyKeys, newPhrase, readPhrase } from '../../../src/node/sync/historyKeys';
import { storeReplica } from '../../../src/node/sync/storeReplica';
import { openTestStore, testUuid, userMessage } from '../store/storeTemp';

const keys = historyKeys(readPhrase(newPhrase()), 'main');

/** The history's other device, and an engine between the two that fails by chance: before it has done what it was asked, or after. */
export class WeekSync {
  readonly said: string[] = [];
  exchanges = 0;
  faults = 0;
  private session: string | null = null;
  private readonly faulty: SyncEngine;

  private constructor(
    readonly elsewhere: SessionStore,
    private readonly engine: SyncEngine,
    private readonly random: () => number,
  ) {
    const failing = async <T>(call: () => Promise<T>): Promise<T> => {
      if (this.random() < 0.08) return this.fail();
      const result = await call();
      return this.random() < 0.04 ? this.fail() : result;
    };
    this.faulty = {
      heads: () => failing(() => engine.heads()),
      pull: (range) => failing(() => engine.pull(range)),
      push: (rows, wrapped) => failing(() => engine.push(rows, wrapped)),
      counts: (ranges) => failing(() => engine.counts(ranges)),
      keys: (ids) => failing(() => engine.keys(ids)),
      dropKeys: (ids) => failing(() => engine.dropKeys(ids)),
      dropLog: (device) => failing(() => engine.dropLog(device)),
      dropAll: () => failing(() => engine.dropAll()),
      attachments: () => engine.attachments(),
      listen: () => Promise.resolve(false),
      close: () => engine.close(),
    };
  }

  static async begin(engine: SyncEngine, random: () => number, folder: string): Promise<WeekSync> {
    const sync = new WeekSync(await openTestStore(folder, 'elsewhere'), engine, random);
    await sync.join(sync.elsewhere);
    return sync;
  }

  join(store: SessionStore): Promise<void> {
    return store.startSync(randomUUID(), { history: keys.history, name: 'main', engine: 'folder' });
  }

  /** One of the two exchanges what it has; a failure of the engine is what happens. */
  async exchange(store: SessionStore): Promise<void> {
    this.exchanges++;
    try {
      await this.once(this.random() < 0.5 ? store : this.elsewhere, this.faulty);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }

  async sayElsewhere(): Promise<void> {
    const { elsewhere } = this;
    this.session ??= (await elsewhere.createSession({ uuid: testUuid(), channel: 'cli', title: 'Elsewhere', createdAt: Date.now() })).uuid;
    const text = `elsewhere-${this.said.length}- said on the other device`;
    const leaf = (await elsewhere.session(this.session))?.leaf ?? null;
    await elsewhere.append(this.session, { entries: [userMessage(this.session, leaf, text)] });
    this.said.push(text);
  }

  /** Until both have everything. */
  async settle(store: SessionStore): Promise<void> {
    for (const one of [store, this.elsewhere, store, this.elsewhere]) {
      const { problems } = await this.once(one, this.engine);
      if (problems.length > 0) throw new Error(`the exchange has problems: ${JSON.stringify(problems.slice(0, 3))}`);
    }
  }

  async close(): Promise<void> {
    await this.elsewhere.close();
  }

  private async once(store: SessionStore, engine: SyncEngine) {
    return syncOnce({ replica: storeReplica(store), engine, sealer: new GcmSealer(keys), newId: randomUUID });
  }

  private fail(): never {
    this.faults++;
    throw new EngineError('unreachable', 'by chance');
  }
}
