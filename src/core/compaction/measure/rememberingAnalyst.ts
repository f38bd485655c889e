import type { TextAnalyst } from '../../ports';
import type { TextAnalysis } from './textAnalysis';

/**
 * Remembers the range that was read last without passages. A checkpoint's range is read when it is written, so that a turn which waits
 * for a compaction by it does not wait for that: measured with 260 KB of tool results, 0.4 s of 0.46 s (a busy machine, 2026).
 */
export class RememberingAnalyst implements TextAnalyst {
  private last: { readonly entries: string; readonly analysis: Promise<TextAnalysis> } | null = null;

  constructor(private readonly analyst: TextAnalyst) {}

  analyse(...[items, budgetTokens]: Parameters<TextAnalyst['analyse']>): Promise<TextAnalysis> {
    if (budgetTokens > 0) return this.analyst.analyse(items, budgetTokens);
    const entries = items.map(({ entryId }) => entryId).join();
    if (this.last?.entries !== entries) this.last = { entries, analysis: this.analyst.analyse(items, 0) };
    return this.last.analysis;
  }

  inContext(...args: Parameters<TextAnalyst['inContext']>): Promise<number> {
    return this.analyst.inContext(...args);
  }
}
