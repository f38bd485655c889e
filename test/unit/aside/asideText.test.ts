import assert from 'node:assert/strict';
import { transcriptOf } from '../../../src/core/aside/asideText';

describe('what is kept of a side question', () => {
  it('is all of it in order, and no result ends its fence', () => {
    const text = transcriptOf('Where?\nAnd why?', [
      { type: 'text', text: 'I look.' },
      { type: 'call', name: 'read_file', input: { path: 'a.md' }, text: '```js\n1\n```', status: 'ok' },
      { type: 'call', name: 'x*y', input: {}, text: 'no', status: 'error' },
      { type: 'text', text: 'In a.md:2.' },
    ]);
    const expected = [
      '> Where?\n> And why?',
      'I look.',
      '**read_file**',
      '```\n{"path":"a.md"}\n```',
      '````\n```js\n1\n```\n````',
      '**x\\*y** (error)',
      '```\n{}\n```',
      '```\nno\n```',
      'In a.md:2.',
    ];
    assert.equal(text, expected.join('\n\n'));
  });
});
