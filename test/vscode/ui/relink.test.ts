import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChatPage } from '../../support/chatPage';
import { openChat, type ChatSession } from '../../support/chatSession';
import { inOrder } from '../../support/inOrder';
import { SessionsPage } from '../../support/sessionsPage';
import { waitFor } from '../../support/waitFor';
import { Workbench } from '../../support/workbench';

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
    const { server, context } = session;
    for (const page of context.pages()) await page.close();
    const workbench = await Workbench.open({ server, context, folder: at(name) });
    return { workbench, sessions: new SessionsPage(workbench), chat: new ChatPage(workbench) };
  }

  it('is found when the folder was renamed', async () => {
    await rename(at('tides'), at('tides of the north'));
    const { chat, sessions } = await openFolder('tides of the north');
    await chat.see('article.user-message', 'When is high water?');
    await sessions.see('Today', 'When is high water?');
  });

  it('is offered to a copy whose original is gone, and taken with one command', async () => {
    await cp(at('tides of the north'), at('copy'), { recursive: true });
    await rm(at('tides of the north'), { recursive: true });
    const { chat, sessions, workbench } = await openFolder('copy');
    await sessions.open();
    await waitFor('the offer', async () => (await sessions.pane().innerText()).includes('This workspace has no history yet'));
    await workbench.screenshot('relink-offer');
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
    await sessions.row('Other Workspaces').click();
    await sessions.see('Other Workspaces', 'copy');
    await sessions.row('copy').click();
    await sessions.see('Other Workspaces', 'copy', 'When is high water?');
    await sessions.row('When is high water\\?').click();
    await workbench.page.locator('.editor-instance .view-lines', { hasText: 'To be read only' }).waitFor();
    await workbench.screenshot('other-workspace');
  });
});
