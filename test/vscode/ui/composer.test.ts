import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChatPage } from '../../support/view/chatPage';
import { openChat, words, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { hold, reply } from '../../support/messagesApi/messagesApiScript';
import { projectRoot } from '../../support/paths';
import { waitFor } from '../../support/waitFor';

const tide = readFileSync(join(projectRoot, 'test/fixtures/sampleWorkspace/src/tide.js'), 'utf8');

/** Runs in the view, whose types these tests do not have: 2,000 × 500 pixels. */
const pasteOfPicture = `(async () => {
  const canvas = document.createElement('canvas');
  canvas.width = 2000;
  canvas.height = 500;
  const paint = canvas.getContext('2d');
  paint.fillStyle = 'teal';
  paint.fillRect(0, 0, 1400, 500);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve));
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([blob], 'image.png', { type: 'image/png' }));
  document.querySelector('textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
})()`;

/** Files, pictures and commands in a message, as its user brings them there. */
describe('the composer', function () {
  inOrder(this);
  let session: ChatSession;

  before(async () => {
    session = await openChat();
    // A draft is kept with its session, which begins with its first message.
    await session.chat.ask('Hello');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  const chips = () => session.chat.texts('tk-composer .attachment .chip-text');
  const area = () => session.chat.locator('tk-composer textarea');

  it('attaches a file by @ and a pasted picture, and keeps both with the draft over a reload', async () => {
    const { chat, workbench } = session;
    await (await area()).pressSequentially('What do @tide');
    await chat.see('[role=option]', 'tide.js');
    await workbench.screenshot('composer-mention');
    await (await area()).press('Enter');
    await waitFor('the chip of the file', async () => (await chips()).join() === 'src/tide.js');
    await (await chat.frame()).evaluate(pasteOfPicture);
    await waitFor('the chip of the picture', async () => (await chips()).join() === 'src/tide.js,Pasted image');
    await (await area()).pressSequentially('and this have in common?');
    await waitFor('the picture itself', async () => (await chat.count('tk-composer tk-picture img')) === 1);
    await workbench.screenshot('composer-attached');
    // It is saved at once when the focus leaves it.
    await (await area()).blur();
    await workbench.reload();
    await waitFor('the draft', async () => (await chat.draft()) === 'What do @src/tide.js and this have in common?');
    assert.deepEqual(await chips(), ['src/tide.js', 'Pasted image']);
  });

  it('sends both with the message, and shows them in the transcript', async () => {
    const { chat, api, workbench } = session;
    const before = api.messages.length;
    await (await area()).press('Enter');
    await chat.see('article.user-message', 'What do @src/tide.js');
    await chat.idle();
    const body = api.messages[before]?.body as {
      messages: { content: { type: string; text?: string; source?: { media_type: string; data: string } }[] }[];
    };
    const [file, image, text] = body.messages.at(-1)?.content ?? [];
    assert.match(file?.text ?? '', /^<data-\d{29} kind="file" name="tide\.js" path="src\/tide\.js">\n/);
    assert.ok(file?.text?.includes(tide));
    const png = Buffer.from(image?.source?.data ?? '', 'base64');
    assert.deepEqual(
      [image?.type, image?.source?.media_type, png.readUInt32BE(16), png.readUInt32BE(20)],
      ['image', 'image/png', 1_568, 392],
    );
    assert.equal(text?.text, 'What do @src/tide.js and this have in common?');
    await waitFor('the picture in the transcript', async () => (await chat.count('article.user-message tk-picture img')) === 1);
    assert.deepEqual([await chips(), await chat.texts('article.user-message .chip-text')], [[], ['src/tide.js', 'Pasted image']]);
    await workbench.screenshot('composer-sent');
    await chat.press(/^Open file src\/tide\.js/);
    await workbench.focusIn('tide.js');
  });

  it('takes the selection of an editor from the palette', async () => {
    const { chat, workbench } = session;
    await workbench.page.locator('.editor-instance .view-lines').first().click();
    await workbench.page.keyboard.press('Control+a');
    await workbench.runCommand('Threadkeeper: Add Selection to Chat');
    await waitFor('the chip', async () => (await chips())[0]?.startsWith('src/tide.js lines 1–') ?? false);
    await workbench.screenshot('composer-selection');
    await chat.press(/^Remove src\/tide\.js/);
    await waitFor('the chip to be gone', async () => (await chips()).length === 0);
  });

  it('compacts by /compact with what is to be kept, and says which commands there are', async () => {
    const { chat, api, workbench } = session;
    for (let i = 1; i <= 3; i++) await chat.ask(`Part ${i}, the port is ${4000 + i}: ${words(700, i)}`);
    await chat.send('/compcat now');
    await chat.see('tk-composer [role=alert]', 'There is no command /compcat.');
    assert.equal(await chat.draft(), '/compcat now');
    await chat.send('/compact keep every port');
    await chat.see('.compaction-card', /Compacted \d+ messages/);
    assert.equal(await chat.draft(), '');
    assert.ok(
      api.messages.some(({ body }) => JSON.stringify(body).includes('keep every port')),
      'the summariser is told',
    );
    await workbench.screenshot('composer-compacted');
    assert.deepEqual(api.errors, []);
  });

  it('opens the walkthrough by /help', async () => {
    const { chat, workbench } = session;
    await chat.send('/help');
    await workbench.page.getByText('Get Started with Threadkeeper').first().waitFor();
    // Done before it is opened for the first time.
    for (const step of ['Open the chat', 'Choose a model', 'Watch the context'])
      await workbench.page.locator('.getting-started-step:has(.codicon-getting-started-step-checked)', { hasText: step }).waitFor();
    await workbench.screenshot('composer-help');
  });

  it('opens the file that an answer names, at its line, and none outside of the workspace', async () => {
    const { api, chat, workbench } = session;
    api.enqueue(
      reply(
        'It is in [the tide](src/tide.js#L3), not in [the passwords](../../../../etc/passwd) nor [the groups](' +
          session.folder +
          '/..'.repeat(12) +
          '/etc/group).',
      ),
    );
    await chat.ask('Where is it?');
    await (await chat.locator('tk-markdown a[data-href]:has-text("the tide")')).press('Enter');
    await workbench.focusIn('tide.js');
    await workbench.page.locator('.statusbar-item', { hasText: /Ln 3, Col 1/ }).waitFor();
    await (await chat.locator('tk-markdown a[data-href]:has-text("the passwords")')).press('Enter');
    await chat.see('.problem', '“../../../../etc/passwd” is not a file of this workspace');
    await (await chat.locator('tk-markdown a[data-href]:has-text("the groups")')).press('Enter');
    await chat.see('.problem', '“/etc/group” is not a file of this workspace');
    await workbench.screenshot('file-link');
  });

  /** Whoever asks for the chat, stops an answer or sends a changed message writes next: what is typed then must arrive. */
  describe('and the focus, which', function () {
    inOrder(this);

    before(async () => {
      const { chat, folder } = session;
      await chat.press('New session');
      await waitFor('an empty transcript', async () => (await chat.count('article')) === 0);
      await writeFile(join(folder, 'AGENTS.md'), 'Answer in one sentence.\n');
      await chat.ask('Hello');
    });

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

    it('goes to the composer after an edited message was sent', async () => {
      const { chat } = session;
      await (await chat.frame()).getByRole('button', { name: 'Edit your message' }).first().click({ force: true });
      await (await chat.locator('tk-message-editor textarea')).press('Enter');
      await chat.idle();
      await typedText('three');
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
      await workbench.focusIn('AGENTS.md');
    });
  });

  describe('in a workspace of two folders of the same name', function () {
    inOrder(this);

    it('attaches the file that was chosen, by the name that the tools know it by', async () => {
      const { folder, api, workbench } = session;
      for (const owner of ['shop', 'admin']) {
        await mkdir(join(folder, owner, 'web'), { recursive: true });
        await writeFile(join(folder, owner, 'web', 'ebb.js'), `export const owner = '${owner}';\n`);
      }
      const file = join(folder, 'both.code-workspace');
      await writeFile(file, JSON.stringify({ folders: [{ path: 'shop/web' }, { path: 'admin/web' }] }));
      const tab = await workbench.openTab(file);
      const chat = new ChatPage(tab);
      const input = await chat.locator('tk-composer textarea');
      await input.pressSequentially('Whose is @ebb');
      const rows = await waitFor('both files', async () => {
        const shown = await chat.texts('[role=option]');
        return shown.length === 2 ? shown : undefined;
      });
      assert.deepEqual(rows.map((text) => /web \((?:shop|admin)\)/.exec(text)?.[0]).sort(), ['web (admin)', 'web (shop)']);
      await tab.screenshot('composer-mention-folders');
      await (await chat.locator('[role=option]:has-text("web (admin)")')).click();
      await waitFor('the chip', async () => (await chat.texts('tk-composer .chip-text')).join() === 'web (admin)/ebb.js');
      const before = api.messages.length;
      await input.press('Enter');
      await chat.see('article.user-message', 'Whose is @web (admin)/ebb.js');
      await chat.idle();
      const { messages } = api.messages[before]?.body as { messages: { content: { text?: string }[] }[] };
      const [attached] = messages.at(-1)?.content ?? [];
      assert.match(attached?.text ?? '', /name="ebb\.js" path="web \(admin\)\/ebb\.js">\nexport const owner = 'admin';/);
      await chat.press(/^Open file web \(admin\)\/ebb\.js/);
      await tab.focusIn('ebb.js');
      await tab.close();
    });
  });
});
