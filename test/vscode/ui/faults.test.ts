import assert from 'node:assert/strict';
import { openChat, type ChatSession } from '../../support/chat/chatSession';
import { after as afterwards, hold, httpFault, overloaded, rateLimited, reply } from '../../support/messagesApi/messagesApiScript';
import { waitFor } from '../../support/waitFor';

describe('when something goes wrong', () => {
  let session: ChatSession;

  before(async () => {
    // A snapshot of the long paste would be written beside the turns, and take the answers that are meant for them.
    session = await openChat({ window: 60_000, settings: { 'threadkeeper.checkpoint.enabled': false } });
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('does not send an empty message', async () => {
    const { chat, api } = session;
    const before = api.messages.length;
    await chat.send('   ');
    assert.notEqual(await (await chat.locator('tk-composer .send')).getAttribute('disabled'), null);
    assert.equal(await chat.draft(), '   ');
    assert.equal(api.messages.length, before);
  });

  it('keeps a 300 KB paste whole and sends its beginning and end', async () => {
    const { chat, api } = session;
    const paste = `FIRST LINE\n${'All work and no play makes the log a dull read. '.repeat(6_400)}\nLAST LINE`;
    assert.ok(paste.length > 300_000);
    await chat.ask(paste);
    await chat.see('article.user-message', 'Very long: the model is sent its beginning and end');
    const sent = JSON.stringify(api.messages.at(-1)!.body);
    assert.ok(sent.includes('FIRST LINE') && sent.includes('LAST LINE') && sent.length < 120_000, `${sent.length} characters`);
  });

  it('queues a second message while it is busy, and sends it afterwards', async () => {
    const { chat, api } = session;
    const gate = hold();
    api.enqueue(reply('first ', gate, 'done'), reply('second done'));
    await chat.send('one at a time');
    await chat.see('article.answer', 'first');
    await chat.send('and then this');
    await chat.see('tk-queue', 'and then this');
    gate.release();
    await chat.see('article.answer', 'second done');
    assert.equal((await chat.texts('article.user-message .user-text')).filter((text) => text === 'and then this').length, 1);
  });

  it('sends a queued message at once when asked to: the answer keeps what it has said, the rest of the queue waits, in its order', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply('said before you came ', hold(), 'never said'), reply('at once'), reply('next'), reply('last in line'));
    await chat.send('a long question');
    await chat.see('article.answer', 'said before you came');
    for (const text of ['queued first', 'queued second', 'queued third']) {
      await chat.send(text);
      await chat.see('tk-queue', text);
    }
    await chat.press('Move up queued message: queued second');
    await waitFor('the new order', async () => (await chat.texts('.queue .chip-text'))[0] === 'queued second');
    await workbench.screenshot('queue');
    await chat.press('Stop the answer and send now: queued third');
    await chat.see('article.answer', 'last in line');
    const asked = (await chat.texts('article.user-message .user-text')).filter((text) => text.startsWith('queued'));
    assert.deepEqual(asked, ['queued third', 'queued second', 'queued first']);
    assert.ok(!(await chat.texts('article.answer')).some((text) => text.includes('never said')));
  });

  it('goes on streaming while the view is closed, and shows all of it when it opens again', async () => {
    const { chat, api, workbench } = session;
    const gate = hold();
    api.enqueue(reply('before the view was closed, ', gate, 'and after.'));
    await chat.send('keep going');
    await chat.see('article.answer', 'before the view was closed');
    await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
    gate.release();
    await waitFor('the turn to end', async () => !(await workbench.statusText('context')).includes('~'));
    await chat.see('article.answer', 'before the view was closed, and after.');
    assert.equal((await chat.texts('article.user-message .user-text')).filter((text) => text === 'keep going').length, 1);
  });

  it('counts down to a retry and gets there', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(overloaded(), rateLimited(6), reply('third time lucky'));
    await chat.send('try hard');
    await chat.see('tk-turn-status', /again in \d+ s/);
    await workbench.screenshot('retrying');
    await chat.see('article.answer', 'third time lucky');
  });

  it('stops on request and keeps what was shown', async () => {
    const { chat, api } = session;
    api.enqueue(reply('as far as it got ', hold(), 'never'));
    await chat.send('a long one');
    await chat.see('article.answer', 'as far as it got');
    await chat.press('Stop');
    await chat.see('.interrupted', 'Stopped');
    await chat.idle();
  });

  it('asks again for a message that was stopped before its answer', async () => {
    const { chat, api, workbench } = session;
    const gate = hold();
    api.enqueue(afterwards(gate, reply('Too late.')));
    await chat.send('Are you there?');
    await gate.reached;
    await chat.press('Stop');
    await chat.see('.remark', 'No answer yet');
    await workbench.screenshot('stopped-before-the-answer');
    api.enqueue(reply('Here I am.'));
    await chat.press('Try again');
    await chat.see('article.answer', 'Here I am.');
    await chat.idle();
    assert.deepEqual(
      [
        await chat.count('.user-message + .remark'),
        (await chat.texts('article.user-message .user-text')).filter((text) => text === 'Are you there?').length,
      ],
      [0, 1],
    );
  });

  it('says what to do about a refused key, and tries again without repeating the message', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(httpFault(401, 'authentication_error', 'invalid x-api-key'), reply('now it works'));
    await chat.send('who goes there?');
    await chat.see('.error-row', 'The API key was refused');
    await workbench.screenshot('refused-key');
    await chat.press('Try again');
    await chat.see('article.answer', 'now it works');
    assert.equal((await chat.texts('article.user-message .user-text')).filter((text) => text === 'who goes there?').length, 1);
  });

  it('says that the address cannot be reached', async () => {
    const { chat, server, workbench } = session;
    await server.writeSettings({ 'threadkeeper.anthropic.baseUrl': 'http://127.0.0.1:59999', 'threadkeeper.model': 'claude-far-away' });
    await workbench.reload();
    await chat.see('tk-composer .model-button', 'claude-far-away');
    await chat.send('anyone there?');
    await chat.see('.error-row', /connection failed.*Your message is saved/s);
    await workbench.screenshot('unreachable');
  });

  it('says that the provider does not know the model', async () => {
    const { chat, server, api, workbench } = session;
    await server.writeSettings({ 'threadkeeper.anthropic.baseUrl': api.url, 'threadkeeper.model': 'claude-unheard-of' });
    await workbench.reload();
    await waitFor('the provider to be asked about it', () => api.requests.some(({ path }) => path.includes('claude-unheard-of')));
    await chat.press('Try again');
    await chat.see('.error-row', /does not know the model.*claude-unheard-of/s);
  });
});
