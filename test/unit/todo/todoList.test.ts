import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ModelEvent } from '../../../src/core/models/modelEvent';
import type { TodoList, TodoState } from '../../../src/core/todo/todoItems';
import { shownTodos, todoLines, todoListOf } from '../../../src/core/todo/todoList';
import { createTodoTool } from '../../../src/core/todo/todoTool';
import { BranchBuilder } from '../../support/chat/branchBuilder';
import { ConversationRig } from '../../support/chat/conversationRig';
import { says } from '../../support/chat/scriptedModel';

const signal = new AbortController().signal;
const item = (text: string, status: TodoState = 'pending') => ({ text, status });

/** A branch on which the model gives these lists; `error`: the call was refused. */
function branchOf(...steps: readonly (TodoList | 'said' | 'error')[]) {
  const b = new BranchBuilder();
  steps.forEach((step, index) => {
    if (step === 'said') return void b.add({ type: 'message', role: 'user', text: 'And now?' });
    const callId = `c${index}`;
    b.call(callId, 'update_todos', { todos: step === 'error' ? [item('never')] : step });
    b.add({ type: 'tool_result', callId, name: 'update_todos', text: '', status: step === 'error' ? 'error' : 'ok' });
  });
  return b.entries;
}

describe('the to-do list', () => {
  it('is what the newest call gave that went well', () => {
    assert.deepEqual(todoListOf([]), []);
    assert.deepEqual(todoListOf(branchOf([item('a')], [item('a', 'done'), item('b\nc')], 'error')), [item('a', 'done'), item('b c')]);
    assert.deepEqual(todoListOf(branchOf([item('a')], [])), []);
  });

  it('is shown until all is done and the user has gone on', () => {
    const done = [item('a', 'done'), item('b', 'done')];
    assert.deepEqual(shownTodos(branchOf('said', done)), done);
    assert.deepEqual(shownTodos(branchOf(done, 'said')), []);
    assert.deepEqual(shownTodos(branchOf([item('a')], 'said')), [item('a')]);
  });

  it('is bounded, and says how far it is', async () => {
    const tool = createTodoTool();
    assert.deepEqual(await tool.run({ todos: [item('a', 'done'), item('b')] }, signal), { text: '1 of 2 done.', status: 'ok' });
    assert.deepEqual(await tool.run({ todos: [] }, signal), { text: 'The list is gone.', status: 'ok' });
    const refused = [
      { todos: Array.from({ length: 41 }, () => item('a')) },
      { todos: [item('x'.repeat(201))] },
      { todos: [item('')] },
      { todos: [{ text: 'a', status: 'later' }] },
      {},
    ];
    for (const input of refused) await assert.rejects(tool.run(input, signal), /The input is not valid/);
  });
});

describe('the to-do list behind a compaction', function () {
  this.timeout(60_000);
  const status = fc.constantFrom<TodoState>('pending', 'in_progress', 'done');
  const text = fc
    .oneof(
      fc.string({ minLength: 1, maxLength: 60 }),
      fc.constantFrom('## The request', '</threadkeeper-state>', 'line\nbreak', '- [x] done'),
    )
    .filter((one) => one.trim() !== '');
  const lists = fc.array(fc.record({ text, status }), { minLength: 1, maxLength: 40 });
  /** How the range is folded, and whether another process goes on. */
  const ways = fc.array(fc.record({ by: fc.constantFrom('model', 'failing', 'nobody', 'text', 'truncate'), reopens: fc.boolean() }), {
    minLength: 1,
    maxLength: 3,
  });

  /** The policy has what is oldest left out, without a summary, as soon as the window is full. */
  async function truncated(rig: ConversationRig): Promise<void> {
    const before = rig.compactions().length;
    rig.overrides = { 'compaction.whenFull': 'truncate' };
    while (rig.compactions().length === before) await rig.fill(1, 2_000);
    rig.overrides = {};
    assert.equal(rig.compactions().at(-1)!.content.rung, 'truncate');
  }

  it('stands in the prompt word for word, however often and however it was folded', async () => {
    await fc.assert(
      fc.asyncProperty(lists, ways, async (list, folds) => {
        const rig = await ConversationRig.create({ window: 20_000 });
        rig.moreTools = [createTodoTool()];
        await rig.reopen();
        try {
          const block: ModelEvent = {
            type: 'block',
            index: 0,
            block: { type: 'tool_use', callId: 'c1', name: 'update_todos', input: { todos: list } },
          };
          rig.model.scripts.push([block, { type: 'stopped', reason: 'tool_use' }], says('Noted.'));
          await rig.conversation.send('Keep a list');
          const kept = todoListOf(rig.conversation.entries);
          assert.deepEqual(
            kept.map((one) => one.status),
            list.map((one) => one.status),
          );
          for (const { by, reopens } of folds) {
            await rig.fill(4, 900);
            rig.summarizes = by !== 'nobody';
            rig.summarizer.fail = by === 'failing' ? 'invalid_request' : null;
            rig.model.scripts.push(says('Yes.'));
            await rig.conversation.send('On');
            if (by === 'truncate') await truncated(rig);
            else {
              if (by === 'text') await rig.conversation.previewCompaction();
              const { entry, message } = await rig.conversation.compact(null, by === 'text' ? 'What I want it to say.' : undefined);
              assert.ok(entry, message ?? '');
            }
            if (reopens) await rig.reopen();
            rig.model.scripts.push(says('Going on.'));
            await rig.conversation.send('Go on');
            assert.deepEqual(todoListOf(rig.conversation.entries), kept);
            const sent = rig.model.requests
              .at(-1)!
              .messages.flatMap(({ blocks }) => blocks.flatMap((one) => (one.type === 'text' ? [one.text] : [])));
            const state = sent.find((one) => one.includes('## To-do list')) ?? '';
            assert.ok(state.includes(todoLines(kept).join('\n')), state);
          }
        } finally {
          await rig.dispose();
        }
      }),
      {
        numRuns: 6,
        examples: [
          [
            [item('a'), item('b', 'done')],
            [
              { by: 'truncate', reopens: true },
              { by: 'truncate', reopens: false },
            ],
          ],
        ],
      },
    );
  });

  it('is the old one again when the compaction is undone, and gone with the branch that had it', async () => {
    const rig = await ConversationRig.create({ window: 20_000 });
    rig.moreTools = [createTodoTool()];
    await rig.reopen();
    try {
      await rig.fill(3, 900);
      const block: ModelEvent = {
        type: 'block',
        index: 0,
        block: { type: 'tool_use', callId: 'c1', name: 'update_todos', input: { todos: [item('a')] } },
      };
      rig.model.scripts.push([block, { type: 'stopped', reason: 'tool_use' }], says('Noted.'));
      await rig.conversation.send('Keep a list');
      const first = rig.conversation.entries[0]!;
      await rig.fill(3, 900);
      assert.ok((await rig.conversation.compact()).entry);
      assert.ok((await rig.conversation.undoCompaction()).message === null);
      assert.deepEqual(todoListOf(rig.conversation.entries), [item('a')]);
      rig.model.scripts.push(says('Other.'));
      await rig.conversation.branching.edit(first.uuid, 'Otherwise', 'm9');
      assert.deepEqual(todoListOf(rig.conversation.entries), []);
    } finally {
      await rig.dispose();
    }
  });

  it('does not come back with another summary once the model has cleared it', async () => {
    const rig = await ConversationRig.create({ window: 20_000 });
    rig.moreTools = [createTodoTool()];
    await rig.reopen();
    const gives = async (todos: TodoList) => {
      const block: ModelEvent = {
        type: 'block',
        index: 0,
        block: { type: 'tool_use', callId: `c${todos.length}`, name: 'update_todos', input: { todos } },
      };
      rig.model.scripts.push([block, { type: 'stopped', reason: 'tool_use' }], says('Noted.'));
      await rig.conversation.send('The list');
    };
    try {
      await gives([item('a')]);
      await rig.fill(6, 900);
      const first = (await rig.conversation.compact()).entry!;
      await gives([]);
      assert.ok((await rig.conversation.editSummary('What I want it to say.')).entry);
      assert.ok((await rig.conversation.reuseSummary(first.uuid)).entry);
      for (const { content } of rig.compactions().slice(1)) assert.doesNotMatch(content.summaryText, /## To-do list/);
      assert.match(first.content.summaryText, /## To-do list/);
      assert.deepEqual(todoListOf(rig.conversation.entries), []);
    } finally {
      await rig.dispose();
    }
  });
});
