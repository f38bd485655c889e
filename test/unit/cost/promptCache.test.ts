import assert from 'node:assert/strict';
import { unknownCache } from '../../../src/core/context/measure/snapshot';
import { cacheState, type CacheInput } from '../../../src/core/cost/promptCache';
import type { UsageRecord } from '../../../src/core/cost/usage';
import type { EntryContent, StoredEntry } from '../../../src/core/session/entry';

const minute = 60_000;
const at = Date.UTC(2026, 10, 22, 12);

function entry(uuid: string, content: EntryContent = { type: 'message', role: 'user', text: uuid }): StoredEntry {
  return { uuid, session: 's', parent: null, createdAt: at, modelFacing: true, display: true, tokenEstimate: null, content, seq: 1 };
}

function request(over: Partial<UsageRecord> = {}): UsageRecord {
  return {
    entry: 'a1',
    provider: 'p',
    model: 'm',
    kind: 'turn',
    input: 3,
    output: 500,
    cacheRead: 38_000,
    cacheWrite: 2_000,
    cost: null,
    at,
    ...over,
  };
}

const talk = [entry('u1'), entry('a1', { type: 'message', role: 'assistant', text: 'yes' })];
const undone = entry('x', { type: 'compaction_undone', target: 'c', tokensRestored: 1 });

function state(over: Partial<CacheInput> = {}) {
  return cacheState({
    now: at + minute,
    rules: { leastTokens: 4_096 },
    provider: 'p',
    model: 'm',
    entries: talk,
    requests: [request()],
    time: '5m',
    used: 41_000,
    head: 6_000,
    askedAt: null,
    folded: null,
    full: null,
    whenCold: 'fold',
    leastTokens: 20_000,
    costOf: ({ input, cacheRead, cacheWrite }) => (input + cacheRead * 0.1 + cacheWrite * 1.25) / 1e6,
    ...over,
  });
}

describe('the state of the prompt cache', () => {
  it('is warm for as long as was paid for, and says what the next message takes warm and cold', () => {
    assert.deepEqual(state(), {
      state: 'warm',
      until: at + 5 * minute,
      time: '5m',
      held: 40_000,
      rewrites: 0,
      matters: false,
      whenCold: 'fold',
      prepared: false,
      next: {
        expects: 'warm',
        warm: { read: 40_000, written: 1_000, fresh: 0, cost: 0.00525 },
        cold: { read: 0, written: 41_000, fresh: 0, cost: 0.05125 },
        folded: null,
        full: null,
      },
    });
  });

  it('is cold from then on, and names what is written again', () => {
    const { state: now, held, rewrites, matters, next } = state({ now: at + 5 * minute });
    assert.deepEqual(
      { now, held, rewrites, matters, expects: next?.expects },
      { now: 'cold', held: 0, rewrites: 40_000, matters: true, expects: 'cold' },
    );
    assert.equal(state({ now: at + 5 * minute, requests: [request({ cacheWriteHour: 2_000 })] }).state, 'warm');
    assert.equal(state({ now: at + 60 * minute, leastTokens: 50_000 }).matters, false);
  });

  it('expects a folded message where a summary waits and the policy folds', () => {
    const cold = { now: at + 6 * minute, folded: 12_000 };
    assert.deepEqual(state(cold).next?.folded, { read: 0, written: 12_000, fresh: 0, cost: 0.015 });
    assert.equal(state(cold).next?.expects, 'folded');
    assert.equal(state({ ...cold, whenCold: 'ask' }).next?.expects, 'cold');
    assert.equal(state({ folded: 12_000 }).next?.expects, 'warm');
  });

  it('expects a message that is compacted first where the context is full: system text and tools stay held', () => {
    const { next } = state({ full: 9_000 });
    assert.deepEqual([next?.expects, next?.full], ['full', { read: 6_000, written: 3_000, fresh: 0, cost: 0.00435 }]);
    const cold = { now: at + 6 * minute, full: 9_000 };
    assert.deepEqual(state(cold).next?.full, { read: 0, written: 9_000, fresh: 0, cost: 0.01125 });
    assert.equal(state({ ...cold, folded: 8_000 }).next?.expects, 'folded', 'nothing is due behind that any more');
    assert.equal(state({ ...cold, folded: 8_000, whenCold: 'keep' }).next?.expects, 'full');
  });

  it('takes a prompt to be kept that is as long as the shortest one that was', () => {
    const folded = { now: at + 6 * minute, folded: 3_000 };
    assert.deepEqual(state(folded).next?.folded, { read: 0, written: 0, fresh: 3_000, cost: 0.003 });
    const first = request({ entry: 'u1', cacheRead: 0, cacheWrite: 2_500, at: at - minute });
    assert.deepEqual(state({ ...folded, requests: [first, request()] }).next?.folded, { read: 0, written: 3_000, fresh: 0, cost: 0.00375 });
  });

  it('prices what would be written by what it is written for: what is held was paid for, what is not is decided', () => {
    const hour = { costOf: ({ cacheWriteHour = 0 }: { cacheWriteHour?: number }) => cacheWriteHour };
    assert.deepEqual([state({ ...hour, time: '1h' }).time, state({ ...hour, time: '1h' }).next?.warm.cost], ['5m', 0]);
    const cold = state({ ...hour, time: '1h', now: at + 6 * minute });
    assert.deepEqual([cold.time, cold.next?.cold.cost], ['1h', 41_000]);
    const onlyRead = [request({ cacheWriteHour: 2_000, at: at - minute }), request({ cacheWrite: 0 })];
    assert.equal(state({ requests: onlyRead }).until, at + 60 * minute);
  });

  it('begins its time anew with an answer that was stopped: what was said is a guess, what was read and written is not', () => {
    const stopped = { kind: 'failed' as const, estimated: true as const, at: at + 4 * minute };
    const after = (...requests: UsageRecord[]) => state({ now: at + 6 * minute, requests }).until;
    assert.equal(after(request(), request(stopped)), at + 9 * minute);
    assert.equal(after(request(), request({ ...stopped, cacheRead: 0, cacheWrite: 0 })), at + 5 * minute);
    assert.equal(after(request({ ...stopped, cacheRead: 0, cacheWrite: 40_000 })), at + 9 * minute);
  });

  it('begins its time anew with a summary that went on from the prompt, not with one of a transcript', () => {
    const later = { kind: 'compaction' as const, at: at + 4 * minute, entry: 'a1' };
    const now = at + 6 * minute;
    assert.equal(state({ now, requests: [request(), request({ ...later, cacheRead: 40_000 })] }).until, at + 9 * minute);
    assert.equal(state({ now, requests: [request(), request({ ...later, cacheRead: 0 })] }).state, 'cold');
    assert.equal(
      state({ now, requests: [request(), request({ ...later, cacheRead: 40_000, cacheWrite: 500 })] }).held,
      40_500,
      'and the last answer',
    );
    assert.equal(state({ now, askedAt: at + 4 * minute }).state, 'warm');
  });

  it('holds only system text and tools behind a prefix break, and nothing behind other tools', () => {
    assert.equal(state({ entries: [...talk, undone] }).held, 6_000);
    assert.equal(state({ entries: [...talk, entry('t', { type: 'tools_change', enabled: [] })] }).state, 'cold');
  });

  it('is cold for another model, and for the first message nothing is written again', () => {
    const other = state({ model: 'other' });
    assert.deepEqual(
      { state: other.state, held: other.held, rewrites: other.rewrites, until: other.until },
      { state: 'cold', held: 0, rewrites: 41_000, until: null },
    );
    const first = state({ requests: [], entries: [] });
    assert.deepEqual(
      { state: first.state, rewrites: first.rewrites, matters: first.matters },
      { state: 'cold', rewrites: 0, matters: false },
    );
  });

  it('is not known where nobody knows how the provider caches, it keeps nothing, or the clock was set back', () => {
    const unknown = { ...unknownCache, whenCold: 'fold' };
    assert.deepEqual(state({ rules: null }), unknown);
    assert.deepEqual(state({ requests: [request({ input: 40_000, cacheRead: 0, cacheWrite: 0 })] }), unknown);
    assert.deepEqual(state({ now: at - 10 * minute }), unknown);
  });
});
