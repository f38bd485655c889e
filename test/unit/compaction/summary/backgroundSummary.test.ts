import assert from 'node:assert/strict';
import type { FoldPlanner } from '../../../../src/core/compaction/ladder/foldPlanner';
import type { Fold } from '../../../../src/core/compaction/ladder/fold';
import { emptyFoldedState } from '../../../../src/core/compaction/ledgers/foldedState';
import { BackgroundSummary } from '../../../../src/core/compaction/summary/backgroundSummary';
import { BranchBuilder } from '../../../support/chat/branchBuilder';
import { TestClock } from '../../../support/chat/testClock';

const fold: Fold = { folded: emptyFoldedState, rung: 'model', model: 'm', note: null, audit: null, analysis: null };

function scene() {
  const b = new BranchBuilder();
  b.user('q');
  b.assistant('a');
  let answer!: (fold: Fold) => void;
  let fail!: (error: Error) => void;
  const compaction = { format: 'session-state', maxSummaryTokens: 800 };
  const planner = {
    live: null,
    previousState: () => null,
    byChain: () => new Promise<Fold>((resolve, reject) => ([answer, fail] = [resolve, reject])),
  } as unknown as FoldPlanner;
  const recorder = {
    spend: async () => undefined,
    expectedContinuity: async () => null,
    reachOf: async () => ({ reachablePercent: null, searched: 0 }),
  };
  const engine = { policy: { compaction } };
  const summary = new BackgroundSummary({
    branch: b as never,
    engine: engine as never,
    planner,
    recorder,
    clock: new TestClock(),
    keep: async () => undefined,
    changed: () => undefined,
  });
  const begin = () => summary.begin({ folded: b.entries.slice(0, 2), firstKept: null, kept: [], currentRequest: null }, {});
  return { summary, begin, compaction, answer: () => answer(fold), fail: () => fail(new Error('Overloaded')) };
}

describe('the summary in the background', () => {
  it('is idle, writing, ready, and idle again when it is dropped', async () => {
    const { summary, begin, answer } = scene();
    assert.equal(summary.state(), 'idle');
    const job = begin();
    assert.deepEqual([summary.state(), summary.state('with instructions')], ['writing', 'outdated']);
    answer();
    await job.ended;
    assert.deepEqual([summary.state(), summary.usable() === job], ['ready', true]);
    summary.drop();
    assert.equal(summary.state(), 'idle');
  });

  it('is outdated by another form of summaries while it is written and when it is ready, and ready again with the one before', async () => {
    const { summary, begin, compaction, answer } = scene();
    const job = begin();
    compaction.format = 'narrative';
    assert.equal(summary.state(), 'outdated');
    answer();
    await job.ended;
    assert.equal(summary.state(), 'outdated');
    compaction.format = 'session-state';
    assert.equal(summary.state(), 'ready');
    compaction.format = 'narrative';
    summary.dropOutdated();
    assert.equal(summary.state(), 'idle');
  });

  it('has failed until the turn after the one that was told', async () => {
    const { summary, begin, fail } = scene();
    const job = begin();
    fail();
    await job.ended;
    summary.nextTurn();
    assert.equal(summary.state(), 'failed', 'nobody has been told yet');
    assert.equal(summary.tellFailure(), 'The model could not summarize: Overloaded.');
    assert.equal(summary.state(), 'failed', 'this turn does not ask again');
    summary.nextTurn();
    assert.deepEqual([summary.state(), summary.tellFailure()], ['idle', null]);
  });

  it('that is given up counts as failed for the rest of the turn', () => {
    const { summary, begin } = scene();
    begin();
    summary.giveUp('The summarizer did not answer in time.');
    assert.deepEqual([summary.state(), summary.tellFailure()], ['failed', 'The summarizer did not answer in time.']);
    summary.nextTurn();
    assert.equal(summary.state(), 'idle');
  });
});
