import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChatPage } from '../../../support/view/chatPage';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { listStep } from '../../../../src/vscode/sessions/tree/treeLists';
import { SessionsPage } from '../../../support/view/sessionsPage';
import { testUuid, userMessage } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';
import type { Workbench } from '../../../support/vscode/workbench';
import { writeHistory } from '../../../support/store/writeHistory';

/** One project through its places, told in order. */
describe('the history of a folder that does not stay in its place', function () {
  inOrder(this);
  let root: string;
  let session: ChatSession;
  const at = (name: string) => join(root, name);

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'threadkeeper-places-'));
    await mkdir(at('tides'));
    session = await openChat({ window: 60_000, folder: at('tides') });
    await session.chat.ask('When is high water?');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    await rm(root, { recursive: true, force: true });
  });

  async function openFolder(name: string): Promise<{ workbench: Workbench; sessions: SessionsPage; chat: ChatPage }> {
    for (const page of session.context.pages()) await page.close();
    const workbench = await session.workbench.openTab(at(name));
    return { workbench, sessions: new SessionsPage(workbench), chat: new ChatPage(workbench) };
  }

  it('is found when the folder was renamed', async () => {
    await rename(at('tides'), at('tides of the north'));
    const { chat, sessions } = await openFolder('tides of the north');
    await chat.see('article.user-message', 'When is high water?');
    await sessions.see('Today', 'When is high water?');
  });

  it('is offered to a copy whose original is gone, until the user declines it', async () => {
    for (const copy of ['copy', 'draft']) await cp(at('tides of the north'), at(copy), { recursive: true });
    await rm(at('tides of the north'), { recursive: true });
    const { sessions, workbench } = await openFolder('draft');
    await sessions.open();
    await waitFor('the offer', async () => (await sessions.pane().innerText()).includes('This workspace has no history yet'));
    await workbench.screenshot('relink-offer');
    // Do Not Relink History
    await sessions.pane().getByText('start afresh').click();
    await sessions.see('Other Workspaces');
  });

  it('is taken by a copy with one command', async () => {
    const { chat, sessions, workbench } = await openFolder('copy');
    await sessions.open();
    await sessions.pane().getByRole('button', { name: 'Relink History…' }).click();
    await workbench.quickInput.waitUntilOpen('Relink History');
    await workbench.screenshot('relink-candidates');
    await workbench.quickInput.accept();
    await workbench.messages.waitForDialog();
    await workbench.screenshot('relink-confirm');
    await workbench.messages.answerDialog('Relink and Reload');
    await sessions.see('Today', 'When is high water?');
    await chat.see('article.user-message', 'When is high water?');
  });

  it('can be read from another workspace, without being its own', async () => {
    await mkdir(at('far'));
    const { sessions, workbench } = await openFolder('far');
    await sessions.open();
    await sessions.see('Other Workspaces');
    await sessions.expand('Other Workspaces');
    await sessions.see('Other Workspaces', 'copy');
    await sessions.expand('copy');
    await sessions.see('Other Workspaces', 'copy', 'When is high water?');
    const read = workbench.page.locator('.editor-instance .view-lines', { hasText: 'To be read only' });
    await sessions.click('When is high water?', () => read.isVisible());
    await workbench.screenshot('other-workspace');
    const opened = session.context.waitForEvent('page');
    await sessions.pressInline('copy', 'Open That Workspace in a New Window');
    const address = new URL((await opened).url());
    assert.equal(address.searchParams.get('folder'), at('copy'));
  });

  it('is listed to its beginning when it is long, part by part', async () => {
    await mkdir(at('log'));
    await writeHistory(session.server.dataFolder, at('log'), async (store) => {
      const days = listStep + 5;
      for (let day = 1; day <= days; day++) {
        const createdAt = Date.now() - (days - day) * 86_400_000;
        const { uuid } = await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt, title: `Day ${day}` });
        await store.append(uuid, { entries: [userMessage(uuid, null, `Day ${day}`, { createdAt })] });
      }
    });
    const { sessions, workbench } = await openFolder('log');
    await sessions.open();
    const end = async () => {
      await workbench.page.keyboard.press('End');
      return (await sessions.labels()).at(-2);
    };
    await sessions.choose('Day 205');
    await waitFor('the last row of the first part', async () => (await end()) === 'Show more…');
    await workbench.screenshot('show-more');
    // Show More Sessions; a list that is told anew may have scrolled away from its end.
    await waitFor('the last row of all', async () => {
      if ((await end()) === 'Show more…') await sessions.row('Show more…').click({ timeout: 2_000 });
      return (await end()) === 'Day 1';
    });
  });
});
