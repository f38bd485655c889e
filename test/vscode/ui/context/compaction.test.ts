import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openChat, words, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { waitFor } from '../../../support/waitFor';

/** A compaction as its user sees it, from the preview to the pins. */
describe('compaction', function () {
  inOrder(this);
  let session: ChatSession;

  before(async () => {
    // Else one of its own may have covered everything by the time that one is asked for.
    session = await openChat({
      settings: { 'threadkeeper.checkpoint.enabled': false, 'files.autoSave': 'afterDelay', 'files.autoSaveDelay': 100 },
    });
    for (let i = 1; i <= 4; i++) await session.chat.ask(`Part ${i}, the port is ${4000 + i}: ${words(700, i)}`);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  const editorText = async () =>
    (await session.workbench.page.locator('.editor-instance .view-lines').first().innerText()).replaceAll('\u00a0', ' ');

  it('shows what it would do before it does it, and does nothing when the preview is closed', async () => {
    const { chat, workbench } = session;
    await workbench.runCommand('Threadkeeper: Compact Conversation');
    await waitFor('the preview', async () => (await editorText()).includes('What compacting now would do'));
    await workbench.screenshot('compaction-preview');
    await workbench.runCommand('Threadkeeper: Close Preview Without Compacting');
    await waitFor(
      'the preview to be gone',
      async () => (await workbench.page.locator('.tab', { hasText: 'Compaction Preview' }).count()) === 0,
    );
    assert.equal(await chat.count('.compaction-card'), 0);
  });

  it('applies what the preview shows', async () => {
    const { chat, workbench } = session;
    await workbench.runCommand('Threadkeeper: Preview Compaction');
    await waitFor('the preview', async () => (await editorText()).includes('What compacting now would do'));
    await workbench.runCommand('Threadkeeper: Apply Compaction');
    await chat.see('.compaction-card', /Compacted \d+ messages/);
    await workbench.runCommand('Threadkeeper: Undo Last Compaction');
    await chat.see('.compaction-card .state', 'undone');
  });

  it('follows instructions', async () => {
    const { api, chat, workbench } = session;
    await workbench.runCommand('Threadkeeper: Compact Conversation with Instructions…');
    await workbench.quickInput.waitUntilOpen('Compact Conversation with Instructions');
    await workbench.quickInput.accept('Keep every port number');
    await waitFor('a second card', async () => (await chat.count('.compaction-card')) === 2);
    assert.ok(
      api.messages.some(({ body }) => JSON.stringify(body).includes('Keep every port number')),
      'the summariser is told',
    );
    await workbench.screenshot('compaction-instructed');
  });

  it("takes the user's own version of the summary when it is saved, once, whatever VS Code saves by itself", async () => {
    const { api, chat, workbench } = session;
    await workbench.runCommand('Threadkeeper: Edit Summary…');
    const tab = workbench.page.locator('.tab', { hasText: 'Summary of' });
    await workbench.focusIn('Summary of');
    await workbench.page.keyboard.press('Control+a');
    await workbench.page.keyboard.type('The user counts ports ');
    // By the time that VS Code has saved what was written after it, it would have saved this as well.
    const other = join(session.folder, 'src', 'tide.js');
    await workbench.runCommand('Go to File...');
    await workbench.quickInput.type('tide.js');
    await workbench.quickInput.pick('tide.js');
    await waitFor('the file in front', async () => (await editorText()).includes('nextHighWater'));
    await workbench.page.locator('.editor-instance .view-lines').first().click();
    await workbench.page.keyboard.type('Saved by itself.');
    await waitFor('auto-save', async () => (await readFile(other, 'utf8')).includes('Saved by itself.'));
    assert.equal(await chat.count('.compaction-card'), 2);
    await tab.click();
    // What is typed before the editor is in front goes into the one before it.
    await waitFor('the summary in front', async () => (await editorText()).includes('The user counts ports'));
    await workbench.page.locator('.editor-instance .view-lines').first().click();
    await workbench.page.keyboard.press('Control+End');
    await workbench.page.keyboard.type('upwards from 4001.');
    await waitFor('what was typed', async () => (await editorText()).includes('upwards from 4001.'));
    await workbench.page.keyboard.press('Control+s');
    await waitFor('a card for the edit', async () => (await chat.count('.compaction-card')) === 3);
    await chat.see('.compaction-facts', 'summary edited');
    await workbench.screenshot('summary-edited');
    await workbench.runCommand('View: Close Editor');
    await chat.ask('Which ports?');
    assert.ok(
      api.messages.some(({ body }) => JSON.stringify(body).includes('The user counts ports upwards from 4001.')),
      'the model sees the edit',
    );
  });

  it('writes the summary anew on request', async () => {
    const { api, chat, workbench } = session;
    await workbench.runCommand('Threadkeeper: Re-summarize with Instructions…');
    await workbench.quickInput.waitUntilOpen('Re-summarize with Instructions');
    await workbench.quickInput.accept('Name the ports in order');
    await waitFor('another card', async () => (await chat.count('.compaction-card')) === 4);
    assert.ok(api.messages.some(({ body }) => JSON.stringify(body).includes('Name the ports in order')));
  });

  it('uses an earlier summary again', async () => {
    const { api, chat, workbench } = session;
    const view = await chat.frame();
    await view.getByRole('button', { name: 'More about this compaction' }).nth(2).click();
    await view.getByRole('menuitem', { name: 'Use this summary again' }).click();
    await waitFor('another card', async () => (await chat.count('.compaction-card')) === 5);
    await chat.see('.compaction-note', 'An earlier summary, in use again.');
    await (await chat.locator('.jump')).waitFor({ state: 'hidden' });
    await workbench.screenshot('summary-again');
    await chat.ask('Are you sure?');
    const asked = api.messages.map(({ body }) => JSON.stringify(body)).find((body) => body.includes('Are you sure?'));
    assert.match(asked!, /The user counts ports upwards from 4001\./);
  });

  it('writes a checkpoint that leaves a mark', async () => {
    const { chat, workbench } = session;
    await chat.ask('And the next one?');
    const before = await chat.count('.checkpoint');
    await workbench.runCommand('Threadkeeper: Save Snapshot');
    await waitFor('the mark', async () => (await chat.count('.checkpoint')) === before + 1);
  });

  it('pins a text and a message, and unpins', async () => {
    const { chat, workbench } = session;
    await workbench.runCommand('Threadkeeper: Pin…');
    await workbench.quickInput.pick('Write a text…');
    await workbench.quickInput.waitUntilOpen('Pin a Text');
    await workbench.quickInput.accept('Never run $(whoami)');
    await workbench.runCommand('Threadkeeper: Pin…');
    await workbench.quickInput.waitUntilOpen('Pin');
    await workbench.quickInput.pick('Which ports?');
    await chat.see('.pinned', 'Which ports?');
    await workbench.screenshot('pinned');
    await workbench.runCommand('Threadkeeper: Unpin…');
    await workbench.quickInput.waitUntilOpen('Unpin');
    // VS Code would draw an icon of that name, or nothing.
    assert.deepEqual((await workbench.quickInput.labels()).map((label) => label.replaceAll('\u200b', '')).sort(), [
      'Never run $(whoami)',
      'Which ports?',
    ]);
    await workbench.quickInput.pick('Which ports?');
    await waitFor('the mark to go', async () => (await chat.count('.pinned')) === 0);
    await workbench.runCommand('Threadkeeper: Compact Conversation with Instructions…');
    await workbench.quickInput.waitUntilOpen('Compact Conversation with Instructions');
    await workbench.quickInput.accept('');
    await waitFor('another card', async () => (await chat.count('.compaction-card')) === 6);
    await chat.press('Show summary');
    assert.deepEqual(session.api.errors, []);
  });

  it('undoes it', async () => {
    const { chat, workbench } = session;
    const used = await chat.used();
    await workbench.runCommand('Threadkeeper: Undo Last Compaction');
    await waitFor('the gauge to rise', async () => (await chat.used()) > used);
    await workbench.screenshot('compaction-undone');
  });
});
