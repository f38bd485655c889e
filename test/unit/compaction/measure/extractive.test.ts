import { deepEqual, equal, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import { extractiveSummary, type ExtractiveItem } from '../../../../src/core/compaction/measure/extractive';
import { estimateTokens } from '../../../../src/core/context/measure/estimateTokens';
import { splitSentences } from '../../../../src/core/recall/splitText';

const item = (text: string, i: number, role: ExtractiveItem['role'] = 'user'): ExtractiveItem => ({ entryId: `#${i}`, role, text, at: i });

const piece = fc.oneof(
  fc.constantFrom(
    'The port is 54329. ',
    'ok ',
    'e.g. ',
    'src/a.ts ',
    'https://x.test/?a=1. ',
    '`a. B` ',
    '\n',
    '```\n',
    '設定は重要です。',
    '😀',
    '? ',
    '"',
    ' ',
    '\0',
    '\ud800',
    'x'.repeat(500),
  ),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
);
const text = fc.array(piece, { maxLength: 40 }).map((parts) => parts.join(''));
const items = fc
  .array(fc.tuple(text, fc.constantFrom('user' as const, 'assistant' as const, 'tool' as const)), { maxLength: 8 })
  .map((all) => all.map(([t, role], i) => item(t, i, role)));

describe('extractive summary', () => {
  it('has only verbatim lines with the id of their entry, in order, within the budget, the same every time', () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 0, max: 300 }), (all, budget) => {
        const summary = extractiveSummary(all, budget, estimateTokens);
        let last = -1;
        for (const { entryId, text: line } of summary.lines) {
          const at = all.findIndex((one) => one.entryId === entryId);
          ok(at >= last && line !== '' && all[at]?.text.includes(line));
          last = at;
        }
        equal(summary.text, summary.lines.map((line) => `- (${line.entryId}) ${line.text}`).join('\n'));
        ok(estimateTokens(summary.text) <= budget);
        deepEqual(extractiveSummary(all, budget, estimateTokens), summary);
      }),
      { numRuns: 200 },
    );
  });

  it('respects the budget of an estimate that does not add up', () => {
    const all = Array.from({ length: 60 }, (_, i) => item(`Fact number ${i} is about topic${i}.`, i));
    const estimate = (t: string) => t.length ** 1.2 / 4;
    const summary = extractiveSummary(all, 500, estimate);
    ok(summary.lines.length > 0 && estimate(summary.text) <= 500);
  });

  it('keeps the facts of a long chat in a twentieth of its size', () => {
    const facts = [
      'The staging database listens on port 54329.',
      'We decided against Redis because the licence changed.',
      'Priya Raman owns the audit, due 12 March.',
      'Set KEEPER_MAX_RETRIES to 7 in deploy/staging.env.',
      'Throughput fell to 37 MB/s after the upgrade.',
      '価格は税込みで4980円に決めました。',
    ];
    const chatter = [
      'Sure, let me take a look at the code and tell you what I think about it.',
      'Could you please check the tests again and see whether they are fine now?',
      'I have looked at the tests and the code, and it looks fine to me now.',
      'Thanks, that looks good. Let us go on with the next step of the plan then.',
      'Shall we look at the next thing, or do you think that the code needs more tests?',
    ];
    const all = Array.from({ length: 240 }, (_, i) =>
      item(`${chatter[i % 5]} ${chatter[(i * 3 + 1) % 5]}`, i, i % 2 ? 'assistant' : 'user'),
    );
    facts.forEach((fact, k) => (all[k * 37 + 9] = item(`${chatter[k % 5]} ${fact} ${chatter[(k + 2) % 5]}`, k * 37 + 9)));
    const budget = Math.floor(all.reduce((sum, one) => sum + estimateTokens(one.text), 0) / 20);
    const { lines } = extractiveSummary(all, budget, estimateTokens);
    deepEqual(
      facts.map((fact, k) => lines.some((line) => line.text === fact && line.entryId === `#${k * 37 + 9}`)),
      facts.map(() => true),
    );
  });

  it('prefers statements to questions, what was said to what tools printed, and says nothing twice', () => {
    const one = (texts: ExtractiveItem[], budget: number) =>
      extractiveSummary(texts, budget, estimateTokens).lines.map((line) => line.text);
    deepEqual(one([item('Is the port 54329?', 1), item('So the port is 54329.', 2)], 9), ['So the port is 54329.']);
    deepEqual(one([item('Listening on 54329.', 1, 'tool'), item('It listens on 54329.', 2)], 9), ['It listens on 54329.']);
    deepEqual(one([item('The port is 54329.', 1), item('The port is 54329.', 2)], 100), ['The port is 54329.']);
  });

  it('takes long lines, many lines and empty input', () => {
    deepEqual(extractiveSummary([], 100, estimateTokens), { lines: [], text: '' });
    deepEqual(extractiveSummary([item('', 1), item(' \n\t', 2)], 100, estimateTokens), { lines: [], text: '' });
    for (const part of ['word ', 'a', '漢', '1,', 'a. ', '`a']) {
      const { text: summary } = extractiveSummary([item(part.repeat(100_000 / part.length), 1)], 400, estimateTokens);
      ok(estimateTokens(summary) <= 400);
    }
  });
});

describe('sentences', () => {
  const split = (t: string, max?: number) => splitSentences(t, max).map(({ start, end }) => t.slice(start, end));

  const cases: [name: string, text: string, sentences: string[]][] = [
    [
      'at full stops, question and exclamation marks',
      'One. Two? Three! "Four." Five… Six',
      ['One.', 'Two?', 'Three!', '"Four."', 'Five…', 'Six'],
    ],
    [
      'not after abbreviations, initials and list numbers',
      '1. Use e.g. Redis, cf. Dr. J. Smith et al. Done.',
      ['1. Use e.g. Redis, cf. Dr. J. Smith et al. Done.'],
    ],
    [
      'not inside of URLs, paths, versions and numbers',
      'See https://a.test/b?c=1. Then src/a.ts, v1.2.3 and 3.5 MB.',
      ['See https://a.test/b?c=1.', 'Then src/a.ts, v1.2.3 and 3.5 MB.'],
    ],
    ['not inside of inline code', 'Run `a. B? C` now. An open ` here. And on.', ['Run `a. B? C` now.', 'An open ` here.', 'And on.']],
    ['not before a small letter', '"What?" he said. and so on', ['"What?" he said. and so on']],
    [
      'at line ends, with fenced code line by line',
      'Intro\n\n```ts\nfoo(). Bar();\n  x;\n```\nEnd. Here',
      ['Intro', 'foo(). Bar();', 'x;', 'End.', 'Here'],
    ],
    ['at the marks of CJK text', '設定は重要です。「はい！」と言った？終わり', ['設定は重要です。', '「はい！」', 'と言った？', '終わり']],
    ['at carriage returns', 'a b\r\nc d\r\n', ['a b', 'c d']],
  ];
  for (const [name, input, sentences] of cases) it(`end ${name}`, () => deepEqual(split(input), sentences));

  it('are cut at a word boundary when they are too long', () => {
    deepEqual(split('alpha beta gamma delta epsilon', 14), ['alpha beta', 'gamma delta', 'epsilon']);
    deepEqual(split('漢字漢字漢字', 4), ['漢字漢字', '漢字']);
  });

  it('leave out nothing but white space and fences, on any text', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 60 }), (t, max) => {
        const spans = splitSentences(t, max);
        let at = 0;
        for (const { start, end } of spans) {
          ok(start >= at && end > start && end - start <= max);
          at = end;
        }
        if (!t.includes('```')) equal(split(t, max).join('').replace(/\s/g, ''), t.replace(/\s/g, ''));
      }),
      { numRuns: 300 },
    );
  });
});
