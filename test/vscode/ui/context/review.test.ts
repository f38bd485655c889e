import assert from 'node:assert/strict';
import { openChat, words, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { waitFor } from '../../../support/waitFor';

/** What the user may look at, change and take back in what the model is sent: before a compaction, after it, and entry by entry. */
describe('review', function () {
  inOrder(this);
  let session: ChatSession;

  before(async () => {
    session = await openChat({ settings: { 'threadkeeper.checkpoint.enabled': false, 'threadkeeper.compaction.review': 'always' } });
    for (let i = 1; i <= 4; i++) await session.chat.ask(`Part ${i}, the port is ${4000 + i}: ${words(600, i)}`);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  const tab = (text: string) => session.workbench.page.locator('.tab', { hasText: text });
  const lines = () => session.workbench.page.locator('.editor-instance .view-lines').first();
  const editorText = async () => (await lines().innerText()).replaceAll('\u00a0', ' ');
  const preview = async () => {
    await session.workbench.runCommand('Threadkeeper: Compact Conversation');
    await waitFor('the preview', async () => (await editorText()).includes('The summary begins here.'));
  };
  /** Behind the line that says where the summary begins. */
  const writeSummary = async (text: string) => {
    const { page } = session.workbench;
    await page.locator('.view-line', { hasText: 'The summary begins here.' }).click();
    await page.keyboard.press('End');
    await page.keyboard.type(`\n${text}`);
  };

  it('changes nothing when it is cancelled, whatever was written in it', async () => {
    const { chat, workbench } = session;
    await preview();
    await workbench.screenshot('review-preview');
    await writeSummary('Nobody shall see this.');
    await workbench.runCommand('Threadkeeper: Close Preview Without Compacting');
    await waitFor('the preview to be gone', async () => (await tab('Compaction Preview').count()) === 0);
    assert.equal(await chat.count('.compaction-card'), 0);
  });

  it('records the summary as the user has changed it', async () => {
    const { api, chat, workbench } = session;
    await preview();
    await writeSummary('The user counts ports upwards from 4001.');
    await workbench.screenshot('review-edited');
    await workbench.runCommand('Threadkeeper: Apply Compaction');
    await chat.see('.compaction-card', /Compacted \d+ messages/);
    await chat.see('.compaction-note', 'You edited the summary');
    await waitFor('the preview to be gone', async () => (await tab('Compaction Preview').count()) === 0);
    assert.equal(await chat.count('.compaction-card'), 1);
    await chat.press('Show summary');
    await chat.see('.compaction-card .summary', 'The user counts ports upwards from 4001.');
    await workbench.screenshot('review-applied');
    await chat.ask('Which ports?');
    assert.ok(
      api.messages.some(({ body }) => JSON.stringify(body).includes('The user counts ports upwards from 4001.')),
      'the model sees it',
    );
  });

  it('compares the prompt without and with the compaction, from the card and from the palette', async () => {
    const { chat, workbench } = session;
    await chat.press('More about this compaction');
    await (await chat.frame()).getByRole('menuitem', { name: 'Compare before and after' }).first().click();
    await tab('without ↔ with').waitFor();
    const side = async (name: string) =>
      (await workbench.page.locator(`.editor.${name} .view-lines`).innerText()).replaceAll('\u00a0', ' ');
    await waitFor(
      'both sides',
      async () =>
        (await side('original')).startsWith('Without this compaction: about') &&
        (await side('modified')).startsWith('With this compaction: about'),
    );
    assert.match(await side('original'), /──── user · #1/);
    await workbench.screenshot('compare');
    await workbench.runCommand('View: Close Editor');
    await workbench.runCommand('Threadkeeper: Compare Before and After…');
    await tab('without ↔ with').waitFor();
    await workbench.runCommand('View: Close Editor');
  });

  it('excludes a message from the context, and includes it again', async () => {
    const { api, chat, workbench } = session;
    // The answers quote it.
    const asksPart1 = () => JSON.stringify(api.messages.at(-1)!.body).includes('"text":"Part 1, the port');
    await workbench.runCommand('Threadkeeper: Undo Last Compaction');
    await chat.see('.compaction-card .state', 'undone');
    const used = await chat.used();
    const first = (await chat.locator('article.user-message')).first();
    await first.hover();
    await first.getByRole('button', { name: 'Exclude your message' }).click();
    await chat.see('article.user-message.excluded', 'Not in context');
    await waitFor('the gauge to fall', async () => (await chat.used()) < used - 300);
    await workbench.screenshot('excluded');
    await chat.ask('Still four parts?');
    assert.equal(asksPart1(), false, 'the model does not see it');
    await workbench.runCommand('Threadkeeper: Show Context Breakdown');
    const panel = await workbench.webview('tk-breakdown h2#excluded');
    await workbench.screenshot('excluded-breakdown');
    await panel.getByRole('button', { name: /^Include again: user: Part 1/ }).click();
    await waitFor('the mark to go', async () => (await chat.count('.excluded')) === 0);
    await chat.ask('And now?');
    assert.equal(asksPart1(), true);
    assert.deepEqual(api.errors, []);
  });

  it('asks before an automatic compaction, as the settings say', async () => {
    const { api, chat, workbench } = session;
    await chat.send(`Fill it: ${words(4_500, 9)}`);
    await waitFor('the question', async () => (await editorText()).includes('The summary begins here.'));
    await workbench.screenshot('review-always');
    await workbench.page.locator('.view-line', { hasText: 'The summary begins here.' }).click();
    await workbench.runCommand('Threadkeeper: Apply Compaction');
    await chat.idle();
    await waitFor('the second card', async () => (await chat.count('.compaction-card')) === 2);
    assert.equal(await tab('Compaction Preview').count(), 0);
    assert.deepEqual(api.errors, []);
  });

  it('opens a summary that was being edited again after a reload', async () => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Edit Summary…');
    await waitFor('the summary', async () => (await tab('Summary of').count()) === 1 && (await editorText()).length > 20);
    const before = await editorText();
    await workbench.reload();
    await waitFor('the summary again', async () => (await editorText()) === before);
    assert.equal(await workbench.page.locator('.editor-instance', { hasText: 'could not be opened' }).count(), 0);
  });
});
