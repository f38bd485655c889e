import assert from 'node:assert/strict';
import { ChatPage } from '../../../support/view/chatPage';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { reply } from '../../../support/messagesApi/messagesApiScript';
import { waitFor } from '../../../support/waitFor';

/** One conversation that forks, told in order. */
describe('branches of a conversation', function () {
  inOrder(this);
  let session: ChatSession;

  before(async () => {
    session = await openChat({ window: 100_000 });
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  const said = (page: ChatPage = session.chat) => page.texts('article.user-message .user-text');
  const answers = () => session.chat.texts('article.answer .md-p, article.answer p');
  const switches = () => session.chat.texts('.fork-switch');

  it('an edited message goes another way, and the first way is one step back', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply('Tides follow the moon.'), reply('Harbours silt up.'), reply('Harbours are dredged.'));
    await chat.ask('What moves the tides?');
    await chat.ask('And the harbours?');
    await (await chat.see('article.user-message', 'And the harbours?')).hover();
    await workbench.screenshot('row-actions');
    await (await chat.frame()).getByRole('button', { name: 'Edit your message' }).last().click();
    const editor = await chat.locator('tk-message-editor textarea');
    assert.equal(await editor.inputValue(), 'And the harbours?');
    await workbench.screenshot('editing-a-message');
    await editor.fill('And who keeps the harbours open?');
    await editor.press('Enter');
    await chat.see('article.answer', 'Harbours are dredged.');
    await chat.idle();
    assert.deepEqual(await said(), ['What moves the tides?', 'And who keeps the harbours open?']);
    assert.deepEqual(await switches(), ['2/2']);
    await workbench.screenshot('edited-on-a-branch');
    await chat.press('Previous branch');
    await chat.see('article.answer', 'Harbours silt up.');
    assert.deepEqual(await said(), ['What moves the tides?', 'And the harbours?']);
  });

  it('another answer stands beside the first', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply('Silt comes with the rivers.'));
    await (await chat.see('article.answer', 'Harbours silt up.')).hover();
    await (await chat.frame()).getByRole('button', { name: 'Ask for another answer' }).last().click();
    await chat.see('article.answer', 'Silt comes with the rivers.');
    await chat.idle();
    assert.deepEqual(await switches(), ['1/2', '2/2']);
    assert.deepEqual((await said()).length, 2);
    assert.equal((await answers()).length, 2);
    await workbench.screenshot('another-answer');
  });

  it('a turn is labelled, and found by its label', async () => {
    const { chat, workbench } = session;
    await (await chat.see('article.answer', 'Silt comes with the rivers.')).hover();
    await (await chat.frame()).getByRole('button', { name: 'More about this answer' }).last().click();
    await (await chat.frame()).getByRole('menuitem', { name: 'Label this answer' }).last().click();
    await workbench.quickInput.waitUntilOpen('Label This Turn');
    await workbench.quickInput.accept('estuary theory');
    await chat.see('.label-chip', 'estuary theory');
    await workbench.screenshot('labelled');
  });

  it('goes to a branch from the palette, also in a second window', async () => {
    const { chat, workbench } = session;
    const tab = await workbench.openTab();
    const second = new ChatPage(tab);
    await second.see('.label-chip', 'estuary theory');
    await workbench.page.bringToFront();
    await workbench.runCommand('Threadkeeper: Switch Branch…');
    await workbench.quickInput.waitUntilOpen('Switch Branch');
    await waitFor('the branches', async () => (await workbench.quickInput.labels()).length === 3);
    await workbench.screenshot('pick-a-branch');
    await workbench.quickInput.pick('And who keeps the harbours open?');
    await chat.see('article.answer', 'Harbours are dredged.');
    await second.see('article.answer', 'Harbours are dredged.');
    assert.deepEqual(await said(second), ['What moves the tides?', 'And who keeps the harbours open?']);
    await tab.close();
  });

  it('stands where it stood after a reload, and forks into a session of its own', async () => {
    const { chat, workbench } = session;
    await workbench.reload();
    await chat.see('article.answer', 'Harbours are dredged.');
    assert.deepEqual(await switches(), ['2/2']);
    await (await chat.see('article.answer', 'Tides follow the moon.')).hover();
    await (await chat.frame()).getByRole('button', { name: 'Fork the session from this answer' }).first().click();
    await waitFor('the fork', async () => (await said()).length === 1);
    assert.match((await chat.texts('tk-header')).join(' '), /\(fork\)/);
    await workbench.screenshot('forked');
    assert.deepEqual(session.api.errors, []);
  });
});
