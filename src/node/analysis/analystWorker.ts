import { parentPort } from 'node:worker_threads';
import { analyseText } from '../../core/compaction/textAnalysis';
import { estimateTokens } from '../../core/context/estimateTokens';
import type { AnalysisReply, AnalysisRequest } from './workerAnalyst';

parentPort?.on('message', ({ id, items, budgetTokens }: AnalysisRequest) => {
  const reply: AnalysisReply = { id, analysis: analyseText(items, budgetTokens, estimateTokens) };
  parentPort?.postMessage(reply);
});
