import { openChat, words, type ChatSession } from '../../support/chatSession';
import { reply } from '../../support/messagesApiScript';
import { themes } from '../../support/themes';

describe('themes', () => {
  let session: ChatSession;

  before(async () => {
    session = await openChat();
    session.api.enqueue(reply('A table, a list and code:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n```ts\nexport const answer: number = 42; // why not\n```\n\n> and a quotation'));
    await session.chat.ask('Show me how it looks');
    await session.chat.ask(`And something longer: ${words(1_500, 3)}`);
    await session.chat.ask('One more');
    await session.workbench.runCommand('Threadkeeper: Compact Conversation');
    await session.workbench.page.locator('.tab', { hasText: 'Compaction Preview' }).waitFor();
    await session.workbench.runCommand('Threadkeeper: Apply Compaction');
    await session.chat.see('.compaction-card', /Compacted/);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  for (const [name, theme] of Object.entries(themes)) {
    it(`draws the chat in ${name}`, async () => {
      const { server, api, chat, workbench } = session;
      await server.writeSettings({ 'threadkeeper.anthropic.baseUrl': api.url, 'threadkeeper.model': 'claude-test', 'workbench.colorTheme': theme });
      await chat.see(`body[data-vscode-theme-id="${theme}"] tk-gauge`, /k/);
      await workbench.screenshot(`theme-${name}`);
    });
  }
});
