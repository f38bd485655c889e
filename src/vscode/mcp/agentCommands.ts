import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename } from 'node:path';
import { env, window, workspace, type QuickPickItem } from 'vscode';
import { t } from '../../core/l10n';
import { isShared, setShared } from '../../node/mcp/agentSharing';
import { agentPrograms, type AgentProgram } from '../../node/mcp/connect/agentPrograms';
import { SettingsUnreadable } from '../../node/mcp/connect/jsonSettings';
import { readSettings, replaceSettings } from '../../node/mcp/connect/settingsFile';
import type { CommandName } from '../manifest';
import type { ChangeDocuments } from '../tools/changeDocuments';
import { serverCommand, type LauncherPlace } from './serverLauncher';

export type AgentCommandName = Extract<CommandName, 'shareHistory' | 'connectAgent' | 'disconnectAgent'>;

export interface AgentCommandsDeps extends LauncherPlace {
  /** Folder of this workspace's history. */
  readonly folder: () => Promise<string>;
  readonly changes: Pick<ChangeDocuments, 'compare'>;
  /** What may be read is another now. */
  readonly sharingChanged: () => void;
  readonly tell: (text: string) => void;
}

interface ProgramItem extends QuickPickItem {
  readonly program: AgentProgram;
}

/** What other agents may read, and which of them are told where. Nothing is written before its whole change was shown and confirmed. */
export class AgentCommands {
  readonly all: Readonly<Record<AgentCommandName, () => Promise<void>>> = {
    shareHistory: () => this.share(),
    connectAgent: () => this.connect(),
    disconnectAgent: () => this.disconnect(),
  };

  constructor(private readonly deps: AgentCommandsDeps) {}

  private async share(): Promise<void> {
    this.requireTrust();
    const folder = await this.deps.folder();
    if (await isShared(folder)) {
      const stop = t('Stop Sharing');
      const text = t('Agents that are connected can read the history and notes of this workspace.');
      if ((await window.showInformationMessage(text, { modal: true }, stop)) !== stop) return;
      await this.setShared(folder, false);
      return this.deps.tell(t('The history of this workspace is no longer shared with agents.'));
    }
    if (await this.offerSharing(folder)) this.deps.tell(t('The history of this workspace is shared with agents.'));
  }

  private async offerSharing(folder: string): Promise<boolean> {
    const share = t('Share');
    const answer = await window.showInformationMessage(
      t('Share the history of this workspace with agents?'),
      {
        modal: true,
        detail: t(
          'Agents in this editor, and those that are connected, can then search and read every session and note of this workspace, also what was imported from other programs. They change nothing. What they read, they may send to their models.',
        ),
      },
      share,
    );
    if (answer !== share) return false;
    await this.setShared(folder, true);
    return true;
  }

  private async setShared(folder: string, shared: boolean): Promise<void> {
    await setShared(folder, shared);
    this.deps.sharingChanged();
  }

  private async connect(): Promise<void> {
    this.requireTrust();
    const programs = await Promise.all(
      this.programs().map(async (program) => ({
        program,
        isHere: await stat(program.sign).then(
          () => true,
          () => false,
        ),
      })),
    );
    const found = [...programs.filter(({ isHere }) => isHere), ...programs.filter(({ isHere }) => !isHere)];
    const program = await pick(
      found.map(({ program: one, isHere }) => itemOf(one, isHere ? '' : t('not found on this machine'))),
      t('Connect an Agent'),
    );
    if (!program) return;
    const server = await serverCommand(this.deps, env.uriScheme, env.remoteName !== undefined);
    const before = await readSettings(program.file);
    const after = edited(program, () => program.connected(before, server));
    if (after === before) return this.deps.tell(t('{0} is connected already.', program.name));
    const connect = t('Connect');
    if (!(await this.confirmed(program, before, after, connect))) return;
    const folder = await this.deps.folder();
    if (!(await isShared(folder))) await this.offerSharing(folder);
    this.deps.tell(t('{0} is connected. It reads the histories of the workspaces that you share, from its next start on.', program.name));
  }

  private async disconnect(): Promise<void> {
    this.requireTrust();
    const programs = await Promise.all(
      this.programs().map(async (program) => {
        const text = await readSettings(program.file).catch(() => null);
        return text !== null && isConnected(program, text) ? [program] : [];
      }),
    );
    const connected = programs.flat();
    if (connected.length === 0) return this.deps.tell(t('No agent is connected.'));
    const program = await pick(
      connected.map((one) => itemOf(one, '')),
      t('Disconnect an Agent'),
    );
    if (!program) return;
    const before = (await readSettings(program.file)) ?? '';
    const after = edited(program, () => program.disconnected(before));
    if (after === undefined || !(await this.confirmed(program, before, after, t('Disconnect')))) return;
    this.deps.tell(t('{0} is no longer connected.', program.name));
  }

  /** Shows the change and carries it out; false when the user does not want it. */
  private async confirmed({ name, file }: AgentProgram, before: string | null, after: string | null, button: string): Promise<boolean> {
    const editor = await this.deps.changes.compare(t('Settings of {0}', name), basename(file), before ?? '', after ?? '');
    const answer = await window.showInformationMessage(
      after === null ? t('Delete {0}?', file) : t('Change {0}?', file),
      { modal: true, detail: t('The editor shows the whole change. Everything else in the file stays as it is.') },
      button,
    );
    await editor.close();
    if (answer !== button) return false;
    await replaceSettings(file, before, after);
    return true;
  }

  private programs(): AgentProgram[] {
    return agentPrograms({ home: homedir(), platform: process.platform, env: process.env });
  }

  private requireTrust(): void {
    if (!workspace.isTrusted)
      throw new Error(t('This workspace is not trusted, so nothing of it is shared and no agent is connected from here.'));
  }
}

function isConnected(program: AgentProgram, text: string): boolean {
  try {
    return program.disconnected(text) !== undefined;
  } catch {
    return false;
  }
}

/** Rejects in words for the user. */
function edited<T>({ name, file }: AgentProgram, change: () => T): T {
  try {
    return change();
  } catch (error) {
    if (!(error instanceof SettingsUnreadable)) throw error;
    throw new Error(t('{0} of {1} is not as expected ({2}). Nothing was changed.', file, name, error.message), { cause: error });
  }
}

function itemOf(program: AgentProgram, description: string): ProgramItem {
  return { label: program.name, description, detail: program.file, program };
}

async function pick(items: readonly ProgramItem[], title: string): Promise<AgentProgram | undefined> {
  return (await window.showQuickPick(items, { title, placeHolder: t('The change to its settings is shown first') }))?.program;
}
