import assert from 'node:assert/strict';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { hold, reply } from '../../../support/messagesApi/messagesApiScript';
import { waitFor } from '../../../support/waitFor';

describe('when the window is reloaded in mid-stream', () => {
  let session: ChatSession;

  before(async () => {
    session = await openChat({ window: 60_000 });
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  /** Everything after the reload: each text once, marked as stopped by the window and not by a crash. */
  async function assertKept(question: string, shown: string): Promise<void> {
    const { chat } = session;
    await chat.see('article.user-message', question);
    await chat.see('article.answer', shown);
    await chat.idle();
    const once = (texts: readonly string[], part: string) =>
      assert.equal(texts.filter((text) => text.includes(part)).length, 1, `${part} in ${texts.join(' | ')}`);
    once(await chat.texts('article.user-message .user-text'), question);
    once(await chat.texts('article.answer'), shown);
    assert.match((await chat.texts('.interrupted')).at(-1) ?? '', /Stopped/);
  }

  async function assertGoesOn(text: string, answer: string): Promise<void> {
    const { chat, api } = session;
    api.enqueue(reply(answer));
    await chat.ask(text);
    await chat.see('article.answer', answer);
    assert.equal((await chat.texts('article.user-message .user-text')).filter((one) => one === text).length, 1);
    assert.deepEqual(api.errors, []);
  }

  it('keeps what was written before the first message', async () => {
    const { chat, workbench } = session;
    await chat.type('half a thought');
    await workbench.reload();
    await waitFor('the draft', async () => (await chat.draft()) === 'half a thought');
    await workbench.screenshot('reload-first-draft');
    await chat.type('');
  });

  it('keeps the question and all that was shown', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply('The first half was shown, ', hold(), 'the second was not.'));
    await chat.send('What happens to half an answer?');
    await chat.see('article.answer', 'The first half was shown,');
    await workbench.reload();
    await assertKept('What happens to half an answer?', 'The first half was shown,');
    assert.equal(await chat.draft(), '');
    await assertGoesOn('And after the reload?', 'It goes on as before.');
  });

  it('puts a queued message back into the composer instead of sending it', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply('Another half was shown, ', hold(), 'and no more.'));
    await chat.send('And with something waiting?');
    await chat.see('article.answer', 'Another half was shown,');
    await chat.send('I was waiting');
    await chat.see('tk-queue', 'I was waiting');
    const before = api.messages.length;
    await workbench.reload();
    await assertKept('And with something waiting?', 'Another half was shown,');
    await waitFor('the queued message in the composer', async () => (await chat.draft()) === 'I was waiting');
    assert.deepEqual([api.messages.length, await chat.count('tk-queue li')], [before, 0]);
    assert.equal((await chat.texts('article.user-message .user-text')).includes('I was waiting'), false);
    await assertGoesOn('I was waiting', 'Now you are served.');
    assert.equal(await chat.draft(), '');
  });
});
