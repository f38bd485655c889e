import { deepStrictEqual, match, ok } from 'node:assert';
import type { SearchHit } from '../../../../src/core/session/searchQuery';
import { snippet } from '../../../../src/core/recall/snippet';
import { SearchAsTyped, historyPicks } from '../../../../src/vscode/sessions/searchAsTyped';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('search of the history as one types', () => {
  const setUp = (search: (text: string) => Promise<string>) => {
    const shown: unknown[] = [];
    const typed = new SearchAsTyped<string>(
      search,
      { busy: () => undefined, found: (result) => shown.push(result), failed: (error) => shown.push(error) },
      5,
    );
    return { typed, shown };
  };

  it('waits for a pause and searches once', async () => {
    const asked: string[] = [];
    const { typed, shown } = setUp(async (text) => (asked.push(text), text.toUpperCase()));
    for (const text of ['m', 'me', ' mel ']) typed.type(text);
    await pause(30);
    deepStrictEqual([asked, shown], [['mel'], ['MEL']]);
    typed.type('  ');
    await pause(20);
    deepStrictEqual([asked.length, shown.at(-1)], [1, null]);
  });

  it('shows only what answers the newest text, one search at a time', async () => {
    const waiting: (() => void)[] = [];
    const asked: string[] = [];
    const { typed, shown } = setUp((text) => (asked.push(text), new Promise((resolve) => waiting.push(() => resolve(text)))));
    typed.type('a');
    await pause(20);
    typed.type('ab');
    await pause(20);
    deepStrictEqual(asked, ['a']);
    waiting[0]!();
    await pause(20);
    deepStrictEqual([asked, shown], [['a', 'ab'], []]);
    waiting[1]!();
    await pause(10);
    deepStrictEqual(shown, ['ab']);
  });

  it('shows a failure, goes on after it, and says nothing once closed', async () => {
    let broken = true;
    const error = new Error('disk');
    const { typed, shown } = setUp(async (text) => {
      if (broken) throw error;
      return text;
    });
    typed.type('a');
    await pause(20);
    broken = false;
    typed.type('b');
    await pause(20);
    typed.type('c');
    typed.dispose();
    await pause(20);
    deepStrictEqual(shown, [error, 'b']);
  });
});

describe('what the search of the history lists', () => {
  const hit: SearchHit = {
    entry: 'e',
    seq: 1,
    session: 's',
    sessionId: '20261120_001',
    sessionTitle: '',
    role: 'user',
    speaker: 'user',
    at: new Date(2026, 10, 20, 12, 3).getTime(),
    score: 1,
    text: 'Use $(gear)\nof melons',
    start: 0,
    length: 22,
    beside: null,
    dates: [],
  };

  it('puts what has the words first, and says why the rest is there', () => {
    const hits = [{ ...hit, entry: 'answer', score: 9, beside: 12 }, { ...hit, entry: 'like', score: 8, meant: true as const }, hit];
    const picks = historyPicks({ hits, terms: ['melon'], complete: true } as unknown as Parameters<typeof historyPicks>[0]);
    deepStrictEqual(
      picks.map(({ entry, detail }) => [entry, detail.split(' · ').slice(3)]),
      [
        ['e', []],
        ['answer', ['beside a match, #12']],
        ['like', ['by meaning']],
      ],
    );
  });

  it('is one line of what was said, by whom, where and when, with no icons in it', () => {
    deepStrictEqual(
      historyPicks({
        hits: [hit, { ...hit, role: 'tool', speaker: 'result of grep', sessionTitle: 'Fruit' }],
        terms: ['melon'],
        statistics: { count: 2, length: 44, documentFrequency: [2], named: [0] },
        complete: true,
      }),
      [
        {
          label: 'Use $\u200b(gear) of melons',
          description: 'You',
          detail: 'Untitled · 20261120_001 · 2026-11-20 12:03',
          alwaysShow: true,
          session: 's',
          entry: 'e',
        },
        {
          label: 'Use $\u200b(gear) of melons',
          description: 'result of grep',
          detail: 'Fruit · 20261120_001 · 2026-11-20 12:03',
          alwaysShow: true,
          session: 's',
          entry: 'e',
        },
      ],
    );
  });

  it('shows the surroundings of the match, from the original', () => {
    const long = `${'Filler words. '.repeat(30)}Then the Mélons came. ${'More filler. '.repeat(30)}`;
    const line = snippet(long, ['melon'], 60);
    match(line, /^….*Mélons came.*…$/s);
    ok(line.length <= 62, line);
    const unspaced = snippet(`${'漢'.repeat(300)}東京駅${'字'.repeat(300)}`, ['東京', '京駅'], 60);
    deepStrictEqual([unspaced.includes('東京駅'), unspaced.length <= 62], [true, true]);
    deepStrictEqual(snippet('😀'.repeat(100), ['x'], 61).includes('\ud83d…'), false);
  });
});
