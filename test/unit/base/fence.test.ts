import { strictEqual } from 'node:assert';
import { fenced } from '../../../src/core/base/fence';

describe('a fence', () => {
  it('is longer than what stands in a row within', () => {
    strictEqual(fenced('a'), '```\na\n```');
    strictEqual(fenced('`` and ````'), '`````\n`` and ````\n`````');
  });

  it('takes a text with more runs of backticks than a call takes arguments', () => {
    const text = '` '.repeat(200_000);
    strictEqual(fenced(text), `\`\`\`\n${text}\n\`\`\``);
  });
});
