import assert from 'node:assert/strict';
import { closingEntries, instructionsChange, policyChangeNote, usageNote } from '../../../../src/core/chat/turn/turnNotes';
import { estimateTokens } from '../../../../src/core/context/measure/estimateTokens';
import { project } from '../../../../src/core/context/projection/projection';
import type { ModelRequest } from '../../../../src/core/models/modelRequest';
import { policyChangeOf } from '../../../../src/core/session/liveCompaction';
import { BranchBuilder } from '../../../support/chat/branchBuilder';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { calls, fails, says } from '../../../support/chat/scriptedModel';
import { testFrames } from '../../../support/chat/testFrames';

const projected = (b: BranchBuilder) =>
  project({
    entries: b.entries,
    system: 'S',
    tools: [],
    budget: { oversized: 1_000 },
    model: 'm',
    frames: testFrames,
    tokensOf: (entry) => entry.tokenEstimate ?? 0,
    estimate: estimateTokens,
  });

/** Blocks in order, with who said them. */
const flat = ({ messages }: ModelRequest) => messages.flatMap(({ role, blocks }) => blocks.map((block) => JSON.stringify({ role, block })));

describe('notes of a turn', () => {
  it('asks to go on only behind an answer', () => {
    const b = new BranchBuilder();
    b.user('q');
    assert.deepEqual(closingEntries(projected(b)), []);
    b.assistant('half an ans');
    assert.deepEqual(closingEntries(projected(b)), [
      { type: 'custom_message', customType: 'continue', text: 'Continue where the last answer broke off.' },
    ]);
  });

  it('gives a result to calls that never got one, as long as nothing of the user has been said behind them', () => {
    const b = new BranchBuilder();
    const missing = (callId: string) => ({
      type: 'tool_result' as const,
      callId,
      name: 'recall',
      text: 'No result: the call was interrupted before it finished.',
      status: 'interrupted' as const,
    });
    b.user('q');
    for (const id of ['a', 'b', 'c']) b.call(id);
    b.result('b');
    assert.deepEqual(closingEntries(projected(b)), [missing('a'), missing('c')]);
    const before = b.entries.length;
    b.user('leave it');
    assert.deepEqual(closingEntries(projected(b)), []);
    b.entries.length = before;
    for (const content of closingEntries(projected(b))) b.add(content);
    assert.deepEqual(closingEntries(projected(b)), []);
  });

  it('keeps the result of a call that the program did not live to see in front of the answer to it', async () => {
    const rig = await ConversationRig.create();
    rig.model.scripts.push(calls('echo', { text: 'hi' }, 'c1'), fails('invalid_request'));
    await rig.conversation.send('Say hi.');
    const { entries } = await rig.store.liveBranch(rig.session);
    const call = entries.find(({ content }) => content.type === 'tool_call')!;
    await rig.store.append(rig.session, {
      entries: [
        { ...call, uuid: 'broken', parent: entries.at(-1)!.uuid, content: { type: 'tool_call', callId: 'c2', name: 'echo', input: {} } },
      ],
    });
    await rig.reopen();
    rig.model.scripts.push(says('It did not run.'), says('You are welcome.'));
    assert.equal((await rig.conversation.retry()).error, null);
    await rig.conversation.send('Thanks.');
    const [asked, next] = rig.model.requests.slice(-2).map(flat);
    assert.deepEqual(next!.slice(0, asked!.length), asked, 'the next prompt continues this one');
    assert.match(asked!.at(-1)!, /"callId":"c2","text":"No result/);
    await rig.dispose();
  });

  it('records the standing instructions once a cycle, and when they change', () => {
    const b = new BranchBuilder();
    b.user('q');
    assert.equal(instructionsChange(b.entries, ' '), null);
    b.add(instructionsChange(b.entries, 'Be brief.')!, { modelFacing: false });
    assert.equal(instructionsChange(b.entries, 'Be brief. '), null);
    assert.deepEqual(instructionsChange(b.entries, ''), { type: 'instructions_change', text: '' });
    b.compaction(null);
    assert.deepEqual(instructionsChange(b.entries, 'Be brief.'), { type: 'instructions_change', text: 'Be brief.' });
  });

  it('records the bound of whole messages where one comes near it, and declares a break where one was sent by another', () => {
    const b = new BranchBuilder();
    const note = (oversized: number) =>
      policyChangeNote(b.entries, { oversized, policyOversized: oversized }, (entry) => entry.tokenEstimate ?? 0)?.data ?? null;
    const record = (oversized: number) =>
      b.add(policyChangeNote(b.entries, { oversized, policyOversized: oversized }, (entry) => entry.tokenEstimate ?? 0)!);
    b.user('x'.repeat(4 * 500));
    assert.equal(note(10_000), null, 'far below');
    assert.deepEqual(note(1_000), { oversized: 1_000, shared: true, isBreak: false });
    assert.deepEqual(note(100), { oversized: 100, shared: true, isBreak: false }, 'not sent yet');
    record(1_000);
    assert.equal(note(1_000), null);
    b.assistant('a');
    assert.deepEqual(note(600), { oversized: 600, shared: true, isBreak: false }, 'whole before and after');
    assert.deepEqual(note(100), { oversized: 100, shared: true, isBreak: true });
    record(100);
    assert.deepEqual(note(1_000), { oversized: 1_000, shared: true, isBreak: true }, 'whole again');
    b.compaction(null);
    assert.equal(note(1_000), null, 'folded');
  });

  it('does so for the results of a step that share the room of a message', () => {
    const b = new BranchBuilder();
    const note = (oversized: number) =>
      policyChangeNote(b.entries, { oversized, policyOversized: oversized }, (entry) => entry.tokenEstimate ?? 0)?.data ?? null;
    b.user('read');
    const ids = Array.from({ length: 30 }, (_, i) => `c${i}`);
    for (const id of ids) b.call(id);
    for (const id of ids) b.result(id, 'x'.repeat(4 * 100));
    assert.deepEqual(note(1_000), { oversized: 1_000, shared: true, isBreak: false });
    b.add(policyChangeNote(b.entries, { oversized: 1_000, policyOversized: 1_000 }, (entry) => entry.tokenEstimate ?? 0)!);
    b.assistant('done');
    assert.deepEqual([note(1_000), note(2_000)], [null, { oversized: 2_000, shared: true, isBreak: true }]);
    b.add({ type: 'custom', customType: 'policy_change', data: { oversized: 1_000, isBreak: false } });
    assert.deepEqual(note(1_000), { oversized: 1_000, shared: true, isBreak: true }, 'recorded by a version that sent them whole');
  });

  it('keeps prompts append-only when the policy changes in mid-session, or says so', async () => {
    const rig = await ConversationRig.create();
    try {
      rig.model.scripts.push(says('one'), says('two'), says('three'));
      await rig.conversation.send(`look at this ${rig.words(1_500)}`);
      rig.overrides = { 'compaction.oversizedMessagePercent': 5 };
      await rig.conversation.send('and now?');
      await rig.conversation.send('thanks');
      const [first, second, third] = rig.model.requests.map(flat);
      assert.notDeepEqual(second!.slice(0, 1), first!.slice(0, 1), 'the message is cut now');
      assert.deepEqual(third!.slice(0, second!.length), second);
      const notes = rig.conversation.entries.flatMap((entry) => policyChangeOf(entry) ?? []);
      assert.deepEqual(
        notes.map(({ isBreak }) => isBreak),
        [false, true],
      );
    } finally {
      await rig.dispose();
    }
  });

  it('says how full the window is', () => {
    assert.equal(usageNote(84_100.4, { effective: 200_000 }).text, 'Context in use: 84,100 of 200,000 tokens (42 %).');
  });

  it('extends the prompt when an answer is taken up again, and after that', async () => {
    const rig = await ConversationRig.create();
    try {
      rig.model.scripts.push(says('half an answer'), says('and the rest'), says('fine'));
      await rig.conversation.send('tell me');
      await rig.conversation.retry();
      await rig.conversation.send('thanks');
      const [first, second, third] = rig.model.requests.map(flat);
      assert.deepEqual(second!.slice(0, first!.length), first);
      assert.match(second!.at(-1)!, /Continue where the last answer broke off/);
      assert.deepEqual(third!.slice(0, second!.length), second);
    } finally {
      await rig.dispose();
    }
  });

  it('keeps the thinking of a loop of calls over a failed attempt', async () => {
    const rig = await ConversationRig.create();
    try {
      const thought = { type: 'block' as const, index: 0, block: { type: 'thinking' as const, text: 'plan', signature: 's' } };
      rig.model.scripts.push([thought, ...calls('echo', { text: 'x' }, 'c1')], fails('overloaded'), says('done'));
      await rig.conversation.send('go');
      const last = rig.model.requests.at(-1)!;
      assert.equal(last.thinking, undefined);
      assert.deepEqual(flat(last), flat(rig.model.requests[1]!));
      assert.ok(flat(last).some((block) => block.includes('"signature":"s"')));
    } finally {
      await rig.dispose();
    }
  });
});
