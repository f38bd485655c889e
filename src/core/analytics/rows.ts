import type { ReturnRow } from '../cost/returns';

/**
 * What the store counts for analytics. Rows are summed per quarter of an hour, since every time zone's days begin on one: so days
 * are made where the user's zone is known, and a year of history is still few rows.
 */
export interface AnalyticsRows {
  /** They are not in the trash, and were begun or used within the range. */
  readonly sessions: readonly SessionRow[];
  readonly entries: readonly EntriesRow[];
  readonly usage: readonly UsageRow[];
  readonly compactions: readonly CompactionRow[];
  readonly nudges: readonly NudgeRow[];
  /** Only providers that say what they write to their cache have rows. */
  readonly returns: readonly ReturnRow[];
}

export interface AnalyticsQuery {
  /** Milliseconds since the epoch, both included. */
  readonly from: number;
  readonly to: number;
}

export interface SessionRow {
  readonly uuid: string;
  readonly id: string;
  readonly title: string;
  readonly cwd: string | null;
  readonly createdAt: number;
  readonly tags: readonly string[];
}

/** What was said in a session within a quarter of an hour. */
export interface EntriesRow {
  readonly session: string;
  /** Where the quarter of an hour begins. */
  readonly at: number;
  readonly messages: number;
  /** Our tokenizer counts them; entries that are not yet counted have none. */
  readonly tokens: number;
}

/** What the requests of a quarter of an hour were billed. */
export interface UsageRow {
  readonly session: string;
  readonly at: number;
  readonly provider: string;
  readonly model: string;
  /** `compaction`: summaries and checkpoints; everything else answered the user, or tried to. */
  readonly kind: 'turn' | 'compaction' | 'failed' | 'imported' | 'aside';
  readonly requests: number;
  /** The tokens of these requests are our estimate. */
  readonly requestsEstimated: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Requests whose cost is not known are left out. */
  readonly cost: number;
  readonly requestsWithoutCost: number;
}

export interface CompactionRow {
  readonly session: string;
  readonly at: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly rung: string;
  readonly model: string | null;
  readonly durationMs: number;
  readonly heldMs: number;
  readonly undone: boolean;
  /** Puts another summary in the place of one that was made before: it folds nothing further. */
  readonly replaces: boolean;
}

export interface NudgeRow {
  readonly session: string;
  readonly at: number;
  readonly percent: number;
  /** Notes were written after it and before the next compaction. */
  readonly acted: boolean;
}
