/*
 * Structured state compression: what it says about contexts.
 */
import assert from 'node:assert/strict';
import { compactionDue, resolveBudget } from '../../../src/core/context/measure/budget';
import { resolvePolicy } from '../../../src/core/context/policy/resolvePolicy';
import { says } from '../../support/chat/scriptedModel';
import { outline, SeedRun } from '../../support/chat/seedRun';

const { policy } = resolvePolicy('session-state');
const state = {
  logos: ['The stack is FastAPI (#1)'],
  pathos: ['Pragmatic'],
  abstract: ['Knows async well'],
  conversation_summary: 'They planned the move to Celery.',
};

describe('seed: structured state compression', () => {
  let run: SeedRun;
  afterEach(() => run?.dispose());

  it('compresses above 70 %, not at it, and falls back above 85 %', () => {
    const budget = resolveBudget(policy, { window: 1_000_000, maxOutput: 64_000 });
    assert.deepEqual(
      { effective: budget.effective, trigger: budget.trigger, hardLimit: budget.hardLimit, target: budget.target },
      { effective: 1_000_000, trigger: 700_000, hardLimit: 850_000, target: 600_000 },
    );
    assert.deepEqual(
      [700_000, 700_001].map((used) => compactionDue(policy.compaction, budget, used, 0)),
      [false, true],
    );
    assert.equal(policy.compaction.maxSummaryTokens, 800);
  });

  it('sends every message below 70 %', async () => {
    run = await SeedRun.open('session-state');
    await run.talk(1, 6, 6_500);
    await run.exchange('last');
    assert.equal(run.compactions.length, 0);
    assert.equal(outline(run.lastRequest).length, 13);
  });

  it('comes down below 60 % and keeps the newest messages', async () => {
    run = await SeedRun.open('session-state', { window: 20_000 });
    run.rig.summarizer.answer = JSON.stringify(state);
    for (let i = 1; run.compactions.length === 0 && i < 40; i++) await run.exchange(String(i), { tokens: 500 });
    const [record] = run.compactions;
    assert.ok(record!.tokensBefore > 14_000, String(record!.tokensBefore));
    assert.ok(record!.tokensAfter < 12_000, String(record!.tokensAfter));
    assert.ok(record!.tokensAfter > 8_000, `no more is folded than has to be: ${record!.tokensAfter}`);
    const kept = outline(run.lastRequest).slice(2);
    assert.match(kept.at(-1)!, /^user: question/);
    assert.ok(kept.length > 6);
  });

  it('sends the state as a pair of messages, and the system prompt stays what it was', async () => {
    run = await SeedRun.open('session-state');
    run.rig.summarizer.answer = JSON.stringify(state);
    await run.exchange('1');
    const { system } = run.lastRequest;
    await run.talk(2, 8, 7_200);
    await run.exchange('last');
    const [first, second] = run.lastRequest.messages;
    assert.deepEqual([first?.role, second?.role], ['user', 'assistant']);
    assert.ok(
      first?.blocks[0]?.type === 'text' &&
        first.blocks[0].text.includes('The stack is FastAPI (#1)') &&
        first.blocks[0].text.includes('Knows async well'),
    );
    assert.ok(second?.blocks[0]?.type === 'text' && second.blocks[0].text.startsWith('Understood.'));
    assert.equal(run.lastRequest.system, system);
  });

  it('asks for everything that the state is made of', async () => {
    run = await SeedRun.open('session-state');
    run.rig.summarizer.answer = JSON.stringify(state);
    await run.talk(1, 8, 7_500);
    await run.exchange('last');
    const [system] = run.rig.summarizer.systems;
    const wanted = [
      'decisions',
      'technical constraints',
      'code that was discussed',
      'improving, stable, worsening',
      'active metaphors',
      'running jokes',
      'style of communication',
      'implicit needs',
      'shared frameworks',
      'clearly understands',
      'premises',
      'two or three sentences',
    ];
    assert.deepEqual(
      wanted.filter((part) => !system!.includes(part)),
      [],
    );
  });

  it('explains the state to the model from the first request on', async () => {
    run = await SeedRun.open('session-state');
    await run.exchange('1');
    // In the words under which a summary stands before the model: it never sees the names of the fields.
    const told = [
      'facts and decisions as ground truth',
      'match the tone',
      'do not explain again',
      'shared ground',
      'do not mention the compression',
    ];
    assert.deepEqual(
      told.filter((part) => !run.lastRequest.system.includes(part)),
      [],
    );
    for (const field of ['logos', 'pathos', 'abstract']) assert.ok(!run.lastRequest.system.includes(field), field);
    assert.equal(run.compactions.length, 0);
  });

  it('merges the state before with new messages into one', async () => {
    run = await SeedRun.open('session-state');
    run.rig.summarizer.answer = JSON.stringify(state);
    await run.talk(1, 8, 7_200);
    await run.talk(9, 16, 7_200);
    await run.exchange('last');
    assert.equal(run.compactions.length, 2);
    const merge = run.rig.summarizer.prompts.at(-1)!;
    assert.match(merge, /<previous-state-\d+>[\s\S]*The stack is FastAPI[\s\S]*<\/previous-state-\d+>/);
    assert.match(merge, /drop what has been contradicted.*no duplicates/);
    assert.ok(!merge.includes('question 1 '), 'what was folded before is not read again');
    assert.equal(
      run.lastRequest.messages.filter(({ blocks }) =>
        blocks.some((block) => block.type === 'text' && block.text.startsWith('<conversation-state-')),
      ).length,
      1,
    );
  });

  it('compresses before the call when one message jumps from below 70 % to above 85 %', async () => {
    run = await SeedRun.open('session-state', { window: 20_000 });
    run.rig.summarizer.answer = JSON.stringify(state);
    await run.talk(1, 12, 12_000);
    await run.exchange('jump', { tokens: 3_000 });
    assert.deepEqual(
      run.compactions.map(({ rung }) => rung),
      ['model'],
    );
    assert.equal(outline(run.lastRequest).at(-1), 'user: question jump');
    assert.equal((await run.all()).filter(({ content }) => content.type === 'message').length, 26);
  });

  it('keeps everything when the call fails below 85 %', async () => {
    run = await SeedRun.open('session-state');
    run.rig.summarizer.fail = 'server';
    await run.talk(1, 8, 7_500);
    await run.exchange('last');
    assert.equal(run.compactions.length, 0);
    assert.equal(outline(run.lastRequest).length, 17);
  });

  it('drops the oldest messages when the call fails above 85 %', async () => {
    run = await SeedRun.open('session-state');
    run.rig.summarizer.fail = 'server';
    await run.talk(1, 8, 8_510);
    await run.exchange('last');
    assert.deepEqual(
      run.compactions.map(({ rung, needsSummaryRetry }) => [rung, needsSummaryRetry]),
      [['truncate', true]],
    );
    assert.equal(outline(run.lastRequest).at(-1), 'user: question last');
    assert.equal((await run.all()).filter(({ content }) => content.type === 'message').length, 18);
  });

  it('does nothing with the first message, and sends one that is too large as head and tail', async () => {
    run = await SeedRun.open('session-state');
    const request = await run.send(`HEAD ${run.rig.words(30_000)} TAIL`, says('Read.'));
    assert.equal(run.compactions.length, 0);
    const [text] = request.messages[0]!.blocks;
    assert.ok(text?.type === 'text' && /^HEAD/.test(text.text) && /TAIL$/.test(text.text) && text.text.includes('recall'));
    assert.ok(run.rig.size(request) < 8_500);
  });

  it('leaves the originals untouched, with the boundary in the record', async () => {
    run = await SeedRun.open('session-state');
    await run.talk(1, 8, 7_200);
    const before = await run.all();
    await run.exchange('last');
    const after = await run.all();
    // Counting a text afterwards changes nothing that was said.
    const said = (entries: typeof before) => entries.map(({ tokenEstimate: _, ...entry }) => entry);
    assert.deepEqual(said(after.slice(0, before.length)), said(before));
    const [record] = run.compactions;
    assert.ok(before.some(({ uuid }) => uuid === record?.coversFrom) && after.some(({ uuid }) => uuid === record?.firstKeptEntry));
  });
});
