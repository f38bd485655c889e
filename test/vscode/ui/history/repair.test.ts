import assert from 'node:assert/strict';
import { ChatPage } from '../../../support/view/chatPage';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { reply } from '../../../support/messagesApi/messagesApiScript';
import { waitFor } from '../../../support/waitFor';
import { damageText, prepareHistory, writeAnswered, type PreparedHistory } from '../../../support/store/writeHistory';

describe('a history that was damaged between two windows', function () {
  inOrder(this);
  let history: PreparedHistory;
  let session: ChatSession;

  before(async () => {
    history = await prepareHistory((store) => writeAnswered(store, 'What do you keep?', 'Carefully preserved wording.', 'Another answer.'));
    await damageText(history.storeFile, 'Carefully');
    session = await openChat({ ...history.options, window: 60_000 });
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    await history?.remove();
  });

  it('is found to be damaged when nobody asks for anything, and the view says so, which is enough', async () => {
    const { chat, workbench } = session;
    await chat.see('article.answer', 'Another answer.');
    await chat.see('tk-banner', 'Part of your history is damaged');
    await workbench.screenshot('damage-found');
    assert.deepEqual(await workbench.messages.notifications(), []);
  });

  it('is told in a message where no view is open to say so', async () => {
    const { workbench } = session;
    await workbench.openView('Explorer');
    await workbench.reload();
    await waitFor('the meter of last time', async () => (await workbench.statusText('context')).includes('%'));
    // Needs the history and shows no view.
    await workbench.runCommand('Threadkeeper: Select Policy…');
    await workbench.quickInput.waitUntilOpen('Select Policy');
    await workbench.quickInput.close();
    assert.match(
      await workbench.messages.waitForNotification('Part of your history is damaged'),
      /1 entry does not say what was written: entry #\d+ of session \d{8}_001/,
    );
    await workbench.screenshot('damage-found-unseen');
  });

  it('is repaired when the user says so, and goes on', async () => {
    const { chat, workbench } = session;
    await workbench.runCommand('Threadkeeper: Verify and Repair History');
    const dialog = await workbench.messages.waitForDialog();
    assert.match(dialog, /Your history is damaged: 1 problem found\.[\s\S]*entry #\d+ of session[\s\S]*The damaged file is kept beside it/);
    await workbench.screenshot('repair-offered');
    await workbench.messages.answerDialog('Repair');
    assert.match(
      await workbench.messages.waitForNotification('Your history has been repaired'),
      /1 session with \d+ entries were brought over; not readable: the content of 1 entry.*kept as .*threadkeeper\.db\.damaged-/s,
    );
    await chat.see('article.answer', 'Another answer.');
    await chat.see('tk-banner', 'Your history was damaged. ');
    await chat.see('.quiet', 'This entry is damaged and is not sent to the model. What could be read: CAREFULLY preserved wording.');
    await workbench.screenshot('repaired');
    session.api.enqueue(reply('On it goes.'));
    await chat.ask('Still there?');
    await chat.see('article.answer', 'On it goes.');
    await workbench.runCommand('Threadkeeper: Verify and Repair History');
    assert.match(await workbench.messages.waitForNotification('checked'), /^[\d,]+ entries in 1 session checked, no damage found\.$/);
  });

  it('is repaired from a window whose history another one has open, and both go on', async () => {
    const { chat, workbench } = session;
    // Closing puts everything into the file itself.
    await workbench.reload();
    await chat.see('article.answer', 'On it goes.');
    const guest = await workbench.openTab();
    const second = new ChatPage(guest);
    await second.see('article.answer', 'On it goes.');
    await damageText(history.storeFile, 'Another answer');
    await guest.runCommand('Threadkeeper: Verify and Repair History');
    assert.match(await guest.messages.waitForDialog(), /1 problem found\.[\s\S]*The damaged file is kept beside it/);
    await guest.messages.answerDialog('Repair');
    assert.match(
      await guest.messages.waitForNotification('Your history has been repaired'),
      /the content of 2 entries.*threadkeeper\.db\.damaged-/s,
    );
    await second.see('.quiet', 'ANOTHER ANSWER');
    await guest.screenshot('repaired-by-the-guest');
    await chat.see('.quiet', 'ANOTHER ANSWER');
    session.api.enqueue(reply('In both windows.'));
    await chat.ask('Are you still there, too?');
    await chat.see('article.answer', 'In both windows.');
    await second.see('article.answer', 'In both windows.');
    await workbench.screenshot('owner-after-it');
  });
});
