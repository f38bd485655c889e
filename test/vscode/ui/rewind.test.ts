import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openChat, smallModel, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { themes } from '../../support/view/themes';
import { waitFor } from '../../support/waitFor';

/** Files and conversation taken back in a real window, told in order. */
describe('rewind', function () {
  inOrder(this);
  let session: ChatSession;
  const file = (path: string) => join(session.folder, path);
  const text = (path: string) => readFile(file(path), 'utf8');
  const becomes = (path: string, wanted: string | null) =>
    waitFor(`${path} as ${JSON.stringify(wanted)}`, async () =>
      wanted === null ? !existsSync(file(path)) : existsSync(file(path)) && (await text(path)) === wanted,
    );
  /** A turn with one call, which is allowed. */
  const turn = async (said: string, call: ReturnType<typeof toolCall>) => {
    const { api, chat } = session;
    api.enqueue(reply(call), reply(`Done: ${said}`));
    await chat.send(said);
    await chat.press(/^Allow$/);
    await chat.see('article.answer', `Done: ${said}`);
    await chat.idle();
  };
  const restore = async (said: string, scope: string) => {
    const { chat, workbench } = session;
    await (await chat.see('article.user-message', said)).hover();
    await (await chat.see('article.user-message', said)).getByRole('button', { name: 'Restore files and conversation' }).click();
    await workbench.quickInput.waitUntilOpen('Restore to before this message');
    await workbench.quickInput.pick(scope);
  };

  const own = { 'files.autoSave': 'off', 'threadkeeper.checkpoint.enabled': false };
  const settings = () => ({ ...own, 'threadkeeper.anthropic.baseUrl': session.api.url, 'threadkeeper.model': smallModel });
  /** Lines 0 to 39, some of them others, or none. */
  const long = (others: Readonly<Record<number, string | null>> = {}) =>
    Array.from({ length: 40 }, (_, n) => (others[n] === null ? '' : `${others[n] ?? `line ${n}`}\n`)).join('');

  before(async () => {
    session = await openChat({ window: 60_000, settings: own });
    await writeFile(file('src/edited.txt'), 'one\ntwo\nthree\n');
    await writeFile(file('src/gone.txt'), 'still here\n');
    execFileSync('git', ['-C', session.folder, 'init', '-q']);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('takes an edit, a created and a deleted file back, after they were looked at', async () => {
    const { workbench } = session;
    await turn('Edit it', toolCall('edit_file', { path: 'src/edited.txt', old_text: 'two', new_text: 'TWO' }));
    await turn('Create one', toolCall('create_file', { path: 'src/created.txt', content: 'new\n' }));
    await turn('Delete one', toolCall('run_command', { command: 'rm src/gone.txt' }));
    assert.deepEqual([await text('src/edited.txt'), existsSync(file('src/gone.txt'))], ['one\nTWO\nthree\n', false]);
    await restore('Edit it', 'Files only');
    await workbench.quickInput.waitUntilOpen('The selected files are restored');
    assert.deepEqual((await workbench.quickInput.labels()).sort(), ['src/created.txt', 'src/edited.txt', 'src/gone.txt']);
    await workbench.page.locator('.tab', { hasText: 'Restore Files' }).waitFor();
    await workbench.screenshot('rewind-preview');
    await workbench.quickInput.accept();
    await becomes('src/edited.txt', 'one\ntwo\nthree\n');
    await becomes('src/created.txt', null);
    await becomes('src/gone.txt', 'still here\n');
    await waitFor('the preview to be gone', async () => (await workbench.page.locator('.tab', { hasText: 'Restore Files' }).count()) === 0);
  });

  it('undoes the restore', async () => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Undo Last Restore of Files');
    await workbench.quickInput.waitUntilOpen('Undo Restore of Files');
    await workbench.quickInput.accept();
    await becomes('src/edited.txt', 'one\nTWO\nthree\n');
    await becomes('src/created.txt', 'new\n');
    await becomes('src/gone.txt', null);
  });

  it('leaves a file alone that has unsaved changes', async () => {
    const { workbench } = session;
    const { page, quickInput } = workbench;
    await workbench.openFile('edited.txt');
    const editor = page.locator('.editor-instance .view-lines').last();
    await editor.click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('MINE ');
    await page.locator('.tab.dirty', { hasText: 'edited.txt' }).waitFor();
    await restore('Edit it', 'Files only');
    await quickInput.waitUntilOpen('The selected files are restored');
    assert.deepEqual((await quickInput.labels()).sort(), ['src/created.txt', 'src/gone.txt']);
    await workbench.screenshot('rewind-unsaved');
    await quickInput.accept();
    await becomes('src/gone.txt', 'still here\n');
    assert.equal(await text('src/edited.txt'), 'one\nTWO\nthree\n');
    assert.equal(await page.locator('.tab.dirty', { hasText: 'edited.txt' }).count(), 1);
    await page.keyboard.press('Escape');
    await workbench.runCommand('Threadkeeper: Undo Last Restore of Files');
    await quickInput.waitUntilOpen('Undo Restore of Files');
    await quickInput.accept();
    await becomes('src/gone.txt', null);
  });

  it('says at the answer what it changed, and shows it; a change is kept or undone from there', async () => {
    const { api, chat, workbench } = session;
    const { page, quickInput } = workbench;
    const all: Readonly<Record<number, string | null>> = { 2: 'line TWO', 20: 'line TWENTY\nand more', 30: null };
    await writeFile(file('src/long.txt'), long());
    const edit = (old: string, now: string) => reply(toolCall('edit_file', { path: 'src/long.txt', old_text: old, new_text: now }));
    api.enqueue(edit('line 2\n', 'line TWO\n'), edit('line 20\n', 'line TWENTY\nand more\n'), edit('line 30\n', ''));
    api.enqueue(reply(toolCall('create_file', { path: 'src/extra.txt', content: 'extra\n' })), reply('Done: Edit three lines'));
    await chat.send('Edit three lines');
    for (const [i, there] of [{ 2: 'line TWO' }, { ...all, 30: 'line 30' }, all].entries()) {
      await chat.see('.approval', 'Edit src/long.txt');
      const done = await chat.count('.tool.ok');
      await chat.press(/^Allow$/);
      await becomes('src/long.txt', long(there));
      // Not the card of before.
      await waitFor(`edit ${i + 1} to be done`, async () => (await chat.count('.tool.ok')) > done);
    }
    await chat.see('.approval', 'Create src/extra.txt');
    await chat.press(/^Allow$/);
    await chat.see('article.answer', 'Done: Edit three lines');
    await chat.idle();
    const row = await chat.see('.changes button', '2 files, +4 −3');
    await workbench.screenshot('rewind-row');
    await row.click();
    await page.locator('.tab', { hasText: 'Changes of the last answer' }).waitFor();
    await page.locator('.multiDiffEntry', { hasText: 'long.txt' }).waitFor();
    await workbench.screenshot('rewind-review');
    // By words: a change, then what becomes of it.
    const decide = async (what: string, answer: string) => {
      await workbench.runCommand('Threadkeeper: Keep or Undo Changes…');
      await quickInput.waitUntilOpen('Keep or undo which change?');
      await quickInput.pick(what);
      await quickInput.waitUntilOpen(what.trim());
      await quickInput.pick(answer);
    };
    await workbench.runCommand('Threadkeeper: Keep or Undo Changes…');
    await quickInput.waitUntilOpen('Keep or undo which change?');
    assert.deepEqual(await quickInput.labels(), ['All files', 'src/long.txt', 'Line 3', 'Line 21', 'Line 32', 'src/extra.txt']);
    await workbench.screenshot('rewind-decide');
    await quickInput.close();
    await decide('Line 3', 'Undo');
    await becomes('src/long.txt', long({ 20: 'line TWENTY\nand more', 30: null }));
    // At the cursor, in the editor that shows all files.
    await page.locator('.multiDiffEntry .modified .view-line', { hasText: 'line TWENTY' }).click();
    await workbench.runCommand('Threadkeeper: Keep Change');
    // Before that the command may still be on its way, and would find the cursor where the next click puts it.
    await page.locator('.multiDiffEntry .original .view-line', { hasText: 'line TWENTY' }).waitFor();
    await page.locator('.multiDiffEntry .modified .view-line', { hasText: 'line 31' }).click();
    await workbench.runCommand('Threadkeeper: Undo Change');
    await becomes('src/long.txt', long({ 20: 'line TWENTY\nand more' }));
    await chat.see('.changes-state', '1 left to review');
    await workbench.runCommand('Threadkeeper: Undo All Changes');
    await becomes('src/extra.txt', null);
    await chat.see('.changes-state', 'Reviewed');
    await page.locator('.tab', { hasText: 'Changes of the last answer' }).waitFor({ state: 'detached' });
    await workbench.screenshot('rewind-reviewed');
  });

  it('keeps and undoes files, knows it after a reload, and opens an earlier answer', async () => {
    const { api, chat, workbench } = session;
    const { page } = workbench;
    const create = (name: string) => reply(toolCall('create_file', { path: `src/${name}.txt`, content: `${name}\n` }));
    api.enqueue(create('first'), create('second'), create('third'), reply('Done: Three files'));
    await chat.send('Three files');
    for (const name of ['first', 'second', 'third']) {
      await chat.see('.approval', `Create src/${name}.txt`);
      await chat.press(/^Allow$/);
      await becomes(`src/${name}.txt`, `${name}\n`);
    }
    await chat.see('article.answer', 'Done: Three files');
    await chat.idle();
    await workbench.runCommand('Threadkeeper: Review What the Answer Changed');
    const line = (text: string) => page.locator('.multiDiffEntry .modified .view-line', { hasText: text });
    await line('first').click();
    await workbench.runCommand('Threadkeeper: Keep Changes of File');
    await chat.see('.changes-state', '2 left to review');
    await line('second').click();
    await workbench.runCommand('Threadkeeper: Undo Changes of File');
    await becomes('src/second.txt', null);
    await chat.see('.changes-state', '1 left to review');
    await session.server.writeSettings({ ...settings(), 'workbench.colorTheme': themes.dark });
    await workbench.reload();
    await chat.see('.changes-state', '1 left to review');
    await (await chat.see('.changes button', '3 files, +3 −0')).click();
    // What the reload has left showed the first one, too.
    await line('first').waitFor({ state: 'detached' });
    await line('third').waitFor();
    await workbench.screenshot('rewind-review-dark');
    await workbench.runCommand('Threadkeeper: Keep All Changes');
    await waitFor('both decided', async () => (await chat.count('.changes-state:has-text("left to review")')) === 0);
    assert.deepEqual([existsSync(file('src/first.txt')), existsSync(file('src/third.txt'))], [true, true]);
    await (await chat.see('.changes button', '1 file, +1 −1')).click();
    await page.locator('.tab', { hasText: 'Changes of an earlier answer' }).waitFor();
    await workbench.runCommand('View: Close Editor');
  });

  it('takes the conversation along, and switches files with a branch', async () => {
    const { chat, workbench } = session;
    await workbench.runCommand('Threadkeeper: Restore Files and Conversation…');
    await workbench.quickInput.waitUntilOpen('Restore to before which message?');
    await workbench.quickInput.pick('Create one');
    await workbench.quickInput.waitUntilOpen('Restore to before this message');
    await workbench.quickInput.pick('Files and conversation');
    await workbench.quickInput.waitUntilOpen('The selected files are restored');
    await workbench.quickInput.accept();
    await becomes('src/created.txt', null);
    await becomes('src/gone.txt', 'still here\n');
    await waitFor('one message', async () => (await chat.count('article.user-message')) === 1);
    await waitFor('the message in the composer', async () => (await chat.draft()) === 'Create one');
    await turn('Another way', toolCall('create_file', { path: 'src/other.txt', content: 'other\n' }));
    await chat.press('Previous branch');
    await workbench.page.getByRole('button', { name: 'Switch Files' }).click();
    await chat.see('article.answer', 'Done: Delete one');
    await becomes('src/created.txt', 'new\n');
    await becomes('src/other.txt', null);
    await becomes('src/gone.txt', null);
  });
});
