import type { Session } from '../session/session';

/** Names of their own where the id of the format is none. */
const names: Readonly<Record<string, string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  'vscode-chat': 'GitHub Copilot Chat',
  'copilot-cli': 'Copilot CLI',
  gemini: 'Gemini CLI',
  qwen: 'Qwen Code',
  opencode: 'opencode',
  kilo: 'Kilo Code',
  cursor: 'Cursor',
  zed: 'Zed',
  aider: 'aider',
  pi: 'pi',
  openclaw: 'OpenClaw',
  goose: 'Goose',
  cline: 'Cline',
  roo: 'Roo Code',
  continue: 'Continue',
  librecode: 'librecode',
};

/** The program in which a session was held. */
export function programOf({ key }: Pick<Session, 'key'>): string {
  const [channel = '', format = ''] = key.split(':', 2);
  if (channel === 'openclaw') return 'OpenClaw';
  if (channel !== 'import') return 'Threadkeeper';
  return names[format] ?? format;
}
