import { window, type QuickPickItem } from 'vscode';
import { t, wholeNumber } from '../../core/l10n';
import { programOf, type ProgramId, type ProgramStatus } from '../../core/transfer/programs';
import type { FoundProgram } from '../../node/transfer/watch/findPrograms';
import { ago } from '../../protocol/figures';
import { plainLabel } from '../plainText';
import { sizeText } from './agentStates';

interface Item extends QuickPickItem {
  readonly program: ProgramId | null;
}

export interface PickedAgents {
  readonly watch: readonly ProgramId[];
  /** Sessions about any folder, not only about those of this workspace. */
  readonly all: boolean;
}

/** One question for all: each program that was found is a switch. Undefined: nothing was decided. */
export async function pickAgents(
  found: readonly FoundProgram[],
  now: PickedAgents & { readonly status: readonly ProgramStatus[]; readonly hasFolder: boolean },
): Promise<PickedAgents | undefined> {
  if (found.length === 0) {
    void window.showInformationMessage(`Threadkeeper: ${t('No sessions of other agents were found on this machine.')}`);
    return undefined;
  }
  const items: Item[] = [
    ...found.map((program) => itemOf(program, now)),
    ...(now.hasFolder
      ? [
          {
            label: `$(globe) ${t('Sessions about other folders, too')}`,
            detail: t('Otherwise only what is about the folders of this workspace comes in.'),
            picked: now.all,
            program: null,
          },
        ]
      : []),
  ];
  const picked = await window.showQuickPick(items, {
    title: t('Watch Agents: their files are only read'),
    placeHolder: t('What is ticked comes in now, and as it is written'),
    canPickMany: true,
    matchOnDescription: true,
    ignoreFocusOut: true,
  });
  if (!picked) return undefined;
  return {
    watch: picked.flatMap(({ program }) => (program === null ? [] : [program])),
    all: now.hasFolder ? picked.some(({ program }) => program === null) : now.all,
  };
}

function itemOf(
  { id, sources, bytes, newest, roots }: FoundProgram,
  { watch, status }: PickedAgents & { readonly status: readonly ProgramStatus[] },
): Item {
  const program = programOf(id)!;
  const problem = status.find((one) => one.id === id)?.problems[0];
  const count = t(sources === 1 ? '{0} file' : '{0} files', wholeNumber(sources));
  return {
    label: `$(${program.icon}) ${program.name}`,
    description: [count, sizeText(bytes), t('last used {0}', ago(newest, Date.now()))].join(' · '),
    detail: plainLabel(problem ? `${problem.source}: ${problem.reason}` : roots.join(', ')),
    picked: watch.includes(id),
    program: id,
  };
}
