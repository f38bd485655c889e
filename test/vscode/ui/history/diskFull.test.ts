import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { hold, reply } from '../../../support/messagesApi/messagesApiScript';
import { mountSmallDisk, type SmallDisk } from '../../../support/store/smallDisk';

/** What the history is on fills up; everything else has room. */
describe('a disk that is full', function () {
  inOrder(this);
  let session: ChatSession | undefined;
  let disk: SmallDisk | null = null;
  let dataFolder = '';

  before(async function () {
    dataFolder = mkdtempSync(join(tmpdir(), 'threadkeeper-full-'));
    const storage = join(dataFolder, 'data', 'User', 'workspaceStorage');
    mkdirSync(storage, { recursive: true });
    disk = mountSmallDisk(storage, 4);
    if (!disk) this.skip();
    session = await openChat({ window: 60_000, dataFolder });
    session.api.enqueue(reply('The tide turns at noon.'));
    await session.chat.ask('When does the tide turn?');
    await session.chat.see('article.answer', 'at noon');
  });
  afterEach(function () {
    return session?.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    disk?.remove();
    rmSync(dataFolder, { recursive: true, force: true, maxRetries: 5 });
  });

  const question = 'Does anybody hear this?';
  /** Longer than what is left of the last page that a file has, and not to be compressed. */
  const unsaid = `${question} ${randomBytes(9_000).toString('base64')}`;
  const userTexts = async () => {
    const texts = await session!.chat.texts('article.user-message .user-text');
    return texts.filter((text) => text !== '').map((text) => (text.startsWith(question) ? question : text));
  };

  it('sends nothing that it cannot save, says why, and sends it when there is room', async () => {
    const { chat, api, workbench } = session!;
    const before = api.messages.length;
    disk!.fill();
    await chat.send(unsaid);
    await chat.see('tk-app', /The disk is full.*Free some space/s);
    await workbench.screenshot('disk-full-unsent');
    assert.equal(api.messages.length, before);
    assert.equal(await chat.draft(), unsaid);
    disk!.free();
    api.enqueue(reply('Loud and clear.'));
    await chat.ask(unsaid);
    await chat.see('article.answer', 'Loud and clear.');
    assert.deepEqual(await userTexts(), ['When does the tide turn?', question]);
  });

  it('keeps what was saved when it fills up in mid-answer, and answers when there is room', async () => {
    const { chat, api, workbench } = session!;
    const gate = hold();
    api.enqueue(reply('It begins ', gate, `and goes on ${'and on '.repeat(3000)}`));
    await chat.send('Tell me a story');
    await chat.see('article.answer', 'It begins');
    disk!.fill();
    gate.release();
    await chat.see('.error-row', /The disk is full\. Your message is saved/);
    await workbench.screenshot('disk-full-answer');
    disk!.free();
    api.enqueue(reply('Once upon a time.'));
    await chat.press('Try again');
    await chat.see('article.answer', 'Once upon a time.');
    assert.equal((await userTexts()).filter((text) => text === 'Tell me a story').length, 1);
  });

  it('shows the history in a window that opens then, and writes again when there is room', async () => {
    const { chat, api, workbench } = session!;
    disk!.fill();
    await workbench.reload();
    await chat.see('article.answer', 'Once upon a time.');
    await chat.see('tk-banner', /The disk is full, so this history is read-only for now\. Free some space/);
    await workbench.screenshot('disk-full-readonly');
    disk!.free();
    await workbench.hideSideBar();
    await workbench.openView();
    api.enqueue(reply('Written again.'));
    await chat.ask('And now?');
    await chat.see('article.answer', 'Written again.');
    await workbench.reload();
    await chat.see('article.answer', 'Written again.');
    assert.deepEqual(await userTexts(), ['When does the tide turn?', question, 'Tell me a story', 'And now?']);
  });
});
