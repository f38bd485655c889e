import type { Session } from '../session/session';

/** A program whose sessions can be followed while it writes them. */
export interface Program {
  /** Its sessions are stored here under this format. */
  readonly id: string;
  readonly name: string;
  /** A codicon. */
  readonly icon: string;
}

/** Names of products are the same in every language. Where each keeps its sessions stands in `src/node/transfer/watch/places.ts`. */
export const programs = [
  { id: 'claude-code', name: 'Claude Code', icon: 'sparkle' },
  { id: 'codex', name: 'Codex CLI', icon: 'terminal' },
  { id: 'copilot-cli', name: 'Copilot CLI', icon: 'github-inverted' },
  { id: 'vscode-chat', name: 'Copilot Chat', icon: 'copilot' },
  { id: 'cursor', name: 'Cursor', icon: 'symbol-cursor' },
  { id: 'gemini', name: 'Gemini CLI', icon: 'star-full' },
  { id: 'qwen', name: 'Qwen Code', icon: 'star-half' },
  { id: 'opencode', name: 'opencode', icon: 'code' },
  { id: 'kilo', name: 'Kilo', icon: 'law' },
  { id: 'zed', name: 'Zed', icon: 'zap' },
  { id: 'aider', name: 'aider', icon: 'git-commit' },
  { id: 'pi', name: 'pi', icon: 'symbol-constant' },
  { id: 'openclaw', name: 'OpenClaw', icon: 'broadcast' },
  { id: 'goose', name: 'Goose', icon: 'feedback' },
  { id: 'cline', name: 'Cline', icon: 'robot' },
  { id: 'roo', name: 'Roo Code', icon: 'rocket' },
  { id: 'continue', name: 'Continue', icon: 'debug-continue' },
  { id: 'librecode', name: 'librecode', icon: 'book' },
] as const satisfies readonly Program[];
export type ProgramId = (typeof programs)[number]['id'];

export function programOf(format: unknown): (typeof programs)[number] | undefined {
  return programs.find(({ id }) => id === format);
}

/** The name of the program in which a session was held; the format of the file where it is none that can be followed. */
export function programNameOf({ key }: Pick<Session, 'key'>): string {
  const [channel = '', format = ''] = key.split(':', 2);
  if (channel === 'openclaw') return 'OpenClaw';
  if (channel !== 'import') return 'Threadkeeper';
  return programOf(format)?.name ?? format;
}

/** What is known of a program on this machine while it is watched. */
export interface ProgramStatus {
  readonly id: ProgramId;
  /** Files and databases. */
  readonly sources: number;
  readonly bytes: number;
  /** Sources that are still to be read for the first time, or again. */
  readonly waiting: number;
  /** Sessions that something came from since the window was opened. */
  readonly sessions: number;
  /** What cannot be read, or is not looked at, and why; the newest, and no more than a few. */
  readonly problems: readonly { readonly source: string; readonly reason: string }[];
}
