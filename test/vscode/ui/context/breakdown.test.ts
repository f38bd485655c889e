import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openChat, words, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { reply, toolCall } from '../../../support/messagesApi/messagesApiScript';
import { waitFor } from '../../../support/waitFor';

/** What is in the window, from the status bar to the panel, while the conversation goes on. */
describe('breakdown', function () {
  inOrder(this);
  let session: ChatSession;

  before(async () => {
    session = await openChat({ settings: { 'threadkeeper.checkpoint.enabled': false, 'threadkeeper.skills.workspace': true } });
    await session.chat.ask('Keep to port 4002.');
    for (let i = 1; i <= 3; i++) await session.chat.ask(`Part ${i}, the port is ${4000 + i}: ${words(500 * i, i)}`);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  const panel = () => session.workbench.webview('tk-breakdown h1');
  const see = (selector: string, text: string | RegExp) =>
    waitFor(`${selector} with ${String(text)}`, async () => {
      const found = (await panel()).locator(selector).filter({ hasText: text });
      return (await found.count()) > 0 && found.first();
    });

  it('opens from the status bar, with the numbers that the gauge has', async () => {
    const { chat, workbench } = session;
    const used = await chat.gauge();
    await workbench.clickStatus('context');
    await see('.large', used.split(' · ')[0]!);
    await see('.list tbody tr td.excerpt', /Part 3/);
    assert.equal(await (await panel()).locator('.plot-line').count(), 1);
    await workbench.screenshot('breakdown-first');
  });

  it('goes to an entry in the chat, and pins it', async () => {
    const { chat } = session;
    await (await panel()).getByRole('button', { name: /^Pin user: Keep to/ }).click();
    await see('.row-actions', 'Unpin');
    await (await panel()).getByRole('button', { name: /^Jump to user: Part 1/ }).click();
    // It is marked for 4 s, and keeps the focus.
    await chat.see('tk-row[tabindex="-1"]', /Part 1/);
  });

  it('follows a checkpoint, a compaction and its undo', async () => {
    const { chat } = session;
    await (await panel()).getByRole('button', { name: 'Save Snapshot' }).click();
    await waitFor('the checkpoint in the plot', async () => (await (await panel()).locator('.plot-mark.mark-checkpoint').count()) === 1);
    await chat.ask('And now?');
    await (await panel()).getByRole('button', { name: 'Compact now' }).click();
    await see('.list tbody tr', 'in force');
    await waitFor('the compaction in the plot', async () => (await (await panel()).locator('.plot-mark.mark-compaction').count()) === 1);
    await chat.ask('Still there?');
    await see('.large', (await chat.gauge()).split(' · ')[0]!);
  });

  it('undoes from the panel, and comes back after having been hidden', async () => {
    const { workbench } = session;
    await (await panel()).getByRole('button', { name: 'Undo last compaction' }).click();
    await see('.list tbody tr', 'undone');
    await workbench.runCommand('File: New Untitled Text File');
    await workbench.runCommand('Threadkeeper: Show Context Breakdown');
    await see('.list tbody tr', 'undone');
  });

  it('counts what the history holds, and follows a filter', async () => {
    const { chat, workbench } = session;
    await workbench.runCommand('Threadkeeper: Show Analytics');
    const analytics = () => workbench.webview('tk-analytics h1');
    const requests = async () => Number(await (await analytics()).locator('.facts dd').nth(4).innerText());
    assert.equal(await (await analytics()).locator('[aria-labelledby=top] tbody tr').count(), 1);
    const before = await requests();
    await chat.ask('One more');
    await waitFor('the new request to be counted', async () => (await requests()) > before);
    await (await analytics()).getByRole('combobox', { name: /^Days/ }).selectOption('30');
    await waitFor('thirty days', async () => (await (await analytics()).locator('details').first().locator('tbody tr').count()) === 30);
    await workbench.screenshot('analytics');
    assert.deepEqual(session.api.errors, []);
  });

  it('is open again after a reload of the window, with the filter that was chosen', async () => {
    const { workbench } = session;
    await workbench.reload();
    const analytics = await workbench.webview('tk-analytics h1');
    assert.equal(await analytics.getByRole('combobox', { name: /^Days/ }).inputValue(), '30');
    await workbench.page.locator('.tab', { hasText: 'Context Breakdown' }).click();
    await see('.list tbody tr', 'undone');
  });

  it('shows the skill of the workspace that the model has read, which is a row of the conversation, too', async () => {
    const { chat, api, workbench } = session;
    await workbench.runCommand('Threadkeeper: New Session');
    await waitFor('an empty chat', async () => (await chat.count('article')) === 0);
    const folder = join(session.folder, '.claude', 'skills', 'tides');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'SKILL.md'),
      '---\nname: tides\ndescription: Use when a tide table is asked for.\n---\n## Steps\n\n1. Read the **gauge** first.\n2. Then read `data.csv`.\n',
    );
    const before = api.messages.length;
    api.enqueue(reply('I look for instructions.', toolCall('use_skill', { name: 'tides' })), reply('High water is at 06:12.'));
    await chat.ask('When is high water?');
    assert.match(JSON.stringify(api.messages[before]?.body), /- tides: Use when a tide table is asked for\./);
    assert.match(JSON.stringify(api.messages.at(-1)?.body), /Read the \*\*gauge\*\* first/);
    await chat.see('.checkpoint', 'Read the skill tides (.claude/skills/tides/SKILL.md)');
    await (await chat.locator('.checkpoint button')).click();
    await chat.see('.checkpoint-text', 'Then read data.csv.');
    await workbench.screenshot('skill');
    await see('.list tbody tr', 'tides (.claude/skills/tides/SKILL.md)');
    await workbench.screenshot('skill-breakdown');
    assert.deepEqual(api.errors, []);
  });
});
