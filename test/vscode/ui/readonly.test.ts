import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ChatPage } from '../../support/chatPage';
import { openChat, type ChatSession } from '../../support/chatSession';
import { inOrder } from '../../support/inOrder';
import { reply } from '../../support/messagesApiScript';
import { killTree } from '../../support/processes';
import { waitFor } from '../../support/waitFor';
import type { Workbench } from '../../support/workbench';

/** Of the version in the header of a database file: https://www.sqlite.org/fileformat2.html */
const versionAt = 60;

describe('a history that this window cannot write', function () {
  inOrder(this);
  let session: ChatSession;
  let workbench: Workbench;
  let chat: ChatPage;

  before(async () => {
    session = await openChat({ window: 60_000 });
    ({ workbench, chat } = session);
    session.api.enqueue(reply('The tide turns at noon.'));
    await chat.ask('When does the tide turn?');
    await chat.see('article.answer', 'at noon');
    // Closing puts everything into the file itself.
    await workbench.reload();
    await chat.see('article.answer', 'at noon');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  const storeFile = () => {
    const found = readdirSync(session.server.dataFolder, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('threadkeeper.db'));
    assert.ok(found);
    return join(session.server.dataFolder, found);
  };
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
    const content = readFileSync(storeFile());
    content.writeUInt32BE(version, versionAt);
    writeFileSync(storeFile(), content);
  };

  it('because a newer version has written it: it is shown, and said what to do', async () => {
    const version = readFileSync(storeFile()).readUInt32BE(versionAt);
    await between(() => setVersion(version + 1));
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
    const folder = dirname(storeFile());
    // As root, permissions do not keep anyone from writing; this does.
    const setImmutable = (flag: '+i' | '-i') => execFileSync('chattr', [flag, folder, storeFile()], { stdio: 'ignore' });
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
