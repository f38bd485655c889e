import { join } from 'node:path';
import type { ProgramId } from '../../../core/transfer/programs';
import type { KindName } from '../foreign/databaseKinds';
import type { LineFormatName } from '../foreign/readJsonLines';
import type { WholeFormat } from '../import/wholeFiles';

export interface Machine {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folders of the workspace: aider keeps its sessions there. */
  readonly folders: readonly string[];
}

/** A folder in which a program keeps sessions, how they are found in it, who reads them, and how they are written. */
export interface Place {
  readonly root: string;
  /** Paths of the folders below it that are looked into, with `/`; omitted: none. */
  readonly enters?: RegExp;
  /** Paths of its sources, from the root. */
  readonly sources: RegExp;
  readonly way: /** Lines are appended. */
    | { readonly type: 'lines'; readonly format: LineFormatName }
    /** Anything in the file may change. */
    | { readonly type: 'whole'; readonly format: WholeFormat }
    /** Followed by its change counters; only the pages that are needed are read. */
    | { readonly type: 'database'; readonly format: KindName };
}

/** One row for each program. */
export const places: Readonly<Record<ProgramId, (machine: Machine) => readonly Place[]>> = {
  'claude-code': ({ home, env }) => [
    {
      root: join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'projects'),
      enters: /^[^/]+(?:\/[^/]+(?:\/subagents)?)?$/,
      sources: /\.jsonl$/,
      way: { type: 'lines', format: 'claude-code' },
    },
  ],
  codex: ({ home, env }) => {
    const base = env['CODEX_HOME'] || join(home, '.codex');
    const way = { type: 'lines', format: 'codex' } as const;
    return [
      { root: join(base, 'sessions'), enters: /^\d+(?:\/\d+){0,2}$/, sources: /(?:^|\/)rollout-[^/]*\.jsonl$/, way },
      { root: join(base, 'archived_sessions'), sources: /^rollout-[^/]*\.jsonl$/, way },
    ];
  },
  'copilot-cli': ({ home, env }) => [
    {
      root: join(env['COPILOT_HOME'] || join(home, '.copilot'), 'session-state'),
      enters: /^[^/]+$/,
      sources: /^[^/]+(?:\/events)?\.jsonl$/,
      way: { type: 'lines', format: 'copilot-cli' },
    },
  ],
  'vscode-chat': (machine) =>
    editors(machine).flatMap((user): Place[] => {
      const way = { type: 'whole', format: 'vscode-chat' } as const;
      return [
        {
          root: join(user, 'workspaceStorage'),
          enters: /^[^/]+(?:\/chatSessions)?$/,
          sources: /^[^/]+\/chatSessions\/[^/]+\.jsonl?$/,
          way,
        },
        { root: join(user, 'globalStorage', 'emptyWindowChatSessions'), sources: /^[^/]+\.jsonl?$/, way },
      ];
    }),
  cursor: (machine) => [
    { root: join(editor(machine, 'Cursor'), 'globalStorage'), sources: /^state\.vscdb$/, way: { type: 'database', format: 'cursor' } },
  ],
  gemini: ({ home }) => [
    {
      root: join(home, '.gemini', 'tmp'),
      enters: /^[^/]+(?:\/chats(?:\/[^/]+)?)?$/,
      sources: /^[^/]+\/chats\/(?:[^/]+\/)?[^/]+\.jsonl?$/,
      way: { type: 'whole', format: 'gemini' },
    },
  ],
  qwen: ({ home }) => [
    {
      root: join(home, '.qwen', 'projects'),
      enters: /^[^/]+(?:\/chats)?$/,
      sources: /^[^/]+\/chats\/[^/]+\.jsonl$/,
      way: { type: 'lines', format: 'qwen' },
    },
  ],
  opencode: (machine) => [
    { root: join(dataHome(machine), 'opencode'), sources: /^opencode(?:-[\w.-]+)?\.db$/, way: { type: 'database', format: 'opencode' } },
  ],
  kilo: (machine) => [
    { root: join(dataHome(machine), 'kilo'), sources: /^kilo(?:-[\w.-]+)?\.db$/, way: { type: 'database', format: 'kilo' } },
  ],
  zed: (machine) => [{ root: join(zedFolder(machine), 'threads'), sources: /^threads\.db$/, way: { type: 'database', format: 'zed' } }],
  aider: ({ folders }) =>
    folders.map((root) => ({ root, sources: /^\.aider\.chat\.history\.md$/, way: { type: 'whole', format: 'aider' } })),
  pi: ({ home, env }) => [
    {
      root: join(env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent'), 'sessions'),
      enters: /^[^/]+$/,
      sources: /^[^/]+\/[^/]+\.jsonl$/,
      way: { type: 'lines', format: 'pi' },
    },
  ],
  openclaw: ({ home }) =>
    ['.openclaw', '.clawdbot', '.moltbot'].flatMap((name): Place[] => [
      {
        root: join(home, name, 'agents'),
        enters: /^[^/]+(?:\/sessions)?$/,
        sources: /^[^/]+\/sessions\/[^/]+\.jsonl$/,
        way: { type: 'lines', format: 'openclaw' },
      },
      {
        root: join(home, name, 'agents'),
        enters: /^[^/]+(?:\/agent)?$/,
        sources: /^[^/]+\/agent\/openclaw-agent\.sqlite$/,
        way: { type: 'database', format: 'openclaw' },
      },
    ]),
  goose: ({ home, platform, env }) => [
    {
      root:
        platform === 'win32'
          ? join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'Block', 'goose', 'data', 'sessions')
          : join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'goose', 'sessions'),
      sources: /^sessions\.db$/,
      way: { type: 'database', format: 'goose' },
    },
  ],
  cline: (machine) => [
    ...tasks(machine, 'saoudrizwan.claude-dev', 'cline'),
    {
      root: join(machine.home, '.cline', 'data', 'sessions'),
      enters: /^[^/]+$/,
      sources: /^[^/]+\/[^/]+\.messages\.json$/,
      way: { type: 'whole', format: 'cline' },
    },
  ],
  roo: (machine) => tasks(machine, 'rooveterinaryinc.roo-cline', 'roo'),
  continue: ({ home, env }) => [
    {
      root: join(env['CONTINUE_GLOBAL_DIR'] || join(home, '.continue'), 'sessions'),
      sources: /^(?!sessions\.json$)[^/]+\.json$/,
      way: { type: 'whole', format: 'continue' },
    },
  ],
  librecode: ({ home }) => [{ root: join(home, '.librecode'), sources: /^librecode\.db$/, way: { type: 'database', format: 'librecode' } }],
};

function tasks(machine: Machine, extension: string, format: 'cline' | 'roo'): Place[] {
  return editors(machine).map((user) => ({
    root: join(user, 'globalStorage', extension, 'tasks'),
    enters: /^[^/]+$/,
    sources: /^[^/]+\/api_conversation_history\.json$/,
    way: { type: 'whole', format },
  }));
}

/** User folders of VS Code and of what is built from it. */
function editors(machine: Machine): string[] {
  const names = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor'];
  return [...names.map((name) => editor(machine, name)), join(machine.home, '.vscode-server', 'data', 'User')];
}

function editor({ home, platform, env }: Machine, name: string): string {
  const base =
    platform === 'win32'
      ? env['APPDATA'] || join(home, 'AppData', 'Roaming')
      : platform === 'darwin'
        ? join(home, 'Library', 'Application Support')
        : env['XDG_CONFIG_HOME'] || join(home, '.config');
  return join(base, name, 'User');
}

/** Programs of the XDG kind have it so on every system. */
function dataHome({ home, env }: Machine): string {
  return env['XDG_DATA_HOME'] || join(home, '.local', 'share');
}

function zedFolder({ home, platform, env }: Machine): string {
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'Zed');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Zed');
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'zed');
}
