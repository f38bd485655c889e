import { ProgressLocation, Uri, window, type QuickPickItem } from 'vscode';
import type { Conversation } from '../../core/chat/conversation';
import { t } from '../../core/l10n';
import { changedText, editText, planReasonText, uncoveredText } from '../../core/rewind/fileTexts';
import type { FileEdit } from '../../core/rewind/fileChanges';
import type { FilePlan } from '../../core/rewind/planRestore';
import { isUserMessage } from '../../core/session/entry';
import type { FileRestorer, RestorePlan } from '../../node/rewind/fileRestorer';
import { restoreProblemText } from '../../node/rewind/restoreFiles';
import type { ActiveChat } from '../chat/activeChat';
import type { CommandName } from '../manifest';
import { oneLine, plainLabel } from '../plainText';
import type { ChangeDocuments } from '../tools/changeDocuments';

export interface RestoreCommandsDeps {
  readonly active: Pick<ActiveChat, 'conversation'>;
  readonly restorer: () => Promise<FileRestorer>;
  /** Whether files go along when another branch is shown. */
  readonly choice: () => 'always' | 'ask' | 'never';
  readonly changes: ChangeDocuments;
  readonly tell: (text: string) => void;
}

export type RestoreCommandName = Extract<CommandName, 'restoreFromMessage' | 'undoRestore' | 'reviewChanges'>;

interface PlanItem extends QuickPickItem {
  readonly plan: FilePlan;
}

/** Takes files and conversation back to a message, shows what an answer changed, and brings files along with branches. */
export class RestoreCommands {
  constructor(private readonly deps: RestoreCommandsDeps) {}

  readonly all: Readonly<Record<RestoreCommandName, (args: readonly unknown[]) => Promise<void>>> = {
    restoreFromMessage: async ([entry]) =>
      this.restore(typeof entry === 'string' ? entry : await this.pickMessage(t('Restore to before which message?'))),
    undoRestore: () => this.undo(),
    reviewChanges: () => this.review(),
  };

  async restore(entry: string | undefined): Promise<void> {
    if (entry === undefined) return;
    const conversation = await this.conversation();
    const restorer = await this.deps.restorer();
    const session = conversation.session.uuid;
    const plan = await restorer.planBefore(session, entry);
    const scope = await pickScope(plan);
    if (scope === undefined) return;
    if (scope !== 'conversation' && !(await this.carryOut(restorer, plan, t('Restore Files'), scope === 'files'))) return;
    if (scope === 'files') return;
    const problem = await conversation.branching.rewindTo(entry);
    if (problem !== null) throw new Error(problem);
  }

  /** Whether to go on and show the branch. */
  async switchFiles(conversation: Conversation, entry: string): Promise<boolean> {
    const choice = this.deps.choice();
    if (choice === 'never') return true;
    const leaf = await conversation.branching.endOf(entry);
    if (leaf === null) return true;
    const restorer = await this.deps.restorer();
    const plan = await restorer.planEnd(conversation.session.uuid, leaf);
    if (plan.files.length === 0) return true;
    if (choice === 'ask') {
      const [yes, no] = [t('Switch Files'), t('Keep Files')];
      const question = t('{0} differ on that branch. Switch them too?', filesText(plan.files.length));
      const answer = await window.showInformationMessage(question, { modal: true }, yes, no);
      if (answer === undefined) return false;
      if (answer === no) return true;
    }
    const asks = plan.files.some(({ action }) => action === 'ask' || action === 'blocked');
    if (asks) return this.carryOut(restorer, plan, t('Switch Files'), false);
    await this.apply(restorer, plan, [], false);
    return true;
  }

  private async undo(): Promise<void> {
    const conversation = await this.conversation();
    const restorer = await this.deps.restorer();
    const plan = await restorer.planUndo(conversation.session.uuid);
    if (!plan) return this.deps.tell(t('There is no restore to undo: files were not restored, or have been changed by tools since.'));
    await this.carryOut(restorer, plan, t('Undo Restore of Files'), true);
  }

  private async review(): Promise<void> {
    const conversation = await this.conversation();
    const restorer = await this.deps.restorer();
    const session = conversation.session.uuid;
    const message = conversation.entries.findLast(isUserMessage);
    const edits = message ? await restorer.changesOf(session, message.uuid, null) : [];
    if (edits.length === 0) return this.deps.tell(t('The last answer changed no file that is recorded.'));
    await this.showEdits(restorer, edits);
    const picked = await window.showQuickPick(
      edits.map((edit) => ({ label: plainLabel(edit.path), description: editText(edit), edit })),
      {
        title: t('The last answer changed {0}', changedText(edits)),
        placeHolder: t('Select the files to undo; what is not selected is kept'),
        canPickMany: true,
        ignoreFocusOut: true,
      },
    );
    if (!picked || picked.length === 0) return;
    const plan = await restorer.planWithout(
      session,
      picked.map(({ edit }) => edit),
    );
    await this.carryOut(restorer, plan, t('Undo in Files'), true);
  }

  /** With the file itself on the right: a change can be taken back there by its arrow. */
  private async showEdits(restorer: FileRestorer, edits: readonly FileEdit[]): Promise<void> {
    const files = await Promise.all(
      edits.map(async (edit) => {
        const place = edit.after === null ? null : restorer.place(edit);
        return {
          path: edit.path,
          before: edit.before && textOf(await restorer.content(edit.before)),
          after: edit.after && textOf(await restorer.content(edit.after)),
          ...(place === null ? {} : { file: Uri.file(place) }),
        };
      }),
    );
    await this.deps.changes.compareAll(t('Changes of the last answer'), files);
  }

  /** Shows what would happen and does what the user leaves selected; false: nothing was done. */
  private async carryOut(restorer: FileRestorer, plan: RestorePlan, title: string, alone: boolean): Promise<boolean> {
    const open = plan.files.filter(
      ({ action, to, reason }) => action !== 'blocked' && !(action === 'ask' && to === null && reason === 'not_kept'),
    );
    const closed = plan.files.filter((file) => !open.includes(file));
    if (closed.length > 0) void window.showWarningMessage(leftText(closed));
    if (plan.files.length === 0) {
      this.deps.tell(t('No file has to change.'));
      await restorer.apply(plan, { alone });
      return true;
    }
    if (open.length === 0) return false;
    await this.preview(restorer, open, title);
    const picked = await window.showQuickPick<PlanItem>(open.map(planItem), {
      title,
      placeHolder: placeHolderOf(plan),
      canPickMany: true,
      ignoreFocusOut: true,
    });
    if (!picked) return false;
    await this.apply(
      restorer,
      { ...plan, files: picked.map((item) => item.plan) },
      picked.map((item) => item.plan),
      alone,
    );
    return true;
  }

  private async apply(restorer: FileRestorer, plan: RestorePlan, chosen: readonly FilePlan[], alone: boolean): Promise<void> {
    const done = await window.withProgress(
      { location: ProgressLocation.Notification, title: t('Restoring files…'), cancellable: true },
      async (progress, token) => {
        const stop = new AbortController();
        token.onCancellationRequested(() => stop.abort());
        const onProgress = (done: number, total: number) => progress.report({ message: `${done} / ${total}`, increment: 100 / total });
        return restorer.apply(plan, { alone, chosen, signal: stop.signal, onProgress }).catch((error: unknown) => {
          if (stop.signal.aborted) return null;
          throw new Error(restoreProblemText(error), { cause: error });
        });
      },
    );
    if (done === null) throw new Error(t('Cancelled: no file was changed.'));
    if (done.length > 0) void this.offerUndo(done);
  }

  private async offerUndo(done: readonly FileEdit[]): Promise<void> {
    const undo = t('Undo');
    if ((await window.showInformationMessage(t('Files restored: {0}', changedText(done)), undo)) === undo) await this.undo();
  }

  private async preview(restorer: FileRestorer, plans: readonly FilePlan[], title: string): Promise<void> {
    const files = await Promise.all(
      plans.map(async (plan) => {
        const { now, then } = await restorer.sides(plan);
        return { path: plan.path, before: now && textOf(now), after: then && textOf(then) };
      }),
    );
    await this.deps.changes.compareAll(title, files);
  }

  private async pickMessage(title: string): Promise<string | undefined> {
    const conversation = await this.conversation();
    const said = conversation.entries.filter(isUserMessage).reverse();
    const picked = await window.showQuickPick(
      said.map(({ uuid, content }) => ({ label: plainLabel(oneLine(content.text, 90)), uuid })),
      { title },
    );
    return picked?.uuid;
  }

  private async conversation(): Promise<Conversation> {
    const conversation = await this.deps.active.conversation();
    if (!conversation) throw new Error(t('This session has no messages yet.'));
    if (conversation.isBusy) throw new Error(t('An answer is being written. Stop it or wait for it, then restore.'));
    return conversation;
  }
}

async function pickScope({ files, uncovered }: RestorePlan): Promise<'both' | 'files' | 'conversation' | undefined> {
  const description = files.length === 0 ? t('no file has to change') : filesText(files.length);
  const [first] = uncovered;
  const detail = first
    ? { detail: `$(warning) ${first.path === '' ? '' : `${plainLabel(first.path)}: `}${uncoveredText(first.reason)}` }
    : {};
  const items = [
    { label: t('Files and conversation'), description, ...detail, scope: 'both' as const },
    { label: t('Files only'), description, ...detail, scope: 'files' as const },
    { label: t('Conversation only'), description: t('files stay as they are'), scope: 'conversation' as const },
  ];
  return (
    await window.showQuickPick(items, {
      title: t('Restore to before this message'),
      placeHolder: t('What was said since stays, as a branch'),
    })
  )?.scope;
}

function planItem(plan: FilePlan): PlanItem {
  const what = plan.to === null ? t('deleted') : plan.from === null ? t('created') : t('changed');
  const isAsked = plan.action === 'ask';
  return {
    label: plainLabel(plan.path),
    description: plan.isMerged ? t('{0}, your changes are kept', what) : what,
    ...(isAsked && plan.reason
      ? { detail: `$(warning) ${t('{0}: select it only if your version may go', planReasonText(plan.reason))}` }
      : {}),
    picked: !isAsked,
    plan,
  };
}

function placeHolderOf({ files }: RestorePlan): string {
  const asked = files.filter(({ action }) => action === 'ask').length;
  return asked === 0 ? t('The selected files are restored') : t('The selected files are restored; {0} need your decision', asked);
}

function leftText(files: readonly FilePlan[]): string {
  const [first] = files;
  const name = `${first!.path}: ${first!.reason ? planReasonText(first!.reason) : ''}`;
  return files.length === 1 ? t('Left as it is: {0}', name) : t('{0} files are left as they are, among them {1}', files.length, name);
}

function filesText(count: number): string {
  return t(count === 1 ? '{0} file' : '{0} files', count);
}

/** For a comparison only. */
function textOf(bytes: Uint8Array | null): string {
  return bytes === null ? '' : new TextDecoder().decode(bytes);
}
