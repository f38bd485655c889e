import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import { openChat, type ChatSession } from '../../support/chat/chatSession';
import { reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { startWitness, type Witness } from '../../support/servers/witness';
import { attempts, tryInPage, type Attempt } from '../../support/view/policyAttempts';
import { waitFor } from '../../support/waitFor';

/** The content security policy as VS Code's own webviews enforce it. */
describe('the content security policy at run time', () => {
  let session: ChatSession;
  let witness: Witness;

  before(async () => {
    witness = await startWitness();
    session = await openChat({ window: 60_000 });
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    await witness?.stop();
  });

  /** VS Code writes its webviews with `document.write`, which drops listeners of an init script: the console keeps what they would hear. */
  const violations = () =>
    session.workbench.consoleProblems.filter(
      (text) => /violates the following Content Security Policy/i.test(text) && /vscode-cdn\.net|nonce-|'none'/.test(text),
    );

  it('is not violated by a chat with everything in it, nor by the panels', async () => {
    const { api, chat, workbench } = session;
    const picture = `${witness.url}/picture.png`;
    api.enqueue(
      reply(
        `# Tides\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\`\`\`js\nconst flood = 7;\n\`\`\`\n\n![x](${picture}) <img src="${picture}" style="color: red" onerror="x()"><script>x()</script> [link](https://example.org)`,
      ),
      reply(toolCall('run_command', { command: 'echo \u202Ehidden\u200B; true' })),
    );
    await chat.ask('Show me everything');
    await chat.see('article.answer', 'const flood');
    await chat.send('Run it');
    await chat.see('.approval-detail', '⟦U+202E⟧hidden⟦U+200B⟧');
    await workbench.screenshot('hidden-characters');
    await chat.press(/^Deny$/);
    await chat.idle();
    await (await chat.locator('tk-gauge [role=meter]')).hover();
    for (const [command, heading] of [
      ['Show Context Breakdown', 'tk-breakdown h1'],
      ['Show Analytics', 'tk-analytics h1'],
    ] as const) {
      await workbench.runCommand(`Threadkeeper: ${command}`);
      await workbench.webview(heading);
    }
    assert.deepEqual(violations(), []);
    assert.deepEqual(witness.requests, []);
  });

  it('lets nothing through that a script in the chat or in a panel tries', async () => {
    const { chat, workbench } = session;
    const names = Object.keys(attempts) as Attempt[];

    // Without a policy every one of them gets through: what is refused below is refused by the policy.
    const free = await session.context.newPage();
    await free.goto(witness.url);
    for (const name of names) assert.equal((await attempt(free.mainFrame(), name)).refused, '', name);
    await waitFor('every request', () =>
      ['/script.js', '/picture.png', '/fetch', '/font.woff2', '/frame', '/style.css', '/form'].every((path) =>
        witness.requests.includes(path),
      ),
    );
    await free.close();

    for (const frame of [await workbench.webview('tk-analytics h1'), await chat.frame()]) {
      witness.requests.length = 0;
      const told = violations().length;
      for (const name of names) assert.deepEqual({ name, ...(await attempt(frame, name)) }, { name, refused: attempts[name], ran: false });
      assert.deepEqual(witness.requests, []);
      assert.ok(violations().length > told, 'the console tells what is refused');
    }
  });

  /** The directive by which an attempt was refused, empty when none did, and whether code of it ran. */
  function attempt(frame: Frame, name: Attempt): Promise<{ readonly refused: string; readonly ran: boolean }> {
    return frame.evaluate(
      `(${tryInPage})(${JSON.stringify({ tried: name, url: witness.url, waits: frame.url().startsWith(witness.url) })})`,
    );
  }
});
