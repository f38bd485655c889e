import assert from 'node:assert/strict';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { hold, reply } from '../../../support/messagesApi/messagesApiScript';
import { SessionsPage } from '../../../support/view/sessionsPage';
import { waitFor } from '../../../support/waitFor';

/** One list, told in order: each step builds on the ones before. */
describe('the Sessions view', function () {
  inOrder(this);
  let session: ChatSession;
  let sessions: SessionsPage;
  const isListed =
    (label: string, is = true) =>
    async () =>
      (await sessions.labels()).includes(label) === is;

  before(async () => {
    // Tall enough that no row is scrolled away, with the chat above.
    session = await openChat({ window: 60_000, viewport: { width: 1280, height: 1100 } });
    sessions = new SessionsPage(session.workbench);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('says what it is for while there is nothing in it', async () => {
    await sessions.open();
    await waitFor('the welcome', async () => (await sessions.pane().innerText()).includes('Conversations of this workspace'));
    await session.workbench.screenshot('sessions-empty');
  });

  it('lists sessions as they come into being, the open one marked', async () => {
    const { chat, workbench } = session;
    await chat.ask('Tide tables');
    for (const title of ['Mooring codes', 'Harbour fees']) {
      await workbench.runCommand('Threadkeeper: New Session');
      await waitFor('an empty chat', async () => (await chat.count('article.user-message')) === 0);
      await chat.ask(title);
    }
    await sessions.see('Today', 'Harbour fees', 'Mooring codes', 'Tide tables');
    await waitFor('the description', async () => (await sessions.rows())[1] === 'Harbour fees · open · just now · 2 messages');
    await workbench.screenshot('sessions');
  });

  it('shows which one is being answered, also after it was left', async () => {
    const { chat, api } = session;
    const gate = hold();
    api.enqueue(reply('Slowly ', gate, 'said.'));
    await chat.send('Take your time');
    await chat.see('article.answer', 'Slowly');
    await waitFor('"answering"', async () => (await sessions.rows())[1]?.startsWith('Harbour fees · answering'));
    await sessions.choose('Tide tables');
    await chat.see('article.user-message', 'Tide tables');
    await waitFor('both', async () => (await sessions.rows()).filter((row) => /· (open|answering) ·/.test(row)).length === 2);
    gate.release();
    await waitFor('the answer to end', async () => (await sessions.rows()).filter((row) => row.includes('answering')).length === 0);
  });

  it('renames with F2, whether or not the session is open', async () => {
    const { workbench, chat } = session;
    await sessions.choose('Mooring codes');
    await chat.see('article.user-message', 'Mooring codes');
    // The mark of the open one redraws the list.
    await waitFor('the mark', async () => (await sessions.rows()).some((row) => row.startsWith('Mooring codes · open')));
    await sessions.select('Tide tables');
    await sessions.select('Mooring codes');
    await workbench.page.keyboard.press('F2');
    await workbench.quickInput.waitUntilOpen('A title for this session');
    await workbench.quickInput.accept('Tides of the north');
    await sessions.see('Today', 'Harbour fees', 'Mooring codes', 'Tides of the north');
  });

  it('pins, tags and filters', async () => {
    const { workbench } = session;
    await sessions.pressUntil('Mooring codes', 'Pin to Top', isListed('Pinned'));
    await sessions.see('Pinned', 'Mooring codes', 'Today', 'Harbour fees', 'Tides of the north');
    await sessions.chooseFromMenu('Harbour fees', 'Edit Tags', () => workbench.quickInput.asks('Tags'));
    await workbench.quickInput.accept('money, Harbour');
    await waitFor('the tags', async () =>
      (await sessions.rows()).some((row) => row.startsWith('Harbour fees') && row.endsWith('#money #Harbour')),
    );
    await workbench.screenshot('sessions-pinned');
    for (const [filter, found] of [
      ['#money', ['Today', 'Harbour fees']],
      ['codes', ['Pinned', 'Mooring codes']],
      ['moon', ['No session matches "moon"']],
    ] as const) {
      await workbench.runCommand('Threadkeeper: Filter Sessions…');
      await workbench.quickInput.waitUntilOpen('Part of a title');
      await workbench.quickInput.accept(filter);
      await sessions.see(...found);
      assert.equal(await sessions.message(), `Filtered: ${filter}`);
    }
    await workbench.screenshot('sessions-filtered');
    await sessions.pressTitle('Clear Session Filter');
    await sessions.see('Pinned', 'Mooring codes', 'Today', 'Harbour fees', 'Tides of the north');
  });

  it('shows and changes what is said of a session, finds it by that, and opens one by its key', async () => {
    const { workbench, chat } = session;
    const details = workbench.page.locator('.monaco-editor .view-lines').getByText('"metadata"');
    await sessions.chooseFromMenu('Harbour fees', 'Edit Session Details', () => details.isVisible());
    await workbench.page.locator('.monaco-editor').first().click();
    await workbench.page.keyboard.press('Control+A');
    await workbench.page.keyboard.insertText(
      '{ "title": "Harbour dues", "key": "telegram:123456", "costLimit": 0.5, "metadata": { "tags": ["money"], "user_id": "user_123" } }',
    );
    // What the editor has closed by itself.
    await workbench.page.keyboard.press('Control+Shift+End');
    await workbench.page.keyboard.press('Delete');
    await workbench.page.keyboard.press('Control+S');
    await sessions.see('Pinned', 'Mooring codes', 'Today', 'Harbour dues', 'Tides of the north');
    await workbench.screenshot('sessions-details');
    await workbench.runCommand('View: Close All Editors');
    await workbench.runCommand('Threadkeeper: Filter Sessions…');
    await workbench.quickInput.waitUntilOpen('Part of a title');
    await workbench.quickInput.accept('meta:user_id=user_123');
    await sessions.see('Today', 'Harbour dues');
    await sessions.row('Harbour dues').hover();
    await workbench.page.locator('.monaco-hover').getByText('user_123').waitFor();
    await workbench.screenshot('sessions-metadata');
    await sessions.pressTitle('Clear Session Filter');
    await workbench.runCommand('Threadkeeper: Open Session by Key…');
    await workbench.quickInput.waitUntilOpen('The session with this key');
    await workbench.quickInput.accept('telegram:123456');
    await chat.see('article.user-message', 'Harbour fees');
    await sessions.chooseFromMenu('Harbour dues', 'Rename Session', () => workbench.quickInput.asks('A title for this session'));
    await workbench.quickInput.accept('Harbour fees');
    await sessions.see('Pinned', 'Mooring codes', 'Today', 'Harbour fees', 'Tides of the north');
  });

  it('sorts as the user says, and remembers it', async () => {
    const { workbench } = session;
    const sortBy = async (order: string) => {
      await workbench.runCommand('Threadkeeper: Sort Sessions…');
      await workbench.quickInput.waitUntilOpen('Pinned sessions stay on top');
      await workbench.quickInput.accept(order);
    };
    await sortBy('Title');
    await sessions.see('Pinned', 'Mooring codes', 'All Sessions', 'Harbour fees', 'Tides of the north');
    await workbench.screenshot('sessions-sorted');
    await workbench.reload();
    await sessions.see('Pinned', 'Mooring codes', 'All Sessions', 'Harbour fees', 'Tides of the north');
    await sortBy('Last Used');
    await sessions.see('Pinned', 'Mooring codes', 'Today', 'Harbour fees', 'Tides of the north');
  });

  it('finds nothing to clean up where everything is in use', async () => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Clean Up Sessions…');
    await workbench.quickInput.waitUntilOpen('Sessions that have not been used');
    await workbench.quickInput.accept('30');
    await workbench.messages.waitForNotification('There is nothing to clean up');
  });

  it('archives and takes back out', async () => {
    const { workbench } = session;
    await sessions.pressUntil('Mooring codes', 'Archive Session', isListed('Archived'));
    await workbench.messages.waitForNotification('Archived "Mooring codes"');
    await sessions.see('Today', 'Harbour fees', 'Tides of the north', 'Archived');
    await sessions.expand('Archived');
    await sessions.see('Today', 'Harbour fees', 'Tides of the north', 'Archived', 'Mooring codes');
    await sessions.pressUntil('Mooring codes', 'Move out of Archive', isListed('Pinned'));
    await sessions.see('Pinned', 'Mooring codes', 'Today', 'Harbour fees', 'Tides of the north');
  });

  it('moves what is selected to the trash with Delete, and takes it back with Undo', async () => {
    const { workbench } = session;
    await sessions.choose('Harbour fees');
    await sessions.select('Tides of the north');
    await workbench.page.keyboard.press('Delete');
    await sessions.see('Pinned', 'Mooring codes', 'Trash');
    await workbench.screenshot('sessions-trash');
    await workbench.messages.answerNotification('Moved 2 sessions to the trash', 'Undo');
    await sessions.see('Pinned', 'Mooring codes', 'Today', 'Harbour fees', 'Tides of the north');
  });

  it('restores from the trash, also after a reload', async () => {
    const { workbench, chat } = session;
    await sessions.choose('Harbour fees');
    await chat.see('article.user-message', 'Harbour fees');
    await workbench.runCommand('Threadkeeper: Move Session to Trash');
    await waitFor('an empty chat', async () => (await chat.count('article.user-message')) === 0);
    await workbench.reload();
    await sessions.see('Pinned', 'Mooring codes', 'Today', 'Tides of the north', 'Trash');
    await sessions.expand('Trash');
    await sessions.pressUntil('Harbour fees', 'Restore from Trash', isListed('Trash', false));
    await sessions.see('Pinned', 'Mooring codes', 'Today', 'Harbour fees', 'Tides of the north');
    assert.deepEqual(session.api.errors, []);
  });

  it('forks from the menu, and says of the fork that it is one', async () => {
    const { chat } = session;
    await sessions.choose('Mooring codes');
    await chat.see('article.user-message', 'Mooring codes');
    await sessions.chooseFromMenu('Mooring codes', 'Fork Session Here', isListed('Mooring codes (fork)'));
    await chat.see('article.user-message', 'Mooring codes');
    await waitFor('the count', async () => (await sessions.rows()).some((row) => row.endsWith('no new messages')));
    await session.workbench.screenshot('sessions-forked');
    await sessions.pressUntil('Mooring codes', 'Unpin', isListed('Pinned', false));
  });

  it('deletes for good after it has said what goes, and the fork keeps what it shares', async () => {
    const { workbench, chat } = session;
    await sessions.choose('Mooring codes');
    await workbench.page.keyboard.press('Delete');
    await sessions.row('Trash').waitFor();
    await sessions.pressInline('Trash', 'Empty Trash');
    assert.match(
      await workbench.messages.waitForDialog(),
      /Permanently delete "Mooring codes"\?\s+No entries go with it\. Other sessions keep the 2 entries that they share\. This cannot be undone\./,
    );
    await workbench.screenshot('sessions-delete');
    await workbench.messages.answerDialog('Delete Permanently');
    await sessions.see('Today', 'Mooring codes (fork)', 'Harbour fees', 'Tides of the north');
    await workbench.messages.answerNotification('Moved "Mooring codes" to the trash', 'Undo');
    await workbench.messages.waitForNotification('it was permanently deleted');
    await waitFor('an empty chat', async () => (await chat.count('article')) === 0);
    await sessions.choose('Mooring codes (fork)');
    await chat.see('article.user-message', 'Mooring codes');
    await sessions.choose('Harbour fees');
    await workbench.page.keyboard.press('Delete');
    await sessions.expand('Trash');
    await sessions.pressUntil('Harbour fees', 'Delete Permanently', () => workbench.messages.hasDialog());
    assert.match(
      await workbench.messages.waitForDialog(),
      /Permanently delete "Harbour fees"\?\s+This deletes 4 entries \(\d+ bytes\) from the history\. This cannot be undone\./,
    );
    await workbench.messages.answerDialog('Cancel');
    await sessions.see('Today', 'Mooring codes (fork)', 'Tides of the north', 'Trash', 'Harbour fees');
  });
});
