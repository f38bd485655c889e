import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChatPage } from '../../support/view/chatPage';
import { words } from '../../support/chat/chatSession';
import { chineseTexts } from '../../support/vscode/chinese';
import { inOrder } from '../../support/chat/inOrder';
import { openVscode, type VscodeSession } from '../../support/vscode/openVscode';
import { projectRoot } from '../../support/paths';
import { SessionsPage } from '../../support/view/sessionsPage';

const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.nls.zh-cn.json'), 'utf8')) as Record<string, string>;

/** Neither a word of English nor a name: what a text that was forgotten would show. */
const englishWords = /\b(?!Threadkeeper|VS|Code|Ollama|Claude|API|OpenAI|offline|token|report|part|term)[a-z]{3,} [a-z]{3,}/i;

describe('in Chinese', function () {
  inOrder(this);
  let session: VscodeSession;
  let chat: ChatPage;

  before(async () => {
    session = await openVscode({ language: 'zh-cn', env: { ANTHROPIC_API_KEY: undefined } });
    chat = new ChatPage(session.workbench);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('begins with the ways to an answer', async () => {
    await chat.see('.first-run', chinese('Try offline'));
    console.log(`      the first window can be used after ${session.sinceOpened()} s`);
    assert.deepEqual(
      await chat.texts('.first-run vscode-button'),
      ['Set API key', 'Use a VS Code language model', 'Use Ollama', 'Use an OpenAI-compatible server', 'Try offline'].map(chinese),
    );
    await session.workbench.screenshot('chinese-first-run');
    await inChinese('tk-app');
  });

  it('answers offline', async () => {
    await chat.press(chinese('Try offline'));
    await chat.ask('你好');
    await chat.see('article.answer', chinese('Offline: searches your files, notes and past chats. No AI answers.'));
    await chat.ask('灯塔在哪里？');
    await inChinese('tk-app');
  });

  it('compacts', async () => {
    const { workbench } = session;
    for (let i = 0; i < 3; i++) await chat.ask(words(700, i));
    await workbench.runCommand(`Threadkeeper: ${manifest['command.compact']}`);
    await workbench.page.locator('.monaco-editor', { hasText: chinese('The summary') }).waitFor();
    await workbench.screenshot('chinese-preview');
    await workbench.runCommand(`Threadkeeper: ${manifest['command.applyPreview']}`);
    await chat.see('.compaction-card', chinese('extractive summary'));
    await chat.press(chinese('Show summary'));
    await workbench.screenshot('chinese-compaction');
  });

  it('lists the sessions', async () => {
    const { workbench } = session;
    const sessions = new SessionsPage(workbench, manifest['view.sessions']);
    await sessions.open();
    await sessions.row('你好').waitFor();
    await workbench.screenshot('chinese-sessions');
    assert.doesNotMatch((await sessions.rows()).join('\n'), englishWords);
  });

  it('offers models and policies', async () => {
    const { workbench } = session;
    for (const command of ['selectModel', 'selectPolicy']) {
      await workbench.runCommand(`Threadkeeper: ${manifest[`command.${command}`]}`);
      await workbench.quickInput.waitUntilOpen(manifest[`command.${command}`]!.replace('…', ''));
      await workbench.page.locator('.quick-input-list .monaco-list-row').first().waitFor();
      await workbench.screenshot(`chinese-${command}`);
      await workbench.quickInput.close();
    }
  });

  async function inChinese(selector: string): Promise<void> {
    assert.doesNotMatch((await chat.texts(selector)).join('\n'), englishWords);
  }
});

/** Fails for a text that the program does not have. */
function chinese(english: string): string {
  const text = chineseTexts[english];
  assert.ok(text, `There is no Chinese for “${english}”.`);
  return text;
}
