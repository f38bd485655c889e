import { deepEqual, equal, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import { PassageRanker, type Rankable, rankPassages } from '../../../src/core/recall/rankPassages';
import { splitPassages } from '../../../src/core/recall/splitText';
import { noon } from './entries';

const passage = (text: string, group = 's', at: number | null = null): Rankable => ({ text, group, at });
const rounded = (query: string, items: Rankable[]) =>
  rankPassages(query, items).map(({ item, score }) => [item.text, Math.round(score * 1000) / 1000]);

/** 300 turns of small talk with made-up words; every fact stands once. */
function corpus(facts: readonly string[]): Rankable[] {
  const topics = ['parser', 'layout', 'cache', 'tests', 'release', 'colours', 'search', 'gauge', 'worker', 'menu'];
  const doings = ['refactor', 'check', 'rename', 'document', 'measure', 'simplify', 'review', 'split'];
  const items = Array.from({ length: 300 }, (_, i) => {
    const topic = topics[i % topics.length] ?? '';
    const doing = doings[(i * 5) % doings.length] ?? '';
    return passage(
      `Please ${doing} the ${topic} again, step ${i}, and tell me what the ${topics[(i * 3) % topics.length] ?? ''} says.`,
      `s${Math.floor(i / 50)}`,
    );
  });
  facts.forEach((fact, i) => items.splice(i * 37 + 11, 0, passage(fact, `s${Math.floor((i * 37 + 11) / 50)}`)));
  return items;
}

describe('ranking of passages', () => {
  it('is BM25 over what a passage and those beside it say, before it saturates', () => {
    const items = [
      passage('far before'),
      passage('before '),
      passage('lighthouse here'),
      passage('after it'),
      passage('far after'),
      passage('too far after'),
      passage('other text', 't'),
    ];
    const found = rankPassages('lighthouse', items);
    deepEqual(
      found.map(({ item, beside }) => [item.text, beside?.text ?? null]),
      [
        ['lighthouse here', null],
        ['after it', 'lighthouse here'],
        ['before ', 'lighthouse here'],
        ['far before', 'lighthouse here'],
        ['far after', 'lighthouse here'],
      ],
    );
    // 1.2 is k1, and a mention in a passage of this length counts for m: what saturates is m, 0.3 m and 0.2 m.
    const lengths = items.reduce((sum, { text }) => sum + text.length, 0);
    const m = 1 / (0.4 + (0.6 * 15 * items.length) / lengths);
    const [own = 0, beside = 0] = found.map(({ score, item: { text } }) => score / (text.length / 3 / (text.length / 3 + 3)));
    ok(Math.abs(beside / own - (0.3 * (m + 1.2)) / (0.3 * m + 1.2) / 1.2) < 0.001, String(beside / own));
  });

  it('finds every planted fact among the first five', () => {
    const facts: [fact: string, query: string][] = [
      ['The staging database listens on port 54329.', 'which port does the staging database use?'],
      ['We decided against Redis because the licence changed.', 'why not redis'],
      ["Priya's deadline for the audit is 12 March.", 'when is the audit due for Priya'],
      ['The flag is called --no-implicit-merge.', 'no-implicit-merge'],
      ['Errors from src/billing/invoiceRun.ts are retried twice.', 'invoiceRun retry'],
      ['価格は税込みで4980円に決めました。', '税込み 価格'],
      ['The customer in Łódź wants invoices in Polish.', 'lodz customer'],
      ['Throughput fell to 37 MB/s after the upgrade.', 'throughput after upgrading'],
    ];
    const items = corpus(facts.map(([fact]) => fact));
    for (const [fact, query] of facts) {
      const top = rankPassages(query, items).slice(0, 5);
      ok(
        top.some(({ item }) => item.text === fact),
        query,
      );
    }
  });

  it('finds an answer through the question before it', () => {
    const items = [
      ...corpus([]).slice(0, 20),
      passage('Which lighthouse did you mean?'),
      passage('The red one in the north.'),
      ...corpus([]).slice(20, 40),
    ];
    equal(rankPassages('lighthouse', items)[0]?.item.text, 'The red one in the north.');
  });

  it('knows the date of a passage', () => {
    const items = Array.from({ length: 20 }, (_, i) => passage(`note ${i}`, `g${i}`, noon + i * 40 * 86_400_000));
    equal(rankPassages('november 2026', items)[0]?.item.text, 'note 0');
    equal(rankPassages('2026-11-20', items)[0]?.item.text, 'note 0');
  });

  it('finds nothing for a query without terms, and nothing that has none of them', () => {
    deepEqual(rounded('the of ?!', [passage('the of')]), []);
    deepEqual(rounded('zebra', [passage('horse'), passage('')]), []);
  });

  it('gives the same result page by page', () => {
    const items = corpus(['The staging database listens on port 54329.']);
    const ranker = new PassageRanker<Rankable>('staging port layout');
    for (let i = 0; i < items.length; i += 7) ranker.add(items.slice(i, i + 7));
    deepEqual(ranker.ranked(1_000), rankPassages('staging port layout', items));
  });
});

describe('passages of a long text', () => {
  it('are all of the text, none too long, and no surrogate pair is cut', () => {
    const text = fc
      .array(fc.constantFrom('a', 'word ', '\n', '\n\n', '. ', '😀', '漢', ' '), { maxLength: 400 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 50 }), (whole, size) => {
        const parts = splitPassages(whole, size).map(({ start, end }) => whole.slice(start, end));
        equal(parts.join(''), whole);
        ok(parts.every((part) => part.length <= size && !/\p{Cs}/u.test(part)));
      }),
    );
  });

  it('break at a paragraph rather than a line, at a line rather than a sentence', () => {
    const cut = (text: string) => splitPassages(text, 20).map(({ start, end }) => text.slice(start, end));
    deepEqual(cut('one two three\n\nfour\nfive. six'), ['one two three\n\n', 'four\nfive. six']);
    deepEqual(cut('one two three\nfour. five six'), ['one two three\n', 'four. five six']);
    deepEqual(cut('one two three. four five six'), ['one two three. ', 'four five six']);
  });
});
