import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { openChat, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { waitFor } from '../../support/waitFor';

describe('why a line is there, in the window', function () {
  inOrder(this);
  let session: ChatSession;

  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Mira', '-c', 'user.email=m@x', '-c', 'commit.gpgsign=false', ...args], { cwd: session.folder });
  /** Its tab is there before its text, which `part` is of. */
  const openFile = async (name: string, part: string) => {
    await session.workbench.openFile(name);
    await session.workbench.page.locator('.editor-instance .view-lines', { hasText: part }).waitFor();
  };
  const rows = async () => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Why Is This Line Here?');
    return waitFor('an answer', async () => {
      const labels = await workbench.quickInput.labels();
      return labels.length > 0 && !labels.some((label) => label.startsWith('Threadkeeper: ')) ? labels : undefined;
    });
  };

  before(async () => {
    session = await openChat({ window: 60_000, settings: { 'threadkeeper.checkpoint.enabled': false } });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-q', '-m', 'The tide so far');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('leads from the line to the message that asked for it', async () => {
    const { chat, api, workbench } = session;
    const content = 'export const lanternOil = burn(42);\n';
    api.enqueue(
      reply('Oil burns longer than wax.', toolCall('create_file', { path: 'src/lantern.js', content })),
      reply('There is a lantern now.'),
    );
    await chat.send('Make a lantern that burns all night');
    await chat.press(/^Allow$/);
    await chat.idle();
    git('add', '-A');
    git('commit', '-q', '-m', 'A lantern');
    await openFile('lantern.js', 'lanternOil');
    const found = await rows();
    await workbench.screenshot('why-this-line');
    assert.deepEqual(
      found.map((label) => label.replace(/ by Mira on .*: /, ' by Mira: ').replace(/Commit [0-9a-f]{8}/, 'Commit x')),
      ['You asked', 'Threadkeeper, before the edit', 'Threadkeeper answered', 'Edited by Threadkeeper', 'Commit x by Mira: A lantern'],
    );
    await workbench.quickInput.pick('You asked');
    await chat.see('article.user-message', 'Make a lantern that burns all night');
  });

  it('says so when no session has written it', async () => {
    await openFile('cli.js', 'parseTable');
    const [found] = await rows();
    await session.workbench.screenshot('why-unknown-line');
    assert.match(found!, /^No session has written this line\. It came with commit [0-9a-f]{8} by Mira on .*: The tide so far$/);
    await session.workbench.quickInput.close();
  });
});
