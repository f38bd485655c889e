import { homedir } from 'node:os';
import { join } from 'node:path';
import { commands, ProgressLocation, Uri, window, type Progress } from 'vscode';
import { CancelledError, StoreError } from '../../core/errors';
import { dayOf } from '../../core/analytics/report';
import {
  checkedText,
  contentsText,
  isUnusable,
  problemCount,
  salvageProblems,
  type TaskProgress,
  type VerifyReport,
} from '../../core/maintenance/reports';
import type { Disposable } from '../../core/base/disposable';
import { shown, t, wholeNumber } from '../../core/l10n';
import type { Restored } from '../../node/store/repair/restoreStore';
import type { ChatPlaces } from '../chat/places/chatPlaces';
import { commandIds, type CommandName } from '../manifest';
import type { StoreAccess } from './storeAccess';
import type { StoreTasks } from './storeTasks';

export interface HistoryCommandsDeps {
  readonly places: Pick<ChatPlaces, 'chats' | 'visible' | 'reopenStore'>;
  readonly store: StoreAccess;
  /** Resolves to the folder of this workspace's history, which need not be open. */
  readonly folder: () => Promise<string>;
  readonly tasks: () => Promise<StoreTasks>;
}

export type HistoryCommandsCommandName = Extract<CommandName, 'verifyHistory' | 'backUpHistory' | 'restoreHistory'>;

/** Problems that a dialog lists; the rest are counted. */
const listedProblems = 6;
const filters = () => ({ [t('Threadkeeper history')]: ['db'], [t('All files')]: ['*'] });

/** Checks, repairs, backs up and restores the history as a whole. */
export class HistoryCommands {
  constructor(private readonly deps: HistoryCommandsDeps) {}

  readonly all: Readonly<Record<HistoryCommandsCommandName, () => Promise<void>>> = {
    verifyHistory: () => inItsOwnWords(() => this.verify()),
    backUpHistory: () => inItsOwnWords(() => this.backUp()),
    restoreHistory: () => inItsOwnWords(() => this.restore()),
  };

  /** Offers a repair, once, when damage is found while the history is in use and no view is there whose banner says so. */
  watch(): Disposable {
    let told = false;
    return this.deps.store.onDidChange(() => {
      const note = this.deps.store.current?.status.note;
      if (told || note?.reason !== 'damage_found' || this.deps.places.visible) return;
      told = true;
      const verify = t('Verify and Repair History');
      void window
        .showWarningMessage(t('Part of your history is damaged. {0}', shown(note.detail)), verify)
        .then((answer) => answer === verify && commands.executeCommand(commandIds.verifyHistory));
    });
  }

  private async verify(): Promise<void> {
    const report = await this.withProgress(t('Verifying your history'), async (options) =>
      (await this.deps.tasks()).verify(await this.deps.folder(), options),
    );
    if (!report) return;
    const contents = contentsText(report);
    const beside = contents === null ? '' : ` ${contents}`;
    if (problemCount(report) === 0)
      return void window.showInformationMessage(`${t('{0} checked, no damage found.', checkedText(report))}${beside}`);
    const helps = report.problems.some(({ repairHelps }) => repairHelps);
    const repair = t('Repair');
    const detail = `${problemsText(report)}\n\n${helps ? t('A repair rebuilds the history from what can be read. The damaged file is kept beside it.') : t('A repair does not help. Restore a backup, if there is one.')}`;
    const answer = await window.showWarningMessage(
      t(
        problemCount(report) === 1 ? 'Your history is damaged: {0} problem found.' : 'Your history is damaged: {0} problems found.',
        wholeNumber(problemCount(report)),
      ),
      { modal: true, detail },
      ...(helps ? [repair] : []),
    );
    if (answer !== repair || !(await this.mayInterrupt(t('It has to end before Threadkeeper can repair it. What was shown is kept.'))))
      return;
    const status = await this.withoutCancel(t('Repairing your history'), () => this.deps.places.reopenStore({ repair: () => true }));
    if (status.note?.reason === 'recovered')
      void window.showInformationMessage(t('Your history has been repaired. {0}', shown(status.note.detail)));
    else
      void window.showWarningMessage(
        t(
          status.note?.reason === 'other_owner'
            ? 'Your history was not repaired. {0}. Repair it there, or close that window and try again.'
            : 'Your history was not repaired. {0}',
          shown(status.note?.detail ?? ''),
        ),
      );
  }

  private async backUp(): Promise<void> {
    const target = await window.showSaveDialog({
      title: t('Back Up History'),
      saveLabel: t('Back Up'),
      filters: filters(),
      defaultUri: Uri.file(join(homedir(), `threadkeeper-${dayOf(Date.now())}.db`)),
    });
    if (!target) return;
    // The dialog has asked before it returns the name of a file that exists.
    const report = await this.withProgress(t('Backing up your history'), async (options) =>
      (await this.deps.tasks()).backUp(await this.deps.folder(), target.fsPath, options),
    );
    if (!report) return;
    const reveal = t('Show File');
    const done = t('{0} backed up to {1}.', checkedText(report), target.fsPath);
    const lost = problemCount(report);
    const said =
      lost === 0
        ? window.showInformationMessage(done, reveal)
        : window.showWarningMessage(t('{0} Attachments that are lost are not in it: {1}', done, problemsText(report)), reveal);
    void said.then((answer) => answer === reveal && commands.executeCommand('revealFileInOS', target));
  }

  private async restore(): Promise<void> {
    const [backup] = (await window.showOpenDialog({ title: t('Restore History'), openLabel: t('Restore'), filters: filters() })) ?? [];
    if (!backup) return;
    const report = await this.withProgress(t('Checking the backup'), async (options) =>
      (await this.deps.tasks()).verifyFile(backup.fsPath, options),
    );
    if (!report) return;
    const [question, restore] = restoreQuestion(report, backup.fsPath);
    const isDamaged = problemCount(report) > 0;
    const damage = isDamaged ? `${t('The backup is damaged itself:')}\n${problemsText(report)}\n\n` : '';
    const detail = `${damage}${t('What you have now is kept under another name in the same folder, and the chat shows the restored history.')}`;
    if ((await window.showWarningMessage(question, { modal: true, detail }, restore)) !== restore) return;
    if (!(await this.mayInterrupt(t('It has to end before Threadkeeper can restore the backup. What was shown is kept.')))) return;
    const outcome: { restored?: Restored } = {};
    const tasks = await this.deps.tasks();
    const folder = await this.deps.folder();
    await this.withoutCancel(t('Restoring your history'), () =>
      this.deps.places.reopenStore({
        between: async () => void (outcome.restored = await tasks.restore(folder, backup.fsPath, { salvage: isDamaged })),
        // What was salvaged has been made anew already.
        repair: () => isDamaged && outcome.restored?.salvage === null,
      }),
    );
    if (outcome.restored) tellRestored(report, outcome.restored);
  }

  /** Every turn has to end first; the user decides whether now. */
  private async mayInterrupt(why: string): Promise<boolean> {
    const { chats } = this.deps.places;
    if (chats.answering.length === 0) return true;
    const stop = t('Stop and Go On');
    const answer = await window.showWarningMessage(t('An answer is still being written.'), { modal: true, detail: why }, stop);
    if (answer !== stop) return false;
    await chats.stop();
    return true;
  }

  /** Undefined when it was cancelled. */
  private async withProgress<T>(
    title: string,
    work: (options: { readonly onProgress: (progress: TaskProgress) => void; readonly signal: AbortSignal }) => Promise<T>,
  ): Promise<T | undefined> {
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

function show(progress: Progress<{ message?: string }>, { phase: inEnglish, done, total }: TaskProgress): void {
  const phase = shown(inEnglish);
  progress.report({ message: done > 0 && total > 0 ? t('{0} ({1} of {2})', phase, wholeNumber(done), wholeNumber(total)) : phase });
}

/** What the user is asked about a backup, and the answer that restores it. */
function restoreQuestion(report: VerifyReport, backup: string): [question: string, answer: string] {
  if (isUnusable(report))
    return [t('{0} cannot be opened. Replace your history with what can be read of it?', backup), t('Restore What Can Be Read')];
  return [
    t('Replace your history with this backup of {0}?', checkedText(report)),
    problemCount(report) === 0 ? t('Restore') : t('Restore Anyway'),
  ];
}

function tellRestored(report: VerifyReport, { sessions, entries, keptAt, salvage }: Restored): void {
  // Nothing has been counted before in a history that could not be opened.
  const what = checkedText(salvage === null ? report : { checked: { sessions, entries } });
  const text = keptAt === null ? t('{0} restored.', what) : t('{0} restored. The history you had is kept as {1}.', what, keptAt);
  const lost = salvage === null ? [] : salvageProblems(salvage).map(shown);
  if (lost.length === 0) void window.showInformationMessage(text);
  else void window.showWarningMessage(`${text} ${t('Could not be read: {0}', lost.join(', '))}`);
}

function problemsText({ problems, more }: VerifyReport): string {
  const lines = problems.slice(0, listedProblems).map(({ where, meaning }) => `• ${t('{0}: {1}', shown(where), shown(meaning))}`);
  const rest = problems.length - lines.length + more;
  return [...lines, ...(rest > 0 ? [`• ${t('and {0} more', rest)}`] : [])].join('\n');
}
