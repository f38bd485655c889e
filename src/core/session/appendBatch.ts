import type { NewEntry } from './entry';
import type { UsageRecord } from '../cost/usage';

export interface AppendBatch {
  readonly entries: readonly NewEntry[];
  readonly usage?: readonly UsageRecord[];
  /** What the entries of this batch did to the notes. */
  readonly memoryWrites?: readonly MemoryWrite[];
  /**
   * The session's leaf as the caller knows it: where it is another one by now, or another window has claimed the session, the call
   * rejects with `conflict`, so that two windows cannot fork a session unawares. Omitted: entries may go anywhere (imports).
   */
  readonly after?: string | null;
  /** Numbers that the entries had in another store, one for each: kept as long as they are above all of this one's. */
  readonly seqs?: readonly number[];
}

/** A change of the model's notes, and the entry that made it. */
export interface MemoryWrite {
  readonly entry: string;
  readonly path: string;
  readonly op: string;
  readonly bytes: number;
  readonly at: number;
}
