import assert from 'node:assert/strict';
import { ChatPage } from '../../support/chatPage';
import { openChat, type ChatSession } from '../../support/chatSession';
import { inOrder } from '../../support/inOrder';

describe('two windows on one folder', function () {
  inOrder(this);
  let session: ChatSession;

  before(async () => {
    session = await openChat();
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('show one history; the second says that it only reads', async () => {
    await session.chat.ask('said in the first window');
    const tab = await session.workbench.openTab();
    const second = new ChatPage(tab);
    await second.see('article.user-message', 'said in the first window');
    await second.see('tk-banner', /another window/i);
    assert.equal(await (await second.locator('tk-composer textarea')).isDisabled(), true);
    await tab.screenshot('read-only');
    await tab.close();
  });

  it('find the history after the page was reloaded while the old extension host was still alive', async () => {
    await session.workbench.reloadPage();
    await session.chat.see('article.user-message', 'said in the first window');
    await session.chat.ask('said after the reload');
    await session.chat.see('article.user-message', 'said after the reload');
    assert.equal(await session.chat.count('tk-banner .banner'), 0);
  });
});
