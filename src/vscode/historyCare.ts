import { homedir } from 'node:os';
import { join } from 'node:path';
import { commands, ProgressLocation, Uri, window, type Progress } from 'vscode';
import { CancelledError, StoreError } from '../core/errors';
import { checkedText, counted, isUnusable, problemCount, type TaskProgress, type VerifyReport } from '../core/session/verifyReport';
import type { Disposable } from '../core/base/disposable';
import type { ChatController } from './chatController';
import { commandIds, type CommandName } from './contributions';
import type { StoreAccess } from './storeAccess';
import type { StoreTasks } from './storeTasks';

export interface HistoryCareDeps {
  readonly controller: Pick<ChatController, 'answering' | 'stopAll' | 'reopenStore'>;
  readonly store: StoreAccess;
  /** Of the history of this workspace, open or not. */
  readonly folder: () => Promise<string>;
  readonly tasks: () => Promise<StoreTasks>;
}

export type HistoryCareCommandName = Extract<CommandName, 'verifyHistory' | 'backUpHistory' | 'restoreHistory'>;

/** Problems that a dialog lists; the rest are counted. */
const listedProblems = 6;
const filters = { 'Threadkeeper history': ['db'], 'All files': ['*'] };

/** Checks, repairs, backs up and restores the history as a whole. */
export class HistoryCare {
  constructor(private readonly deps: HistoryCareDeps) {}

  readonly all: Readonly<Record<HistoryCareCommandName, () => Promise<void>>> = {
    verifyHistory: () => inItsOwnWords(() => this.verify()),
    backUpHistory: () => inItsOwnWords(() => this.backUp()),
    restoreHistory: () => inItsOwnWords(() => this.restore()),
  };

  /** Offers a repair, once, when damage is found while the history is in use. */
  watch(): Disposable {
    let told = false;
    return this.deps.store.onDidChange(() => {
      const note = this.deps.store.current?.status.note;
      if (told || note?.reason !== 'damage_found') return;
      told = true;
      const verify = 'Verify and Repair History';
      void window.showWarningMessage(`Part of your history is damaged. ${note.detail}`, verify).then((answer) => answer === verify && commands.executeCommand(commandIds.verifyHistory));
    });
  }

  private async verify(): Promise<void> {
    const report = await this.withProgress('Verifying your history', async (options) => (await this.deps.tasks()).verify(await this.deps.folder(), options));
    if (!report) return;
    if (problemCount(report) === 0) return void window.showInformationMessage(`${checkedText(report)} checked, no damage found.`);
    const helps = report.problems.some(({ repairHelps }) => repairHelps);
    const repair = 'Repair';
    const detail = `${problemsText(report)}\n\n${helps ? 'A repair builds the history anew from what can be read. The damaged file is kept beside it.' : 'A repair does not help. Restore a backup, if there is one.'}`;
    const answer = await window.showWarningMessage(`Your history is damaged: ${counted(problemCount(report), 'problem', 'problems')} found.`, { modal: true, detail }, ...(helps ? [repair] : []));
    if (answer !== repair || !(await this.mayInterrupt('repair it'))) return;
    const status = await this.withoutCancel('Repairing your history', () => this.deps.controller.reopenStore({ repair: true }));
    if (status.note?.reason === 'recovered') void window.showInformationMessage(`Your history has been repaired. ${status.note.detail}`);
    else void window.showWarningMessage(`Your history was not repaired. ${status.note?.detail ?? ''}${status.note?.reason === 'other_owner' ? '. Repair it there, or close that window and try again.' : ''}`);
  }

  private async backUp(): Promise<void> {
    const day = new Date().toISOString().slice(0, 10);
    const target = await window.showSaveDialog({ title: 'Back Up History', saveLabel: 'Back Up', filters, defaultUri: Uri.file(join(homedir(), `threadkeeper-${day}.db`)) });
    if (!target) return;
    // The dialog has asked before it returns the name of a file that exists.
    const report = await this.withProgress('Backing up your history', async (options) => (await this.deps.tasks()).backUp(await this.deps.folder(), target.fsPath, options));
    if (!report) return;
    const reveal = 'Show File';
    void window.showInformationMessage(`${checkedText(report)} backed up to ${target.fsPath}.`, reveal).then((answer) => answer === reveal && commands.executeCommand('revealFileInOS', target));
  }

  private async restore(): Promise<void> {
    const [backup] = (await window.showOpenDialog({ title: 'Restore History', openLabel: 'Restore', filters })) ?? [];
    if (!backup) return;
    const report = await this.withProgress('Checking the backup', async (options) => (await this.deps.tasks()).verifyFile(backup.fsPath, options));
    if (!report) return;
    if (isUnusable(report)) return void window.showWarningMessage(`${backup.fsPath} cannot be restored as it is. Nothing was changed.`, { modal: true, detail: problemsText(report) });
    const damage = problemCount(report) === 0 ? '' : `The backup is damaged itself:\n${problemsText(report)}\n\n`;
    const restore = damage === '' ? 'Restore' : 'Restore Anyway';
    const answer = await window.showWarningMessage(
      `Replace your history with this backup of ${checkedText(report)}?`,
      { modal: true, detail: `${damage}What you have now is kept under another name in the same folder, and the chat shows the restored history.` },
      restore,
    );
    if (answer !== restore || !(await this.mayInterrupt('restore the backup'))) return;
    let keptAt: string | null = null;
    const tasks = await this.deps.tasks();
    const folder = await this.deps.folder();
    await this.withoutCancel('Restoring your history', () =>
      this.deps.controller.reopenStore({
        repair: damage !== '',
        between: async () => {
          ({ keptAt } = await tasks.restore(folder, backup.fsPath));
        },
      }),
    );
    void window.showInformationMessage(`${checkedText(report)} restored.${keptAt === null ? '' : ` The history you had is kept as ${String(keptAt)}.`}`);
  }

  /** Every turn has to end first; the user decides whether now. */
  private async mayInterrupt(purpose: string): Promise<boolean> {
    const { controller } = this.deps;
    if (controller.answering.length === 0) return true;
    const stop = 'Stop and Go On';
    const answer = await window.showWarningMessage('An answer is still being written.', { modal: true, detail: `It has to end before Threadkeeper can ${purpose}. What was shown is kept.` }, stop);
    if (answer !== stop) return false;
    await controller.stopAll();
    return true;
  }

  /** Undefined when it was cancelled. */
  private async withProgress<T>(title: string, work: (options: { readonly onProgress: (progress: TaskProgress) => void; readonly signal: AbortSignal }) => Promise<T>): Promise<T | undefined> {
    const cancel = new AbortController();
    try {
      return await window.withProgress({ location: ProgressLocation.Notification, title, cancellable: true }, (progress, token) => {
        token.onCancellationRequested(() => cancel.abort());
        return work({ onProgress: (step) => show(progress, step), signal: cancel.signal });
      });
    } catch (error) {
      if (CancelledError.is(error)) return undefined;
      throw error;
    }
  }

  private withoutCancel<T>(title: string, work: () => Promise<T>): Thenable<T> {
    return window.withProgress({ location: ProgressLocation.Notification, title }, work);
  }
}

/** What fails here is no message that could not be sent, which is what surfaces make of a `StoreError`. */
async function inItsOwnWords(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    throw StoreError.is(error) ? new Error(error.message, { cause: error }) : error;
  }
}

function show(progress: Progress<{ message?: string }>, { phase, done, total }: TaskProgress): void {
  progress.report({ message: done > 0 && total > 0 ? `${phase} (${done.toLocaleString('en')} of ${total.toLocaleString('en')})` : phase });
}

function problemsText({ problems, more }: VerifyReport): string {
  const lines = problems.slice(0, listedProblems).map(({ where, meaning }) => `• ${where}: ${meaning}`);
  const rest = problems.length - lines.length + more;
  return [...lines, ...(rest > 0 ? [`• and ${rest} more`] : [])].join('\n');
}
