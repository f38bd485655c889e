import assert from 'node:assert/strict';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { measure, largestEntries } from '../../../src/core/context/measure/measure';
import { project } from '../../../src/core/context/projection/projection';
import { BranchBuilder } from '../../support/chat/branchBuilder';
import { testFrames } from '../../support/chat/testFrames';

describe('largestEntries', () => {
  const b = new BranchBuilder();
  const old = b.user('o'.repeat(4_000));
  const question = b.user('q'.repeat(400));
  b.call('c1');
  const result = b.result('c1', 'r'.repeat(2_000));
  const folded = b.compaction(question, { summaryText: 's'.repeat(1_200) });
  const projection = project({
    entries: b.entries,
    system: 'x'.repeat(400),
    tools: [],
    budget: { oversized: 9_999 },
    model: 'm',
    frames: testFrames,
    tokensOf: (e) => e.tokenEstimate ?? 0,
    estimate: estimateTokens,
  });
  const measurement = measure({
    entries: b.entries,
    projection,
    lastUsage: null,
    provider: 'anthropic',
    model: 'm',
    factor: 2,
    estimate: estimateTokens,
  });

  it('lists what is sent and not what is folded, the largest first, in the provider’s tokens', () => {
    const sizes = largestEntries(projection, measurement, 3);
    assert.deepEqual(
      sizes.map(({ entry, segment }) => [entry, segment]),
      [
        [result.uuid, 'toolResults'],
        [folded.uuid, 'summary'],
        [question.uuid, 'history'],
      ],
    );
    assert.equal(sizes[0]!.tokens, (500 + 8) * 2);
    assert.ok(!sizes.some(({ entry }) => entry === old.uuid));
  });

  it('adds up to what the segments say, save for what belongs to no entry', () => {
    const all = largestEntries(projection, measurement, 99).reduce((sum, { tokens }) => sum + tokens, 0);
    const { history, toolResults, summary } = measurement.segments;
    const nobodys = projection.pieces.filter(({ entryId }) => entryId === null).reduce((sum, { tokens }) => sum + tokens * 2, 0);
    assert.ok(Math.abs(all + nobodys - history - toolResults - summary) <= 3, `${all} + ${nobodys}`);
  });
});
