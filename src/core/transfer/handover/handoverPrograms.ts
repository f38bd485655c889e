import type { ProgramId } from '../programs';
import { claudeCodeFile } from './claudeCodeFile';
import { codexRollout } from './codexRollout';
import { copilotEvents } from './copilotEvents';
import { geminiChat } from './geminiChat';
import type { HandoverFile, HandoverInput } from './handoverFile';
import { opencodeExport } from './opencodeExport';
import { piSession } from './piSession';
import { qwenChat } from './qwenChat';

/** A program that goes on with a session which was written for it. */
export interface HandoverProgram {
  readonly id: ProgramId;
  /** What it is started with. */
  readonly command: string;
  /**
   * Tokens that it is handed at most: half of the smallest window of the models that it is used with, so that there is room for its
   * own instructions and some turns before it has to fold.
   */
  readonly tokens: number;
  readonly write: (input: HandoverInput) => HandoverFile;
  /** What goes on with the session; `file`: what was written. Each is a command with its arguments, to be run in the session's folder. */
  readonly resume: (session: string, file: string) => readonly (readonly string[])[];
}

/** Lists the programs in the order in which they are offered. */
export const handoverPrograms = [
  { id: 'claude-code', command: 'claude', tokens: 100_000, write: claudeCodeFile, resume: (session) => [['claude', '--resume', session]] },
  { id: 'codex', command: 'codex', tokens: 120_000, write: codexRollout, resume: (session) => [['codex', 'resume', session]] },
  { id: 'pi', command: 'pi', tokens: 64_000, write: piSession, resume: (_, file) => [['pi', '--session', file]] },
  { id: 'gemini', command: 'gemini', tokens: 400_000, write: geminiChat, resume: (session) => [['gemini', '--resume', session]] },
  { id: 'qwen', command: 'qwen', tokens: 64_000, write: qwenChat, resume: (session) => [['qwen', '--resume', session]] },
  {
    id: 'copilot-cli',
    command: 'copilot',
    tokens: 64_000,
    write: copilotEvents,
    resume: (session) => [['copilot', `--resume=${session}`]],
  },
  {
    id: 'opencode',
    command: 'opencode',
    tokens: 64_000,
    write: opencodeExport,
    resume: (session, file) => [
      ['opencode', 'import', file],
      ['opencode', '--session', session],
    ],
  },
] as const satisfies readonly HandoverProgram[];
export type HandoverProgramId = (typeof handoverPrograms)[number]['id'];

export function handoverProgram(id: string): HandoverProgram | undefined {
  return handoverPrograms.find((one) => one.id === id);
}
