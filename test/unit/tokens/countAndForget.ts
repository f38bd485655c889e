import { WorkerTokenCounter } from '../../../src/node/tokens/workerTokenCounter';

/** A process that counts once and neither closes the counter nor exits by itself. */
async function main(): Promise<void> {
  const [worker] = process.argv.slice(2);
  const counts = await new WorkerTokenCounter(worker ?? '').count(['one two three']);
  process.stdout.write(JSON.stringify(counts));
}

void main();
