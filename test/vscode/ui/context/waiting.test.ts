import assert from 'node:assert/strict';
import { openChat, words, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { reply, toolCall } from '../../../support/messagesApi/messagesApiScript';
import { SessionsPage } from '../../../support/view/sessionsPage';
import { waitFor } from '../../../support/waitFor';

/** A session that was left and then asks for something says so wherever the user may look, and is one click away. */
describe('a session that waits for its user', function () {
  inOrder(this);
  let session: ChatSession;
  let sessions: SessionsPage;

  before(async () => {
    session = await openChat({
      viewport: { width: 1280, height: 1000 },
      settings: {
        'threadkeeper.compaction.whenFull': 'ask',
        'threadkeeper.memoryFlush.enabled': false,
        'threadkeeper.checkpoint.enabled': false,
        'threadkeeper.compaction.prepareAtPercent': 0,
      },
    });
    sessions = new SessionsPage(session.workbench);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  const badge = () =>
    session.workbench.page
      .locator('.activitybar .action-item', { has: session.workbench.page.locator('[aria-label^="Threadkeeper"]') })
      .locator('.badge-content');
  const newSession = async () => {
    await session.chat.press('New session');
    await waitFor('an empty transcript', async () => (await session.chat.count('article')) === 0);
  };

  it('is marked in the list, on the icon and in the status bar, and a click on that leads there', async () => {
    const { api, chat, workbench } = session;
    api.enqueue(reply(toolCall('create_file', { path: 'made.txt', content: 'x' })), reply('Made.'));
    await chat.send('Make a file');
    await chat.see('.approval-title', 'Create made.txt');
    await newSession();
    await waitFor('the mark in the list', async () =>
      (await sessions.rows()).some((row) => row.startsWith('Make a file · waits for your permission')),
    );
    await waitFor('the status bar to say so', async () => (await workbench.statusText('context')) === 'Permission needed');
    await waitFor('the badge', async () => (await badge().innerText()) === '1');
    await workbench.screenshot('waiting-for-permission');
    await workbench.clickStatus('context');
    await chat.see('.approval-title', 'Create made.txt');
    await chat.press(/^Allow$/);
    await chat.see('article.answer', 'Made.');
    await waitFor('the meter', async () => /\d\s?%$/.test(await workbench.statusText('context')));
    await waitFor('the mark to go', async () => (await sessions.rows()).every((row) => !row.includes('waits')));
  });

  it('is opened by the palette command that answers it', async () => {
    const { api, chat, workbench } = session;
    api.enqueue(reply(toolCall('run_command', { command: 'touch $(whoami)' })), reply('Not made.'));
    await chat.send('Make another');
    await chat.see('.approval-detail', 'touch $(whoami)');
    await newSession();
    await workbench.openView('Explorer');
    await workbench.runCommand('Threadkeeper: Answer Pending Approval…');
    await workbench.quickInput.waitUntilOpen('Permission Needed');
    const allow = await workbench.page.locator('.quick-input-list .monaco-list-row').first().innerText();
    // VS Code would draw an icon of that name, or nothing.
    assert.match(allow.replaceAll('\u200b', '').replaceAll('\u00a0', ' '), /touch \$\(whoami\)/);
    await workbench.quickInput.pick('Deny');
    await chat.see('article.answer', 'Not made.');
    await chat.idle();
  });

  it('says that its context is full, and a compaction from the palette answers it', async () => {
    const { chat, workbench } = session;
    for (let i = 1; i <= 9 && (await chat.count('.full-card')) === 0; i++) {
      await chat.ask(`Part ${i}: ${words(1_100, i)}`, '.full-card');
    }
    await chat.see('.full-card', /% full/);
    await waitFor('the status bar to say so', async () => (await workbench.statusText('context')) === 'Context full');
    assert.equal(await chat.count('tk-turn-status'), 0);
    await newSession();
    await waitFor('the mark in the list', async () => (await sessions.rows()).some((row) => row.includes('waits for your decision')));
    await workbench.screenshot('waiting-for-decision');
    await workbench.clickStatus('context');
    await chat.see('.full-card', /% full/);
    await workbench.runCommand('Threadkeeper: Compact Conversation');
    await chat.see('.compaction-card', /Compacted \d+ messages/);
    await chat.idle();
    assert.equal(await chat.count('.full-card'), 0);
  });
});
