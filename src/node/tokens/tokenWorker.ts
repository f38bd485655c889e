import { parentPort } from 'node:worker_threads';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { Bpe } from './bpe';
import type { CountReply, CountRequest } from './workerTokenCounter';

const bpe = new Bpe(o200k);

parentPort?.on('message', ({ batch, texts }: CountRequest) => {
  const reply: CountReply = { batch, counts: texts.map((text) => bpe.count(text)) };
  parentPort?.postMessage(reply);
});
