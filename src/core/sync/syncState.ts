import * as z from 'zod/mini';
import { Problem } from './pullLogs';
import { engineFailures } from './syncEngine';

/** `store`: that of this machine. `phrase`: the recovery phrase is not here. `ended`: the thread that does it has. */
const syncFailures = [...engineFailures, 'store', 'phrase', 'ended'] as const;
export type SyncFailure = (typeof syncFailures)[number];

/** How synchronizing a store stands, for those who show it. */
export const SyncState = z.object({
  /** `elsewhere`: another window on this store does it. `paused`: the user has cancelled it, until they ask for it. */
  phase: z.enum(['starting', 'idle', 'syncing', 'elsewhere', 'paused']),
  /** When this device and the engine had the same rows last; null: not yet, as far as is known. */
  at: z.nullable(z.number()),
  /** Why the last attempt failed; the next one is at `again`. */
  failure: z.nullable(z.object({ reason: z.enum(syncFailures), message: z.string(), again: z.nullable(z.number()) })),
  /** What was wrong with records of the engine, the last time. */
  problems: z.readonly(z.array(Problem)),
  /** Notes that could not be brought to what they come to, the last time, and why. */
  notes: z.readonly(z.array(z.object({ path: z.string(), detail: z.string() }))),
  /** While more than a few records come in. */
  progress: z.nullable(z.object({ pulled: z.number(), of: z.number() })),
  /** What was said last can be read, although not all has come yet. */
  usable: z.boolean(),
});
export type SyncState = z.infer<typeof SyncState>;

export const noSyncYet: SyncState = { phase: 'starting', at: null, failure: null, problems: [], notes: [], progress: null, usable: false };
