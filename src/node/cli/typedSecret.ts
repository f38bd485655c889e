import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/**
 * A line of standard input; empty where that ends before. A terminal shows nothing of what is typed: from before the question is
 * asked until the line has ended it is in raw mode. Rejects when the user interrupts it.
 */
export function typedSecret(question: string): Promise<string> {
  const isTerminal = process.stdin.isTTY;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: isTerminal, historySize: 0 });
  return new Promise<string>((resolve, reject) => {
    const end = (then: () => void) => {
      lines.removeAllListeners('close');
      lines.close();
      if (isTerminal) process.stderr.write('\n');
      then();
    };
    lines.once('line', (line) => end(() => resolve(line)));
    lines.once('SIGINT', () => end(() => reject(new Error('Interrupted.'))));
    lines.once('close', () => end(() => resolve('')));
    process.stderr.write(question);
  });
}
