/*
 * GoClaw: what it says about contexts. Inheritance and watching of OpenClaw sessions, in both directions, are driven in
 * test/unit/transfer; its checkpoints, failover and background retries in test/unit/chat and test/unit/compaction too.
 */
import assert from 'node:assert/strict';
import { cutPoint } from '../../../src/core/compaction/ladder/cutPoint';
import { compactionDue, resolveBudget } from '../../../src/core/context/measure/budget';
import { resolvePolicy } from '../../../src/core/context/policy/resolvePolicy';
import { BranchBuilder } from '../../support/chat/branchBuilder';
import { outline, SeedRun } from '../../support/chat/seedRun';

const { policy } = resolvePolicy('goclaw');
/** Larger than the cap, so that the cap owes no reserve. */
const large = { window: 1_000_000, maxOutput: 64_000 };
const checkpointForm = JSON.stringify({
  summary: 'They set up the server.',
  topics: ['the port'],
  keyDecisions: ['54329, because it is free'],
  openQuestions: ['which host?'],
});

function messages(count: number): BranchBuilder {
  const b = new BranchBuilder();
  for (let i = 0; i < count; i++) i % 2 === 0 ? b.user(`u${i}`) : b.assistant(`a${i}`);
  return b;
}

describe('seed: GoClaw', () => {
  let run: SeedRun;
  afterEach(() => run?.dispose());

  it('triggers at max − reserve tokens', () => {
    const budget = resolveBudget(policy, large);
    assert.deepEqual([budget.effective, budget.trigger], [200_000, 196_000]);
    assert.deepEqual(
      [195_999, 196_000].map((used) => compactionDue(policy.compaction, budget, used, 0)),
      [false, true],
    );
    const wide = resolvePolicy('goclaw', { 'compaction.triggerReserveTokens': 30_000 }).policy;
    assert.equal(resolveBudget(wide, large).trigger, 170_000);
    assert.ok(resolveBudget(policy, { window: 200_000, maxOutput: 64_000 }).trigger <= 189_808, 'never above what can be sent');
  });

  it('triggers at 500 messages, and not by messages at 0', () => {
    const budget = resolveBudget(policy, large);
    assert.deepEqual(
      [499, 500].map((count) => compactionDue(policy.compaction, budget, 10, count)),
      [false, true],
    );
    const off = resolvePolicy('goclaw', { 'compaction.triggerMessages': 0 }).policy;
    assert.equal(compactionDue(off.compaction, resolveBudget(off, large), 10, 10_000), false);
  });

  it('keeps half of the messages, and at least 20', () => {
    const kept = (count: number) =>
      cutPoint(messages(count).entries, { keep: policy.compaction.keep, tokens: 100_000, tokensOf: () => 1 })?.kept.length ?? count;
    assert.deepEqual([100, 500, 30, 20].map(kept), [50, 250, 20, 20]);
  });

  it('has the documented defaults for checkpoints, failover and retries', () => {
    assert.deepEqual(policy.checkpoint, { enabled: true, thresholds: [0.25, 0.5, 0.75], everyUserTurns: 10, minTokens: 5_000 });
    const { failureThreshold, resetMinutes, retryIntervalSeconds } = policy.summarizer;
    assert.deepEqual(
      {
        failureThreshold,
        resetMinutes,
        retryIntervalSeconds,
        preferCheckpoint: policy.compaction.preferCheckpoint,
        minCheckpointCoverage: policy.compaction.minCheckpointCoverage,
      },
      { failureThreshold: 3, resetMinutes: 30, retryIntervalSeconds: 60, preferCheckpoint: true, minCheckpointCoverage: 0.5 },
    );
    assert.deepEqual(resolveBudget(resolvePolicy('goclaw', { 'checkpoint.enabled': false }).policy, large).checkpoints, []);
    assert.deepEqual(resolveBudget(policy, large).checkpoints, [50_000, 100_000, 150_000]);
  });

  it('gives an Ollama entry of the chain its local address, its time and its window', () => {
    const { policy: own, problems } = resolvePolicy('goclaw', {
      'summarizer.chain': [
        { provider: 'ollama', model: 'qwen2.5:7b' },
        { provider: 'anthropic', model: 'claude-haiku-4-5', timeoutSeconds: 30 },
      ],
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(own.summarizer.chain, [
      { provider: 'ollama', model: 'qwen2.5:7b', url: 'http://localhost:11434', contextTokens: 131_072, timeoutSeconds: 600 },
      { provider: 'anthropic', model: 'claude-haiku-4-5', timeoutSeconds: 30 },
    ]);
  });

  it('puts a summary in the form of a checkpoint into the system prompt', async () => {
    run = await SeedRun.open('goclaw', { overrides: { 'compaction.triggerMessages': 32, 'memoryFlush.enabled': false } });
    run.rig.summarizer.answer = checkpointForm;
    // Of messages so short that the system text is most of the context, too little would be saved.
    for (let i = 1; i <= 15; i++) await run.exchange(String(i), { tokens: 90 });
    assert.equal(run.compactions.length, 0);
    await run.exchange('16');
    assert.equal(run.compactions.length, 0, '31 messages when the 16th was asked');
    await run.exchange('17');
    const [record] = run.compactions;
    assert.deepEqual([record?.rung, record?.placement], ['model', 'system-block']);
    assert.match(
      run.lastRequest.systemSummary!,
      /## Summary of the previous conversation[\s\S]*## Topics\n- the port[\s\S]*## Key decisions\n- 54329, because it is free[\s\S]*## Open questions\n- which host\?/,
    );
    const texts = outline(run.lastRequest).filter((line) => /question|answer/.test(line));
    assert.ok(texts.length >= 20 && texts.length <= 22, texts.join('|'));
    assert.equal(texts.at(-1), 'user: question 17');
  });

  it('leaves a stub and keeps three quarters when every summariser fails, marked for a retry', async () => {
    run = await SeedRun.open('goclaw', { overrides: { 'compaction.triggerMessages': 41, 'memoryFlush.enabled': false } });
    run.rig.summarizer.fail = 'server';
    await run.talk(1, 20);
    await run.exchange('21');
    const [record] = run.compactions;
    assert.deepEqual([record?.rung, record?.needsSummaryRetry], ['truncate', true]);
    const kept = outline(run.lastRequest).filter((line) => /question|answer/.test(line)).length;
    assert.ok(kept >= 31 && kept <= 33, String(kept));
    assert.equal((await run.all()).filter(({ content }) => content.type === 'message').length, 42);
  });

  it('asks for notes at 50 % as the system and at 75 % as the user, once a cycle, in its own words', async () => {
    // In a window of 10,000 the reserve of 4,000 would move both in front of the trigger.
    run = await SeedRun.open('goclaw', { overrides: { 'compaction.triggerReserveTokens': 1_500 } });
    await run.exchange('1', { size: 5_000 });
    await run.exchange('2', { size: 5_100 });
    await run.exchange('3', { size: 7_500 });
    await run.exchange('4', { size: 7_600 });
    await run.exchange('5');
    const nudges = (await run.all()).flatMap(({ content }) =>
      content.type === 'nudge' ? [[content.percent, content.injectAs, content.text]] : [],
    );
    assert.deepEqual(nudges, [
      [50, 'system', 'Half of the context window is in use. If decisions have been made, note the important ones in memory.'],
      [75, 'user', 'Three quarters of the context window are in use. Write what matters from this conversation to memory now.'],
    ]);
  });

  it('asks in every turn where a threshold is not once per cycle', async () => {
    run = await SeedRun.open('goclaw', {
      overrides: { 'memoryFlush.thresholds': [{ percent: 40, prompt: 'Note it.', injectAs: 'user', oncePerCycle: false }] },
    });
    await run.exchange('1', { size: 4_000 });
    await run.exchange('2', { size: 4_100 });
    await run.exchange('3', { size: 4_200 });
    assert.equal((await run.all()).filter(({ content }) => content.type === 'nudge').length, 2);
  });

  it('tells the model in every turn how full the window is, behind the message and not in the system prompt', async () => {
    run = await SeedRun.open('goclaw');
    await run.exchange('1', { size: 3_000 });
    const { system } = run.lastRequest;
    await run.exchange('2');
    assert.equal(run.lastRequest.system, system);
    const notes = outline(run.lastRequest).filter((line) => line.includes('kind="usage"'));
    assert.equal(notes.length, 2);
    assert.match(notes[1]!, /Context in use: 3,\d\d\d of 10,000 tokens \(3\d %\)/);
  });

  it('never compacts by itself when that is off, and goes on', async () => {
    run = await SeedRun.open('goclaw', { overrides: { 'compaction.triggerMessages': 4, 'memoryFlush.enabled': false } });
    run.rig.autoCompact = false;
    await run.talk(1, 5);
    assert.equal(run.compactions.length, 0);
  });
});
