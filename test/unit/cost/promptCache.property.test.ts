import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { cacheMs, cacheState, type CacheInput } from '../../../src/core/cost/promptCache';
import { cheaperTime } from '../../../src/core/cost/cacheTime';
import type { PastRequest, UsageRecord } from '../../../src/core/cost/usage';
import type { StoredEntry } from '../../../src/core/session/entry';

const start = Date.UTC(2026, 10, 22, 12);
const minute = 60_000;

type Step = {
  readonly gap: number;
  readonly kind: 'turn' | 'failed' | 'compaction';
  readonly prompt: number;
  readonly hour: boolean;
  readonly breaks: boolean;
};

const steps = fc.array(
  fc.record({
    gap: fc.integer({ min: 1, max: 90 * minute }),
    kind: fc.constantFrom('turn', 'turn', 'failed', 'compaction'),
    prompt: fc.integer({ min: 5_000, max: 100_000 }),
    hour: fc.boolean(),
    breaks: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
) satisfies fc.Arbitrary<Step[]>;

/** What a store would have of these requests, one after the other. */
function played(all: readonly Step[]): { readonly entries: StoredEntry[]; readonly requests: UsageRecord[]; readonly end: number } {
  const entries: StoredEntry[] = [];
  const requests: UsageRecord[] = [];
  let at = start;
  for (const [index, { gap, kind, prompt, hour, breaks }] of all.entries()) {
    at += gap;
    const entry = (uuid: string, content: StoredEntry['content']): StoredEntry => ({
      uuid,
      session: 's',
      parent: null,
      createdAt: at,
      modelFacing: true,
      display: true,
      tokenEstimate: null,
      content,
      seq: entries.length,
    });
    if (breaks) entries.push(entry(`b${index}`, { type: 'compaction_undone', target: 'c', tokensRestored: 1 }));
    entries.push(entry(`e${index}`, { type: 'message', role: 'assistant', text: 'x' }));
    const cacheRead = kind === 'compaction' ? prompt : Math.floor(prompt / 2);
    const cacheWrite = prompt - cacheRead;
    requests.push({
      entry: `e${index}`,
      provider: 'p',
      model: 'm',
      kind,
      // What was said before a stop is a guess; what the provider has read and written is not.
      ...(kind === 'failed' ? { estimated: true as const } : {}),
      input: 0,
      output: 1,
      cacheRead,
      cacheWrite,
      ...(hour && cacheWrite > 0 ? { cacheWriteHour: cacheWrite } : {}),
      cost: null,
      at,
    });
  }
  return { entries, requests, end: at };
}

function input(all: readonly Step[], later: number, over: Partial<CacheInput> = {}): CacheInput {
  const { entries, requests, end } = played(all);
  return {
    now: end + later,
    rules: { leastTokens: 4_096 },
    provider: 'p',
    model: 'm',
    entries,
    requests,
    time: '5m',
    used: 50_000,
    head: 4_000,
    askedAt: null,
    folded: null,
    full: null,
    whenCold: 'fold',
    leastTokens: 20_000,
    costOf: () => 1,
    ...over,
  };
}

const later = fc.integer({ min: 0, max: 120 * minute });

describe('the state of the prompt cache, whatever has been asked', () => {
  it('holds nothing beyond its time, no more than the prompt, and prices add up to it', () => {
    fc.assert(
      fc.property(steps, later, (all, ms) => {
        const given = input(all, ms);
        const { state, until, held, rewrites, next } = cacheState(given);
        if (state === 'unknown') return;
        assert.equal(state === 'warm', until !== null && given.now < until);
        assert.ok(held <= given.used && (state === 'warm' || held === 0));
        assert.ok(state === 'cold' || rewrites === 0);
        for (const price of [next!.warm, next!.cold]) assert.equal(price.read + price.written + price.fresh, given.used);
        assert.ok(until === null || until <= given.now + cacheMs['1h']);
      }),
    );
  });

  it('goes from warm to cold with time alone, and never back', () => {
    fc.assert(
      fc.property(steps, later, later, (all, first, more) => {
        const before = cacheState(input(all, first));
        const after = cacheState(input(all, first + more));
        assert.ok(!(before.state === 'cold' && after.state === 'warm'));
        assert.equal(before.state === 'unknown', after.state === 'unknown');
      }),
    );
  });

  it('is not known while the clock stands before the last request', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 3_000, max: 10 * minute }), (all, back) => {
        const given = input(all, 0, { requests: played(all).requests.map((one) => ({ ...one, kind: 'turn' })) });
        assert.equal(cacheState({ ...given, now: given.now - back }).state, 'unknown');
      }),
    );
  });
});

describe('for how long a prompt is kept', () => {
  const rhythm = (pauseMs: number, turns = 60): PastRequest[] =>
    Array.from({ length: turns }, (_, turn) => ({ session: 's', at: start + turn * pauseMs, prompt: 20_000 + 500 * turn }));

  it('is five minutes for who answers at once, and for who comes back after hours', () => {
    assert.equal(cheaperTime(rhythm(minute), null), '5m');
    assert.equal(cheaperTime(rhythm(3 * 60 * minute), null), '5m');
    assert.equal(cheaperTime([], null), '5m');
  });

  it('is an hour for who comes back after twenty minutes, and nothing is folded', () => {
    assert.equal(cheaperTime(rhythm(20 * minute), null), '1h');
    assert.equal(cheaperTime(rhythm(20 * minute, 10), null), '5m', 'too few to tell');
  });

  it('counts the pauses of each session by itself', () => {
    const other = rhythm(minute).map((one) => ({ ...one, session: 'other', at: one.at + 1 }));
    const both = [...rhythm(20 * minute), ...other].sort((a, b) => a.at - b.at);
    assert.equal(cheaperTime(both, null), '1h');
  });

  it('is never the dearer one', () => {
    const requests = fc.array(fc.tuple(fc.integer({ min: 0, max: 100 * minute }), fc.integer({ min: 1_000, max: 90_000 })), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(requests, fc.boolean(), (all, folds) => {
        let at = start;
        const past = all.map(([gap, prompt]): PastRequest => ({ session: 's', at: (at += gap), prompt }));
        const chosen = cheaperTime(past, folds ? { from: 20_000, to: 12_000 } : null);
        assert.equal(chosen, cheaperTime(structuredClone(past), folds ? { from: 20_000, to: 12_000 } : null));
        if (past.every((one, index) => index === 0 || one.at - past[index - 1]!.at < 5 * minute)) assert.equal(chosen, '5m');
      }),
    );
  });
});
