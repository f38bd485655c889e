import assert from 'node:assert/strict';
import fc from 'fast-check';
import { sizeTimeline, thinned, type SizePoint } from '../../../src/core/context/measure/sizeTimeline';
import type { BranchStep } from '../../../src/core/branches/branch';
import type { StoredEntry } from '../../../src/core/session/entry';
import { BranchBuilder } from '../../support/chat/branchBuilder';

const step = (entry: StoredEntry, over: Partial<BranchStep> = {}): BranchStep => ({
  entry: entry.uuid,
  type: entry.content.type,
  at: entry.createdAt,
  modelFacing: entry.modelFacing,
  tokens: 10,
  measured: null,
  ...over,
});

describe('sizeTimeline', () => {
  it('grows by counts, believes the provider, and follows compactions and their undo', () => {
    const b = new BranchBuilder();
    const question = b.user('q');
    const answer = b.assistant('a');
    const next = b.user('n');
    const checkpoint = b.add({
      type: 'checkpoint',
      summary: 's',
      topics: [],
      keyDecisions: [],
      openQuestions: [],
      tokensAtCheckpoint: 5,
      messagesAtCheckpoint: 2,
      coversThrough: next.uuid,
    });
    const folded = b.compaction(next, { tokensBefore: 900, tokensAfter: 200 });
    const undone = b.undo(folded);
    const steps = [
      step(question),
      step(answer, { measured: 500 }),
      step(next, { tokens: null }),
      step(checkpoint),
      step(folded),
      step(undone),
    ];
    assert.deepEqual(sizeTimeline(steps, [checkpoint, folded, undone], { fixed: 100, factor: 1.5 }), {
      points: [
        { position: 1, at: 1_000, tokens: 115, measured: false },
        { position: 2, at: 2_000, tokens: 500, measured: true },
        { position: 3, at: 3_000, tokens: 500, measured: false },
        { position: 3, at: 5_000, tokens: 200, measured: false },
        { position: 3, at: 6_000, tokens: 100, measured: false },
      ],
      marks: [
        { kind: 'checkpoint', entry: checkpoint.uuid, position: 3, at: 4_000, tokens: 500 },
        { kind: 'compaction', entry: folded.uuid, position: 3, at: 5_000, tokens: 200 },
        { kind: 'undo', entry: undone.uuid, position: 3, at: 6_000, tokens: 100 },
      ],
    });
  });

  it('leaves out what no model is sent', () => {
    const b = new BranchBuilder();
    const error = b.add({ type: 'custom', customType: 'turn_error', data: {} });
    assert.deepEqual(sizeTimeline([step(error)], [], { fixed: 7, factor: 1 }), { points: [], marks: [] });
  });
});

describe('thinned', () => {
  it('keeps the ends, the order, the highest and the lowest, and no more than asked for', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 2_000 }), fc.integer({ min: 6, max: 400 }), (sizes, most) => {
        const points: SizePoint[] = sizes.map((tokens, position) => ({ position, at: position, tokens, measured: true }));
        const kept = thinned(points, most);
        assert.ok(kept.length <= Math.max(most, 2), `${kept.length} of ${most}`);
        assert.deepEqual([kept[0], kept.at(-1)], [points[0], points.at(-1)]);
        for (let i = 1; i < kept.length; i++) assert.ok(kept[i]!.position > kept[i - 1]!.position);
        const extremes = (list: readonly SizePoint[]) => [Math.min(...list.map((p) => p.tokens)), Math.max(...list.map((p) => p.tokens))];
        assert.deepEqual(extremes(kept), extremes(points));
      }),
      { numRuns: 200 },
    );
  });
});
