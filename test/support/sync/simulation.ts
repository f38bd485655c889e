import { deepStrictEqual } from 'node:assert';
import { isLater, leafRegister, type Stamp } from '../../../src/core/sync/change';
import { syncOnce } from '../../../src/core/sync/exchange';
import type { SyncEngine } from '../../../src/core/sync/syncEngine';
import type { SyncReplica } from '../../../src/core/sync/syncReplica';
import { seededRandom } from '../chat/endurance';
import { MemoryEngine } from './memoryEngine';
import { MemoryReplica } from './memoryReplica';
import { PlainSealer } from './plainSealer';

/** The process or the line has ended, before or after what it was about to do. */
class Gone extends Error {}

interface Gate {
  readonly device: number;
  open(outcome: 'done' | 'gone before' | 'gone after'): void;
}

/**
 * Devices that work on one history, offline and on, in an order that only the seed decides: at every call of a store or of the engine
 * anything else may happen first, the process may die, and the line may break. What a user does is noted, to be everywhere in the end.
 */
export class Simulation {
  private readonly random: () => number;
  private readonly engine = new MemoryEngine();
  readonly replicas: readonly MemoryReplica[];
  private readonly syncing = new Set<number>();
  private readonly cutOff = new Set<number>();
  private gates: Gate[] = [];
  private time = 1;
  private names = 0;
  private readonly said = new Map<string, { readonly session: string; readonly parent: string | null }>();
  private readonly promised = new Map<string, { readonly value: unknown; readonly stamp: Stamp }>();
  private readonly purged = new Set<string>();
  /** Lines that were put into notes, each once, with their note; what somebody has struck out may come back, by whoever changed it. */
  private readonly noted = new Map<string, string>();
  private readonly struck = new Set<string>();
  private readonly rest = new Map<number, () => void>();
  private failure: unknown;

  constructor(seed: number, devices = 3) {
    this.random = seededRandom(seed * 7919 + 1);
    for (let i = 0; i < 5; i++) this.random();
    this.replicas = Array.from({ length: devices }, (_, i) => new MemoryReplica(`device ${i}`, () => this.time));
  }

  /** Goes through so many operations of users, then lets all of them meet, and compares. */
  async run(operations: number): Promise<void> {
    let left = operations;
    while (left > 0) {
      this.time += this.below(3);
      const chance = this.random();
      if (chance < 0.45) {
        left--;
        this.operate(this.pick(this.replicas));
      } else if (chance < 0.6) await this.begin(this.below(this.replicas.length));
      else if (chance < 0.62) this.toggle(this.below(this.replicas.length));
      else if (chance < 0.63) this.loseRow();
      else await this.step();
      if (this.failure) throw this.failure;
    }
    this.cutOff.clear();
    await this.settle();
    this.check();
  }

  private operate(replica: MemoryReplica): void {
    const sessions = [...replica.sessions.keys()];
    const chance = this.random();
    if (sessions.length === 0 || chance < 0.03) return replica.begin(this.name('session'), null);
    const session = this.pick(sessions);
    const entries = replica.entriesOf(session);
    if (chance < 0.6 || entries.length === 0) return this.say(replica, session, 'something');
    if (chance < 0.7) {
      // Another branch: the next thing is said elsewhere.
      replica.set(session, leafRegister, this.pick(entries));
      return this.say(replica, session, 'otherwise');
    }
    if (chance < 0.75) return replica.begin(this.name('fork'), this.pick(entries));
    if (chance < 0.8) return this.say(replica, session, 'summary of what was said');
    if (chance < 0.83) return this.say(replica, session, 'summary undone');
    if (chance < 0.88) return this.note(replica);
    if (chance < 0.98) return this.rename(replica, session, this.pick(['title', 'pinnedAt', 'archivedAt', 'metadata.tags']));
    this.rename(replica, session, 'deletedAt');
    this.purged.add(session);
    replica.purgeHere(session);
  }

  private say(replica: MemoryReplica, session: string, text: string): void {
    const uuid = this.name('entry');
    const parent = replica.leafOf(session);
    replica.say(session, uuid, text);
    this.said.set(uuid, { session, parent });
  }

  private rename(replica: MemoryReplica, session: string, register: string): void {
    const value = this.name('value');
    const stamp = replica.set(session, register, value);
    const key = JSON.stringify([session, register]);
    const known = this.promised.get(key);
    if (!known || isLater(stamp, known.stamp)) this.promised.set(key, { value, stamp });
  }

  private note(replica: MemoryReplica): void {
    const chance = this.random();
    const path = chance < 0.02 || replica.notePaths.length === 0 ? this.name('note.md') : this.pick(replica.notePaths);
    const lines = (replica.note(path).text ?? '').split('\n').filter((line) => line !== '');
    if (chance > 0.98) {
      for (const line of lines) this.struck.add(line);
      return replica.writeNote(path, this.name('revision'), null);
    }
    const line = this.name('line');
    if (chance < 0.7 || lines.length === 0) lines.splice(chance < 0.4 ? lines.length : this.below(lines.length + 1), 0, line);
    else for (const gone of lines.splice(this.below(lines.length), 1, ...(chance < 0.85 ? [line] : []))) this.struck.add(gone);
    if (lines.includes(line)) this.noted.set(line, path);
    replica.writeNote(path, this.name('revision'), lines.length === 0 ? null : `${lines.join('\n')}\n`);
  }

  private async begin(device: number): Promise<void> {
    if (this.syncing.has(device)) return;
    this.syncing.add(device);
    const resting = this.restOf(device);
    const replica = this.replicas[device]!;
    const work = async () => {
      await syncOnce({
        replica: this.gated(device, replica, false),
        engine: this.gated(device, this.engine, true),
        sealer: new PlainSealer(replica.device, replica),
        newId: () => this.name('id'),
      });
    };
    void work()
      .catch((error: unknown) => {
        if (!(error instanceof Gone)) this.failure = error;
      })
      .finally(() => {
        this.syncing.delete(device);
        this.rest.get(device)?.();
      });
    await resting;
  }

  /** Resolves when the device asks for something again, or is done: each asks for one thing at a time. */
  private restOf(device: number): Promise<void> {
    return new Promise((resolve) => this.rest.set(device, resolve));
  }

  /** Every call waits until the scheduler lets it happen. */
  private gated<T extends SyncReplica | SyncEngine>(device: number, target: T, isLine: boolean): T {
    return new Proxy(target, {
      get: (from, name) => {
        const method = Reflect.get(from, name) as unknown;
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          new Promise((resolve, reject) => {
            this.rest.get(device)?.();
            this.gates.push({
              device,
              open: (outcome) => {
                const isGone = outcome === 'gone before' || (isLine && this.cutOff.has(device));
                if (isGone) return reject(new Gone());
                const result = (method as (...given: unknown[]) => Promise<unknown>).apply(from, args);
                if (outcome === 'gone after') result.then(() => reject(new Gone()), reject);
                else result.then(resolve, reject);
              },
            });
          });
      },
    });
  }

  private async step(mayFail = true): Promise<void> {
    if (this.gates.length === 0) return;
    const [gate] = this.gates.splice(this.below(this.gates.length), 1);
    const chance = mayFail ? this.random() : 1;
    const resting = this.restOf(gate!.device);
    gate!.open(chance < 0.01 ? 'gone before' : chance < 0.02 ? 'gone after' : 'done');
    await resting;
  }

  private toggle(device: number): void {
    if (!this.cutOff.delete(device)) this.cutOff.add(device);
  }

  /** The engine has lost a row, wherever it stood. */
  private loseRow(): void {
    const logs = [...this.engine.logs.values()].filter(({ size }) => size > 0);
    if (logs.length === 0) return;
    const log = this.pick(logs);
    log.delete(this.pick([...log.keys()]));
  }

  private async settle(): Promise<void> {
    for (let round = 0; round < 8; round++) {
      for (let device = 0; device < this.replicas.length; device++) {
        while (this.syncing.has(device)) await this.step(false);
        await this.begin(device);
        while (this.syncing.has(device)) await this.step(false);
        if (this.failure) throw this.failure;
      }
    }
  }

  /** What users do, and nothing else: for a test that synchronizes by itself. */
  work(operations: number): void {
    for (let i = 0; i < operations; i++) {
      this.time += this.below(3);
      this.operate(this.pick(this.replicas));
    }
  }

  /** Everything that was said and set is everywhere, once. */
  check(): void {
    const [first, ...others] = this.replicas.map(({ state }) => state);
    for (const other of others) deepStrictEqual(other, first);
    const replica = this.replicas[0]!;
    const lost: string[] = [];
    const seen = new Set<string>();
    for (const [uuid, { session }] of this.said) {
      if (this.purged.has(session)) continue;
      for (let at: string | null = uuid; at !== null && !seen.has(at); at = this.said.get(at)!.parent) {
        seen.add(at);
        if (!replica.entries.has(at)) lost.push(at);
      }
    }
    const registers = Object.fromEntries(
      [...this.promised].filter(([key]) => !this.purged.has((JSON.parse(key) as [string])[0])).map(([key, { value }]) => [key, value]),
    );
    const found = Object.fromEntries(
      Object.keys(registers).map((key) => {
        const [session, name] = JSON.parse(key) as [string, string];
        return [key, replica.registers.get(session)?.get(name)?.value];
      }),
    );
    const waiting = this.replicas.flatMap((one) => [...one.waiting.values()].flat()).filter(({ change }) => !onlyLeaf(change));
    const lines = replica.notePaths.flatMap((path) => (replica.note(path).text ?? '').split('\n').map((line) => `${path} ${line}`));
    const counts = new Map<string, number>();
    for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
    const wrongLines = [...this.noted].flatMap(([line, path]) => {
      const count = counts.get(`${path} ${line}`) ?? 0;
      return count === 1 || (count === 0 && this.struck.has(line)) ? [] : [`${line}: ${count} times`];
    });
    deepStrictEqual(
      { lost, wrongLines, registers: found, waiting, purged: [...replica.purged].sort() },
      { lost: [], wrongLines: [], registers, waiting: [], purged: [...this.purged].sort() },
    );
  }

  private name(kind: string): string {
    // In the order of their making, as UUIDs of version 7 are.
    return `${String(++this.names).padStart(8, '0')} ${kind}`;
  }

  private below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  private pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

/** Where a device stood in a session may be an entry that a purge has taken. */
function onlyLeaf(change: { readonly kind: string; readonly values?: readonly { readonly name: string }[] }): boolean {
  return change.kind === 'registers' && (change.values ?? []).every(({ name }) => name === leafRegister);
}
