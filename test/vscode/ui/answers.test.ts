import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openChat, smallModel, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { reply } from '../../support/messagesApi/messagesApiScript';
import { themes } from '../../support/view/themes';
import { waitFor } from '../../support/waitFor';

const fence = '```';

/** What can be done with an answer in a real window, told in order. */
describe('answers one can act on', function () {
  inOrder(this);
  let session: ChatSession;
  const file = (path: string) => join(session.folder, path);
  const text = (path: string) => readFile(file(path), 'utf8');
  const dialog = (name: string) =>
    session.workbench.page
      .locator(':is(.notification-toast, .notifications-center) .notifications-list-container')
      .getByRole('button', { name, exact: true });

  before(async () => {
    // A terminal that draws with the graphics card has no text in the document.
    session = await openChat({ window: 60_000, settings: { 'files.autoSave': 'off', 'terminal.integrated.gpuAcceleration': 'off' } });
    // Several lines go through the clipboard, which the browser's VS Code asks for.
    await session.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await writeFile(file('src/list.txt'), 'one\ntwo\nthree\n');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('links the files that are there, and shows long code shortened', async () => {
    const { chat, api, workbench } = session;
    const long = Array.from({ length: 60 }, (_, at) => `const line${at} = ${at};`).join('\n');
    const words = 'The table is in `src/table.js`, the tide in src/tide.js:2. There is no src/moon.js.';
    api.enqueue(reply(`${words}\n\n${fence}ts\n${long}\n${fence}`));
    await chat.ask('Where is the tide?');
    await waitFor('the links', async () => (await chat.texts('article.answer a')).length === 2);
    assert.deepEqual(await chat.texts('article.answer a'), ['src/table.js', 'src/tide.js:2']);
    await chat.see('.code-more', 'Show all 60 lines');
    await (await chat.see('article.answer a', 'src/tide.js:2')).click();
    await workbench.page.locator('.tab', { hasText: 'tide.js' }).waitFor();
    await workbench.page.locator('.statusbar-item', { hasText: 'Ln 2, Col 1' }).waitFor();
    await workbench.screenshot('answers-links');
  });

  it('applies code to the file that it names once the difference is accepted', async () => {
    const { chat, api, workbench } = session;
    const changed = 'one\n2\nthree';
    api.enqueue(reply(`Write it so:\n\n${fence}text title="src/list.txt"\n${changed}\n${fence}`));
    await chat.ask('Shorten the list');
    await (await chat.frame()).getByRole('button', { name: 'Apply to file…' }).last().click();
    await workbench.page.locator('.tab', { hasText: 'list.txt (change)' }).waitFor();
    await dialog('Apply').waitFor();
    assert.equal(await text('src/list.txt'), 'one\ntwo\nthree\n');
    await workbench.screenshot('answers-apply');
    await dialog('Apply').click();
    await waitFor('the file', async () => (await text('src/list.txt')) === 'one\n2\nthree\n');
  });

  it('says why a file is asked about', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply(`A task:\n\n${fence}json .vscode/tasks.json\n{}\n${fence}`));
    await chat.ask('Make a task');
    await (await chat.frame()).getByRole('button', { name: 'Apply to file…' }).last().click();
    await workbench.page.getByText('VS Code runs tasks, debuggers and servers from this file.').first().waitFor();
    await workbench.screenshot('answers-apply-guarded');
  });

  it('applies code that names no file to the one in the editor, not to what is shown beside it', async () => {
    const { chat, api, workbench } = session;
    await workbench.page.locator('.tab', { hasText: 'tasks.json (new file)' }).waitFor();
    api.enqueue(reply(`${fence}ts\nlet nobody;\n${fence}`));
    await chat.ask('Declare it');
    await (await chat.frame()).getByRole('button', { name: 'Apply to file…' }).last().click();
    const refusal = 'Open the file first that this code belongs to: the code does not name one.';
    await chat.see('.problem', refusal);
    await chat.press('Dismiss');
  });

  it('writes nothing where that is refused, and puts away what it has shown', async () => {
    // It may have gone to the list of notifications, as it does after 12 s.
    await session.workbench.runCommand('Notifications: Show Notifications');
    await dialog('Discard').click();
    await waitFor('the preview to go', async () => (await session.workbench.page.locator('.tab', { hasText: 'tasks.json' }).count()) === 0);
    await assert.rejects(text('.vscode/tasks.json'));
  });

  it('runs a line in a terminal, and puts several there without running them', async () => {
    const { chat, api, workbench } = session;
    const lines = 'echo again > src/second.txt\necho more > src/third.txt';
    api.enqueue(reply(`${fence}bash\necho once > src/first.txt\n${fence}\n\n${fence}bash\n${lines}\n${fence}`));
    await chat.ask('Write a file');
    const run = (await chat.frame()).getByRole('button', { name: 'Run in Terminal' });
    await run.first().click();
    await waitFor('what the command wrote', () => text('src/first.txt').catch(() => null), { timeout: 30_000 });
    const rows = workbench.page.locator('.terminal-wrapper.active .xterm-rows');
    // Before it the shell would not know what is pasted from what is typed.
    await waitFor('the next prompt', async () => /first\.txt\s+\S/.test((await rows.innerText()).replaceAll('\u00a0', ' ')));
    await run.last().click();
    await rows.filter({ hasText: 'echo more' }).waitFor();
    await workbench.screenshot('answers-terminal');
    await assert.rejects(text('src/second.txt'));
  });

  it('looks as well in the dark and in the light', async () => {
    const { chat, api, workbench, server } = session;
    const settings = { 'threadkeeper.anthropic.baseUrl': api.url, 'threadkeeper.model': smallModel };
    for (const theme of ['dark', 'light'] as const) {
      await server.writeSettings({ ...settings, 'workbench.colorTheme': themes[theme] });
      await waitFor(`the ${theme} theme`, async () => (await chat.count(`:root:has(body[data-vscode-theme-id="${themes[theme]}"])`)) > 0);
      await workbench.screenshot(`answers-${theme}`);
    }
  });

  it('draws formulas', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply('The area is $\\pi r^2$, the sum\n\n$$\n\\sum_{i=1}^n i = \\frac{n(n+1)}{2}\n$$\n\nfor $5.'));
    await chat.ask('How much?');
    await waitFor('formulas', async () => (await chat.count('article.answer math')) === 2);
    await workbench.screenshot('formulas');
  });
});
