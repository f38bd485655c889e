import assert from 'node:assert/strict';
import { openChat, words, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { reply, toolCall } from '../../support/messagesApi/messagesApiScript';

/** The to-do list, Plan mode and side questions in a real window, told in order. */
describe('planning', function () {
  inOrder(this);
  let session: ChatSession;
  const sent = () => JSON.stringify(session.api.messages.at(-1)?.body);

  before(async () => {
    session = await openChat({ window: 40_000, settings: { 'threadkeeper.checkpoint.enabled': false } });
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('shows the list that the model keeps, and keeps it word for word through a compaction', async () => {
    const { chat, api, workbench } = session;
    const todos = [
      { text: 'Read src/tide.js', status: 'done' },
      { text: 'Intern the station names', status: 'in_progress' },
      { text: 'Measure it again', status: 'pending' },
    ];
    api.enqueue(reply(toolCall('update_todos', { todos })), reply(`I keep a list. ${words(1_500, 1)}`));
    await chat.ask('Speed up the tide table');
    await chat.see('.todos-head', /1 of 3 done\s*Intern the station names/);
    await (await chat.locator('.todos-head')).click();
    await chat.see('.todo.in_progress', /Intern the station names/);
    await workbench.screenshot('todo-list');
    for (const seed of [2, 3]) {
      api.enqueue(reply(words(1_500, seed)));
      await chat.ask(`More ${words(1_500, seed + 10)}`);
    }
    await chat.send('/compact');
    await chat.see('.compaction-card', /Compacted \d+ messages/);
    await chat.idle();
    api.enqueue(reply('Going on.'));
    await chat.ask('Go on');
    const lines = ['- [x] Read src/tide.js', '- [>] Intern the station names', '- [ ] Measure it again'].join('\\n');
    assert.ok(sent().includes(lines), 'the list stands in the prompt');
    assert.ok(!sent().includes('"update_todos","input"'), 'its call is folded');
    await chat.see('.todos-head', /1 of 3 done/);
  });
});
