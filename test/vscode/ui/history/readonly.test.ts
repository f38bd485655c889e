import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ChatPage } from '../../../support/view/chatPage';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { reply } from '../../../support/messagesApi/messagesApiScript';
import { killTree } from '../../../support/run/processes';
import { waitFor } from '../../../support/waitFor';
import type { Workbench } from '../../../support/vscode/workbench';
import { prepareHistory, writeAnswered, type PreparedHistory } from '../../../support/store/writeHistory';

/** Of the version in the header of a database file: https://www.sqlite.org/fileformat2.html */
const versionAt = 60;

describe('a history that this window cannot write', function () {
  inOrder(this);
  let history: PreparedHistory;
  let version: number;
  let session: ChatSession;
  let workbench: Workbench;
  let chat: ChatPage;

  before(async () => {
    history = await prepareHistory((store) => writeAnswered(store, 'When does the tide turn?', 'The tide turns at noon.'));
    version = readFileSync(history.storeFile).readUInt32BE(versionAt);
    setVersion(version + 1);
    session = await openChat({ ...history.options, window: 60_000 });
    ({ workbench, chat } = session);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    await history?.remove();
  });

  /** What happens while no window is open. */
  const between = async (change: () => void) => {
    const host = workbench.extensionHostPid();
    await workbench.close();
    killTree(host);
    await waitFor('the extension host to end', () => session.server.extensionHosts().length === 0);
    change();
    workbench = await session.workbench.openTab();
    await workbench.openView();
    chat = new ChatPage(workbench);
  };
  const cannotWrite = async () => {
    await chat.see('article.answer', 'at noon');
    await waitFor('the composer to say so', async () => (await chat.count('tk-composer [placeholder="Read-only in this window"]')) > 0);
  };
  const setVersion = (version: number) => {
    const content = readFileSync(history.storeFile);
    content.writeUInt32BE(version, versionAt);
    writeFileSync(history.storeFile, content);
  };

  it('because a newer version has written it: it is shown, and said what to do', async () => {
    await chat.see('tk-banner', 'written by a newer version of Threadkeeper, so it is read-only here. Update the extension');
    await cannotWrite();
    await workbench.screenshot('readonly-newer');
    await between(() => setVersion(version));
    session.api.enqueue(reply('It turns again at midnight.'));
    await chat.ask('And then?');
    await chat.see('article.answer', 'midnight');
    await workbench.reload();
    await chat.see('article.answer', 'midnight');
  });

  it('because its folder is read-only: it is shown, and written again once it may be', async function () {
    const folder = dirname(history.storeFile);
    // As root, permissions do not keep anyone from writing; this does.
    const setImmutable = (flag: '+i' | '-i') => execFileSync('chattr', [flag, folder, history.storeFile], { stdio: 'ignore' });
    try {
      setImmutable('+i');
      setImmutable('-i');
    } catch {
      return this.skip();
    }
    try {
      await between(() => setImmutable('+i'));
      await chat.see('tk-banner', 'The folder of this history may not be written, so it is read-only.');
      await cannotWrite();
      await workbench.screenshot('readonly-folder');
    } finally {
      setImmutable('-i');
    }
    await between(() => undefined);
    session.api.enqueue(reply('Here it is written again.'));
    await chat.ask('Can you write?');
    await chat.see('article.answer', 'written again');
  });
});
