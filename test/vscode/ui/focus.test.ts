import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openChat, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { hold, reply } from '../../support/messagesApi/messagesApiScript';
import { waitFor } from '../../support/waitFor';

/** Whoever asks for the chat, stops an answer or sends a changed message writes next: what is typed then must arrive. */
describe('the focus of the chat', function () {
  inOrder(this);
  let session: ChatSession;

  before(async () => {
    session = await openChat();
    await writeFile(join(session.folder, 'AGENTS.md'), 'Answer in one sentence.\n');
    await session.chat.ask('Hello');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  const typedText = async (text: string) => {
    const { chat, workbench } = session;
    const isWriting = "document.hasFocus() && document.activeElement?.matches('tk-composer textarea') === true";
    await waitFor('the composer to have the focus', async () => (await chat.frame()).evaluate(isWriting));
    await workbench.page.keyboard.type(text);
    await waitFor(`the draft ${text}`, async () => (await chat.draft()) === text);
    await chat.type('');
  };

  it('goes to the composer with Focus on Chat View', async () => {
    const { workbench } = session;
    await workbench.page.locator('.editor-group-container').first().click();
    await workbench.runCommand('Threadkeeper: Focus on Chat View');
    await typedText('one');
  });

  it('stays in the composer after a stop by its button', async () => {
    const { chat, api } = session;
    api.enqueue(reply('It begins', hold()));
    await chat.send('Tell me more');
    await chat.see('article.answer', 'It begins');
    await (await chat.locator('tk-composer .stop')).click();
    await chat.idle();
    await typedText('two');
  });

  it('comes back from the list of models and from the name of a turn, closed without a choice', async () => {
    const { chat, workbench } = session;
    // Shown, a list does not have the focus yet: a key that is pressed at once would go to the chat (`close` goes to the list first).
    const list = workbench.page.locator('.quick-input-widget');
    await (await chat.locator('tk-composer .model-button')).click();
    await list.locator('.monaco-list-row').first().waitFor();
    await workbench.quickInput.close();
    await typedText('four');
    await chat.send('/tools');
    await list.locator('.monaco-list-row').first().waitFor();
    await workbench.quickInput.close();
    await typedText('five');
    await (await chat.frame()).getByRole('button', { name: 'Label your message' }).first().focus();
    await workbench.page.keyboard.press('Enter');
    await list.locator('input').waitFor();
    await workbench.quickInput.close();
    const isBack = "document.hasFocus() && document.activeElement?.getAttribute('data-action') === 'label'";
    await waitFor('the row to have the focus', async () => (await chat.frame()).evaluate(isBack));
  });

  it('comes back from the choice of instruction files, closed without one; a file that is opened has it', async () => {
    const { chat, workbench } = session;
    const list = workbench.page.locator('.quick-input-widget');
    await (await chat.locator('.instructions-chip')).click();
    await list.locator('.monaco-list-row').first().waitFor();
    await workbench.quickInput.close();
    await typedText('six');
    await (await chat.locator('.instructions-chip')).click();
    await list.locator('.monaco-list-row', { hasText: 'AGENTS.md' }).click();
    await workbench.page.locator('.editor-group-container .monaco-editor.focused').waitFor();
  });

  it('goes to the composer after an edited message was sent', async () => {
    const { chat } = session;
    await (await chat.frame()).getByRole('button', { name: 'Edit your message' }).first().click({ force: true });
    await (await chat.locator('tk-message-editor textarea')).press('Enter');
    await chat.idle();
    await typedText('three');
  });
});
