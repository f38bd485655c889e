import { join } from 'node:path';
import type { ProgramId } from '../../../src/core/transfer/programs';
import type { AgentPackage } from './agentInstall';

/** Where a program runs: it sees nothing else of this machine. */
export interface AgentPlace {
  readonly home: string;
  /** Its working folder. */
  readonly work: string;
  /** Of the provider's double. */
  readonly url: string;
}

/** How a program is installed, told of the double, and asked for one turn without a terminal. */
export interface AgentDriver {
  readonly program: ProgramId;
  readonly install: AgentPackage;
  /** Below `node_modules`. */
  readonly bin: string;
  /** The Node that runs it, by its version; omitted: it is a program of its own. */
  readonly node?: string;
  readonly env: (place: AgentPlace) => Readonly<Record<string, string>>;
  /** Settings, by their paths in its home. */
  readonly files: (place: AgentPlace) => Readonly<Record<string, object | string>>;
  readonly turn: (prompt: string) => readonly string[];
  /** The tool that writes a file, and what it is given. */
  readonly write: (file: string, text: string) => { readonly name: string; readonly input: object };
  /** How it goes on with a session of this id, or, where it wants one, of this file. */
  readonly resume: (session: { readonly id: string; readonly file: string }, prompt: string) => readonly string[];
  /** A file in its home that names what it leaves running behind a turn, by its `pid`. */
  readonly leaves?: string;
}

const anyNode = '20';
const key = 'sk-double-0123456789';

const claudeCode: AgentDriver = {
  program: 'claude-code',
  install: { packages: ['@anthropic-ai/claude-code@2.1.330'] },
  bin: '.bin/claude',
  env: ({ url }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_MODEL: 'claude-sonnet-4-5',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // It would offer tools of servers only after a search for them.
    ENABLE_TOOL_SEARCH: 'false',
    IS_SANDBOX: '1',
  }),
  files: () => ({}),
  turn: (prompt) => ['-p', prompt, '--dangerously-skip-permissions'],
  write: (file, text) => ({ name: 'Write', input: { file_path: file, content: text } }),
  resume: ({ id }, prompt) => ['--resume', id, '-p', prompt, '--dangerously-skip-permissions'],
};

const codex: AgentDriver = {
  program: 'codex',
  install: { packages: ['@openai/codex@0.169.0'] },
  bin: '@openai/codex/bin/codex.js',
  node: anyNode,
  env: () => ({ DOUBLE_KEY: key }),
  files: ({ url }) => ({
    '.codex/config.toml': [
      'model = "double"',
      'model_provider = "double"',
      'approval_policy = "never"',
      'sandbox_mode = "danger-full-access"',
      'check_for_update_on_startup = false',
      '[analytics]',
      'enabled = false',
      '[model_providers.double]',
      'name = "double"',
      `base_url = "${url}/v1"`,
      'env_key = "DOUBLE_KEY"',
      'wire_api = "responses"',
      '',
    ].join('\n'),
  }),
  turn: (prompt) => ['exec', '--skip-git-repo-check', '--json', prompt],
  write: (file, text) => ({ name: 'exec_command', input: { cmd: `printf %s '${text}' > '${file}'` } }),
  resume: ({ id }, prompt) => ['exec', '--skip-git-repo-check', '--json', 'resume', id, prompt],
};

const openCodeSettings = (url: string) =>
  JSON.stringify({
    model: 'anthropic/claude-sonnet-4-5',
    small_model: 'anthropic/claude-sonnet-4-5',
    autoupdate: false,
    share: 'disabled',
    provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: key }, models: { 'claude-sonnet-4-5': { name: 'Double' } } } },
    permission: { edit: 'allow', bash: 'allow', webfetch: 'deny' },
  });
const openCodeSwitches = (prefix: string) =>
  Object.fromEntries(['AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS'].map((name) => [`${prefix}_DISABLE_${name}`, '1']));

const opencode: AgentDriver = {
  program: 'opencode',
  install: { packages: ['opencode-ai@1.18.33'] },
  bin: '.bin/opencode',
  env: ({ url }) => ({ OPENCODE_CONFIG_CONTENT: openCodeSettings(url), ...openCodeSwitches('OPENCODE') }),
  files: () => ({}),
  turn: (prompt) => ['run', '--format', 'json', prompt],
  write: (file, text) => ({ name: 'write', input: { filePath: file, content: text } }),
  // Asked without a screen it takes the model that the session names: a hand-over names that of its settings.
  resume: ({ id }, prompt) => ['run', '--format', 'json', '-s', id, prompt],
};

const kilo: AgentDriver = {
  ...opencode,
  program: 'kilo',
  // Its own installation fails; the program is a package of its own.
  install: { packages: ['@kilocode/cli@7.8.1', '@kilocode/cli-linux-x64@7.7.9'], ignoresScripts: true },
  bin: '@kilocode/cli-linux-x64/bin/kilo',
  env: ({ url }) => ({ KILO_CONFIG_CONTENT: openCodeSettings(url), ...openCodeSwitches('KILO') }),
  turn: (prompt) => ['run', '--auto', '--format', 'json', prompt],
  resume: ({ id }, prompt) => ['run', '--auto', '--format', 'json', '-s', id, prompt],
};

const gemini: AgentDriver = {
  program: 'gemini',
  install: { packages: ['@google/gemini-cli@0.61.0'] },
  bin: '.bin/gemini',
  node: anyNode,
  env: ({ url }) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  files: () => ({
    '.gemini/settings.json': {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
    },
  }),
  turn: (prompt) => ['-m', 'gemini-2.5-pro', '--yolo', '-p', prompt],
  write: (file, text) => ({ name: 'write_file', input: { file_path: file, content: text } }),
  resume: ({ id }, prompt) => ['-m', 'gemini-2.5-pro', '--yolo', '--resume', id, '-p', prompt],
};

const qwen: AgentDriver = {
  program: 'qwen',
  install: { packages: ['@qwen-code/qwen-code@0.15.10'] },
  bin: '.bin/qwen',
  node: anyNode,
  env: ({ url }) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: 'double', HTTP_PROXY: '', HTTPS_PROXY: '' }),
  files: () => ({
    '.qwen/settings.json': {
      security: { auth: { selectedType: 'openai' } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
    },
  }),
  turn: (prompt) => ['--yolo', '-p', prompt],
  write: (file, text) => ({ name: 'write_file', input: { file_path: file, content: text } }),
  resume: ({ id }, prompt) => ['--yolo', '--resume', id, '-p', prompt],
};

const copilot: AgentDriver = {
  program: 'copilot-cli',
  install: { packages: ['@github/copilot@1.0.102'] },
  bin: '.bin/copilot',
  node: anyNode,
  env: ({ url }) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: key,
    COPILOT_PROVIDER_WIRE_API: 'completions',
    COPILOT_MODEL: 'double',
    COPILOT_AUTO_UPDATE: 'false',
  }),
  files: () => ({}),
  turn: (prompt) => ['-p', prompt, '--allow-all-tools'],
  write: (file, text) => ({ name: 'create', input: { path: file, file_text: text } }),
  resume: ({ id }, prompt) => [`--resume=${id}`, '-p', prompt, '--allow-all-tools'],
};

const pi: AgentDriver = {
  program: 'pi',
  install: { packages: ['@earendil-works/pi-coding-agent@0.87.1'] },
  bin: '.bin/pi',
  node: '24.21.0',
  env: () => ({ PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' }),
  files: ({ url }) => ({
    '.pi/agent/models.json': {
      providers: {
        double: { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: key, models: [{ id: 'double', contextWindow: 200_000 }] },
      },
    },
  }),
  turn: (prompt) => ['--provider', 'double', '--model', 'double', '-p', prompt],
  write: (file, text) => ({ name: 'write', input: { path: file, content: text } }),
  resume: ({ file }, prompt) => ['--provider', 'double', '--model', 'double', '--session', file, '-p', prompt],
};

const continueCli: AgentDriver = {
  program: 'continue',
  install: { packages: ['@continuedev/cli@1.5.47'] },
  bin: '.bin/cn',
  node: anyNode,
  env: ({ home }) => ({
    CONTINUE_GLOBAL_DIR: join(home, '.continue'),
    CONTINUE_TELEMETRY_ENABLED: '0',
    CONTINUE_CLI_ENABLE_TELEMETRY: '0',
  }),
  files: ({ url }) => ({
    '.continue/config.yaml': [
      'name: double',
      'version: 0.0.1',
      'schema: v1',
      'models:',
      '  - name: double',
      '    provider: openai',
      '    model: double',
      `    apiKey: ${key}`,
      `    apiBase: ${url}/v1`,
      '    roles: [chat]',
      '    capabilities: [tool_use]',
      '',
    ].join('\n'),
  }),
  turn: (prompt) => ['-p', prompt, '--auto'],
  write: (file, text) => ({ name: 'Write', input: { filepath: file, content: text } }),
  resume: (_, prompt) => ['--resume', '-p', prompt, '--auto'],
};

const cline: AgentDriver = {
  program: 'cline',
  install: { packages: ['cline@3.0.65'] },
  bin: '.bin/cline',
  env: () => ({}),
  files: ({ url }) => ({
    '.cline/data/settings/providers.json': {
      version: 1,
      lastUsedProvider: 'openai-compatible',
      modes: {},
      providers: {
        'openai-compatible': {
          settings: { provider: 'openai-compatible', apiKey: key, model: 'double', baseUrl: `${url}/v1` },
          updatedAt: '2026-11-23T00:00:00.000Z',
          tokenSource: 'manual',
        },
      },
    },
  }),
  turn: (prompt) => ['-P', 'openai-compatible', '-m', 'double', prompt],
  write: (file, text) => ({ name: 'editor', input: { path: file, new_text: text } }),
  resume: ({ id }, prompt) => ['-P', 'openai-compatible', '-m', 'double', '--id', id, prompt],
  leaves: '.cline/data/locks/hub/production.json',
};

/** OpenClaw is not among them: its package is a gateway with drivers for browsers and desktops, and runs on Node 24.16 and later only. */
export const agentDrivers: readonly AgentDriver[] = [claudeCode, codex, opencode, kilo, gemini, qwen, copilot, pi, continueCli, cline];
