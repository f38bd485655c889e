import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChat, words, type ChatSession } from '../../support/chat/chatSession';
import { chooseFile } from '../../support/vscode/fileDialog';
import { inOrder } from '../../support/chat/inOrder';
import { hold, promptTooLong, reply } from '../../support/messagesApi/messagesApiScript';
import { SessionsPage } from '../../support/view/sessionsPage';
import { waitFor } from '../../support/waitFor';

/** Commands that no other test of the window runs, from the palette, as who never touches the view would. */
describe('commands from the palette', function () {
  inOrder(this);
  const root = mkdtempSync(join(tmpdir(), 'threadkeeper-commands-'));
  let session: ChatSession;

  before(async () => {
    session = await openChat({
      settings: {
        'threadkeeper.checkpoint.enabled': false,
        'threadkeeper.memoryFlush.enabled': false,
        'threadkeeper.compaction.prepareAtPercent': 0,
        'threadkeeper.compaction.review': 'never',
      },
    });
    await session.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await session.chat.ask('First');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    rmSync(root, { recursive: true, force: true });
  });

  const run = (title: string) => session.workbench.runCommand(`Threadkeeper: ${title}`);
  const clipboard = async () => String(await session.workbench.page.evaluate('navigator.clipboard.readText()'));
  const tab = (text: string) => session.workbench.page.locator('.tab', { hasText: text });

  it('a session is renamed, switched to, and its id copied', async () => {
    const { chat, workbench } = session;
    const sessions = new SessionsPage(workbench);
    await run('Rename Session…');
    await workbench.quickInput.waitUntilOpen('A title for this session');
    await workbench.quickInput.accept('The first one');
    await chat.see('tk-header', 'The first one');
    await run('New Session');
    await waitFor('an empty chat', async () => (await chat.count('article')) === 0);
    await chat.ask('Second');
    await run('Switch Session…');
    await workbench.quickInput.waitUntilOpen();
    await workbench.quickInput.pick('The first one');
    await chat.see('article.user-message', 'First');
    await run('Next Session');
    await chat.see('article.user-message', 'Second');
    await run('Previous Session');
    await chat.see('article.user-message', 'First');
    await sessions.open();
    await run('Refresh Sessions');
    await sessions.see('Today', 'Second', 'The first one');
    await sessions.chooseFromMenu('Second', 'Copy Session Id', async () => /^\d{8}_\d{3}$/.test(await clipboard()));
  });

  it('an answer is stopped', async () => {
    const { api, chat } = session;
    api.enqueue(reply('as far as it got ', hold(), 'never'));
    await chat.send('A long one');
    await chat.see('article.answer', 'as far as it got');
    await run('Stop Answer');
    await chat.see('.interrupted', 'Stopped');
    await chat.idle();
  });

  it('a message is excluded and included again', async () => {
    const { chat, workbench } = session;
    await chat.ask(`To be left out: ${words(900, 1)}`);
    await run('Exclude from Context…');
    await workbench.quickInput.waitUntilOpen('Exclude from Context');
    await workbench.screenshot('command-exclude');
    await workbench.quickInput.accept();
    await chat.see('.excluded', 'Not in context');
    await run('Include in Context Again…');
    await workbench.quickInput.waitUntilOpen('Include in Context Again');
    await workbench.quickInput.accept();
    await waitFor('the mark to go', async () => (await chat.count('.excluded')) === 0);
  });

  it('a policy is chosen for the session', async () => {
    const { workbench } = session;
    await run('Select Policy…');
    await workbench.quickInput.waitUntilOpen('Select Policy');
    await workbench.screenshot('command-policy');
    await workbench.quickInput.pick('Keep recent');
    await workbench.quickInput.waitUntilOpen('Select Policy: Keep recent');
    await workbench.quickInput.pick('For this session');
    await run('Show Context Breakdown');
    const panel = await workbench.webview('tk-breakdown h1');
    await waitFor('the policy', async () => (await panel.locator('tk-breakdown').innerText()).includes('policy keep-recent'));
    // The panel takes the focus when it has loaded, and closes a list that is open by then.
    await waitFor('the choice of the settings', async () => {
      await run('Select Policy…');
      await workbench.quickInput.choose('As the settings say');
      return true;
    });
    await waitFor('the policy of the settings', async () => (await panel.locator('tk-breakdown').innerText()).includes('policy balanced'));
    await workbench.runCommand('View: Close All Editors');
  });

  it('a compaction is cancelled, and an overflow recovered', async () => {
    const { api, chat, workbench } = session;
    for (let i = 1; i <= 3; i++) await chat.ask(`Part ${i}: ${words(700, i)}`);
    const gate = hold();
    api.enqueue(reply(gate, 'too late'));
    await run('Compact Conversation');
    await chat.see('tk-turn-status', /Organizing conversation history/);
    await gate.reached;
    await workbench.screenshot('command-compacting');
    await run('Cancel Compaction');
    await waitFor('the compaction to end', async () => (await chat.count('tk-turn-status .turn-status')) === 0);
    gate.release();
    assert.equal(await chat.count('.compaction-card'), 0);
    api.enqueue(promptTooLong(12_500, 11_000));
    await chat.ask('Is there room?');
    await chat.see('.compaction-card', /Compacted \d+ messages/);
    await chat.see('article.user-message', 'Is there room?');
    await workbench.screenshot('overflow-recovered');
  });

  it('a question is asked without history', async () => {
    const { api, chat, workbench } = session;
    const before = await chat.count('article.user-message');
    api.enqueue(reply('Forty-two, and nothing is kept.'));
    await run('Ask Without History…');
    await workbench.quickInput.waitUntilOpen('no history is read');
    await workbench.quickInput.accept('What is six times seven?');
    await workbench.page.locator('.editor-instance .view-lines', { hasText: 'Forty-two' }).waitFor();
    assert.deepEqual(
      [JSON.stringify(api.messages.at(-1)!.body).includes('Part 1'), await chat.count('article.user-message')],
      [false, before],
    );
  });

  it('a file is added, notes are looked for, the log is shown', async () => {
    const { chat, workbench } = session;
    await workbench.runCommand('Go to File...');
    await workbench.quickInput.type('tide.js');
    await workbench.quickInput.pick('tide.js');
    // The tab is there before its file is.
    await workbench.page.locator('.editor-instance .view-lines', { hasText: 'nextHighWater' }).waitFor();
    await run('Add File to Chat');
    await chat.see('tk-composer .attachment .chip-text', 'src/tide.js');
    await chat.press(/^Remove src\/tide\.js/);
    await run('Open Memory Notes');
    await workbench.messages.waitForNotification('There are no notes yet');
    await run('Show Log');
    await workbench.page.locator('.part.panel .action-item.checked', { hasText: 'Output' }).waitFor();
    await workbench.runCommand('View: Toggle Panel Visibility');
  });

  it('code of an answer is inserted at the cursor, opened and copied', async () => {
    const { api, chat, workbench } = session;
    api.enqueue(reply('Here:\n\n```js\nconst flood = 7;\n```\n'));
    await chat.ask('Some code, please');
    const code = (await chat.locator('article.answer')).filter({ hasText: 'const flood' });
    await workbench.page.locator('.editor-instance .view-lines').first().click();
    await workbench.page.keyboard.press('Control+Home');
    const press = async (name: string) => {
      await code.hover();
      await code.getByRole('button', { name, exact: true }).click();
    };
    await press('Insert at cursor');
    await workbench.page.locator('.editor-instance .view-line', { hasText: 'const flood = 7;' }).waitFor();
    await press('Copy');
    await waitFor('the copy', async () => (await clipboard()).trim() === 'const flood = 7;', { timeout: 8_000 });
    await press('Open as file');
    await tab('const flood = 7;').waitFor();
    await workbench.screenshot('code-opened');
  });

  it('a key is removed again', async () => {
    const { api, workbench } = session;
    await run('Set API Key…');
    await workbench.quickInput.waitUntilOpen('Set API Key');
    await workbench.quickInput.accept(api.apiKey);
    // The next command closes whatever input is open, and with it the question whether this key is a good one.
    await waitFor('the key to be checked', async () => !(await workbench.quickInput.isOpen()));
    await waitFor('the command that removes it', async () => {
      await run('Remove API Key');
      return true;
    });
    await workbench.messages.answerNotification('Remove the API key for', 'Remove');
  });

  it('everything is exported and backed up, and a restore says first what it would replace', async () => {
    const { chat, workbench } = session;
    const [all, backup] = [join(root, 'all.json'), join(root, 'backup.db')];
    await run('Export All Sessions…');
    await workbench.quickInput.waitUntilOpen('Export 2 Sessions');
    await workbench.quickInput.pick('JSON');
    await chooseFile(workbench, all);
    await workbench.messages.waitForNotification(`Exported to ${all}`);
    assert.equal((JSON.parse(readFileSync(all, 'utf8')) as { sessions: unknown[] }).sessions.length, 2);
    await run('Back Up History…');
    await chooseFile(workbench, backup);
    await workbench.messages.waitForNotification(`backed up to ${backup}`);
    await chat.ask('Said after the backup');
    await run('Restore History…');
    await chooseFile(workbench, backup);
    assert.match(await workbench.messages.waitForDialog(), /Replace your history with this backup of \d+ entries in 2 sessions/);
    await workbench.screenshot('command-restore');
    await workbench.messages.answerDialog('Cancel');
    assert.equal((await chat.texts('article.user-message .user-text')).at(-1), 'Said after the backup');
  });
});
