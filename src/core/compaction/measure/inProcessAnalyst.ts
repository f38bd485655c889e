import { estimateTokens } from '../../context/measure/estimateTokens';
import type { TextAnalyst } from '../../ports';
import { inContextPercent } from './continuity';
import { analyseText } from './textAnalysis';

/** Where there is no worker: seconds per million characters on the thread that asks. */
export const inProcessAnalyst: TextAnalyst = {
  analyse: async (items, budgetTokens) => analyseText(items, budgetTokens, estimateTokens),
  inContext: async (elements, leftBehind) => inContextPercent(elements, leftBehind),
};
