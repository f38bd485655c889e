import assert from 'node:assert/strict';
import fc from 'fast-check';
import { modeChange } from '../../../src/core/plan/planMode';
import { planIn } from '../../../src/core/plan/planText';
import { createTodoTool } from '../../../src/core/todo/todoTool';
import type { Tool } from '../../../src/core/tools/tool';
import { ConversationRig } from '../../support/chat/conversationRig';
import { calls, says } from '../../support/chat/scriptedModel';

describe('the plan of an answer', () => {
  it('is what stands below its last heading "Plan"', () => {
    assert.equal(planIn('I looked.\n\n## Plan\n\n1. Do it\n2. Check it\n'), '1. Do it\n2. Check it');
    assert.equal(planIn('## Plan\nold\n\n### plan:\nnew'), 'new');
    assert.equal(planIn('## Plan\n1. Write\n```md\n## Plan\nnot this\n```\n2. Done'), '1. Write\n```md\n## Plan\nnot this\n```\n2. Done');
    assert.equal(planIn('## Plan ##\r\n1. Do it\r\n'), '1. Do it');
  });

  it('is not there without one', () => {
    for (const text of ['', 'Which of the two?', '## Plan\n\n', '## Planning\n1. No', 'The ## Plan\n1. No', '```\n## Plan\n1. No\n```'])
      assert.equal(planIn(text), null);
  });

  it('is the end of any answer that has it', () => {
    fc.assert(
      fc.property(fc.string(), fc.stringMatching(/^\w[\w .]*\w$/), (before, plan) => {
        fc.pre(!/[`~#]/.test(before));
        assert.equal(planIn(`${before}\n\n## Plan\n\n${plan}\n`), plan);
      }),
    );
  });
});

describe('Plan mode', () => {
  let rig: ConversationRig;
  let ran: string[];
  /** Happens while a tool runs. */
  let meanwhile: () => Promise<unknown>;
  const tool = (name: string, access: Tool['access']): Tool => ({
    name,
    description: name,
    inputSchema: { type: 'object' },
    access,
    needsApproval: async () => null,
    run: async () => {
      ran.push(name);
      await meanwhile();
      return { text: `${name} done`, status: 'ok' };
    },
  });

  beforeEach(async () => {
    ran = [];
    meanwhile = async () => undefined;
    rig = await ConversationRig.create({ window: 20_000 });
    rig.moreTools = [tool('look', 'read'), tool('edit', 'write'), createTodoTool()];
    await rig.reopen();
  });
  afterEach(() => rig.dispose());

  const plan = (planning: boolean) => rig.conversation.changeDetails({ metadata: modeChange(planning) });
  const notes = () =>
    rig.conversation.entries.flatMap(({ content }) => (content.type === 'usage_note' ? [content.text.slice(0, 17).trim()] : []));
  /** Those that the transcript shows. */
  const shown = () =>
    rig.conversation.entries.flatMap(({ content, display }) =>
      content.type === 'usage_note' && display ? [content.text.slice(0, 17).trim()] : [],
    );
  const results = () =>
    rig.conversation.entries.flatMap(({ content }) => (content.type === 'tool_result' ? [`${content.name}: ${content.status}`] : []));

  it('refuses what can change something, whatever the model calls, until it is left', async () => {
    await plan(true);
    rig.model.scripts.push(
      calls('edit', {}, 'c1'),
      calls('look', {}, 'c2'),
      calls('update_todos', { todos: [] }, 'c3'),
      says('## Plan\n1. Edit'),
    );
    assert.ok((await rig.conversation.send('Change it')).ok);
    assert.deepEqual([ran, results()], [['look'], ['edit: denied', 'look: ok', 'update_todos: ok']]);
    await plan(false);
    rig.model.scripts.push(calls('edit', {}, 'c4'), says('Done.'));
    await rig.conversation.send('Go');
    assert.deepEqual([ran, results().at(-1)], [['look', 'edit'], 'edit: ok']);
  });

  it('counts at once when it is switched on while a turn runs', async () => {
    meanwhile = () => plan(true);
    rig.model.scripts.push(calls('look', {}, 'c1'), calls('edit', {}, 'c2'), says('Done.'));
    await rig.conversation.send('Change it');
    assert.deepEqual([ran, results()], [['look'], ['look: ok', 'edit: denied']]);
  });

  it('is told once, behind the message, and leaves system text, tools and every earlier message as they were', async () => {
    rig.model.scripts.push(says('Hello.'));
    await rig.conversation.send('Hello');
    await plan(true);
    for (const text of ['Plan it', 'And that']) {
      rig.model.scripts.push(says('Asking.'));
      await rig.conversation.send(text);
    }
    await plan(false);
    rig.model.scripts.push(says('Going.'));
    await rig.conversation.send('Start');
    assert.deepEqual(notes(), ['Plan mode is on.', 'Plan mode is off.']);
    assert.deepEqual(shown(), ['Plan mode is on.', 'Plan mode is off.']);
    const [first, ...later] = rig.model.requests;
    let before = first!;
    for (const request of later) {
      assert.deepEqual([request.system, request.tools], [before.system, before.tools]);
      assert.deepEqual(
        request.messages.slice(0, before.messages.length).map(({ blocks }) => blocks),
        before.messages.map(({ blocks }) => blocks),
      );
      before = request;
    }
    const told = JSON.stringify(later[0]!.messages.at(-1));
    assert.match(told, /These tools can be used: .*look.*update_todos/);
    assert.doesNotMatch(told, /can be used: [^.]*\bedit\b/);
  });

  it('is told again when the note was folded, and by a process that opens the session later', async () => {
    await plan(true);
    await rig.fill(4, 900);
    rig.model.scripts.push(says('Yes.'));
    await rig.conversation.send('On');
    assert.ok((await rig.conversation.compact()).entry);
    await rig.reopen();
    rig.model.scripts.push(calls('edit', {}, 'c1'), says('No.'));
    await rig.conversation.send('Change it');
    assert.deepEqual([results(), notes().at(-1)], [['edit: denied'], 'Plan mode is on.']);
    assert.ok(rig.lastSent.includes('Plan mode is on.'));
    assert.deepEqual(shown(), ['Plan mode is on.'], 'which is no news for the user');
  });
});
