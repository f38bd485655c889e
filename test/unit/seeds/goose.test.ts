/*
 * The Goose pattern: what it says about contexts. The import of its `sessions.db` is driven in
 * test/unit/transfer, analytics in test/unit/analytics, and the indicator of the view in test/webview.
 */
import assert from 'node:assert/strict';
import { formatOf } from '../../../src/core/compaction/summary/summaryFormat';
import { compactionDue, resolveBudget } from '../../../src/core/context/measure/budget';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { resolvePolicy, type PresetName } from '../../../src/core/context/policy/resolvePolicy';
import { outline, SeedRun } from '../../support/chat/seedRun';
import { says } from '../../support/chat/scriptedModel';

const model = { window: 200_000, maxOutput: 64_000 };
const sentences = 'They compared prices and chose CompanyB at $129. The order was placed. The invoice is still open.';

describe('seed: Goose', () => {
  let run: SeedRun;
  afterEach(() => run?.dispose());

  for (const [preset, at, keeps, first] of [
    ['goose', 102_400, 5, 'cheapest'],
    ['goose-conservative', 115_200, 10, 'best'],
    ['goose-aggressive', 89_600, 3, 'cheapest'],
  ] as const) {
    it(`${preset}: triggers at ${at} of 128,000 tokens, keeps ${keeps} messages, asks the ${first} model`, () => {
      const { policy } = resolvePolicy(preset);
      const budget = resolveBudget(policy, model);
      assert.deepEqual(
        {
          effective: budget.effective,
          trigger: budget.trigger,
          keep: policy.compaction.keep,
          model: policy.summarizer.chain[0]?.model,
          maxSummaryTokens: policy.compaction.maxSummaryTokens,
        },
        { effective: 128_000, trigger: at, keep: { messages: keeps }, model: first, maxSummaryTokens: 200 },
      );
      assert.deepEqual(
        [at - 1, at].map((used) => compactionDue(policy.compaction, budget, used, 0)),
        [false, true],
      );
      assert.deepEqual(
        { nudges: budget.nudges, checkpoints: budget.checkpoints, prepare: budget.prepare },
        { nudges: [], checkpoints: [], prepare: null },
      );
    });
  }

  it('leaves a context below the threshold as it is', async () => {
    run = await SeedRun.open('goose');
    await run.talk(1, 8, 7_000);
    await run.exchange('last');
    assert.equal(run.compactions.length, 0);
    assert.equal(outline(run.lastRequest).length, 17);
  });

  it('sends system prompt, labelled summary and the last five messages above it', async () => {
    run = await SeedRun.open('goose');
    run.rig.summarizer.answer = sentences;
    await run.talk(1, 8, 8_000);
    const { system } = run.lastRequest;
    await run.exchange('last');
    assert.deepEqual(outline(run.lastRequest).slice(1), [
      'user: question 7',
      'assistant: answer 7',
      'user: question 8',
      'assistant: answer 8',
      'user: question last',
    ]);
    assert.equal(run.lastRequest.system, system);
    const [summary] = run.lastRequest.messages[0]!.blocks;
    assert.ok(
      summary?.type === 'text' && summary.text.includes('Summary of the previous conversation:') && summary.text.includes(sentences),
    );
    const [record] = run.compactions;
    assert.deepEqual(
      { rung: record?.rung, placement: record?.placement, trigger: record?.trigger, messagesAfter: record?.messagesAfter },
      { rung: 'model', placement: 'system-message', trigger: 'automatic', messagesAfter: 5 },
    );
    assert.ok(record!.tokensAfter < record!.tokensBefore * 0.5);
    assert.ok(run.rig.logged.some(({ event, data }) => event === 'context_compacted' && data?.['tokensBefore'] === record!.tokensBefore));
  });

  it('asks for three or four sentences on decisions, actions and what is needed to go on', async () => {
    run = await SeedRun.open('goose');
    await run.talk(1, 8, 8_000);
    await run.exchange('last');
    assert.match(formatOf('narrative').system, /three or four sentences.*\n[\s\S]*decisions were made, what was done.*go on/);
    assert.match(run.rig.summarizer.prompts[0]!, /question 1 [\s\S]*three or four sentences now. At most 200 tokens/);
  });

  it('keeps the whole history, searchable', async () => {
    run = await SeedRun.open('goose');
    run.rig.summarizer.answer = 'They researched the prices of several companies. Nothing was ordered. More is to follow.';
    await run.send('The prices are A=$99, B=$129 and C=$89.', says('Noted.'));
    await run.talk(1, 8, 8_000);
    await run.exchange('What was the price of B again?');
    assert.equal(run.compactions.length, 1);
    const { hits } = await run.rig.store.search({ text: 'prices $129', limit: 3 });
    assert.match(hits[0]!.text, /B=\$129/);
    assert.equal((await run.all()).filter(({ content }) => content.type === 'message').length, 20);
  });

  it('truncates to system prompt and recent messages when that is chosen, and asks no model', async () => {
    run = await SeedRun.open('goose', { overrides: { 'compaction.whenFull': 'truncate' } });
    await run.talk(1, 8, 8_000);
    await run.exchange('last');
    assert.deepEqual([run.compactions.map(({ rung }) => rung), run.rig.summarizer.prompts.length], [['truncate'], 0]);
    assert.equal(outline(run.lastRequest).at(-1), 'user: question last');
  });

  it('goes on when the recent messages alone are above the threshold', async () => {
    run = await SeedRun.open('goose');
    await run.exchange('1', { tokens: 1_600 });
    await run.exchange('2', { tokens: 1_600 });
    await run.exchange('3', { tokens: 1_600 });
    assert.ok(run.compactions.length > 0);
    assert.ok(run.rig.size(run.lastRequest) < 8_500);
    assert.equal(outline(run.lastRequest).at(-1), 'user: question 3');
  });

  it('takes a threshold as percentage or fraction, and refuses others by name', () => {
    const percentOf = (value: unknown) => resolvePolicy('goose', { 'compaction.triggerPercent': value }).policy.compaction.trigger.percent;
    assert.deepEqual([0.9, 90, 0.7, 1].map(percentOf), [0.9, 0.9, 0.7, 0.01]);
    for (const bad of [0, -1, 101, '80', Number.NaN]) {
      const { policy, problems } = resolvePolicy('goose', { 'compaction.triggerPercent': bad });
      assert.equal(policy.compaction.trigger.percent, 0.8);
      assert.deepEqual(
        problems.map(({ setting }) => setting),
        ['threadkeeper.compaction.triggerPercent'],
      );
      assert.match(problems[0]!.message, /Using 80, as the policy goose has it/);
    }
  });

  it('estimates four characters a token until it is counted', () => assert.equal(estimateTokens('x'.repeat(400)), 100));

  it('reports what cannot be a policy', () => {
    const { policy, problems } = resolvePolicy('gose' as PresetName);
    assert.deepEqual([policy.name, problems.map(({ setting }) => setting)], ['balanced', ['threadkeeper.context.policy']]);
  });
});
