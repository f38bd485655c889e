import { english } from '../../../core/l10n';
import type { Connection } from '../database/connection';
import { IdleTask, type IdleDelays } from './idleTask';
import { entryName } from '../repair/problemList';
import { isDamage } from '../repair/recoverStore';
import { verifyBodies } from '../repair/verifyBodies';

/** 300 MB take about 1.5 s of work; at these delays they take a quarter of one core for that long four times over. */
const delays: IdleDelays = { idleMs: 2_000, gapMs: 25, stepMs: 8 };

export interface IdleVerifierEvents {
  /** Once, when everything has been looked at, or when a page could not be read. What is wrong, in words; null when nothing is. */
  onDone(damage: string | null, entries: number): void;
  onError(error: unknown): void;
}

/** Compares every entry with its checksum while the store is idle, once. Opening does not: it would read the whole file. */
export function verifyWhenIdle(connection: Connection, { onDone, onError }: IdleVerifierEvents, pace: IdleDelays = delays): IdleTask {
  const damaged: number[] = [];
  const rows = verifyBodies(connection, (seq) => damaged.push(seq));
  let read = 0;
  let isDone = false;
  const finish = (damage: string | null) => {
    isDone = true;
    onDone(damage, read);
    return false;
  };
  const describe = () => {
    if (damaged.length === 0) return null;
    const first = entryName(connection, damaged[0]);
    return damaged.length === 1 ? english('1 entry does not say what was written: {0}.', first) : english('{0} entries do not say what was written; the newest is {1}.', damaged.length, first);
  };
  const step = (budgetMs: number) => {
    const started = performance.now();
    try {
      do {
        const next = rows.next();
        if (next.done) return finish(describe());
        read = next.value;
      } while (performance.now() - started < budgetMs);
      return true;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return finish(english('A part of it cannot be read: {0}.', error.message));
    }
  };
  return new IdleTask({ isDue: () => !isDone, step }, onError, pace);
}
