import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { reply } from '../../../support/messagesApi/messagesApiScript';
import { ollamaEmbedder, startOllamaServer } from '../../../support/servers/ollamaServer';
import { waitFor } from '../../../support/waitFor';

/** An embedding model of Ollama, which reads along and then goes away. */
describe('Search History… by meaning', function () {
  inOrder(this);
  let session: ChatSession;
  let ollama: Awaited<ReturnType<typeof startOllamaServer>>;

  before(async () => {
    ollama = await startOllamaServer();
    session = await openChat({
      settings: {
        'threadkeeper.ollama.baseUrl': ollama.url,
        'threadkeeper.recall.embeddings': { provider: 'ollama', model: ollamaEmbedder },
      },
    });
    session.api.enqueue(reply('Noted for the winter.'));
    await session.chat.ask('The saloon needs new tyres.');
    await session.chat.see('article.answer', 'Noted for the winter.');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  const rows = async () => (await session.workbench.page.locator('.quick-input-list .monaco-list-row').allInnerTexts()).join('\n');
  const search = async (text: string) => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Search History…');
    await workbench.quickInput.waitUntilOpen('Search History');
    await workbench.quickInput.type(text);
  };

  it('finds what has none of the words once the model has read it, and says so', async () => {
    const { workbench } = session;
    await waitFor('the message to be read', () =>
      ollama.requests.some(({ path, body }) => path === '/api/embed' && JSON.stringify(body).includes('saloon')),
    );
    await search('automobile');
    await waitFor('the hit', async () => /The saloon needs new tyres[^]*· by meaning/.test(await rows()));
    await workbench.screenshot('search-by-meaning');
    await workbench.quickInput.close();
  });

  it('goes by words when the server is away, and says that', async () => {
    const { workbench } = session;
    await ollama.close();
    await search('tyres');
    await waitFor('the hit and the note', async () =>
      /The saloon needs new tyres[^]*Searched by words alone\. The embedding server does not answer/.test(await rows()),
    );
    await workbench.screenshot('search-by-words-alone');
    await workbench.quickInput.close();
  });
});
