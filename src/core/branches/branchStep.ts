import type { EntryType } from '../session/entry';

/** One entry of a branch, without what it says. */
export interface BranchStep {
  readonly entry: string;
  readonly type: EntryType;
  readonly at: number;
  readonly modelFacing: boolean;
  /** Our own count, not calibrated; null while not yet counted. */
  readonly tokens: number | null;
  /** What the provider reported for the request that led to it, answer included; null when nothing was. */
  readonly measured: number | null;
}
