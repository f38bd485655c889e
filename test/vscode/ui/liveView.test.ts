import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openChat, words, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { hold, reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { waitFor } from '../../support/waitFor';

/** What happens to the view, and to the user's part in a turn, while a turn runs; told in order. */
describe('the view while a turn runs', function () {
  inOrder(this);
  let session: ChatSession;

  before(async () => {
    session = await openChat({
      settings: {
        'threadkeeper.compaction.whenFull': 'ask',
        'threadkeeper.memoryFlush.enabled': false,
        'threadkeeper.checkpoint.enabled': false,
        'threadkeeper.compaction.prepareAtPercent': 0,
      },
    });
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  /** Each text stands in the transcript once, and the provider was asked once for each answer. */
  async function assertOnce(questions: readonly string[], answers: readonly string[], requests: number): Promise<void> {
    const { api, chat } = session;
    await chat.idle();
    assert.deepEqual(await chat.texts('article.user-message .user-text'), questions);
    const shown = await chat.texts('article.answer');
    assert.equal(shown.length, answers.length, shown.join(' | '));
    for (const [at, answer] of answers.entries())
      assert.ok(shown[at]!.includes(answer) && shown[at]!.split(answer).length === 2, `${answer} in ${shown[at]!}`);
    assert.deepEqual([api.messages.length, api.errors], [requests, []]);
  }

  it('goes on while it is hidden, and shows all of it once when it is shown again', async () => {
    const { api, chat, workbench } = session;
    const [first, second] = [hold(), hold()];
    api.enqueue(reply('Seen, ', first, 'unseen, ', second, 'seen again.'));
    await chat.send('Hide me');
    await chat.see('article.answer', 'Seen,');
    await workbench.openView('Explorer');
    first.release();
    await second.reached;
    await chat.see('article.answer', 'Seen, unseen,');
    await workbench.screenshot('live-shown-again');
    second.release();
    await assertOnce(['Hide me'], ['Seen, unseen, seen again.'], 1);
  });

  it('lets a session finish that is left while it answers', async () => {
    const { api, chat, workbench } = session;
    const gate = hold();
    api.enqueue(reply('Half of A, ', gate, 'all of A.'), reply('All of B.'));
    await chat.send('Leave me');
    await chat.see('article.answer', 'Half of A,');
    await chat.press('New session');
    await waitFor('an empty transcript', async () => (await chat.count('article.answer')) === 0);
    await chat.ask('Another one');
    await workbench.screenshot('live-other-session');
    await assertOnce(['Another one'], ['All of B.'], 3);
    gate.release();
    await chat.press('Sessions');
    await chat.press(/^Hide me/);
    await chat.see('article.answer', 'all of A.');
    await assertOnce(['Hide me', 'Leave me'], ['Seen, unseen, seen again.', 'Half of A, all of A.'], 3);
  });

  it('answers what waits for a permission from the palette while the view is hidden', async () => {
    const { api, chat, workbench } = session;
    api.enqueue(reply(toolCall('create_file', { path: 'made.txt', content: 'x' })), reply('Made.'));
    await chat.send('Make a file');
    await chat.see('.approval-title', 'Create made.txt');
    await workbench.openView('Explorer');
    await workbench.runCommand('Threadkeeper: Answer Pending Approval…');
    await workbench.quickInput.waitUntilOpen('Create made.txt');
    await workbench.screenshot('live-approval-palette');
    assert.deepEqual(await workbench.quickInput.labels(), [
      'Allow',
      'Allow for This Session',
      'Always Allow…',
      'Deny',
      'Deny with a Reason…',
      'Show the Change',
    ]);
    await workbench.quickInput.pick('Allow');
    await waitFor('the file', () => existsSync(join(session.folder, 'made.txt')));
    await chat.see('article.answer', 'Made.');
    await chat.idle();
  });

  it('asks on a card what to do when the context is full, and folds when it is told to by the keyboard', async () => {
    const { chat, workbench } = session;
    for (let i = 1; i <= 9 && (await chat.count('.full-card')) === 0; i++) {
      await chat.ask(`Part ${i}: ${words(1_100, i)}`, '.full-card');
    }
    await chat.see('.full-card', /The context is \d+% full/);
    await workbench.screenshot('ask-card');
    const button = (await chat.frame()).locator('.full-card vscode-button').first();
    await button.focus();
    await button.press('Enter');
    await chat.idle();
    await chat.see('.compaction-card', /Compacted \d+ messages/);
    assert.equal(await chat.count('.full-card'), 0);
    await workbench.screenshot('ask-card-answered');
  });

  it('can be told from the palette as well, while the view is hidden', async () => {
    const { chat, workbench } = session;
    const cards = await chat.count('.compaction-card');
    for (let i = 1; i <= 9 && (await chat.count('.full-card')) === 0; i++) {
      await chat.ask(`More ${i}: ${words(1_100, 50 + i)}`, '.full-card');
    }
    await workbench.openView('Explorer');
    await workbench.runCommand('Threadkeeper: Decide About the Full Context…');
    await workbench.quickInput.waitUntilOpen('% full');
    await workbench.screenshot('ask-palette');
    await workbench.quickInput.pick('Go On as It Is');
    await chat.idle();
    assert.deepEqual([await chat.count('.full-card'), await chat.count('.compaction-card')], [0, cards]);
  });

  it('moves to the secondary side bar without losing or repeating anything', async () => {
    const { api, chat, workbench } = session;
    await chat.press('New session');
    await waitFor('an empty transcript', async () => (await chat.count('article.answer')) === 0);
    const before = api.messages.length;
    const gate = hold();
    api.enqueue(reply('One half, ', gate, 'the other half.'));
    await chat.send('Move me');
    await chat.see('article.answer', 'One half,');
    await chat.type('typed meanwhile');
    await workbench.runCommand('View: Move View');
    await workbench.quickInput.type('Chat');
    await workbench.quickInput.accept();
    await workbench.quickInput.type('Secondary Side Bar');
    await workbench.quickInput.accept();
    await workbench.page.locator('.part.auxiliarybar').waitFor();
    await chat.see('article.answer', 'One half,');
    await workbench.screenshot('live-secondary-side-bar');
    gate.release();
    await chat.see('article.answer', 'the other half.');
    await assertOnce(['Move me'], ['One half, the other half.'], before + 1);
    assert.equal(await chat.draft(), 'typed meanwhile');
    await workbench.screenshot('live-moved');
  });
});
