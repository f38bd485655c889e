import assert from 'node:assert/strict';
import { withBudget } from '../../../src/core/cost/budgetedClient';
import { DailyBudget, dayBegan } from '../../../src/core/cost/dailyBudget';
import { costOf, priceOf } from '../../../src/core/cost/prices';
import { spending } from '../../../src/core/cost/spending';
import { ConversationRig } from '../../support/conversationRig';
import { says, ScriptedModel } from '../../support/scriptedModel';

describe('the daily budget', () => {
  const noon = new Date(2026, 10, 22, 12).getTime();

  function setUp(options: { budget: number; answers: boolean[] }) {
    const state = { spent: 0, now: noon, asked: [] as number[] };
    const budget = new DailyBudget({
      budget: () => options.budget,
      spentSince: async (from) => (from === dayBegan(state.now) ? state.spent : NaN),
      ask: async (spent) => {
        state.asked.push(spent);
        return options.answers.shift() ?? false;
      },
      now: () => state.now,
    });
    return { state, budget };
  }

  it('asks when it is spent, again after as much more, and anew the next day', async () => {
    const { state, budget } = setUp({ budget: 5, answers: [true, true, true] });
    for (const spent of [0, 4.99, 5, 7, 9.99, 10, 12]) {
      state.spent = spent;
      assert.equal(await budget.check(), null);
    }
    state.now += 86_400_000;
    assert.equal(await budget.check(), null);
    assert.deepEqual(state.asked, [5, 10, 12]);
  });

  it('stops when the user says so, and asks once for requests that come together', async () => {
    const { state, budget } = setUp({ budget: 1, answers: [] });
    state.spent = 1.5;
    const [one, two] = await Promise.all([budget.check(), budget.check()]);
    assert.equal(one, two);
    assert.match(one ?? '', /have cost \$1\.50, and the budget is \$1\.00/);
    assert.deepEqual(state.asked, [1.5]);
    assert.equal(await setUp({ budget: 0, answers: [] }).budget.check(), null);
  });

  it('ends a turn before anything is sent, and lets the next one through when it may', async () => {
    const model = new ScriptedModel({ window: 10_000, maxOutput: 1_000 }, [says('Hello.')]);
    let refusal: string | null = 'Too much.';
    const rig = await ConversationRig.create({ binding: async () => withBudget({ client: model, info: await model.describe('scripted-1'), summarizer: null }, async () => refusal) });
    try {
      assert.deepEqual((await rig.conversation.send('hi', 'm1')).error, { reason: 'budget', message: 'Too much.' });
      assert.equal(model.requests.length, 0);
      refusal = null;
      assert.equal((await rig.conversation.send('hi again', 'm2')).text, 'Hello.');
    } finally {
      await rig.dispose();
    }
  });
});

describe('the cost ledger', () => {
  it('prices every request, those of compactions and broken answers included, and counts what it cannot price', async () => {
    const rig = await ConversationRig.create({
      window: 6_000,
      costOf: (provider, model, usage) => costOf(priceOf({ 'scripted/scripted-1': { input: 1_000, output: 2_000 }, 'scripted/scripted-summarizer': { input: 500, output: 500 } }, provider, model), usage),
    });
    try {
      rig.model.scripts.push(says('One.', { input: 2_000, output: 10 }), says('Two.', { input: 4_000, output: 10 }), says('Last.', { input: 4_100, output: 10 }));
      await rig.conversation.send(rig.words(1_500), 'm1');
      await rig.conversation.send(rig.words(1_500), 'm2');
      await rig.conversation.send(rig.words(10), 'm3');
      const { entry } = await rig.conversation.compact(null);
      assert.equal(entry?.content.cost, (10 + 10) * 500 / 1_000_000);
      const { session, today } = await spending(rig.store, rig.session, rig.clock.now());
      assert.equal(session?.cost.toFixed(3), (2.02 + 4.02 + 4.12 + 0.01).toFixed(3));
      assert.deepEqual([session?.requestsWithoutCost, today.cost.toFixed(3)], [0, session?.cost.toFixed(3)]);
      rig.modelId = 'nobody-knows';
      rig.model.scripts.push(says('Three.', { input: 5, output: 5 }));
      await rig.conversation.send('and now', 'm4');
      assert.equal((await spending(rig.store, rig.session, rig.clock.now())).session?.requestsWithoutCost, 1);
      assert.deepEqual(rig.events.flatMap((event) => (event.type === 'usage_reported' ? [event.cost === null ? null : event.cost.toFixed(2)] : [])), ['2.02', '4.02', '4.12', '0.01', null]);
    } finally {
      await rig.dispose();
    }
  });
});
