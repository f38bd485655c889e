import { deepEqual, equal, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { CancelledError } from '../../../src/core/errors';
import type { Logger } from '../../../src/core/ports';
import { Bpe } from '../../../src/node/tokens/bpe';
import { WorkerTokenCounter } from '../../../src/node/tokens/workerTokenCounter';
import { patience } from '../../support/run/patience';

const shippedWorker = join(__dirname, '..', '..', '..', 'tokenWorker.js');

describe('token counter', function () {
  this.timeout(20_000);
  let folder: string;
  const open: WorkerTokenCounter[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tokens-'));
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((counter) => counter.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  const counterOver = (file: string, log?: Logger) => {
    const counter = new WorkerTokenCounter(file, log);
    open.push(counter);
    return counter;
  };

  /** A worker that says 7 for every text and notes each message in `messages`, after `preface` has run. */
  const scriptedWorker = (preface: string) => {
    const file = join(folder, 'worker.js');
    writeFileSync(
      file,
      `const { parentPort } = require('node:worker_threads');
       const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
       parentPort.on('message', ({ batch, texts }) => {
         appendFileSync(${JSON.stringify(join(folder, 'messages'))}, texts.length + '\\n');
         const seen = readFileSync(${JSON.stringify(join(folder, 'messages'))}, 'utf8').trim().split('\\n').length;
         ${preface}
         parentPort.postMessage({ batch, counts: texts.map(() => 7) });
       });`,
    );
    return file;
  };

  it('counts in the shipped worker what the encoder counts here', async () => {
    const texts = ['', 'one two three', '漢字仮名交じり文', '<|endoftext|>', 'x'.repeat(20_000), '\ud800\0', 'one two three'];
    const bpe = new Bpe(o200k);
    deepEqual(
      await counterOver(shippedWorker).count(texts),
      texts.map((text) => bpe.count(text)),
    );
  });

  it('starts no worker before the first count that needs one', async () => {
    const counter = counterOver(join(folder, 'missing.js'));
    deepEqual(await counter.count([]), []);
    deepEqual(await counter.count(['', '']), [0, 0]);
  });

  it('sends counts asked for together in one message, each text once, and asks again for none it knows', async () => {
    const counter = counterOver(scriptedWorker(''));
    const long = 'long text '.repeat(100);
    deepEqual(await Promise.all([counter.count(['a', 'b', 'a']), counter.count([long])]), [[7, 7, 7], [7]]);
    deepEqual(await counter.count(['b', long, 'a']), [7, 7, 7]);
    equal(messagesIn(folder), '3\n');
  });

  it('restarts the worker once after a crash and answers every count', async () => {
    const counter = counterOver(scriptedWorker('if (seen === 1) process.exit(3);'));
    deepEqual(await Promise.all([counter.count(['a']), counter.count(['b'])]), [[7], [7]]);
    equal(messagesIn(folder), '2\n2\n');
  });

  it('gives estimates and logs it when the worker crashes again, and does not keep them', async () => {
    const events: string[] = [];
    const note = (event: string) => void events.push(event);
    const counter = counterOver(scriptedWorker('throw new Error("no memory");'), { debug: note, info: note, warn: note, error: note });
    deepEqual(await counter.count(['12345678', '漢字仮']), [2, 1]);
    deepEqual(await counter.count(['1234']), [1]);
    deepEqual(events, ['token_worker_crashed', 'token_worker_crashed', 'token_counts_are_estimates']);
    equal(messagesIn(folder), '2\n2\n');
  });

  it('gives estimates when there is no worker file', async () => {
    deepEqual(await counterOver(join(folder, 'missing.js')).count(['12345678']), [2]);
  });

  it('rejects what is under way when closed, and everything after', async () => {
    const counter = counterOver(scriptedWorker('return;'));
    const pending = counter.count(['a']);
    await Promise.resolve();
    const closing = counter.close();
    await rejects(pending, CancelledError);
    await rejects(counter.count(['a']), CancelledError);
    await closing;
  });

  it('keeps a process alive for an awaited count and no longer', async () => {
    const main = join(__dirname, 'countAndForget.js');
    const { stdout } = await promisify(execFile)(process.execPath, [main, shippedWorker], { timeout: Math.round(15_000 * patience()) });
    equal(stdout, '[3]');
  });
});

function messagesIn(folder: string): string {
  return readFileSync(join(folder, 'messages'), 'utf8');
}
