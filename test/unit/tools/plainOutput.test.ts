import { strictEqual } from 'node:assert';
import { PlainOutput } from '../../../src/core/tools/command/plainOutput';

const plain = (...parts: readonly string[]): string => {
  let text = '';
  const output = new PlainOutput((part) => (text += part));
  for (const part of parts) output.add(part);
  output.end();
  return text;
};

describe('output of a terminal as text', () => {
  it('has no colours, titles, marks of the shell or signs that move the cursor', () => {
    const printed =
      '\u001b]633;C\u0007\u001b[1;31mred\u001b[0m \u001b]0;title\u001b\\plain\u001b[2K\u001b[?25l\u001b(B\u001b7\u0007 end\r\n\u001b]633;D;0\u0007';
    strictEqual(plain(printed), 'red plain end\n');
    for (let at = 0; at <= printed.length; at++)
      strictEqual(plain(printed.slice(0, at), printed.slice(at)), 'red plain end\n', `cut at ${at}`);
    strictEqual(plain(...printed), 'red plain end\n');
  });

  it('has a line for each state of one that is written over', () => {
    strictEqual(plain('10 %\r', '20 %\r\n', 'done\n'), '10 %\n20 %\ndone\n');
  });

  it('keeps what only looks like the beginning of a sequence', () => {
    strictEqual(plain('a \u001b'), 'a ');
    strictEqual(plain('[31m is no colour', ' and ünïcödé 中文 is text\t!'), '[31m is no colour and ünïcödé 中文 is text\t!');
  });

  it('takes no more time for a sequence that never ends', () => {
    const output = new PlainOutput(() => undefined);
    output.add('\u001b]0;');
    for (let i = 0; i < 5_000; i++) output.add('x'.repeat(1_000));
    output.end();
  });
});
