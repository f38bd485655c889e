import { resolve } from 'node:path';
import { headlessAnswers, type HeadlessAnswer } from '../../core/tools/approvalRule';
import { defaultEditRules } from '../../core/tools/guard/guardedKinds';
import type { Tool } from '../../core/tools/tool';
import type { ToolWorkspace } from '../../core/tools/toolWorkspace';
import { workspaceTools } from '../../core/tools/workspaceTools';
import { systemClock } from '../runtime/systemClock';
import { CommandRunner } from '../tools/commandRunner';
import { DiskWorkspace } from '../tools/diskWorkspace';
import type { Flags, FlagSpec } from './flags';

export const toolFlags: readonly FlagSpec[] = [
  { name: 'workspace', value: 'DIR', help: 'folder that offline answers may search and that tools work in (--allow-tools)' },
  {
    name: 'allow-tools',
    value: 'WHICH',
    choices: headlessAnswers,
    help: 'what the model may do in the workspace: none (default), reads, all; the notes and recall are always there',
  },
  {
    name: 'pass-variables',
    value: 'NAMES',
    help: 'environment variables that commands get although they look like secrets, with commas between them; * for any part of a name',
  },
];

export function allowedTools(flags: Flags): HeadlessAnswer {
  return (flags['allow-tools'] as HeadlessAnswer | undefined) ?? 'none';
}

/** These tools stand beside the notes and recall. Only what may be done at all is offered. */
export function workspaceToolsOf(workspace: ToolWorkspace | null, allowed: HeadlessAnswer): Tool[] {
  return workspace === null
    ? []
    : workspaceTools(workspace, systemClock, () => defaultEditRules).filter(({ access }) => allowed === 'all' || access === 'read');
}

/** Where they work; null when there is nothing that they may do. */
export function toolWorkspace(flags: Flags, allowed: HeadlessAnswer): ToolWorkspace | null {
  if (flags['workspace'] === undefined || allowed === 'none') return null;
  const commands = new CommandRunner(() => ({ pass: flags['pass-variables']?.split(',') ?? [], withhold: [] }));
  disposeAtExit(commands);
  return new DiskWorkspace([resolve(flags['workspace'])], commands);
}

/** Commands have sessions of their own: what ends this program from a terminal does not reach them. */
function disposeAtExit(commands: CommandRunner): void {
  process.once('exit', () => commands.dispose());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      commands.dispose();
      process.kill(process.pid, signal);
    });
  }
}
