import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import { openChat, smallModel, type ChatSession } from '../../support/chat/chatSession';
import { everyCard, fullSession, toBeDamaged, writeEveryCard } from '../../support/view/everyCard';
import { rateLimited, reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { SessionsPage } from '../../support/view/sessionsPage';
import { themes } from '../../support/view/themes';
import { waitFor } from '../../support/waitFor';
import { damageText, prepareHistory, type PreparedHistory } from '../../support/store/writeHistory';
import { axeViolations } from '../../webview/support/axe';

const settings = {
  'threadkeeper.compaction.whenFull': 'ask',
  'threadkeeper.memoryFlush.enabled': false,
  'threadkeeper.checkpoint.enabled': false,
  'threadkeeper.compaction.prepareAtPercent': 0,
};
const approval = 'Change the reader';
const retrying = 'Is anybody there?';
const offline = 'Where is the tide table kept?';

/** Everything that the extension draws, in the colours that VS Code gives it. The pictures are to be looked at. */
describe('in every theme', () => {
  let session: ChatSession;
  let sessions: SessionsPage;
  let history: PreparedHistory;

  before(async () => {
    history = await prepareHistory(writeEveryCard);
    // So that it has something to say of itself.
    await damageText(history.storeFile, toBeDamaged);
    session = await openChat({
      ...history.options,
      env: { ANTHROPIC_API_KEY: undefined },
      settings,
      viewport: { width: 1400, height: 2600 },
    });
    sessions = new SessionsPage(session.workbench);
    await sessions.open();
    await widenSideBar();
    // A session that waits spins through the whole story, and every one of its pictures draws 2,600 lines anew, without a graphics card.
    await session.workbench.page.addStyleTag({ content: '.codicon-modifier-spin { animation: none !important; }' });
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    await history?.remove();
  });

  it('the page without a key is drawn', async () => {
    const { workbench, chat } = session;
    await workbench.runCommand('Threadkeeper: New Session');
    await chat.see('.first-run', 'Try offline');
    await chat.see('tk-banner', 'Part of your history is damaged');
    const problems: string[] = [];
    for (const [name, theme] of Object.entries(themes)) {
      await choose(theme);
      problems.push(...(await problemsOf(name, 'first-run', await chat.frame())));
    }
    assert.deepEqual(problems, []);
  });

  describe('every card of the chat, and both panels,', () => {
    before(async () => {
      const { api, chat, workbench } = session;
      await workbench.runCommand('Threadkeeper: New Session');
      await chat.press('Try offline');
      await chat.ask(offline);
      await chat.see('article.answer', 'No AI answers');
      await workbench.runCommand('Threadkeeper: Set API Key…');
      await workbench.quickInput.waitUntilOpen('Set API Key');
      await workbench.quickInput.accept(api.apiKey);
      await chat.see('tk-composer .model-button', smallModel);
      await begin(approval);
      api.enqueue(reply('I would do this:', toolCall('run_command', { command: 'npm test && node src/cli.js north' })));
      await chat.send(approval);
      await chat.see('.approval-detail', 'npm test');
      await begin(retrying);
      await chat.ask(retrying);
      await open(fullSession);
      await chat.send('And what follows from it?');
      await chat.see('.full-card', /% full/);

      await open(everyCard);
      await expand();
      await workbench.runCommand('Threadkeeper: Show Context Breakdown');
      await workbench.webview('tk-breakdown h1');
      await workbench.runCommand('Threadkeeper: Show Analytics');
      await workbench.webview('tk-analytics h1');
    });

    for (const [name, theme] of Object.entries(themes)) {
      it(`is drawn in ${name}`, async () => {
        const { api, chat, workbench } = session;
        const problems: string[] = [];
        const look = async (what: string, frame: Promise<Frame>, behind?: 'editor') =>
          problems.push(...(await problemsOf(name, what, await frame, behind)));
        await choose(theme);
        await open(everyCard);
        await look('cards', chat.frame());
        // One behind the other: a panel that is moved to a group of its own stays blank in VS Code 1.100.
        for (const [what, tab] of [
          ['breakdown', 'Context Breakdown'],
          ['analytics', 'Analytics'],
        ] as const) {
          await workbench.page.locator('.tab', { hasText: tab }).click();
          await look(what, workbench.webview(`tk-${what} h1`), 'editor');
        }
        await (await chat.locator('tk-gauge [role=meter]')).hover();
        await chat.see('tk-gauge', 'Compact now');
        await look('gauge', chat.frame());
        for (const [what, title, seen] of [
          ['approval', approval, '.approval'],
          ['full', fullSession, '.full-card'],
          ['offline', offline, 'article.answer'],
        ] as const) {
          await open(title);
          await chat.see(seen, /./);
          await look(what, chat.frame());
        }
        await open(retrying);
        api.enqueue(rateLimited(60), rateLimited(60));
        await chat.send('And now?');
        await chat.see('tk-turn-status', /again in \d+ s/);
        await look('retrying', chat.frame());
        // Before it gives up: that would be another card.
        await (await chat.locator('tk-composer .stop')).click();
        await chat.idle();
        assert.deepEqual(problems, []);
      });
    }
  });

  async function begin(title: string): Promise<void> {
    await session.chat.press('New session');
    await waitFor(`an empty chat for "${title}"`, async () => (await session.chat.count('article')) === 0);
  }

  async function open(title: string): Promise<void> {
    // A session that comes into being moves the rows below it, sometimes under the click.
    let top = false;
    await waitFor(`"${title}" to be open`, async () => {
      await sessions.scrollTo((top = !top) ? 'top' : 'end');
      await sessions.row(title).click({ timeout: 5_000 });
      await (await session.chat.locator('tk-header')).filter({ hasText: title }).waitFor({ timeout: 5_000 });
      return true;
    });
  }

  /** One row of every kind that has something to open. */
  async function expand(): Promise<void> {
    for (const row of ['.compaction-card.live', '.thinking', '.tool.error', '.checkpoint', '.nudge']) {
      const closed = (await session.chat.locator(`${row} [aria-expanded=false]`)).first();
      if ((await closed.count()) > 0) await closed.click();
    }
  }

  async function widenSideBar(): Promise<void> {
    const { page } = session.workbench;
    const { x, width } = (await page.locator('.part.sidebar').boundingBox())!;
    await page.mouse.move(x + width, 700);
    await page.mouse.down();
    await page.mouse.move(x + width + 250, 700, { steps: 5 });
    await page.mouse.up();
  }

  async function choose(theme: string): Promise<void> {
    const { server, api, chat } = session;
    await server.writeSettings({
      ...settings,
      'threadkeeper.anthropic.baseUrl': api.url,
      'threadkeeper.model': smallModel,
      'workbench.colorTheme': theme,
    });
    await waitFor(theme, async () => (await chat.count(`:root:has(body[data-vscode-theme-id="${theme}"])`)) > 0);
  }

  /** By every rule in one theme, by what a change of colours can break in the others. */
  async function problemsOf(theme: string, what: string, frame: Frame, behind: 'sideBar' | 'editor' = 'sideBar'): Promise<string[]> {
    await session.workbench.screenshot(`theme-${theme}-${what}`);
    // The page is transparent, and what stands behind it in another document: axe would take that for white.
    await frame.evaluate(`document.documentElement.style.backgroundColor = 'var(--vscode-${behind}-background)'`);
    const violations = await axeViolations({ page: frame }, theme === 'dark' ? undefined : ['color-contrast', 'link-in-text-block']);
    return violations.map((violation) => `${what}: ${violation}`);
  }
});
