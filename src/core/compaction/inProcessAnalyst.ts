import { estimateTokens } from '../context/estimateTokens';
import type { TextAnalyst } from '../ports';
import { analyseText } from './textAnalysis';

/** Where there is no worker: half a second per million characters on the thread that asks. */
export const inProcessAnalyst: TextAnalyst = { analyse: async (items, budgetTokens) => analyseText(items, budgetTokens, estimateTokens) };
