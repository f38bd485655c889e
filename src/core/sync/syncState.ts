import type { Problem } from './pullLogs';
import type { EngineFailure } from './syncEngine';

/** `store`: that of this machine. `phrase`: the recovery phrase is not here. `ended`: the thread that does it has. */
export type SyncFailure = EngineFailure | 'store' | 'phrase' | 'ended';

/** How synchronizing a store stands, for those who show it. */
export interface SyncState {
  /** `elsewhere`: another window on this store does it. `paused`: the user has cancelled it, until they ask for it. */
  readonly phase: 'starting' | 'idle' | 'syncing' | 'elsewhere' | 'paused';
  /** When this device and the engine had the same rows last; null: not yet, as far as is known. */
  readonly at: number | null;
  /** Why the last attempt failed; the next one is at `again`. */
  readonly failure: { readonly reason: SyncFailure; readonly message: string; readonly again: number | null } | null;
  /** What was wrong with records of the engine, the last time. */
  readonly problems: readonly Problem[];
  /** Notes that could not be brought to what they come to, the last time, and why. */
  readonly notes: readonly { readonly path: string; readonly detail: string }[];
  /** While more than a few records come in. */
  readonly progress: { readonly pulled: number; readonly of: number } | null;
  /** What was said last can be read, although not all has come yet. */
  readonly usable: boolean;
}

export const noSyncYet: SyncState = { phase: 'starting', at: null, failure: null, problems: [], notes: [], progress: null, usable: false };
