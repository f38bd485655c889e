import { deepStrictEqual, strictEqual } from 'node:assert';
import {
  cacheText,
  coldNotice,
  contextLevel,
  endText,
  forecastText,
  nextText,
  spokenContext,
  thresholdText,
} from '../../../src/protocol/contextText';
import { unknownCache } from '../../../src/core/context/measure/snapshot';
import { ago, percentText, shortTokens, spokenTokens } from '../../../src/protocol/figures';
import { contextSnapshot as snapshot } from '../../support/chat/contextSnapshot';

const { thresholds } = snapshot();
const withState = (kind: string, state: 'off' | 'due' | 'passed') => thresholds.map((one) => (one.kind === kind ? { ...one, state } : one));

describe('the level of a context', () => {
  const level = (used: number, of = thresholds) => contextLevel(snapshot({ used, thresholds: of }));

  it('warns from the last memory reminder and is full from the compaction on, beyond the limit too', () => {
    const levels = [99_999, 149_999, 150_000, 169_999, 170_000, 190_000, 190_001].map((used) => level(used));
    deepStrictEqual(levels, ['normal', 'normal', 'warning', 'warning', 'full', 'full', 'full']);
  });

  it('leaves out what is switched off: without automatic compaction nothing is full before the limit', () => {
    deepStrictEqual([level(180_000, withState('compaction', 'off')), level(191_000, withState('compaction', 'off'))], ['warning', 'over']);
    strictEqual(level(160_000, withState('nudge', 'off')), 'normal');
  });
});

describe('what comes next in a context', () => {
  it('is what lies ahead, with what ends the room', () => {
    deepStrictEqual([nextText(snapshot()), endText(snapshot())], ['memory reminder at 100k', 'Compaction at 170k']);
  });

  it('is said once where it is the end of the room itself', () => {
    const last = snapshot({ used: 167_000, nextEvent: { kind: 'compaction', inTokens: 3_000 } });
    deepStrictEqual([nextText(last), endText(last)], ['compaction at 170k', null]);
  });

  it('ends at the limit where automatic compaction is off', () => {
    strictEqual(endText(snapshot({ thresholds: withState('compaction', 'off') })), 'Limit at 190k');
  });

  it('is what is due, not what lies behind it', () => {
    const due = snapshot({ used: 171_000, thresholds: withState('compaction', 'due'), nextEvent: { kind: 'limit', inTokens: 19_000 } });
    deepStrictEqual([nextText(due), endText(due)], ['compaction with the next message', null]);
  });

  it('is nothing beyond the limit', () => {
    strictEqual(nextText(snapshot({ used: 191_000, thresholds: withState('limit', 'due'), nextEvent: null })), null);
  });
});

describe('the words for a context', () => {
  it('forecast turns, as far as that is a forecast', () => {
    const texts = [0.4, 1, 9.4, 200, 201, null].map((turnsLeft) => forecastText(snapshot({ turnsLeft })));
    deepStrictEqual(texts, [
      'compacts in about 1 turn',
      'compacts in about 1 turn',
      'compacts in about 9 turns',
      'compacts in about 200 turns',
      null,
      null,
    ]);
    strictEqual(forecastText(snapshot({ used: 204_600 })), 'compacts with the next message');
    const off = withState('compaction', 'off');
    strictEqual(forecastText(snapshot({ used: 204_600, thresholds: off })), 'over the limit by 14.6k');
    strictEqual(forecastText(snapshot({ turnsLeft: 2, thresholds: off })), 'full in about 2 turns');
  });

  it('name a threshold with where it stands', () => {
    const [first] = thresholds;
    deepStrictEqual(
      [thresholdText(first!), thresholdText({ ...first!, state: 'acted' })],
      ['Memory reminder at 50% (100k)', 'Memory reminder at 50% (100k): a note was saved'],
    );
  });

  it('are whole for a screen reader', () => {
    strictEqual(spokenContext(snapshot(), false), '84 thousand of 200 thousand tokens, 42 percent');
    strictEqual(
      spokenContext(snapshot({ used: 204_600, thresholds: withState('compaction', 'off') }), true),
      '205 thousand of 200 thousand tokens, 102 percent, estimated, over the limit',
    );
    strictEqual(spokenContext(snapshot({ used: 900 }), false), '900 of 200 thousand tokens, less than 1 percent');
  });
});

describe('the prompt cache in words', () => {
  const price = (written: number, cost: number | null) => ({ read: 0, written, fresh: 0, cost });
  const until = Date.UTC(2026, 10, 22, 14, 5);
  const next = { expects: 'warm', warm: price(2_100, 0.008), cold: price(50_100, 0.1878), folded: null, full: null } as const;
  const warm = { ...unknownCache, state: 'warm', until, time: '5m', held: 48_000, next } as const;
  const cold = { ...warm, state: 'cold', held: 0, rewrites: 48_000, matters: true, next: { ...next, expects: 'cold' } } as const;
  const folds = { ...cold, next: { ...next, expects: 'folded', folded: price(9_000, 0.0338) } } as const;

  it('says until when it is warm and what the next message costs, now and later', () => {
    const time = new Intl.DateTimeFormat('en', { timeStyle: 'short' }).format(until);
    strictEqual(
      cacheText(warm),
      `Prompt cache: warm until ${time}. The next message writes about 2.1k tokens ($0.0080), later about 50.1k tokens ($0.19).`,
    );
  });

  it('counts on the summary that is ready', () => {
    const time = new Intl.DateTimeFormat('en', { timeStyle: 'short' }).format(until);
    strictEqual(
      cacheText({ ...warm, prepared: true, next: { ...next, folded: price(9_000, 0.0338) } }),
      `Prompt cache: warm until ${time}. The next message writes about 2.1k tokens ($0.0080), later about 9k tokens ($0.03) with the summary that is ready.`,
    );
  });

  it('says that a full context is compacted first', () => {
    const time = new Intl.DateTimeFormat('en', { timeStyle: 'short' }).format(until);
    const full = { ...next, expects: 'full', full: price(7_000, 0.03) } as const;
    deepStrictEqual(
      [cacheText({ ...warm, next: full }), cacheText({ ...cold, next: full })],
      [
        `Prompt cache: warm until ${time}. The next message is compacted first and writes about 7k tokens ($0.03).`,
        'Prompt cache: expired. The next message is compacted first and writes about 7k tokens ($0.03), not about 50.1k tokens ($0.19).',
      ],
    );
  });

  it('says what a message costs when it has expired, is empty, or is not known', () => {
    strictEqual(cacheText(cold), 'Prompt cache: expired. The next message writes about 50.1k tokens ($0.19).');
    strictEqual(
      cacheText({ ...cold, until: null, next: { ...next, expects: 'cold', cold: price(900, null) } }),
      'Prompt cache: empty. The next message writes about 900 tokens.',
    );
    strictEqual(
      cacheText(folds),
      'Prompt cache: expired. The next message is compacted first and writes about 9k tokens ($0.03), not about 50.1k tokens ($0.19).',
    );
    strictEqual(cacheText(unknownCache), 'Prompt cache: not known for this provider.');
  });

  it('is above the composer only when it has expired and that matters', () => {
    strictEqual(coldNotice(warm), null);
    strictEqual(coldNotice(unknownCache), null);
    strictEqual(coldNotice({ ...cold, matters: false }), null);
    deepStrictEqual(coldNotice(cold), {
      text: 'The prompt cache has expired. This message sends 50.1k tokens again ($0.19).',
      compact: 'Compact First',
    });
  });

  it('offers the prepared summary with its price, or says that it is used', () => {
    deepStrictEqual(coldNotice({ ...folds, whenCold: 'ask', next: { ...folds.next, expects: 'cold' } }), {
      text: 'The prompt cache has expired. This message sends 50.1k tokens again ($0.19).',
      compact: 'Compact First ($0.03)',
    });
    deepStrictEqual(coldNotice(folds), {
      text: 'The prompt cache has expired. This message is compacted first: it sends 9k tokens ($0.03), not 50.1k ($0.19).',
      compact: null,
    });
  });
});

describe('figures', () => {
  it('shorten token counts', () => {
    const counts = [0, 950, 999.4, 1_000, 3_940, 84_100, 199_999, 999_949, 999_951, 1_000_000, 1_260_000];
    deepStrictEqual(counts.map(shortTokens), ['0', '950', '999', '1k', '3.9k', '84.1k', '200k', '999.9k', '1M', '1M', '1.3M']);
  });

  it('speak token counts', () => {
    deepStrictEqual([950, 84_100, 999_600, 1_250_000].map(spokenTokens), ['950', '84 thousand', '1 million', '1.3 million']);
  });

  it('do not call a little nothing', () => {
    deepStrictEqual([percentText(0, 100), percentText(1, 1_000), percentText(42, 100), percentText(1, 0)], ['0%', '<1%', '42%', '<1%']);
  });

  it('say how long ago', () => {
    const [minute, now] = [60_000, new Date(2026, 10, 22, 12).getTime()];
    const passed = [
      -minute,
      0,
      minute - 1,
      minute,
      60 * minute - 1,
      60 * minute,
      24 * 60 * minute,
      48 * 60 * minute,
      // Midnight, with which the group of the last seven days begins.
      (6 * 24 + 12) * 60 * minute,
    ];
    const texts = ['just now', 'just now', 'just now', '1 min ago', '59 min ago', '1 h ago', 'yesterday', '2 days ago', '6 days ago'];
    deepStrictEqual(
      passed.map((ms) => ago(now - ms, now)),
      texts,
    );
    strictEqual(/2026/.test(ago(now - (6 * 24 + 12) * 60 * minute - 1, now)), true);
  });
});
