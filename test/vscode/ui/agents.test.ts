import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openChat, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { reply } from '../../support/messagesApi/messagesApiScript';
import { McpClient } from '../../support/run/mcpClient';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';
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
    session = await openChat({
      env: { CODEX_HOME: join(temp.path, 'codex') },
      // VS Code lists servers of agents only where it has agents.
      settings: { 'chat.disableAIFeatures': false },
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
