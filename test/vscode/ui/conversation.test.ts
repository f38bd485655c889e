import assert from 'node:assert/strict';
import { percentIn } from '../../support/view/chatPage';
import { openChat, words, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { hold, reply } from '../../support/messagesApi/messagesApiScript';
import { waitFor } from '../../support/waitFor';

/** One conversation, told in order: each step builds on the ones before. */
describe('a conversation', function () {
  inOrder(this);
  let session: ChatSession;

  before(async () => {
    session = await openChat();
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('streams an answer, with Stop while it runs', async () => {
    const { chat, api, workbench } = session;
    const gate = hold();
    api.enqueue(reply('# A heading\n\nThe answer has **begun**, ', gate, 'and it goes on.\n\n```ts\nconst answer = 42;\n```\n'));
    await chat.send('What is the answer?');
    await chat.see('article.answer', 'The answer has begun,');
    assert.equal(await chat.count('tk-composer .stop'), 1);
    await workbench.screenshot('streaming');
    gate.release();
    await chat.see('article.answer', 'and it goes on.');
    await chat.idle();
    await chat.see('article.answer .hljs, article.answer code', 'const answer = 42;');
    assert.equal(await chat.count('tk-composer .stop'), 0);
    assert.equal(await chat.draft(), '');
    await workbench.screenshot('answered');
  });

  it('moves the gauge with every message, and the status bar shows the same', async () => {
    const { chat, workbench } = session;
    const before = await chat.used();
    await chat.ask(`Read this: ${words(800, 1)}`);
    await waitFor('the gauge to move', async () => (await chat.used()) > before + 800);
    await waitFor('gauge and status bar to agree', async () => percentIn(await workbench.statusText('context')) === (await chat.percent()));
    assert.match(await chat.gauge(), /^[\d.]+k \/ 12k · \d+%$/, 'exact after a report');
  });

  it('counts a draft that has been measured once only, also after it was sent', async () => {
    const { chat } = session;
    const before = await chat.used();
    const text = `A draft: ${words(300, 9)}`;
    await chat.type(text);
    await waitFor('the draft in the gauge', async () => (await chat.used()) > before + 200);
    const draft = (await chat.used()) - before;
    await (await chat.locator('tk-composer textarea')).press('Enter');
    await chat.see('article.user-message', 'A draft:');
    await chat.idle();
    await waitFor('the gauge to be exact again', async () => !(await chat.gauge()).startsWith('~'));
    assert.ok((await chat.used()) < before + 2 * draft + 200, `${before} → ${await chat.used()} with a draft of ${draft}`);
  });

  it('nudges at 50% and at 75%, in the requests and in the transcript', async () => {
    const { chat, api, workbench } = session;
    for (let i = 2; (await chat.count('.nudge')) < 2; i++) {
      assert.ok(i < 20, 'the marks are crossed');
      await chat.ask(`Part ${i}: ${words(500, i)}`);
    }
    // Checkpoints and prepared summaries are requested beside the turns: those carry no tools.
    const turns = api.messages.filter(({ body }) => JSON.stringify(body).includes('"tools":'));
    const nudged = turns.map(({ body }) =>
      [...JSON.stringify(body).matchAll(/The context window is \d+ % full \(the (\d+) % mark/g)].map(([, percent]) => Number(percent)),
    );
    assert.ok(
      nudged.some((marks) => marks.join() === '50'),
      'a request carries the first nudge',
    );
    assert.deepEqual(nudged.at(-1), [50, 75], 'the last request carries both, once');
    assert.deepEqual(
      (await chat.texts('.nudge')).map((text) => percentIn(text)),
      [50, 75],
    );
    await workbench.screenshot('nudged');
  });

  it('compacts from the palette while the view is closed', async () => {
    const { chat, workbench } = session;
    const before = percentIn(await workbench.statusText('context'));
    await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
    await workbench.runCommand('Threadkeeper: Compact Conversation');
    await workbench.page.locator('.tab', { hasText: 'Compaction Preview' }).waitFor();
    await workbench.runCommand('Threadkeeper: Apply Compaction');
    await waitFor('the status bar to show less', async () => percentIn(await workbench.statusText('context')) < before - 20);
    await workbench.screenshot('compacted-with-view-closed');
    await chat.see('.compaction-card', /Compacted \d+ messages/);
    await chat.press('Show summary');
    await chat.see('.compaction-card .summary', 'What the user said');
    await workbench.screenshot('compaction-card');
  });

  it('undoes it from the palette', async () => {
    const { chat, workbench } = session;
    const before = await chat.used();
    await workbench.runCommand('Threadkeeper: Undo Last Compaction');
    await waitFor('the gauge to rise', async () => (await chat.used()) > before + 2_000);
    await chat.see('.compaction-card .state', 'undone');
    await workbench.screenshot('undone');
  });

  it('finds everything after the window is reloaded', async () => {
    const { chat, workbench } = session;
    const seen = async () => ({ users: await chat.texts('article.user-message .user-text'), cards: await chat.count('.compaction-card') });
    const before = await seen();
    const used = await chat.used();
    await workbench.reload();
    await waitFor('the transcript', async () => (await chat.count('article.user-message')) === before.users.length);
    assert.deepEqual(await seen(), before);
    // What an undo has brought back is estimated until the provider has counted it, which may be only now.
    assert.ok(Math.abs((await chat.used()) - used) < used / 20, `${used} → ${await chat.used()}`);
  });

  it('keeps the message and the partial answer when the extension host is killed in mid-stream', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply('This much had arrived ', hold(), 'and this had not.'));
    await chat.send('Tell me a long story');
    await chat.see('article.answer', 'This much had arrived');
    await workbench.crashExtensionHost();
    await chat.see('article.user-message', 'Tell me a long story');
    await chat.see('article.answer', 'This much had arrived');
    await chat.see('.interrupted', 'Interrupted by a restart');
    await workbench.screenshot('after-kill');
    await chat.ask('Go on, please');
    await chat.see('article.user-message', 'Go on, please');
    assert.deepEqual(api.errors, []);
  });
});
