import { Worker } from 'node:worker_threads';
import { CancelledError, errorText } from '../../core/errors';
import { ToolFault } from '../../core/tools/tool';
import type { LineMatcher } from '../../core/tools/toolWorkspace';
import { workerLimits } from '../runtime/workerLimits';

/** All files of one search together, from when the thread has taken them: a busy machine may start it late. */
const mostMs = 2_000;

/** So short that it stands here: a file of its own would have to be found from the extension, the command line and the tests. */
const script = `
const { parentPort, workerData: { source, flags } } = require('node:worker_threads');
const expression = new RegExp(source, flags);
parentPort.on('message', (lines) => {
  parentPort.postMessage('begun');
  parentPort.postMessage(lines.flatMap((line, i) => (expression.test(line) ? [i + 1] : [])));
});
`;

/**
 * Finds the lines that match a regular expression, in a thread of its own: an expression may take exponential time, and a thread can be
 * ended. Throws `ToolFault` for one that is not valid; looking for lines rejects with it when it takes too long over all calls together,
 * and with `CancelledError` when the signal is aborted.
 */
export function lineMatcher(pattern: string, ignoreCase: boolean, signal: AbortSignal): LineMatcher {
  const flags = ignoreCase ? 'iu' : 'u';
  try {
    new RegExp(pattern, flags);
  } catch (error) {
    throw new ToolFault(`This is no regular expression: ${errorText(error)}`);
  }
  let worker: Worker | undefined;
  let left = mostMs;
  const end = () => {
    void worker?.terminate();
    worker = undefined;
  };
  return {
    async numbers(lines) {
      if (signal.aborted) throw new CancelledError();
      if (left <= 0) throw tooLong();
      const thread = (worker ??= new Worker(script, { eval: true, workerData: { source: pattern, flags }, resourceLimits: workerLimits }));
      thread.unref();
      return new Promise<readonly number[]>((resolve, reject) => {
        const stop = () => settle(() => reject(new CancelledError()));
        let begun: { readonly at: number; readonly late: NodeJS.Timeout } | undefined;
        const settle = (how: () => void, goesOn = false) => {
          signal.removeEventListener('abort', stop);
          thread.off('message', told).off('error', failed).off('exit', ended);
          if (begun) {
            clearTimeout(begun.late);
            left -= performance.now() - begun.at;
          }
          if (!goesOn) end();
          how();
        };
        const expired = () => {
          // A timer may fire a part of a millisecond before its time, of which a search of its own would be made.
          left = 0;
          settle(() => reject(tooLong()));
        };
        const told = (answer: 'begun' | readonly number[]) => {
          if (answer !== 'begun') return settle(() => resolve(answer), true);
          begun = { at: performance.now(), late: setTimeout(expired, left) };
        };
        const failed = (error: unknown) => settle(() => reject(error));
        const ended = (code: number) => failed(new Error(`The search ended with code ${code}`));
        thread.on('message', told).on('error', failed).on('exit', ended);
        signal.addEventListener('abort', stop, { once: true });
        thread.postMessage(lines);
      });
    },
    dispose: end,
  };
}

function tooLong(): ToolFault {
  return new ToolFault('This regular expression takes too long. Make it simpler, search fewer files, or search for plain text.');
}
