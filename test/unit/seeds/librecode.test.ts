/*
 * librecode: what it says about contexts. The import of its database is driven in test/unit/transfer, the session
 * tree and the index of messages in test/unit/store, adapters for other providers in test/unit/models.
 */
import assert from 'node:assert/strict';
import { cutPoint } from '../../../src/core/compaction/ladder/cutPoint';
import { formatOf } from '../../../src/core/compaction/summary/summaryFormat';
import { compactionDue, resolveBudget } from '../../../src/core/context/measure/budget';
import { resolvePolicy } from '../../../src/core/context/policy/resolvePolicy';
import { createSkillTool } from '../../../src/core/skills/skill';
import { BranchBuilder } from '../../support/chat/branchBuilder';
import { calls, fails, says } from '../../support/chat/scriptedModel';
import { outline, SeedRun } from '../../support/chat/seedRun';

const { policy } = resolvePolicy('librecode');
const sections = JSON.stringify({
  summary: 'They fixed the tide table.',
  toolOutcomes: ['npm test: 3 fail'],
  fileEdits: ['src/tide.js: rounding'],
  commands: ['npm test'],
  decisions: ['round half up'],
  unresolvedTasks: ['the README'],
});
const few = { 'compaction.keep': { messages: 6 } };

describe('seed: librecode', () => {
  let run: SeedRun;
  afterEach(() => run?.dispose());

  it('triggers at 80 % of the model’s window and keeps the last 40 messages', () => {
    const budget = resolveBudget(policy, { window: 1_000_000, maxOutput: 64_000 });
    assert.deepEqual(
      { trigger: budget.trigger, keep: policy.compaction.keep, retryOnOverflow: policy.compaction.retryOnOverflow },
      { trigger: 800_000, keep: { messages: 40 }, retryOnOverflow: true },
    );
    assert.deepEqual(
      [799_999, 800_000].map((used) => compactionDue(policy.compaction, budget, used, 0)),
      [false, true],
    );
    const b = new BranchBuilder();
    for (let i = 0; i < 60; i++) i % 2 === 0 ? b.user('u') : b.assistant('a');
    assert.equal(cutPoint(b.entries, { keep: policy.compaction.keep, tokens: 1_000, tokensOf: () => 1 })?.kept.length, 40);
  });

  it('counts calls with their step, results each, and never parts them', () => {
    const b = new BranchBuilder();
    b.user('old');
    b.assistant('old');
    b.user('q');
    for (let i = 0; i < 5; i++) {
      b.call(`c${i}`);
      b.result(`c${i}`);
    }
    b.assistant('done');
    b.user('next');
    const cut = cutPoint(b.entries, { keep: { messages: 5 }, tokens: 1_000, tokensOf: () => 1 });
    // next, done, result 4, call 4, result 3 — which belongs to call 3.
    assert.equal(cut?.kept.length, 6);
    assert.equal(cut?.firstKept?.content.type, 'tool_call');
  });

  it('starts from a first message of sections, with the recent tail verbatim behind it', async () => {
    run = await SeedRun.open('librecode', { overrides: few });
    run.rig.summarizer.answer = sections;
    await run.talk(1, 8, 8_000);
    await run.exchange('last');
    const [first] = run.lastRequest.messages;
    assert.equal(first?.role, 'user');
    assert.ok(first.blocks[0]?.type === 'text');
    assert.match(
      first.blocks[0].text,
      /## Tool outcomes\n- npm test: 3 fail[\s\S]*## File edits\n- src\/tide.js: rounding[\s\S]*## Commands[\s\S]*## Decisions\n- round half up[\s\S]*## Unresolved tasks\n- the README/,
    );
    assert.deepEqual(outline(run.lastRequest).slice(1), [
      'assistant: answer 6',
      'user: question 7',
      'assistant: answer 7',
      'user: question 8',
      'assistant: answer 8',
      'user: question last',
    ]);
    assert.match(formatOf('sections').system, /tool call|tool outcomes/i);
  });

  it('appends the record behind the leaf, with the size before and the first kept entry', async () => {
    run = await SeedRun.open('librecode', { overrides: few });
    run.rig.summarizer.answer = sections;
    await run.talk(1, 8, 8_000);
    await run.exchange('last');
    const entries = await run.all();
    const index = entries.findIndex(({ content }) => content.type === 'compaction');
    const record = entries[index]!;
    assert.ok(record.content.type === 'compaction' && record.content.tokensBefore >= 8_000);
    const { firstKeptEntry } = record.content;
    const kept = entries.find(({ uuid }) => uuid === firstKeptEntry);
    assert.ok(kept?.content.type === 'message' && kept.content.text.startsWith('answer 6'));
    assert.equal(entries.filter(({ content }) => content.type === 'message').length, 18, 'nothing is deleted');
  });

  it('sends the model only what is meant for it', async () => {
    run = await SeedRun.open('librecode');
    await run.send('use the tool', calls('echo', { text: 'x' }, 'c1'), says('done'));
    await run.exchange('2');
    const kinds = new Set(run.lastRequest.messages.flatMap(({ blocks }) => blocks.map(({ type }) => type)));
    assert.deepEqual([...kinds].sort(), ['text', 'tool_result', 'tool_use']);
  });

  it('keeps the content of a skill that fits the task as a custom_message, outside of the system prompt', async () => {
    run = await SeedRun.open('librecode');
    const skill = { name: 'tides', description: 'Reads tide tables.', path: 'skills/tides.md', text: async () => 'Read the gauge first.' };
    run.rig.moreTools = [createSkillTool([skill])];
    await run.rig.reopen();
    const { system, messages } = await run.send('When is high water?', calls('use_skill', { name: 'tides' }, 'c1'), says('At six.'));
    assert.deepEqual(
      (await run.all()).flatMap(({ content }) => (content.type === 'custom_message' ? [[content.customType, content.text]] : [])),
      [['skill', 'tides (skills/tides.md)\n\nRead the gauge first.']],
    );
    assert.match(JSON.stringify(messages.at(-1)), /Read the gauge first/);
    assert.doesNotMatch(system, /Read the gauge first/);
  });

  it('compacts and retries once when the provider says the prompt is too long', async () => {
    run = await SeedRun.open('librecode', { overrides: few });
    run.rig.summarizer.answer = sections;
    await run.talk(1, 8);
    const asked = run.rig.model.requests.length;
    run.rig.model.scripts.push(fails('overflow'), says('fits now'));
    const outcome = await run.rig.conversation.send('once more');
    assert.deepEqual(
      { ok: outcome.ok, requestsCount: run.rig.model.requests.length - asked, compactions: run.compactions.map(({ trigger }) => trigger) },
      { ok: true, requestsCount: 2, compactions: ['overflow'] },
    );
    const [before, after] = run.rig.model.requests.slice(-2);
    assert.ok(run.rig.size(after!) < run.rig.size(before!));
  });

  it('retries no second time, and says what to do', async () => {
    run = await SeedRun.open('librecode', { overrides: few });
    run.rig.summarizer.answer = sections;
    await run.talk(1, 8);
    run.rig.model.scripts.push(fails('overflow'), fails('overflow'));
    const outcome = await run.rig.conversation.send('once more');
    assert.deepEqual(
      { ok: outcome.ok, reason: outcome.error?.reason, compactionsCount: run.compactions.length },
      { ok: false, reason: 'overflow', compactionsCount: 1 },
    );
  });

  it('does not recover where that is off, and the command still compacts', async () => {
    run = await SeedRun.open('librecode', { overrides: { ...few, 'compaction.retryOnOverflow': false } });
    run.rig.summarizer.answer = sections;
    run.rig.autoCompact = false;
    await run.talk(1, 8, 8_200);
    run.rig.model.scripts.push(fails('overflow'));
    assert.equal((await run.rig.conversation.send('once more')).ok, false);
    assert.equal(run.compactions.length, 0);
    const { entry, message } = await run.rig.conversation.compact();
    assert.deepEqual([entry?.content.trigger, message], ['manual', null]);
  });

  it('takes a threshold in percent and a tail in messages, and names what is neither', () => {
    const { policy: own, problems } = resolvePolicy('librecode', {
      'compaction.triggerPercent': 60,
      'compaction.keep': { messages: 12 },
      'compaction.retryOnOverflow': 'yes',
    });
    assert.deepEqual([own.compaction.trigger.percent, own.compaction.keep], [0.6, { messages: 12 }]);
    assert.deepEqual(
      problems.map(({ setting }) => setting),
      ['threadkeeper.compaction.retryOnOverflow'],
    );
  });
});
