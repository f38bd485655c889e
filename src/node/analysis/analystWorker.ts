import { parentPort } from 'node:worker_threads';
import { inProcessAnalyst } from '../../core/compaction/measure/textAnalysis';
import { answerAnalyst, type AnalystRequest } from './workerAnalyst';

parentPort?.on('message', ({ id, ...request }: AnalystRequest) => {
  void answerAnalyst(inProcessAnalyst, request).then((answer) => parentPort?.postMessage({ id, answer }));
});
