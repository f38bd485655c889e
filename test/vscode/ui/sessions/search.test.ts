import assert from 'node:assert/strict';
import { openChat, smallModel, words, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { reply } from '../../../support/messagesApi/messagesApiScript';
import { ollamaEmbedder, startOllamaServer } from '../../../support/servers/ollamaServer';
import { waitFor } from '../../../support/waitFor';

/**
 * Two sessions; the beginning of the first is folded. Then an embedding model of Ollama reads along, and goes away. Each step builds on the
 * ones before.
 */
describe('Search History…', function () {
  inOrder(this);
  let session: ChatSession;

  before(async () => {
    session = await openChat({ window: 12_000, settings: { 'threadkeeper.compaction.review': 'never' } });
    const { api, chat, workbench } = session;
    api.enqueue(reply('The keeper of the northern lighthouse is called Amaranth.'));
    await chat.ask('Who keeps the northern lighthouse?');
    for (let i = 0; i < 4; i++) {
      api.enqueue(reply(`Noted, part ${i}.`));
      await chat.ask(`Part ${i} of the log: ${words(700, i)}`);
      await chat.see('article.answer', `Noted, part ${i}.`);
    }
    await workbench.runCommand('Threadkeeper: Compact Conversation');
    await chat.see('.compaction-card', /Compacted \d+ messages/);
    await workbench.runCommand('Threadkeeper: New Session');
    await waitFor('an empty chat', async () => (await chat.count('article.user-message')) === 0);
    api.enqueue(reply('Mooring costs four crowns.'));
    await chat.ask('What are the harbour fees?');
    await chat.see('article.answer', 'four crowns');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  const search = async (text: string) => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Search History…');
    await workbench.quickInput.waitUntilOpen('Search History');
    await workbench.quickInput.type(text);
  };
  const found = () => session.workbench.quickInput.labels();

  it('finds what another session has folded, and goes there', async () => {
    const { chat, workbench } = session;
    await search('Amaranth');
    await waitFor('the hit', async () => (await found())[0]?.includes('is called Amaranth'));
    await workbench.screenshot('search-found');
    await workbench.quickInput.accept();
    const row = await chat.see('article.answer', 'is called Amaranth');
    await waitFor('the message to be on screen', async () => {
      const box = await row.boundingBox();
      return box !== null && box.y >= 0 && box.y < 800;
    });
    await workbench.screenshot('search-revealed');
    assert.equal(await chat.count('.compaction-card'), 1, 'the fold stays as it is');
  });

  it('goes by role and by session, and says when there is nothing', async () => {
    const { workbench } = session;
    await search('harbour crowns role:user');
    await waitFor('the question alone', async () => (await found()).join() === 'What are the harbour fees?');
    await workbench.quickInput.type('harbour crowns role:assistant');
    await waitFor('the answer alone', async () => (await found()).join() === 'Mooring costs four crowns.');
    await workbench.screenshot('search-filtered');
    await workbench.quickInput.type('Amaranth after:2020-01-01 tag:none');
    await waitFor('nothing', async () => (await found()).join() === 'Nothing found');
    await workbench.quickInput.close();
  });

  it('changes nothing when it is closed, and finds the way back to the other session', async () => {
    const { chat, workbench } = session;
    await chat.see('article.answer', 'is called Amaranth');
    await search('four crowns');
    await waitFor('the hit', async () => (await found())[0]?.includes('four crowns'));
    await workbench.quickInput.accept();
    await chat.see('article.answer', 'four crowns');
    assert.equal(await chat.count('article.user-message'), 1);
  });

  describe('by meaning', () => {
    const rows = async () => (await session.workbench.page.locator('.quick-input-list .monaco-list-row').allInnerTexts()).join('\n');
    let ollama: Awaited<ReturnType<typeof startOllamaServer>>;

    before(async () => {
      ollama = await startOllamaServer();
      await session.server.writeSettings({
        'threadkeeper.anthropic.baseUrl': session.api.url,
        'threadkeeper.model': smallModel,
        'threadkeeper.ollama.baseUrl': ollama.url,
        'threadkeeper.recall.embeddings': { provider: 'ollama', model: ollamaEmbedder },
      });
      session.api.enqueue(reply('Noted for the winter.'));
      await session.chat.ask('The saloon needs new tyres.');
      await session.chat.see('article.answer', 'Noted for the winter.');
    });
    after(() => ollama?.close());

    it('finds what has none of the words once the model has read it, and says so', async () => {
      const { workbench } = session;
      await waitFor('the message to be read', () =>
        ollama.requests.some(({ path, body }) => path === '/api/embed' && JSON.stringify(body).includes('saloon')),
      );
      // A search waits 400 ms for the meaning of its words, and the message may not be stored yet: a later one finds it.
      await waitFor('the hit', async () => {
        await search('automobile');
        return waitFor('rows', async () => /The saloon needs new tyres[^]*· by meaning/.test(await rows()), { timeout: 3_000 });
      });
      await workbench.screenshot('search-by-meaning');
      await workbench.quickInput.close();
    });

    it('goes by words when the server is away, and says that', async () => {
      const { workbench } = session;
      await ollama.close();
      await waitFor('the hit and the note', async () => {
        await search('tyres');
        const note = /The saloon needs new tyres[^]*Searched by words alone\. The embedding server does not answer/;
        return waitFor('rows', async () => note.test(await rows()), { timeout: 3_000 });
      });
      await workbench.screenshot('search-by-words-alone');
      await workbench.quickInput.close();
    });
  });
});
