import type { CostOf } from './prices';

/** The first request after a pause in which the provider's prompt cache had expired, as it was billed. */
export interface ReturnRow {
  readonly session: string;
  readonly at: number;
  readonly provider: string;
  readonly model: string;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWriteHour: number;
  /** Tokens of the request before the pause, its answer included: as much could have been written again. */
  readonly before: number;
  /** The compaction that was applied on this return; null where there was none. */
  readonly folded: string | null;
}

/** What a compaction on a return has saved. */
export interface FoldSaving {
  /** UUID of its record. */
  readonly compaction: string;
  readonly tokens: number;
  /** Dollars; null where no price is known. */
  readonly cost: number | null;
}

export interface ReturnCost {
  /** Tokens that had been sent before and were written again. */
  readonly again: number;
  /** Dollars; null where no price is known. */
  readonly cost: number | null;
  /** Tokens that were not, because the conversation was folded first. */
  readonly saved: number;
  readonly savedCost: number | null;
}

/**
 * What a return has cost, and what folding has saved: by usage alone. What the message itself took is part of both, so that what was
 * written again is at most that much too high, and what was saved too low.
 */
export function returnCost(row: ReturnRow, costOf: CostOf): ReturnCost {
  const { provider, model, input, cacheRead, cacheWrite, cacheWriteHour, before, folded } = row;
  const sent = input + cacheWrite;
  const again = Math.min(sent, before);
  const saved = folded === null ? 0 : Math.max(0, before - cacheRead - sent);
  const whole = costOf(provider, model, { input, output: 0, cacheRead: 0, cacheWrite, cacheWriteHour });
  const priced = (tokens: number) => (whole === null || sent === 0 ? null : (whole * tokens) / sent);
  return { again, cost: priced(again), saved, savedCost: priced(saved) };
}

/** What was saved on those returns on which a compaction was applied. */
export function foldSavings(rows: readonly ReturnRow[], costOf: CostOf): FoldSaving[] {
  return rows.flatMap((row) => {
    if (row.folded === null) return [];
    const { saved, savedCost } = returnCost(row, costOf);
    return [{ compaction: row.folded, tokens: saved, cost: savedCost }];
  });
}
