import assert from 'node:assert/strict';
import { ChatPage } from '../../support/view/chatPage';
import { words } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { openVscode, type VscodeSession } from '../../support/vscode/openVscode';
import { waitFor } from '../../support/waitFor';

describe('a fresh profile without a key', function () {
  inOrder(this);
  let session: VscodeSession;
  let chat: ChatPage;

  before(async () => {
    session = await openVscode({ env: { ANTHROPIC_API_KEY: undefined } });
    chat = new ChatPage(session.workbench);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('offers a key, the models that are there, or offline mode', async () => {
    await chat.see('.first-run', 'Try offline');
    console.log(`      the first window can be used after ${session.sinceOpened()} s`);
    assert.deepEqual(await chat.texts('.first-run vscode-button'), [
      'Set API key',
      'Use a VS Code language model',
      'Use Ollama',
      'Use an OpenAI-compatible server',
      'Try offline',
    ]);
    await session.workbench.screenshot('first-run');
  });

  it('asks in passing where the chat is to be, once something can answer', async () => {
    await chat.press('Try offline');
    const { messages } = session.workbench;
    await messages.waitForNotification('Keep the chat on the right and your sessions on the left?');
    await session.workbench.screenshot('first-run-place');
    await messages.answerNotification('Keep the chat on the right', 'Not Now');
    await waitFor('no notification', async () => (await messages.notifications()).length === 0);
  });

  it('answers offline from the workspace, and says that it does not generate', async () => {
    await chat.ask('Where is the tide table kept?');
    await chat.see('article.answer', /No AI answers/);
    await session.workbench.screenshot('offline');
    assert.equal(await chat.count('tk-gauge [role=meter]'), 0, 'there is no window that could fill up');
    assert.equal(await session.workbench.statusText('context'), '', 'nor does the status bar show one');
  });

  it('finds what was said before', async () => {
    await chat.ask('Remember that the mooring code is BRAVO-7731.');
    await chat.ask('What was the mooring code?');
    await waitFor('the passage', async () => (await chat.texts('article.answer')).at(-1)?.includes('BRAVO-7731'));
  });

  it('compacts offline, with verbatim passages', async () => {
    const { workbench } = session;
    for (let i = 0; i < 3; i++) await chat.ask(`A long report, part ${i}: ${words(600, i)}`);
    await workbench.runCommand('Threadkeeper: Compact Conversation');
    await workbench.page.locator('.tab', { hasText: 'Compaction Preview' }).waitFor();
    await workbench.runCommand('Threadkeeper: Apply Compaction');
    await chat.see('.compaction-card', 'extractive summary');
    await chat.press('Show summary');
    await chat.see('.compaction-card .summary', 'BRAVO-7731');
    await workbench.screenshot('offline-compaction');
  });
});
