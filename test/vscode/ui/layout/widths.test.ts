import assert from 'node:assert/strict';
import { openChat, smallModel, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { hold, reply, toolCall, type Hold } from '../../../support/messagesApi/messagesApiScript';
import { prepareHistory, type PreparedHistory } from '../../../support/store/writeHistory';
import { ChatPage } from '../../../support/view/chatPage';
import { everyCard, writeEveryCard } from '../../../support/view/everyCard';
import { overflowing } from '../../../support/view/overflow';
import { SessionsPage } from '../../../support/view/sessionsPage';
import { themes } from '../../../support/view/themes';
import { waitFor } from '../../../support/waitFor';
import { axeViolations } from '../../../webview/support/axe';

const settings = {
  'threadkeeper.compaction.whenFull': 'compact',
  'threadkeeper.memoryFlush.enabled': false,
  'threadkeeper.checkpoint.enabled': false,
};
const widths = [200, 320, 600] as const;
const fence = '```';
/** What is wide by itself: a path, a word, code, a table, a formula. */
const wide = [
  `See src/${'very/'.repeat(12)}deep/file.ts:120 and \`${'aLongName'.repeat(12)}\`, ${'unbroken'.repeat(20)}.`,
  '$$\n\\sum_{i=1}^{n} i^2 + \\int_0^1 x^2 dx + \\frac{a+b+c+d+e+f+g+h+i+j+k+l+m}{2} = \\prod_{k=1}^{9} k\n$$',
  `| ${Array.from({ length: 9 }, (_, at) => `column ${at}`).join(' | ')} |\n|${'---|'.repeat(9)}\n| ${'cell | '.repeat(9)}`,
  `${fence}ts title="src/list.ts"\n${'const value = compute(first, second, third); '.repeat(5)}\n${fence}`,
].join('\n\n');
const todos = [
  { text: `Read ${'src/'.repeat(30)}tide.js`, status: 'done' },
  { text: 'Intern the names of all of the stations that the table has, in one pass', status: 'in_progress' },
];

/** Every row there can be and everything around them, as narrow and as wide as people have it. */
describe('a chat of any width', function () {
  inOrder(this);
  let history: PreparedHistory;
  let session: ChatSession;
  let editor: ChatPage;
  let held: Hold;

  before(async () => {
    history = await prepareHistory(writeEveryCard);
    session = await openChat({ ...history.options, window: 60_000, settings, viewport: { width: 1000, height: 1500 } });
    editor = new ChatPage(session.workbench, 'editor');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    held?.release();
    await session?.close();
    await history?.remove();
  });

  it('fits into the side bar with every row there is', async () => {
    await openSession(everyCard);
    assert.deepEqual(await inSideBar('cards'), []);
  });

  it('fits into the side bar with what is wide, a list of tasks, a queue and a question', async () => {
    const { api, chat } = session;
    await chat.press('New session');
    await waitFor('an empty chat', async () => (await chat.count('article')) === 0);
    held = hold();
    api.enqueue(reply(toolCall('update_todos', { todos })), reply(wide));
    await chat.ask(`A question with ${'aWordWithoutEnd'.repeat(20)}`);
    await waitFor('the formula', async () => (await chat.count('article.answer math')) > 0);
    const change = { path: 'src/table.js', old_text: 'export function', new_text: `/** ${'Long. '.repeat(40)}*/\nexport function` };
    api.enqueue(reply('I would change it.', toolCall('edit_file', change)));
    await chat.send('Change it');
    await chat.see('.approval-title', 'Edit src/table.js');
    await chat.send(`This waits, ${'andWaits'.repeat(20)}`);
    await chat.see('tk-queue', 'This waits');
    await (await chat.locator('.todos-head')).click();
    assert.deepEqual(await inSideBar('busy'), []);
  });

  it('fits into an editor', async () => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Open Chat in Editor');
    await editor.see('.approval-title', 'Edit src/table.js');
    await workbench.hideSideBar();
    assert.deepEqual(await inEditor('busy'), []);
  });

  it('can be read in an editor in every theme', async () => {
    const { server, api, workbench } = session;
    await workbench.page.setViewportSize({ width: 700, height: 1500 });
    const problems: string[] = [];
    for (const [name, theme] of Object.entries(themes)) {
      await server.writeSettings({
        ...settings,
        'threadkeeper.anthropic.baseUrl': api.url,
        'threadkeeper.model': smallModel,
        'workbench.colorTheme': theme,
      });
      await waitFor(theme, async () => (await editor.count(`:root:has(body[data-vscode-theme-id="${theme}"])`)) > 0);
      await workbench.screenshot(`width-editor-${name}`);
      const frame = await editor.frame();
      // The page is transparent, and what stands behind it in another document: axe would take that for white.
      await frame.evaluate(`document.documentElement.style.backgroundColor = 'var(--vscode-editor-background)'`);
      problems.push(...(await axeViolations({ page: frame })).map((violation) => `${name}: ${violation}`));
    }
    assert.deepEqual(problems, []);
  });

  async function openSession(title: string): Promise<void> {
    const sessions = new SessionsPage(session.workbench);
    await sessions.open();
    await sessions.click(title, async () => (await session.chat.texts('tk-header')).some((text) => text.includes(title)));
    // So that the chat has the height.
    await sessions.pane().locator('.pane-header').click();
  }

  async function inSideBar(what: string): Promise<string[]> {
    const { page } = session.workbench;
    return atEveryWidth(`side-bar-${what}`, session.chat, async (width) => {
      const box = (await page.locator('.part.sidebar').boundingBox())!;
      await page.mouse.move(box.x + box.width, 700);
      await page.mouse.down();
      await page.mouse.move(box.x + width, 700, { steps: 5 });
      await page.mouse.up();
      // Away from the border, which lights up under it.
      await page.mouse.move(box.x + width + 100, 20);
    });
  }

  async function inEditor(what: string): Promise<string[]> {
    const { page } = session.workbench;
    const beside = (await page.locator('.part.editor').boundingBox())!.x;
    return atEveryWidth(`editor-${what}`, editor, (width) => page.setViewportSize({ width: beside + width, height: 1500 }));
  }

  async function atEveryWidth(what: string, chat: ChatPage, widen: (width: number) => Promise<void>): Promise<string[]> {
    const problems: string[] = [];
    for (const width of widths) {
      await widen(width);
      const frame = await chat.frame();
      await waitFor(`${width} pixels`, async () => Math.abs((await frame.evaluate<number>('window.innerWidth')) - width) <= 25);
      for (const end of ['top', 'bottom'] as const) {
        await frame.evaluate(`(() => {
          const scroller = document.querySelector('tk-transcript .scroller') ?? document.querySelector('.scroller');
          scroller.scrollTop = ${end === 'top' ? 0 : 1e9};
          return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        })()`);
        await session.workbench.screenshot(`width-${what}-${width}-${end}`);
        problems.push(...(await overflowing(frame)).map((one) => `${what}, ${width}, ${end}: ${one}`));
      }
    }
    return problems;
  }
});
