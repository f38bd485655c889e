import assert from 'node:assert/strict';
import { agentPrograms, type ServerCommand } from '../../../src/node/mcp/connect/agentPrograms';

const old: ServerCommand = { command: '/old/node', args: ['/old/cli.js', 'mcp'], env: { ELECTRON_RUN_AS_NODE: '1' } };
const fresh: ServerCommand = { command: '/new/node', args: ['/new/cli.js', 'mcp'], env: { ELECTRON_RUN_AS_NODE: '1' } };

const program = (id: string, env: NodeJS.ProcessEnv = {}) =>
  agentPrograms({ home: '/home/ada', platform: 'linux', env }).find((one) => one.id === id)!;

describe('connecting an agent again', () => {
  for (const id of ['cursor', 'codex'])
    it(`replaces the entry in a settings file that was made for it (${id})`, () => {
      const made = program(id).connected(null, old);
      const again = program(id).connected(made, fresh);
      assert.equal(again, program(id).connected(null, fresh));
      assert.equal(program(id).connected(made, old), made);
    });

  it('and taking it out leaves what Codex has written in front of the end mark, which it takes for a remark', () => {
    const codex = program('codex');
    const table = '\n[projects."/home/ada/w"]\ntrust_level = "trusted"\n';
    const later = codex.connected('model = "x"\n', old).replace('# <<< threadkeeper', `${table}# <<< threadkeeper`);
    assert.equal(codex.disconnected(later), `model = "x"\n${table}`);
    assert.ok(codex.connected(later, fresh).includes(table));
  });

  it('leaves the line ends of Windows whole', () => {
    const codex = program('codex');
    const made = codex.connected('model = "x"\n', old).replaceAll('\n', '\r\n');
    assert.equal(codex.disconnected(`${made}[other]\r\na = 1\r\n`), 'model = "x"\r\n[other]\r\na = 1\r\n');
  });

  it('writes where the programs are told to keep their settings', () => {
    const file = (id: string, env: NodeJS.ProcessEnv) => program(id, env).file;
    assert.deepEqual(
      [
        file('claude-code', { CLAUDE_CONFIG_DIR: '/cfg/claude' }),
        file('copilot-cli', { COPILOT_HOME: '/cfg/copilot' }),
        file('codex', { CODEX_HOME: '' }),
      ],
      ['/cfg/claude/.claude.json', '/cfg/copilot/mcp-config.json', '/home/ada/.codex/config.toml'],
    );
  });
});
