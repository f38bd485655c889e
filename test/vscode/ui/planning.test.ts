import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openChat, words, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { waitFor } from '../../support/waitFor';
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
    api.enqueue(reply(toolCall('update_todos', { todos })), reply(`I keep a list. ${words(700, 1)}`));
    await chat.ask('Speed up the tide table');
    await chat.see('.todos-head', /1 of 3 done\s*Intern the station names/);
    await (await chat.locator('.todos-head')).click();
    await chat.see('.todo.in_progress', /Intern the station names/);
    await workbench.screenshot('todo-list');
    for (const seed of [2, 3]) {
      api.enqueue(reply(words(700, seed)));
      await chat.ask(`More ${words(700, seed + 10)}`);
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

  it('plans without changing anything, and starts the plan as it was edited', async () => {
    const { chat, api, workbench, folder } = session;
    const { page } = workbench;
    await workbench.runCommand('Threadkeeper: Toggle Plan Mode');
    await chat.see('.mode-button', 'Plan');
    await chat.press('Mode: Plan. Switch to Chat');
    await chat.see('.mode-button', 'Chat');
    await chat.press('Mode: Chat. Switch to Plan');
    await chat.see('.mode-button', 'Plan');
    api.enqueue(
      reply(
        toolCall('create_file', { path: 'src/never.txt', content: 'no' }),
        toolCall('read_file', { path: 'src/tide.js' }),
        toolCall('run_command', { command: 'touch never' }),
      ),
      reply('I have read it.\n\n## Plan\n\n1. Intern the names\n2. Measure'),
    );
    await chat.ask('Plan how to speed it up');
    await chat.see('.plan-card', 'The plan is ready');
    assert.equal(await chat.count('.approval-title'), 1, 'nothing was asked');
    assert.equal(existsSync(join(folder, 'src/never.txt')), false);
    assert.equal(sent().match(/Plan mode is on: /g)?.length, 2, 'both are refused');
    assert.match(sent(), /Plan mode is on\. Change nothing yet\./);
    await workbench.screenshot('plan-ready');
    const { system, tools } = api.messages.at(-1)!.body as { system: unknown; tools: unknown };

    await chat.press('Edit Plan');
    const editor = page.locator('.editor-instance .view-lines');
    await waitFor('the plan in an editor', async () => /Intern the names/.test((await editor.innerText()).replaceAll('\u00a0', ' ')));
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('3. Tell me how much it was');
    await workbench.screenshot('plan-edited');
    api.enqueue(reply(toolCall('create_file', { path: 'src/done.txt', content: 'yes' })), reply('Done.'));
    await chat.type('And the tides of the south');
    await chat.press('Start Plan');
    await chat.see('.approval-title', /src\/done\.txt/);
    await chat.press(/^Allow$/);
    await chat.idle();
    assert.equal(await readFile(join(folder, 'src/done.txt'), 'utf8'), 'yes');
    assert.match(sent(), /Carry out this plan[^"]*1\. Intern the names\\n2\. Measure\\n+3\. Tell me how much it was/);
    assert.match(sent(), /Plan mode is off\./);
    const after = api.messages.at(-1)!.body as { system: unknown; tools: unknown };
    assert.deepEqual([after.system, after.tools], [system, tools], 'the cached beginning stays');
    await chat.see('.mode-button', 'Chat');
    assert.equal(await page.locator('.tab', { hasText: /^Plan / }).count(), 0);
    await workbench.screenshot('plan-started');
    await workbench.reload();
    await chat.see('.mode-button', 'Chat');
    const written = async () => (await chat.locator('tk-composer textarea')).inputValue();
    await waitFor('what was being written', async () => (await written()) === 'And the tides of the south');
    await chat.type('');
  });

  it('has a side question answered whose reading fills nothing, and shows all of it', async () => {
    const { chat, api, workbench } = session;
    const before = api.messages.length;
    api.enqueue(
      reply(toolCall('ask_aside', { question: 'Where is the next high water computed?' })),
      reply(toolCall('read_file', { path: 'src/tide.js' }), toolCall('create_file', { path: 'src/never.txt', content: 'no' })),
      reply('In src/tide.js:2, by nextHighWater.'),
      reply('It is in src/tide.js.'),
    );
    await chat.ask('Where is high water computed?');
    const [, first, second, last] = api.messages.slice(before).map(({ body }) => JSON.stringify(body));
    assert.doesNotMatch(first!, /Speed up the tide table|ask_aside|create_file/);
    assert.match(second!, /export function nextHighWater/);
    assert.match(second!, /There is no tool called/);
    assert.match(last!, /In src\/tide\.js:2, by nextHighWater\./);
    assert.doesNotMatch(last!.slice(last!.lastIndexOf('ask_aside')), /export function nextHighWater/);
    await chat.see('.tool-title', 'Looked into: Where is the next high water computed?');
    await chat.see('.aside-line', /tokens read · 2 requests/);
    assert.equal(existsSync(join(session.folder, 'src/never.txt')), false);
    await workbench.screenshot('side-question');
    await (await chat.locator('.aside-line button')).last().click();
    const editor = workbench.page.locator('.editor-instance .view-lines');
    await waitFor('all of it in an editor', async () =>
      /> Where is the next high water computed\?/.test((await editor.innerText()).replaceAll('\u00a0', ' ')),
    );
    await workbench.screenshot('side-question-shown');
  });
});
