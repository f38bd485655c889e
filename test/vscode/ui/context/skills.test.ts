import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { reply, toolCall } from '../../../support/messagesApi/messagesApiScript';
import { waitFor } from '../../../support/waitFor';

describe('skills', () => {
  let session: ChatSession;
  before(async () => {
    session = await openChat({ window: 60_000, settings: { 'threadkeeper.skills.workspace': true } });
    const folder = join(session.folder, '.claude', 'skills', 'tides');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'SKILL.md'),
      '---\nname: tides\ndescription: Use when a tide table is asked for.\n---\n## Steps\n\n1. Read the **gauge** first.\n2. Then read `data.csv`.\n',
    );
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('of the workspace are offered, and the one that the model reads is a row of the conversation', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply('I look for instructions.', toolCall('use_skill', { name: 'tides' })), reply('High water is at 06:12.'));
    await chat.ask('When is high water?');
    assert.match(JSON.stringify(api.messages[0]?.body), /- tides: Use when a tide table is asked for\./);
    assert.match(JSON.stringify(api.messages.at(-1)?.body), /Read the \*\*gauge\*\* first/);
    await chat.see('.checkpoint', 'Read the skill tides (.claude/skills/tides/SKILL.md)');
    await (await chat.locator('.checkpoint button')).click();
    await chat.see('.checkpoint-text', 'Then read data.csv.');
    await workbench.screenshot('skill');
    await workbench.runCommand('Threadkeeper: Show Context Breakdown');
    const panel = await workbench.webview('tk-breakdown h1');
    await waitFor('the skill among the entries', async () =>
      (await panel.locator('tbody tr').allInnerTexts()).some((row) => row.includes('tides (.claude/skills/tides/SKILL.md)')),
    );
    await workbench.screenshot('skill-breakdown');
    assert.deepEqual(api.errors, []);
  });
});
