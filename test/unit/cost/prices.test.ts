import assert from 'node:assert/strict';
import { builtInPrices, costOf, Price, priceOf, priceText } from '../../../src/core/cost/prices';
import { spentText, sumOf } from '../../../src/core/cost/spending';
import type { UsageTotal } from '../../../src/core/cost/usage';
import { modelFromTable } from '../../../src/node/models/modelTable';

const usage = { input: 1_000, output: 2_000, cacheRead: 100_000, cacheWrite: 10_000 };

describe('prices', () => {
  it('adds up the tiers of a request', () => {
    const sonnet = priceOf({}, 'anthropic', 'claude-sonnet-4-5');
    assert.equal(costOf(sonnet, usage)?.toFixed(6), (0.003 + 0.03 + 0.03 + 0.0375).toFixed(6));
  });

  it('takes more for what is kept for an hour, in the usual proportion where nobody says how much', () => {
    const sonnet = priceOf({}, 'anthropic', 'claude-sonnet-4-5');
    const hour = { ...usage, cacheWriteHour: 4_000 };
    assert.equal(costOf(sonnet, hour)?.toFixed(6), (0.003 + 0.03 + 0.03 + 0.0225 + 0.024).toFixed(6));
    const own = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
    assert.equal(costOf(own, hour)?.toFixed(6), (0.103 + 0.006 + 0.0064).toFixed(6));
    assert.equal(costOf({ ...own, cacheWriteHour: 3 }, hour)?.toFixed(6), (0.103 + 0.006 + 0.012).toFixed(6));
  });

  it('takes the higher price for the whole of a long request', () => {
    const haiku = priceOf({}, 'anthropic', 'claude-haiku-5-5');
    assert.equal(costOf(haiku, { input: 100_000, output: 0, cacheRead: 0, cacheWrite: 0 })?.toFixed(4), '0.0100');
    assert.equal(costOf(haiku, { input: 100_000, output: 1_000, cacheRead: 1, cacheWrite: 0 })?.toFixed(4), '0.0525');
  });

  it('guesses nothing: no price, no price for a part, nothing counted', () => {
    assert.equal(costOf(priceOf({}, 'ollama', 'gpt-oss:120b-cloud'), usage), null);
    assert.equal(costOf(priceOf({}, 'openai-compatible', 'llama3.1:8b'), usage), null);
    assert.equal(costOf(priceOf({}, 'openai-compatible', 'claude-sonnet-4-5'), usage), null);
    assert.equal(costOf({ input: 1, output: 1 }, usage), null);
    assert.equal(costOf({ input: 1, output: 1 }, { ...usage, cacheRead: 0, cacheWrite: 0 }), 0.003);
    assert.equal(costOf({ input: 1, output: 1 }, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }), null);
    assert.equal(priceOf({}, 'anthropic', 'toString'), undefined);
  });

  it('takes nothing for a model on the user’s own machine, unless they say what it costs', () => {
    const local = priceOf({}, 'ollama', 'llama3.1:8b');
    assert.equal(costOf(local, usage), 0);
    assert.equal(costOf(local, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }), 0);
    assert.equal(local && priceText(local), 'local, no price');
    assert.equal(
      costOf(priceOf({ 'ollama/llama3.1:8b': { input: 1, output: 1 } }, 'ollama', 'llama3.1:8b'), {
        ...usage,
        cacheRead: 0,
        cacheWrite: 0,
      }),
      0.003,
    );
    const total = { provider: 'ollama', model: 'llama3.1:8b', cost: 0, requestsWithoutCost: 0, requestsEstimated: 2 } as UsageTotal;
    assert.equal(spentText(sumOf([total])), '$0.00');
  });

  it('lets the user’s prices go before the built-in ones, those with a provider first', () => {
    const own = { 'claude-sonnet-4-5': { input: 9, output: 9 }, 'ollama/llama3.1:8b': { input: 0, output: 0 }, x: { input: 1, output: 2 } };
    assert.deepEqual(priceOf(own, 'anthropic', 'claude-sonnet-4-5'), { input: 9, output: 9 });
    assert.equal(costOf(priceOf(own, 'ollama', 'llama3.1:8b'), { ...usage, cacheRead: 0, cacheWrite: 0 }), 0);
    assert.deepEqual(priceOf(own, 'openai-compatible', 'x'), { input: 1, output: 2 });
  });

  it('has prices only for models that exist, and in the form that users write', () => {
    for (const [name, price] of Object.entries(builtInPrices)) {
      assert.deepEqual(Price.parse(price), price);
      assert.ok(modelFromTable('anthropic', name.replace('anthropic/', '')), name);
    }
  });

  it('says it in words', () => {
    const spent = (cost: number, requestsWithoutCost = 0, isEstimated = false) => spentText({ cost, requestsWithoutCost, isEstimated });
    assert.equal(priceText({ input: 2, output: 10 }), '$2 in, $10 out per million tokens');
    assert.deepEqual(
      [spent(0), spent(0.004), spent(1.239, 1), spent(0, 3), spent(0.42, 0, true), spent(0, 1, true)],
      ['$0.00', '<$0.01', '$1.24 + 1 request without a known price', 'unknown', 'about $0.42', 'unknown'],
    );
  });
});
