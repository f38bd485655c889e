import assert from 'node:assert/strict';
import { unknownCache } from '../../../src/core/context/measure/snapshot';
import { resolveBudget } from '../../../src/core/context/measure/budget';
import { estimateTokens, learn, startingFactor } from '../../../src/core/context/measure/estimateTokens';
import { forecastTurns, measure, toSnapshot, type MeasureInput } from '../../../src/core/context/measure/measure';
import { project } from '../../../src/core/context/projection/projection';
import { resolvePolicy } from '../../../src/core/context/policy/resolvePolicy';
import { nudgeStates } from '../../../src/core/memory/nudges';
import type { UsageRecord } from '../../../src/core/cost/usage';
import { BranchBuilder } from '../../support/chat/branchBuilder';
import { testFrames } from '../../support/chat/testFrames';

const policy = resolvePolicy('balanced').policy;
const budget = resolveBudget(policy, { window: 10_000, maxOutput: 1_000 });

function input(b: BranchBuilder, over: Partial<MeasureInput> = {}): MeasureInput {
  const projection = project({
    entries: b.entries,
    system: 'x'.repeat(400),
    tools: [],
    budget,
    model: 'm',
    frames: testFrames,
    tokensOf: (e) => e.tokenEstimate ?? 0,
    estimate: estimateTokens,
  });
  return {
    entries: b.entries,
    projection,
    lastUsage: null,
    provider: 'anthropic',
    model: 'm',
    factor: 1,
    estimate: estimateTokens,
    ...over,
  };
}

function usage(entry: string, over: Partial<UsageRecord> = {}): UsageRecord {
  return {
    entry,
    provider: 'anthropic',
    model: 'm',
    kind: 'turn',
    input: 100,
    output: 50,
    cacheRead: 1_000,
    cacheWrite: 200,
    cost: null,
    at: 0,
    ...over,
  };
}

describe('measure', () => {
  it('estimates with the learned factor while nothing has been reported', () => {
    const b = new BranchBuilder();
    b.user('y'.repeat(400));
    assert.deepEqual(measure(input(b, { factor: 1.5 })), {
      used: 306,
      anchored: false,
      exact: false,
      scale: 1.5,
      segments: { system: 150, tools: 0, memory: 0, summary: 0, history: 156, toolResults: 0 },
    });
  });

  it('is the sum of input, cache reads, cache writes and output right after a report, and exact', () => {
    const b = new BranchBuilder();
    b.user('q');
    const answer = b.assistant('a');
    const measured = measure(input(b, { lastUsage: usage(answer.uuid) }));
    assert.equal(measured.used, 1_350);
    assert.equal(measured.exact, true);
    assert.equal(
      Object.values(measured.segments).reduce((sum, n) => sum + n, 0),
      1_350,
    );
  });

  it('adds only what came after the report, in the model’s own tokens', () => {
    const b = new BranchBuilder();
    b.user('q');
    const answer = b.assistant('a');
    b.user('z'.repeat(400));
    const measured = measure(input(b, { lastUsage: usage(answer.uuid), factor: 1.25 }));
    assert.deepEqual([measured.used, measured.exact], [1_350 + 130, false]);
  });

  it('does not trust a report of another model or from before a prefix break', () => {
    const b = new BranchBuilder();
    b.user('q');
    const answer = b.assistant('a');
    const estimated = measure(input(b)).used;
    assert.equal(measure(input(b, { lastUsage: usage(answer.uuid, { model: 'other' }) })).used, estimated);
    b.compaction(b.entries[0]!);
    assert.notEqual(measure(input(b, { lastUsage: usage(answer.uuid) })).used, 1_350);
  });
});

describe('toSnapshot', () => {
  it('says what is used, what comes next and where the marks are', () => {
    const b = new BranchBuilder();
    b.user('q'.repeat(12_000));
    const measurement = measure(input(b));
    const nudges = nudgeStates(b.entries, budget, measurement.used);
    const snapshot = toSnapshot({
      sessionId: 's',
      provider: 'anthropic',
      model: 'm',
      policy,
      budget,
      entries: b.entries,
      measurement,
      nudges,
      liveTokens: 10,
      draftTokens: 20,
      turnsLeft: null,
      isDueByMessages: false,
      compactions: 3,
      cache: unknownCache,
      summarizing: false,
      now: 7,
    });
    assert.deepEqual(snapshot, {
      sessionId: 's',
      branchLeafId: 'e1',
      model: 'anthropic/m',
      policy: 'balanced',
      window: 10_000,
      effective: 10_000,
      reserve: 1_500,
      limit: 8_500,
      used: 100 + 2_129 + 30,
      provenance: 'estimated',
      segments: [
        { kind: 'system', tokens: 100 },
        { kind: 'tools', tokens: 0 },
        { kind: 'memory', tokens: 0 },
        { kind: 'summary', tokens: 0 },
        { kind: 'history', tokens: 2_139 },
        { kind: 'toolResults', tokens: 0 },
        { kind: 'draft', tokens: 20 },
        { kind: 'reserved', tokens: 1_500 },
      ],
      thresholds: [
        { kind: 'nudge', percent: 50, tokens: 5_000, state: 'ahead' },
        { kind: 'nudge', percent: 75, tokens: 7_500, state: 'ahead' },
        { kind: 'compaction', percent: 85, tokens: 8_500, state: 'ahead' },
        { kind: 'limit', percent: 85, tokens: 8_500, state: 'ahead' },
      ],
      nextEvent: { kind: 'nudge', inTokens: 5_000 - 2_259 },
      turnsLeft: null,
      compactions: 3,
      cache: unknownCache,
      summarizing: false,
      updatedAt: 7,
    });
  });
});

describe('forecastTurns', () => {
  it('divides the room by the mean growth of the last turns, and says nothing before the second', () => {
    const b = new BranchBuilder();
    b.user('q'.repeat(400));
    b.assistant('a'.repeat(400));
    assert.equal(forecastTurns(b.entries, input(b).projection, 300, 8_500, 1), null);
    b.user('q'.repeat(400));
    b.assistant('a'.repeat(400));
    assert.equal(forecastTurns(b.entries, input(b).projection, 500, 8_500, 1), Math.floor(8_000 / 208));
  });
});

describe('calibration', () => {
  it('starts above our own count, takes the first measurement, then averages within bounds', () => {
    assert.deepEqual([startingFactor(undefined, 0), startingFactor(undefined, 1)], [1.15, 1.35]);
    const first = learn(undefined, 'anthropic/m', 1_300, 1_000);
    assert.deepEqual(first, { model: 'anthropic/m', kind: 'prompt', factor: 1.3, n: 1 });
    assert.deepEqual(learn(first, 'anthropic/m', 1_400, 1_000), {
      model: 'anthropic/m',
      kind: 'prompt',
      factor: 1.3 + 0.4 * (1.4 - 1.3),
      n: 2,
    });
    assert.equal(learn(undefined, 'm', 90_000, 1_000)?.factor, 2);
    assert.equal(learn(undefined, 'm', 50, 20), undefined);
  });
});
