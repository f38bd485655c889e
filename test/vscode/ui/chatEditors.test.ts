import assert from 'node:assert/strict';
import { openChat, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { hold, reply } from '../../support/messagesApi/messagesApiScript';
import { patience } from '../../support/run/patience';
import { ChatPage } from '../../support/view/chatPage';
import { savePictureIfWanted } from '../../support/view/savePicture';
import { SessionsPage } from '../../support/view/sessionsPage';
import { waitFor } from '../../support/waitFor';

/** Several chats beside each other: one in the side bar, the others in editors, each with a session of its own. */
describe('chats in editors', function () {
  inOrder(this);
  let session: ChatSession;
  let editor: ChatPage;
  let sessions: SessionsPage;

  before(async () => {
    session = await openChat({ viewport: { width: 1280, height: 900 }, window: 60_000 });
    editor = new ChatPage(session.workbench, 'editor');
    sessions = new SessionsPage(session.workbench);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  const tabs = () => session.workbench.page.locator('.editor-group-container .tabs-container .tab');
  const titles = async () => (await tabs().locator('.label-name').allInnerTexts()).map((text) => text.replaceAll('\u00a0', ' '));
  const seeTitles = (...expected: string[]) =>
    waitFor(`the tabs ${expected.join(', ')}`, async () => {
      const seen = await titles();
      return seen.join() === expected.join();
    }).catch(async (error: unknown) => {
      throw new Error(`Expected ${expected.join(', ')}, but saw ${(await titles()).join(', ')}`, { cause: error });
    });
  const bringToFront = (title: string) => tabs().filter({ hasText: title }).click();
  const questions = async (page: ChatPage) => page.texts('article.user-message .user-text');

  it('take the session over from the side bar', async () => {
    const { api, chat, workbench } = session;
    api.enqueue(reply('The first answer.'));
    await chat.ask('First question');
    await workbench.runCommand('Threadkeeper: Open Chat in Editor');
    await editor.see('article.answer', 'The first answer.');
    await seeTitles('First question');
    await waitFor('an empty side bar', async () => (await chat.count('article')) === 0);
    await workbench.screenshot('chat-editor');
  });

  it('stream at once, also while they are hidden', async () => {
    const { api, chat, workbench } = session;
    const [one, two, three] = [hold(), hold(), hold()];
    api.enqueue(reply('One begins, ', one, 'one ends.'));
    await editor.send('Go on in the first');
    await one.reached;
    await editor.see('article.answer', 'One begins,');
    await workbench.runCommand('Threadkeeper: Open Chat in Editor');
    await seeTitles('First question', 'New session');
    api.enqueue(reply('Two begins, ', two, 'two ends.'));
    await editor.send('Second question');
    await two.reached;
    await editor.see('article.answer', 'Two begins,');
    await seeTitles('First question', 'Second question');
    api.enqueue(reply('Three begins, ', three, 'three ends.'));
    await chat.send('Third question');
    await three.reached;
    await chat.see('article.answer', 'Three begins,');
    await workbench.screenshot('chat-editors-streaming');
    // The first is hidden behind the second.
    for (const held of [one, two, three]) held.release();
    await chat.see('article.answer', 'three ends.');
    await editor.see('article.answer', 'two ends.');
    await bringToFront('First question');
    await editor.see('article.answer', 'one ends.');
    await Promise.all([chat.idle(), editor.idle()]);
    assert.deepEqual([await questions(chat), await questions(editor)], [['Third question'], ['First question', 'Go on in the first']]);
  });

  it('are what commands are about while they are in use', async () => {
    const { api, chat, workbench } = session;
    const [inEditor, inSideBar] = [hold(), hold()];
    api.enqueue(reply('Editor, ', inEditor, 'not this.'));
    await editor.send('Stop me');
    await inEditor.reached;
    api.enqueue(reply('Side bar, ', inSideBar, 'and all.'));
    await chat.send('Let me be');
    await inSideBar.reached;
    await (await editor.locator('tk-composer textarea')).click();
    await workbench.runCommand('Threadkeeper: Stop Answer');
    await editor.see('.interrupted', /Stopped/);
    assert.equal(await chat.count('tk-composer .stop'), 1);
    inSideBar.release();
    await chat.see('article.answer', 'and all.');
    inEditor.release();
  });

  it('come back with their sessions when the window is reloaded', async () => {
    const { chat, workbench } = session;
    await workbench.reload();
    await seeTitles('First question', 'Second question');
    await editor.see('article.answer', 'one ends.');
    await bringToFront('Second question');
    await editor.see('article.answer', 'two ends.');
    await chat.see('article.answer', 'three ends.');
    assert.deepEqual([await questions(editor), await questions(chat)], [['Second question'], ['Third question', 'Let me be']]);
  });

  it('are gone to instead of opened twice', async () => {
    const { chat } = session;
    await sessions.open();
    await sessions.click('First question', async () => (await editor.texts('article.answer')).some((text) => text.includes('one ends.')));
    assert.deepEqual(
      [await titles(), await questions(chat)],
      [
        ['First question', 'Second question'],
        ['Third question', 'Let me be'],
      ],
    );
  });

  it('go on without their editor when it is closed', async () => {
    const { api, chat, workbench } = session;
    const held = hold();
    api.enqueue(reply('Begun in an editor, ', held, 'ended without.'));
    await editor.send('Close me');
    await held.reached;
    await editor.see('article.answer', 'Begun in an editor,');
    await workbench.runCommand('View: Close Editor');
    await seeTitles('Second question');
    held.release();
    await sessions.open();
    await sessions.click('First question', async () =>
      (await chat.texts('article.answer')).some((text) => text.includes('ended without.')),
    );
    assert.deepEqual(api.errors, []);
  });

  it('take what is selected in the code beside them', async () => {
    const { workbench } = session;
    await sessions.open();
    await sessions.click('Second question', async () => (await questions(editor)).includes('Second question'));
    await workbench.openFile('tide.js');
    await workbench.runCommand('View: Move Editor into Right Group');
    await workbench.page.locator('.editor-instance .view-lines').first().click();
    await workbench.page.keyboard.press('Control+a');
    await (await editor.locator('tk-composer textarea')).click();
    await (await editor.locator('tk-composer textarea')).pressSequentially('@sel');
    await editor.see('tk-composer [role=option]', 'Selection');
    await workbench.screenshot('chat-editor-selection');
    await workbench.page.keyboard.press('Enter');
    await waitFor('the chip', async () => (await editor.texts('tk-composer .chip-text'))[0]?.startsWith('src/tide.js lines 1–') ?? false);
    await editor.press(/^Remove src\/tide\.js/);
    await bringToFront('tide.js');
    await workbench.runCommand('View: Close Editor');
    await (await editor.locator('tk-composer textarea')).click();
  });

  it('move to another window of VS Code, and are used there', async () => {
    const { api, workbench } = session;
    await bringToFront('Second question');
    await editor.see('article.answer', 'two ends.');
    const opened = workbench.page.context().waitForEvent('page');
    await workbench.runCommand('View: Move Editor into New Window');
    const window = await opened;
    const chat = (selector: string) =>
      waitFor(`${selector} in the new window`, async () => {
        for (const frame of window.frames()) {
          const found = frame.locator(selector).first();
          if (frame.url().includes('/fake.html?') && (await found.isVisible())) return found;
        }
        return undefined;
      });
    await chat('article.answer >> text=two ends.');
    api.enqueue(reply('Heard in the other window.'));
    const box = await chat('tk-composer textarea');
    await box.fill('Can you hear me there?');
    await box.press('Enter');
    await chat('article.answer >> text=Heard in the other window.');
    await savePictureIfWanted(window, 'chat-editor-new-window');
    await seeTitles();
    await window.close();
  });
});

describe('a chat that is put elsewhere', function () {
  inOrder(this);
  let session: ChatSession;

  before(async () => {
    session = await openChat({ viewport: { width: 1280, height: 900 } });
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  /** Drops it this far from the left of the first editor group, as a share of its width. */
  async function drag(label: string, share: number): Promise<void> {
    const { page } = session.workbench;
    // A row that is drawn anew at the moment is not taken along.
    await waitFor(`${label} to be taken along`, async () => {
      const box = (await page.locator('.editor-group-container').first().boundingBox())!;
      await new SessionsPage(session.workbench).row(label).hover();
      await page.mouse.down();
      try {
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 10 });
        await page.locator('#monaco-workbench-editor-drop-overlay').waitFor({ timeout: 5_000 * patience() });
        await page.mouse.move(box.x + box.width * share, box.y + box.height / 2 + 5, { steps: 10 });
      } finally {
        await page.mouse.up();
      }
      return true;
    });
  }

  it('opens in the editor area, where its session is dragged, beside another one too', async () => {
    const { api, chat, workbench } = session;
    const editor = new ChatPage(workbench, 'editor');
    api.enqueue(reply('The first answer.'), reply('The second answer.'));
    await chat.ask('First question');
    await chat.press('New session');
    await waitFor('an empty transcript', async () => (await chat.count('article')) === 0);
    await chat.ask('Second question');
    await new SessionsPage(workbench).open();
    await drag('First question', 0.5);
    await editor.see('article.answer', 'The first answer.');
    const groups = workbench.page.locator('.editor-group-container');
    await waitFor('two groups', async () => {
      await drag('Second question', 0.97);
      return waitFor('the second one', async () => (await groups.count()) === 2, { timeout: 5_000 });
    });
    await waitFor(
      'both',
      async () => (await workbench.page.locator('.tab .label-name').allInnerTexts()).sort().join() === 'First question,Second question',
    );
    await waitFor('an empty side bar', async () => (await chat.count('article')) === 0);
    await workbench.screenshot('chat-editors-side-by-side');
  });

  it('is in the secondary side bar when the walkthrough puts it there, with the sessions at the left', async () => {
    const { workbench } = session;
    await workbench.runCommand('View: Close All Editors');
    await workbench.runCommand('Welcome: Open Walkthrough...');
    await workbench.quickInput.pick('Get Started with Threadkeeper');
    // This step is done already, and the first one that is not is open.
    await workbench.page.locator('.getting-started-step', { hasText: 'Open the chat' }).click();
    const moved = workbench.page.locator('.part.auxiliarybar', { hasText: 'Threadkeeper' });
    // The page takes the focus once more when it has been drawn, and with that the list away. A click may come late, and count.
    await waitFor('the chat to be moved', async () => {
      if (await moved.isVisible()) return true;
      await workbench.page.getByRole('button', { name: 'Move Chat…' }).click();
      await workbench.quickInput.waitUntilOpen();
      await workbench.quickInput.choose('New Secondary Side Bar Entry');
      return undefined;
    });
    const frame = await workbench.webview('tk-composer textarea');
    const right = (await (await frame.parentFrame()!.frameElement()).boundingBox())!;
    assert.ok(right.x > 640, `the chat is at ${right.x}`);
    await workbench.openView();
    // Its header is not shown where it is alone.
    await workbench.page.locator('.sidebar .pane-header[aria-label^="Sessions"]').waitFor({ state: 'attached' });
    await workbench.screenshot('chat-secondary-side-bar');
  });
});
