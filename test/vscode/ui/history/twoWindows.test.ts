import assert from 'node:assert/strict';
import { ChatPage } from '../../../support/view/chatPage';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { hold, reply } from '../../../support/messagesApi/messagesApiScript';
import { isAlive } from '../../../support/run/processes';
import { waitFor } from '../../../support/waitFor';
import type { Workbench } from '../../../support/vscode/workbench';

describe('two windows on one folder', function () {
  inOrder(this);
  let session: ChatSession;
  let tab: Workbench;
  let second: ChatPage;
  let firstHost: number[];

  before(async () => {
    session = await openChat({ window: 100_000 });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await tab?.screenshot('second-window-failed').catch(() => undefined);
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('show one history', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply('an answer in the first window'));
    await chat.ask('said in the first window');
    firstHost = session.server.extensionHosts().map(({ pid }) => pid);
    tab = await workbench.openTab();
    second = new ChatPage(tab);
    await second.see('article.user-message', 'said in the first window');
    assert.equal(await second.count('tk-banner .banner'), 0);
    assert.equal(await (await second.locator('tk-composer textarea')).isEnabled(), true);
  });

  it('show in one what is answered in the other, while it is written', async () => {
    const { chat, api } = session;
    const gate = hold();
    api.enqueue(reply('The beginning of an answer, ', gate, 'and its end.'));
    await chat.send('a question in the first window');
    await second.see('article.user-message', 'a question in the first window');
    await second.see('article.answer', 'The beginning of an answer,');
    await second.see('.turn-status', /another window is answering/i);
    await tab.screenshot('followed');
    gate.release();
    await second.see('article.answer', 'and its end.');
    await second.idle();
    assert.equal((await second.texts('article.answer')).filter((text) => text.includes('The beginning')).length, 1);
  });

  it('send what the second asks meanwhile after it, once', async () => {
    const { chat, api } = session;
    const gate = hold();
    api.enqueue(reply('Not finished ', gate, 'yet finished.'), reply('Now the second is served.'));
    await chat.send('first in line');
    await second.see('article.answer', 'Not finished');
    await second.send('second in line');
    await second.see('tk-queue', 'second in line');
    await tab.screenshot('queued');
    gate.release();
    await second.see('article.answer', 'Now the second is served.');
    await chat.see('article.answer', 'Now the second is served.');
    await Promise.all([chat.idle(), second.idle()]);
    for (const page of [chat, second]) {
      const said = await page.texts('article.user-message .user-text');
      assert.deepEqual(said.slice(-2), ['first in line', 'second in line']);
    }
    assert.deepEqual(api.errors, []);
  });

  it('both chat at once, each in a session of its own', async () => {
    const { chat, api } = session;
    await tab.runCommand('Threadkeeper: New Session');
    await waitFor('an empty session', async () => (await second.count('article.user-message')) === 0);
    const gate = hold();
    api.enqueue(reply('Slow in the first, ', gate, 'and done.'));
    await chat.send('slow in the first');
    await chat.see('article.answer', 'Slow in the first,');
    api.enqueue(reply('Meanwhile in the second.'));
    await second.ask('meanwhile in the second');
    await second.see('article.answer', 'Meanwhile in the second.');
    assert.equal(await chat.count('tk-composer .stop'), 1, 'the first is still being answered');
    gate.release();
    await chat.see('article.answer', 'and done.');
    await chat.idle();
  });

  it('go on in the second when the extension host of the first is killed in the middle of an answer', async () => {
    const { chat, api } = session;
    api.enqueue(reply('As far as it came ', hold(), 'and no more.'));
    await chat.send('what does the survivor know?');
    await chat.see('article.answer', 'As far as it came');
    // One that had only just begun when they were listed may have ended by itself.
    const hosts = firstHost.filter(isAlive);
    for (const pid of hosts) process.kill(pid, 'SIGKILL');
    assert.notDeepEqual(hosts, []);
    api.enqueue(reply('The second has taken over.'));
    await second.ask('are you there?');
    await second.see('article.answer', 'The second has taken over.');
    assert.equal(await second.count('tk-banner .banner'), 0);
    await tab.screenshot('survivor');
  });
});
