import assert from 'node:assert/strict';
import { withBudget } from '../../../src/core/cost/budgetedClient';
import { spending, DailyBudget, dayBegan } from '../../../src/core/cost/spending';
import { costOf, priceOf } from '../../../src/core/cost/prices';
import { ConversationRig, ScriptedSummarizer } from '../../support/chat/conversationRig';
import { fails, says, ScriptedModel } from '../../support/chat/scriptedModel';

describe('what a day has cost', () => {
  it('is what was asked here, not what an import brought', async () => {
    const rig = await ConversationRig.create({});
    try {
      const { leaf } = (await rig.store.session(rig.session))!;
      const used = { provider: 'p', model: 'm', input: 1, output: 1, cacheRead: 0, cacheWrite: 0, at: rig.clock.now() };
      rig.model.scripts.push(says('Yes.'));
      await rig.conversation.send('Hi');
      const entry = (await rig.store.session(rig.session))!.leaf!;
      await rig.store.append(rig.session, {
        entries: [],
        usage: [
          { ...used, entry, kind: 'imported', cost: 5 },
          { ...used, entry, kind: 'aside', cost: 2 },
        ],
      });
      assert.equal(leaf, null);
      assert.equal((await spending(rig.store, null, rig.clock.now())).today.cost, 2);
    } finally {
      await rig.dispose();
    }
  });
});

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
      assert.equal(await budget.check(true), null);
    }
    state.now += 86_400_000;
    assert.equal(await budget.check(true), null);
    assert.deepEqual(state.asked, [5, 10, 12]);
  });

  it('stops when the user says so, and asks once for requests that come together', async () => {
    const { state, budget } = setUp({ budget: 1, answers: [] });
    state.spent = 1.5;
    const [one, two] = await Promise.all([budget.check(true), budget.check(true)]);
    assert.equal(one, two);
    assert.match(one ?? '', /have cost \$1\.50, and the budget is \$1\.00/);
    assert.deepEqual(state.asked, [1.5]);
    assert.equal(await setUp({ budget: 0, answers: [] }).budget.check(true), null);
  });

  it('asks nobody who does not wait', async () => {
    const { state, budget } = setUp({ budget: 1, answers: [true] });
    state.spent = 2;
    assert.match((await budget.check(false)) ?? '', /have cost \$2\.00/);
    assert.deepEqual(state.asked, []);
    assert.deepEqual([await budget.check(true), await budget.check(false)], [null, null]);
  });

  it('holds those who write summaries, too: the next rung stands in for them, and says why', async () => {
    const gates: boolean[] = [];
    let exhausted = false;
    const model = new ScriptedModel({ window: 6_000, maxOutput: 1_000 }, [
      says('One.', { input: 2_000, output: 10 }),
      says('Two.', { input: 4_000, output: 10 }),
    ]);
    const summarizer = new ScriptedSummarizer();
    const gate = async (mayAsk: boolean) => (gates.push(mayAsk), exhausted ? 'The budget is spent.' : null);
    const rig = await ConversationRig.create({
      binding: async () => withBudget({ client: model, info: await model.describe('scripted-1'), summarizer }, gate),
    });
    try {
      await rig.conversation.send(rig.words(1_500), 'm1');
      await rig.conversation.send(rig.words(1_500), 'm2');
      exhausted = true;
      gates.length = 0;
      const { entry } = await rig.conversation.compact(null);
      assert.deepEqual(
        { rung: entry?.content.rung, note: entry?.content.note, needsSummaryRetry: entry?.content.needsSummaryRetry },
        { rung: 'extractive', note: 'The model could not summarize: scripted-summarizer: The budget is spent.', needsSummaryRetry: true },
      );
      assert.deepEqual([gates, summarizer.prompts], [[true], []]);
      exhausted = false;
      await rig.until(() => rig.clock.timers > 0);
      rig.clock.pass(3_600_000);
      await rig.until(() => summarizer.prompts.length > 0);
      assert.deepEqual(gates, [true, false]);
    } finally {
      await rig.dispose();
    }
  });

  it('ends a turn before anything is sent, and lets the next one through when it may', async () => {
    const model = new ScriptedModel({ window: 10_000, maxOutput: 1_000 }, [says('Hello.')]);
    let refusal: string | null = 'Too much.';
    const rig = await ConversationRig.create({
      binding: async () => withBudget({ client: model, info: await model.describe('scripted-1'), summarizer: null }, async () => refusal),
    });
    try {
      assert.deepEqual((await rig.conversation.send('hi', 'm1')).error, {
        reason: 'budget',
        message: 'Too much. Nothing was sent. Your message is saved.',
      });
      assert.equal(model.requests.length, 0);
      refusal = null;
      assert.equal((await rig.conversation.send('hi again', 'm2')).text, 'Hello.');
    } finally {
      await rig.dispose();
    }
  });
});

describe('the cost ledger', () => {
  it('estimates what a provider has not counted, also of an answer that was stopped, and says so', async () => {
    const rig = await ConversationRig.create({ costOf: (provider, model, usage) => costOf({ input: 1_000, output: 1_000 }, usage) });
    try {
      rig.model.scripts.push(says('An answer of some words.'));
      await rig.conversation.send(rig.words(400), 'm1');
      const [{ input, output, ...total } = assert.fail(), ...others] = await rig.store.usageTotals({});
      assert.ok(input > 400 && input < 1_500 && output > 3 && output < 12, `${input} in, ${output} out`);
      assert.deepEqual(
        [others, { ...total, cost: total.cost?.toFixed(6) }],
        [
          [],
          {
            provider: 'scripted',
            model: 'scripted-1',
            requests: 1,
            cacheRead: 0,
            cacheWrite: 0,
            cost: ((input + output) / 1_000).toFixed(6),
            requestsWithoutCost: 0,
            requestsEstimated: 1,
          },
        ],
      );
      const { session } = await spending(rig.store, rig.session, rig.clock.now());
      assert.equal(session?.isEstimated, true);
      // An estimate measures nothing: the gauge stays one, and nothing is learned from it.
      assert.deepEqual(
        [(await rig.store.liveBranch(rig.session)).lastUsage, await rig.store.calibration('scripted/scripted-1')],
        [null, []],
      );
      rig.model.scripts.push(
        [
          { type: 'text_delta', index: 0, text: 'Half an' },
          { type: 'failed', failure: { reason: 'cancelled', detail: '' } },
        ],
        fails('bad_key'),
      );
      await rig.conversation.send('more', 'm2');
      await rig.conversation.send('and more', 'm3');
      assert.deepEqual(
        (await rig.store.usageTotals({})).map(({ requests, requestsEstimated }) => [requests, requestsEstimated]),
        [[2, 2]],
      );
    } finally {
      await rig.dispose();
    }
  });

  it('prices every request, those of compactions and broken answers included, and counts what it cannot price', async () => {
    const rig = await ConversationRig.create({
      window: 6_000,
      costOf: (provider, model, usage) =>
        costOf(
          priceOf(
            { 'scripted/scripted-1': { input: 1_000, output: 2_000 }, 'scripted/scripted-summarizer': { input: 500, output: 500 } },
            provider,
            model,
          ),
          usage,
        ),
    });
    try {
      rig.model.scripts.push(
        says('One.', { input: 2_000, output: 10 }),
        says('Two.', { input: 4_000, output: 10 }),
        says('Last.', { input: 4_100, output: 10 }),
      );
      await rig.conversation.send(rig.words(1_500), 'm1');
      await rig.conversation.send(rig.words(1_500), 'm2');
      await rig.conversation.send(rig.words(10), 'm3');
      const { entry } = await rig.conversation.compact(null);
      assert.equal(entry?.content.cost, ((10 + 10) * 500) / 1_000_000);
      const { session, today } = await spending(rig.store, rig.session, rig.clock.now());
      assert.equal(session?.cost.toFixed(3), (2.02 + 4.02 + 4.12 + 0.01).toFixed(3));
      assert.deepEqual([session?.requestsWithoutCost, today.cost.toFixed(3)], [0, session?.cost.toFixed(3)]);
      rig.modelId = 'nobody-knows';
      rig.model.scripts.push(says('Three.', { input: 5, output: 5 }));
      await rig.conversation.send('and now', 'm4');
      assert.equal((await spending(rig.store, rig.session, rig.clock.now())).session?.requestsWithoutCost, 1);
      assert.deepEqual(
        rig.events.flatMap((event) => (event.type === 'usage_reported' ? [event.cost === null ? null : event.cost.toFixed(2)] : [])),
        ['2.02', '4.02', '4.12', '0.01', null],
      );
    } finally {
      await rig.dispose();
    }
  });
});
