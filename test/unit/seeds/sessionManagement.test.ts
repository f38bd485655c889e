/*
 * The session-management skill: what it says about contexts. Persistence and atomic writes are driven in
 * test/unit/store.
 */
import assert from 'node:assert/strict';
import { compactionDue, resolveBudget } from '../../../src/core/context/measure/budget';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { project } from '../../../src/core/context/projection/projection';
import { resolvePolicy } from '../../../src/core/context/policy/resolvePolicy';
import { BranchBuilder } from '../../support/chat/branchBuilder';
import { outline, SeedRun } from '../../support/chat/seedRun';
import { testFrames } from '../../support/chat/testFrames';

const { policy } = resolvePolicy('keep-recent');
const summary = 'The user set up the server on port 54329. The config file was read. The tests are still to be run.';

describe('seed: session management', () => {
  let run: SeedRun;
  afterEach(() => run?.dispose());

  it('triggers above 20 messages or above 75 %, not at them', () => {
    const budget = resolveBudget(policy, { window: 100_000, maxOutput: 8_192 });
    assert.equal(budget.trigger, 75_000);
    const due = (used: number, messages: number) => compactionDue(policy.compaction, budget, used, messages);
    assert.deepEqual([due(75_000, 20), due(75_001, 20), due(75_000, 21)], [false, true, true]);
  });

  it('looks after each response: 20 messages stay, with the 21st and 22nd all but the last four are folded', async () => {
    run = await SeedRun.open('keep-recent');
    run.rig.summarizer.answer = summary;
    await run.talk(1, 10);
    assert.equal(run.compactions.length, 0);
    await run.exchange('11');
    assert.deepEqual(
      run.compactions.map(({ rung, messagesAfter, heldMs }) => [rung, messagesAfter, heldMs]),
      [['model', 4, 0]],
    );
    await run.exchange('12');
    assert.deepEqual(
      outline(run.lastRequest)
        .filter((line) => /question|answer/.test(line))
        .slice(-3),
      ['user: question 11', 'assistant: answer 11', 'user: question 12'],
    );
  });

  it('looks after each response at the size, too', async () => {
    run = await SeedRun.open('keep-recent', { overrides: { 'compaction.triggerMessages': 0 } });
    run.rig.summarizer.answer = summary;
    await run.talk(1, 6, 7_500);
    assert.equal(run.compactions.length, 0);
    await run.dispose();
    run = await SeedRun.open('keep-recent', { overrides: { 'compaction.triggerMessages': 0 } });
    run.rig.summarizer.answer = summary;
    await run.talk(1, 6, 7_501);
    assert.equal(run.compactions.length, 1);
  });

  it('puts the summary behind the system prompt under a title, and the recent messages after it', async () => {
    run = await SeedRun.open('keep-recent');
    run.rig.summarizer.answer = summary;
    await run.talk(1, 12);
    assert.match(run.lastRequest.systemSummary!, /^## Summary of the previous conversation\n[\s\S]*port 54329/);
    assert.equal(run.lastRequest.messages[0]?.role, 'user');
    assert.ok(outline(run.lastRequest).every((line) => !line.includes('conversation-state')));
  });

  it('keeps the full history when the summary fails', async () => {
    run = await SeedRun.open('keep-recent');
    run.rig.summarizer.fail = 'server';
    await run.talk(1, 12);
    assert.equal(run.compactions.length, 0);
    assert.equal(outline(run.lastRequest).filter((line) => /question|answer/.test(line)).length, 23);
  });

  it('summarises a very long history in two parts and merges them', async () => {
    run = await SeedRun.open('keep-recent', { window: 40_000 });
    run.rig.summarizer.answer = summary;
    run.rig.summarizer.contextTokens = 6_000;
    for (let i = 1; i <= 11; i++) await run.exchange(String(i), { tokens: 300 });
    const { prompts } = run.rig.summarizer;
    assert.ok(prompts.length >= 3, String(prompts.length));
    assert.match(prompts.at(-1)!, /^\[part 1\]$[\s\S]*^\[part 2\]$/m);
    assert.equal(run.compactions[0]?.rung, 'model');
  });

  it('keeps a message of over half the window out of prompt and summary, and names it by id', async () => {
    run = await SeedRun.open('keep-recent');
    run.rig.summarizer.answer = summary;
    assert.equal(policy.compaction.oversizedMessageFraction, 0.5);
    await run.exchange('big', { tokens: 6_000 });
    const [first] = run.lastRequest.messages[0]!.blocks;
    assert.ok(first?.type === 'text' && /left-out="\d+ characters of #\d+"/.test(first.text));
    assert.ok(estimateTokens(first.text) < 4_400);
  });

  it('estimates four characters a token, and three for Chinese', () => {
    assert.deepEqual([estimateTokens('a'.repeat(100)), estimateTokens('漢'.repeat(99))], [25, 33]);
  });

  it('strips tool results that no call asked for', () => {
    const b = new BranchBuilder();
    b.result('gone');
    b.user('go on');
    const { messages } = project({
      entries: b.entries,
      system: 'S',
      tools: [],
      budget: { oversized: 1_000 },
      model: 'm',
      frames: testFrames,
      tokensOf: () => 1,
      estimate: estimateTokens,
    });
    assert.deepEqual(
      messages.map(({ blocks }) => blocks.map(({ type }) => type)),
      [['text']],
    );
  });

  it('reports a count that is none, and goes on with 20', () => {
    const { policy: own, problems } = resolvePolicy('keep-recent', {
      'compaction.triggerMessages': -1,
      'compaction.keep': { messages: 0 },
    });
    assert.deepEqual(
      { messages: own.compaction.trigger.messages, keep: own.compaction.keep, problemsCount: problems.length },
      { messages: 20, keep: { messages: 4 }, problemsCount: 2 },
    );
  });
});
