import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRecallTool } from '../../src/core/recall/recallTool';
import { setShared } from '../../src/node/mcp/agentSharing';
import { agentPrograms } from '../../src/node/mcp/connect/agentPrograms';
import { readSettings, replaceSettings } from '../../src/node/mcp/connect/settingsFile';
import { newSeal } from '../../src/node/runtime/ids';
import { resolveStoreFolder } from '../../src/node/workspaces/workspaceRegistry';
import { serverCommand } from '../../src/vscode/mcp/serverLauncher';
import { agentDrivers } from '../support/agents/agentDrivers';
import { RealAgent } from '../support/agents/agentRun';
import { ProviderDouble } from '../support/agents/providerDouble';
import { projectRoot } from '../support/paths';
import { userMessage } from '../support/store/storeTemp';
import { WatchRig } from '../support/store/watchRig';
import { waitFor } from '../support/waitFor';

/** Two that are made by different people and speak different formats. */
const pair = ['claude-code', 'codex'] as const;
const said = {
  'claude-code': 'Deploys go through zebraflag, never by hand.',
  codex: 'The staging port is 54329, says wombatkey.',
  threadkeeper: 'Invoices are rounded by quokkamint.',
} as const;
const word = { 'claude-code': 'zebraflag', codex: 'wombatkey', threadkeeper: 'quokkamint' } as const;
/** Of something else that the model does until the server has come. */
const mostRounds = 200;

describe('a day that two real programs and this one share', function () {
  this.timeout(600_000);
  let rig: WatchRig;
  let double: ProviderDouble;
  const agents = new Map<(typeof pair)[number], RealAgent>();

  before(async function () {
    this.timeout(1_200_000);
    for (const program of pair) {
      const make = await RealAgent.tryInstall(agentDrivers.find((one) => one.program === program)!);
      if (!make) return this.skip();
      rig ??= await WatchRig.open();
      double ??= await ProviderDouble.start();
      const work = join(rig.home, 'work');
      mkdirSync(work, { recursive: true });
      agents.set(program, make({ home: rig.home, work, url: double.url }));
    }
  });
  after(async () => {
    await double?.close();
    await rig?.close();
  });

  /** The model of that program says "noted" to what it is told. */
  async function tell(program: (typeof pair)[number], text: string): Promise<void> {
    double.respond = () => ({ text: 'Noted.' });
    const { code, stdout, stderr } = await agents.get(program)!.turn(text);
    assert.equal(code, 0, `${stdout}\n${stderr}`);
  }

  /** The model of that program calls the server; resolves with what it is given for it in its next request. */
  async function find(program: (typeof pair)[number], query: string): Promise<string> {
    double.asked.splice(0);
    let calledAfter = 0;
    double.respond = ({ tools }) => {
      if (calledAfter > 0) return { text: 'Done.' };
      const name = tools.find((one) => one.endsWith('search_history'));
      if (name !== undefined) {
        calledAfter = double.asked.length;
        return { call: { name, input: { query } } };
      }
      // Both begin before their servers have come, and offer the tools of these as soon as they are there.
      const meanwhile = tools.find((one) => one === 'WaitForMcpServers' || one === 'list_mcp_resources');
      const isWaiting = meanwhile !== undefined && double.asked.length < mostRounds;
      return isWaiting ? { call: { name: meanwhile, input: {} } } : { text: 'There is no server.' };
    };
    const { code, stdout, stderr } = await agents.get(program)!.turn('What was said of it elsewhere?');
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    const given = double.asked.slice(calledAfter).find(({ last }) => last.by === 'tool')?.last.text;
    assert.ok(calledAfter > 0 && given !== undefined, `offered were ${double.asked.map(({ tools }) => tools.join(' ')).join('\n')}`);
    return given;
  }

  it('each finds by the server what was said to the others, once the workspace is shared', async () => {
    // As the editor knows the workspace, and as Connect an Agent writes its entry.
    const globalDir = join(rig.temp.path, 'global');
    const workspace = join(rig.home, 'work');
    const storeFolder = join(rig.temp.path, 'store');
    const { folder } = await resolveStoreFolder({ globalDir, candidateDir: storeFolder, workspaceUris: [`file://${workspace}`] });
    assert.equal(folder, storeFolder);
    const server = await serverCommand({ extensionPath: projectRoot, globalDir }, 'vscode', false);
    for (const program of pair) {
      const { env } = agents.get(program)!;
      const settings = agentPrograms({ home: rig.home, platform: 'linux', env }).find(({ id }) => id === program)!;
      const before = await readSettings(settings.file);
      await replaceSettings(settings.file, before, settings.connected(before, server));
    }

    await rig.start(pair, [workspace], {});
    await rig.store.createSession({ uuid: 'ours', key: 'vscode:ours', channel: 'vscode', title: 'Invoices', createdAt: Date.now() });
    await rig.store.append('ours', { entries: [userMessage('ours', null, said.threadkeeper)] });
    for (const program of pair) await tell(program, said[program]);
    for (const program of pair)
      await waitFor(`what was said to ${program}`, async () => (await rig.store.search({ text: word[program], limit: 1 })).hits.length > 0);

    assert.match(await find('claude-code', word.codex), /No history is shared with agents\./);
    await setShared(storeFolder, true);
    for (const [asking, other, name] of [
      ['claude-code', 'codex', 'Codex CLI'],
      ['codex', 'claude-code', 'Claude Code'],
      ['claude-code', 'threadkeeper', 'Threadkeeper'],
      ['codex', 'threadkeeper', 'Threadkeeper'],
    ] as const) {
      const given = await find(asking, word[other]);
      assert.ok(given.includes(said[other]) && given.includes(`program="${name}"`), `${asking} was given:\n${given}`);
    }
    const recall = createRecallTool({ store: rig.store, session: () => null, newSeal });
    for (const program of pair) {
      const { text } = await recall.run({ query: word[program] }, new AbortController().signal);
      assert.ok(text.includes(said[program]), text);
    }
  });
});
