import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { openChat, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { reply } from '../../support/messagesApi/messagesApiScript';
import { McpClient } from '../../support/run/mcpClient';
import { brief, ImportRig } from '../../support/store/importRig';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';
import { chooseFile } from '../../support/vscode/fileDialog';
import { waitFor } from '../../support/waitFor';

const mine = 'model = "gpt"\n\n# mine\n[mcp_servers.docs]\ncommand = "docs"\n';

/** Another agent on the machine, told in order. */
describe('other agents', function () {
  inOrder(this);
  let session: ChatSession;
  let temp: TempFolder;
  let agent: McpClient;
  const settings = () => readFileSync(join(temp.path, 'codex', 'config.toml'), 'utf8');

  before(async () => {
    temp = tempFolder();
    mkdirSync(join(temp.path, 'codex'));
    writeFileSync(join(temp.path, 'codex', 'config.toml'), mine);
    // What is started in a terminal tells where, and with what.
    mkdirSync(join(temp.path, 'bin'));
    writeFileSync(join(temp.path, 'bin', 'codex'), `#!/bin/sh\necho "$PWD $*" > '${join(temp.path, 'started')}'\n`, { mode: 0o755 });
    const path = { PATH: [join(temp.path, 'bin'), process.env['PATH']].join(delimiter) };
    session = await openChat({
      env: { CODEX_HOME: join(temp.path, 'codex') },
      // VS Code lists servers of agents only where it has agents. Its terminals have the PATH of a login shell, not that of its server.
      settings: { 'chat.disableAIFeatures': false, 'terminal.integrated.env.linux': path, 'terminal.integrated.env.osx': path },
    });
    session.api.enqueue(reply('The pelican lands at noon.'));
    await session.chat.send('When does the pelican land?');
    await session.chat.idle();
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await agent?.close();
    await session?.close();
    temp?.remove();
  });

  it('is connected after its change was shown and confirmed, and then finds what was said here', async () => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Connect an Agent…');
    await workbench.quickInput.waitUntilOpen('Connect an Agent');
    await workbench.screenshot('agents-pick');
    await workbench.quickInput.pick('Codex');
    assert.match(await workbench.messages.waitForDialog(), /Change .*config\.toml\?/);
    assert.equal(settings(), mine);
    await workbench.screenshot('agents-preview');
    await workbench.messages.answerDialog('Connect');
    await waitFor('the settings', () => settings() !== mine);
    assert.match(await workbench.messages.waitForDialog(), /Share the history of this workspace with agents\?/);
    await workbench.messages.answerDialog('Share');
    const [, command] = /command = (".*")/.exec(settings().slice(mine.length))!;
    const [, args] = /args = (\[.*\])/.exec(settings())!;
    agent = new McpClient(JSON.parse(command!) as string, JSON.parse(args!) as string[], { ELECTRON_RUN_AS_NODE: '1' });
    await agent.initialize();
    await waitFor('an answer', async () => (await agent.call('search_history', { query: 'pelican' })).text.includes('lands at noon'));
  });

  it('has the server in VS Code without any set-up', async () => {
    const { workbench } = session;
    await workbench.runCommand('MCP: List Servers');
    await waitFor('the server in the list', async () => (await workbench.quickInput.labels()).includes('Threadkeeper'));
    await workbench.screenshot('agents-servers');
    await workbench.quickInput.close();
  });

  it('gives a link that opens the session here', async () => {
    const { workbench, chat } = session;
    const { text } = await agent.call('search_history', { query: 'pelican' });
    const [link] = /[\w-]+:\/\/threadkeeper\.threadkeeper\/session\/[\w?=-]+/.exec(text) ?? assert.fail(text);
    await workbench.runCommand('Threadkeeper: New Session');
    await waitFor('an empty chat', async () => (await chat.count('tk-row')) === 0);
    await workbench.runCommand('Developer: Open URL');
    await workbench.quickInput.waitUntilOpen('URL to open');
    await workbench.quickInput.accept(link);
    assert.match(await workbench.messages.waitForDialog(), /Allow 'Threadkeeper' extension to open this URI\?/);
    await workbench.messages.answerDialog('Open');
    await chat.see('tk-row', 'The pelican lands at noon.');
  });

  it('reads nothing more once that is switched off', async () => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Share This History with Agents…');
    await workbench.messages.waitForDialog();
    await workbench.messages.answerDialog('Stop Sharing');
    await waitFor('a refusal', async () => (await agent.call('search_history', { query: 'pelican' })).isError);
  });

  it('is handed a session that was shown and confirmed before', async () => {
    const { workbench } = session;
    const sessions = join(temp.path, 'codex', 'sessions');
    await workbench.runCommand('Threadkeeper: Hand Over…');
    await workbench.quickInput.waitUntilOpen('Hand Over');
    await workbench.screenshot('hand-over-pick');
    await workbench.quickInput.pick('Codex CLI');
    assert.match(await workbench.messages.waitForDialog(), /Hand this session over to Codex CLI\?/);
    assert.equal(existsSync(sessions), false);
    await workbench.screenshot('hand-over-preview');
    await workbench.messages.answerDialog('Hand Over');
    const file = await waitFor('its file', () => {
      const found = existsSync(sessions) ? readdirSync(sessions, { recursive: true, encoding: 'utf8' }) : [];
      return found.find((name) => name.endsWith('.jsonl'));
    });
    assert.match(readFileSync(join(sessions, file), 'utf8'), /When does the pelican land\?[^]*The pelican lands at noon\./);
    await workbench.messages.waitForNotification('Handed over. Go on with: codex resume');
    await workbench.screenshot('hand-over-done');
    await workbench.messages.answerNotification('Handed over. Go on with: codex resume', 'Open in Terminal');
    const started = await waitFor('the program in a terminal', () => {
      const told = join(temp.path, 'started');
      return existsSync(told) && readFileSync(told, 'utf8').trim();
    });
    const [, id] = /-([0-9a-f-]{36})\.jsonl$/.exec(file) ?? [];
    assert.equal(started, `${realpathSync(session.folder)} resume ${id}`);
    await workbench.screenshot('hand-over-terminal');
  });

  it('may be a colleague, who opens the file with the passphrase that was typed', async () => {
    const { workbench } = session;
    const { quickInput, messages } = workbench;
    const file = join(temp.path, 'pelicans.tksealed');
    const passphrase = 'correct horse battery';
    await workbench.runCommand('Threadkeeper: Hand Over…');
    await quickInput.waitUntilOpen('Hand Over');
    await quickInput.pick('A Colleague…');
    await quickInput.waitUntilOpen('Your colleague needs it');
    await quickInput.accept('short');
    await waitFor('it to be refused', async () => (await quickInput.prompt()).includes('characters at least'));
    await quickInput.type(passphrase);
    assert.equal(await workbench.page.locator('.quick-input-widget .quick-input-box input').getAttribute('type'), 'password');
    await workbench.screenshot('hand-over-passphrase');
    await quickInput.accept();
    await chooseFile(workbench, file);
    await messages.waitForNotification(`Sealed in ${file}`);
    await workbench.screenshot('hand-over-sealed');
    assert.equal(/pelican/i.test(readFileSync(file, 'latin1')), false);
    const theirs = await ImportRig.open();
    try {
      const { sessions, failed } = await theirs.import(file, { passphrase });
      assert.deepEqual([sessions.length, failed], [1, []]);
      const said = (await theirs.branch(sessions[0]!.uuid)).map(brief);
      assert.deepEqual(
        said.filter((text) => /^(?:user|assistant): /.test(text)),
        ['user: When does the pelican land?', 'assistant: The pelican lands at noon.'],
      );
    } finally {
      await theirs.close();
    }
    await workbench.runCommand('Threadkeeper: Import Sessions…');
    await quickInput.waitUntilOpen('Import Sessions');
    await quickInput.pick('Files…');
    await chooseFile(workbench, file);
    await quickInput.waitUntilOpen('Whoever made it has its passphrase');
    await quickInput.accept(passphrase);
    await messages.waitForNotification('Nothing new was imported. 1 session was here already.');
  });

  it('is disconnected so that its settings are what they were', async () => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Disconnect an Agent…');
    await workbench.quickInput.waitUntilOpen('Disconnect an Agent');
    await workbench.quickInput.pick('Codex');
    await workbench.messages.waitForDialog();
    await workbench.messages.answerDialog('Disconnect');
    await waitFor('the settings', () => settings() === mine);
    assert.equal(existsSync(join(temp.path, 'codex', 'config.toml')), true);
  });
});
