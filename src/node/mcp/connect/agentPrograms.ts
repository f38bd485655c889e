import { join } from 'node:path';
import { withJsonEntry, withoutJsonEntry } from './jsonSettings';
import { tomlText, withoutTomlBlock, withTomlBlock } from './tomlSettings';

/** How the server is started. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A program whose agents can be given the server, by its own settings file. */
export interface AgentProgram {
  readonly id: string;
  readonly name: string;
  /** Its settings, and the folder or file by which it is known to be on this machine. */
  readonly file: string;
  readonly sign: string;
  readonly connected: (text: string | null, server: ServerCommand) => string;
  /** As `withoutJsonEntry`. */
  readonly disconnected: (text: string) => string | null | undefined;
}

/** What the server is called in every program. */
const entry = 'threadkeeper';

export interface AgentHome {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
}

/** Lists the programs that can be connected, in the order in which they are offered. */
export function agentPrograms({ home, platform, env }: AgentHome): AgentProgram[] {
  const config = env['XDG_CONFIG_HOME'] || join(home, '.config');
  const codexHome = env['CODEX_HOME'] || join(home, '.codex');
  const claudeHome = env['CLAUDE_CONFIG_DIR'];
  const copilotHome = env['COPILOT_HOME'] || join(home, '.copilot');
  const zed = platform === 'win32' ? join(env['APPDATA'] ?? join(home, 'AppData', 'Roaming'), 'Zed') : join(config, 'zed');
  const stdio = ({ command, args, env: variables }: ServerCommand) => ({ command, args, env: variables });
  return [
    json(
      'claude-code',
      'Claude Code',
      join(claudeHome || home, '.claude.json'),
      claudeHome || join(home, '.claude'),
      'mcpServers',
      (server) => ({ type: 'stdio', ...stdio(server) }),
    ),
    {
      id: 'codex',
      name: 'Codex',
      file: join(codexHome, 'config.toml'),
      sign: codexHome,
      connected: (text, { command, args, env: variables }) =>
        withTomlBlock(text, `mcp_servers.${entry}`, [
          `command = ${tomlText(command)}`,
          `args = [${args.map(tomlText).join(', ')}]`,
          `env = { ${Object.entries(variables)
            .map(([name, value]) => `${name} = ${tomlText(value)}`)
            .join(', ')} }`,
        ]),
      disconnected: withoutTomlBlock,
    },
    json('cursor', 'Cursor', join(home, '.cursor', 'mcp.json'), join(home, '.cursor'), 'mcpServers', stdio),
    json(
      'opencode',
      'opencode',
      join(config, 'opencode', 'opencode.json'),
      join(config, 'opencode'),
      'mcp',
      ({ command, args, env: variables }) => ({ type: 'local', command: [command, ...args], environment: variables, enabled: true }),
    ),
    json('gemini', 'Gemini CLI', join(home, '.gemini', 'settings.json'), join(home, '.gemini'), 'mcpServers', stdio),
    json('qwen', 'Qwen Code', join(home, '.qwen', 'settings.json'), join(home, '.qwen'), 'mcpServers', stdio),
    json('copilot-cli', 'Copilot CLI', join(copilotHome, 'mcp-config.json'), copilotHome, 'mcpServers', (server) => ({
      type: 'local',
      ...stdio(server),
      tools: ['*'],
    })),
    json('zed', 'Zed', join(zed, 'settings.json'), zed, 'context_servers', stdio),
    json(
      'windsurf',
      'Windsurf',
      join(home, '.codeium', 'windsurf', 'mcp_config.json'),
      join(home, '.codeium', 'windsurf'),
      'mcpServers',
      stdio,
    ),
  ];
}

function json(
  id: string,
  name: string,
  file: string,
  sign: string,
  parent: string,
  value: (server: ServerCommand) => object,
): AgentProgram {
  return {
    id,
    name,
    file,
    sign,
    connected: (text, server) => withJsonEntry(text, parent, entry, value(server)),
    disconnected: (text) => withoutJsonEntry(text, parent, entry),
  };
}
