import assert from 'node:assert/strict';
import fc from 'fast-check';
import { resolveBudget } from '../../../src/core/context/measure/budget';
import type { ThinkingLevel } from '../../../src/core/models/modelInfo';
import { resolvePolicy } from '../../../src/core/context/policy/resolvePolicy';

const balanced = resolvePolicy('balanced').policy;

describe('resolveBudget', () => {
  it('reserves what the model may think, and the answer beside it, unless the policy says otherwise', () => {
    const model = { window: 200_000, maxOutput: 64_000 };
    const reserve = (thinking: ThinkingLevel | null, policy = balanced) => resolveBudget(policy, model, thinking).outputTokens;
    assert.deepEqual(
      [null, 'off', 'low', 'medium', 'high'].map((level) => reserve(level as ThinkingLevel | null)),
      [8_192, 8_192, 8_192, 14_336, 28_672],
    );
    assert.equal(reserve('high', { ...balanced, reserve: { ...balanced.reserve, outputTokens: 6_000 } }), 6_000);
    assert.equal(
      resolveBudget(balanced, { window: 20_000, maxOutput: 64_000 }, 'high').outputTokens,
      5_000,
      'a small window still holds a conversation',
    );
  });

  it('resolves the balanced policy for a 200k model', () => {
    assert.deepEqual(resolveBudget(balanced, { window: 200_000, maxOutput: 64_000 }), {
      window: 200_000,
      effective: 200_000,
      reserve: 10_192,
      outputTokens: 8_192,
      limit: 189_808,
      trigger: 170_000,
      triggerMessages: 0,
      prepare: 168_000,
      hardLimit: 189_808,
      nudges: [
        { percent: 50, tokens: 100_000, injectAs: 'system', prompt: null, oncePerCycle: true },
        { percent: 75, tokens: 150_000, injectAs: 'user', prompt: null, oncePerCycle: true },
      ],
      checkpoints: [50_000, 100_000, 150_000],
      keep: 20_000,
      target: null,
      oversized: 47_452,
      maxSummary: 4_000,
    });
  });

  it('owes no reserve beyond the real window when the setting caps a larger one', () => {
    const budget = resolveBudget(balanced, { window: 1_000_000, maxOutput: 64_000 });
    assert.equal(budget.effective, 200_000);
    assert.equal(budget.limit, 200_000);
  });

  it('moves nudges that the trigger would swallow to 50 % and 75 % of the trigger', () => {
    const { policy } = resolvePolicy('balanced', { 'compaction.triggerPercent': 40 });
    const budget = resolveBudget(policy, { window: 200_000, maxOutput: 64_000 });
    assert.deepEqual(
      budget.nudges.map(({ percent, tokens }) => ({ percent, tokens })),
      [
        { percent: 20, tokens: 40_000 },
        { percent: 30, tokens: 60_000 },
      ],
    );
  });

  it('keeps nudges < trigger ≤ limit ≤ effective ≤ window for every policy and model', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 2_000_000 }),
        fc.integer({ min: 256, max: 128_000 }),
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 4 }),
        (window, maxOutput, maxTokens, compactAtPercent, nudgePercents) => {
          const { policy } = resolvePolicy('balanced', {
            'context.maxTokens': maxTokens,
            'compaction.triggerPercent': compactAtPercent,
            'memoryFlush.thresholds': nudgePercents,
          });
          const b = resolveBudget(policy, { window, maxOutput });
          assert.ok(b.trigger <= b.limit && b.limit <= b.effective && b.effective <= b.window, JSON.stringify(b));
          assert.ok(b.limit > 0 && b.limit + b.reserve <= b.window + Math.max(0, b.window - b.effective) + b.reserve);
          for (const nudge of b.nudges) assert.ok(nudge.tokens < b.trigger || b.trigger <= b.nudges.length, JSON.stringify(b));
        },
      ),
    );
  });
});

describe('resolvePolicy', () => {
  it('reports a bad value by its setting and keeps the preset', () => {
    const { policy, problems } = resolvePolicy('nope', {
      'context.maxTokens': -5,
      'compaction.automatic': 'yes',
      'compaction.triggerPercent': 0,
      'memoryFlush.thresholds': [50, 'x'],
    });
    assert.deepEqual(policy, balanced);
    assert.deepEqual(
      problems.map(({ setting }) => setting),
      [
        'threadkeeper.context.policy',
        'threadkeeper.context.maxTokens',
        'threadkeeper.compaction.automatic',
        'threadkeeper.compaction.triggerPercent',
        'threadkeeper.memoryFlush.thresholds',
      ],
    );
    for (const { message } of problems) assert.match(message, /Using/);
  });

  it('reads 1–100 and fractions below 1 alike', () => {
    const at = (value: number) => resolvePolicy('balanced', { 'compaction.triggerPercent': value }).policy.compaction.trigger.percent;
    assert.deepEqual([at(60), at(0.6), at(1), at(100), at(0.5)], [0.6, 0.6, 0.01, 1, 0.5]);
  });
});
