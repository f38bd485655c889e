import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionStore } from '../../../../src/core/ports';
import type { NewSession } from '../../../../src/core/session/session';
import { openChat, smallModel, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { reply, toolCall } from '../../../support/messagesApi/messagesApiScript';
import { SessionsPage } from '../../../support/view/sessionsPage';
import { themes } from '../../../support/view/themes';
import { testUuid, userMessage } from '../../../support/store/storeTemp';
import { prepareHistory, writeHistory, type PreparedHistory } from '../../../support/store/writeHistory';
import { waitFor } from '../../../support/waitFor';

/** One message, some time ago. */
async function say(store: SessionStore, title: string, text: string, age: number, more: Partial<NewSession> = {}): Promise<void> {
  const createdAt = Date.now() - age;
  const { uuid } = await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt, title, ...more });
  await store.append(uuid, { entries: [userMessage(uuid, null, text, { createdAt })] });
}

/** A person with two projects; in the other one they work with another program, too. Each step builds on the ones before. */
describe('what was said in another workspace', function () {
  inOrder(this);
  let root: string;
  let history: PreparedHistory;
  let session: ChatSession;
  let sessions: SessionsPage;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'threadkeeper-every-'));
    history = await prepareHistory((store) => say(store, 'Tide table', 'Where is it?', 120_000));
    const quay = join(root, 'quay');
    await mkdir(quay);
    await writeHistory(history.options.dataFolder, quay, async (store) => {
      const metadata = { importedFrom: { format: 'codex' } };
      const imported = { key: 'import:codex:one', channel: 'import' as const, metadata };
      await say(store, 'Port of the relay', 'The relay called Amaranth listens on 54329.', 180_000, imported);
      await say(store, 'Buoys', 'Who paints them?', 60_000);
    });
    session = await openChat({ ...history.options, window: 60_000 });
    sessions = new SessionsPage(session.workbench);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    await history?.remove();
    await rm(root, { recursive: true, force: true });
  });

  const set = (more: Readonly<Record<string, unknown>>) =>
    session.server.writeSettings({ 'threadkeeper.anthropic.baseUrl': session.api.url, 'threadkeeper.model': smallModel, ...more });

  it('stands among the sessions when all workspaces are wanted, with its program', async () => {
    await sessions.see('Today', 'Tide table', 'Other Workspaces');
    await sessions.pressTitle('Show Sessions of All Workspaces');
    await sessions.see('Today', 'Buoys', 'Tide table', 'Port of the relay');
    const rows = await sessions.rows();
    assert.match(rows[1]!, /^Buoys · quay · /);
    assert.match(rows[3]!, /^Port of the relay · quay · Codex CLI · /);
    assert.equal(await sessions.description(), 'All Workspaces');
    await sessions.scrollTo('top');
    await session.workbench.screenshot('all-workspaces-light');
  });

  it('is found by the filter, also by its program, and opens to be read', async () => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Filter Sessions…');
    await workbench.quickInput.waitUntilOpen('Filter Sessions');
    await workbench.quickInput.type('agent:codex');
    await workbench.quickInput.accept();
    await sessions.see('Today', 'Port of the relay');
    const read = workbench.page.locator('.editor-instance .view-lines', { hasText: 'Amaranth' });
    await sessions.click('Port of the relay', () => read.isVisible());
    await sessions.pressTitle('Clear Session Filter');
    await sessions.see('Today', 'Buoys', 'Tide table', 'Port of the relay');
  });

  it('is left alone again with the other button', async () => {
    await sessions.pressTitle('Show Sessions of This Workspace');
    await sessions.see('Today', 'Tide table', 'Other Workspaces');
    assert.equal(await sessions.description(), undefined);
  });

  it('is not open to the model until the user allows it, and then quoted with where it was said', async () => {
    const { api, chat } = session;
    const asked = { query: 'Amaranth port', everywhere: true };
    const answerOf = async (question: string) => {
      const before = api.messages.length;
      api.enqueue(reply(toolCall('recall', asked)), reply(`Answered: ${question}`));
      await chat.ask(question);
      await chat.see('article.answer', `Answered: ${question}`);
      const sent = api.messages.slice(before).map(({ body }) => JSON.stringify(body));
      return { offered: sent[0]!.includes('"everywhere":{'), given: sent.at(-1)! };
    };
    const off = await answerOf('Which port, please?');
    assert.ok(!off.offered && off.given.includes('threadkeeper.recall.otherWorkspaces') && !off.given.includes('listens on'), off.given);
    await set({ 'threadkeeper.recall.otherWorkspaces': true, 'workbench.colorTheme': themes.dark });
    await waitFor('the settings', async () => (await chat.count(`:root:has(body[data-vscode-theme-id="${themes.dark}"])`)) > 0);
    const on = await answerOf('And now?');
    assert.ok(on.offered, on.given);
    for (const named of ['quay', 'Port of the relay', 'Codex CLI', 'The relay called Amaranth listens on 54329.'])
      assert.ok(on.given.includes(named), on.given);
    await session.workbench.screenshot('recall-everywhere');
  });

  it('is drawn in dark colours as well', async () => {
    await sessions.pressTitle('Show Sessions of All Workspaces');
    await waitFor('the list', async () => (await sessions.rows()).some((row) => row.startsWith('Port of the relay')));
    await session.workbench.screenshot('all-workspaces-dark');
  });
});
