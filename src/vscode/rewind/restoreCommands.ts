import { ProgressLocation, window, type QuickPickItem } from 'vscode';
import type { Conversation } from '../../core/chat/conversation';
import { errorText, StoreError } from '../../core/errors';
import { shown, t } from '../../core/l10n';
import { changedText, planReasonText, uncoveredText } from '../../core/rewind/fileTexts';
import type { FilePlan } from '../../core/rewind/planRestore';
import { isUserMessage } from '../../core/session/entry';
import { isSame, nothingWritten, type Written } from '../../core/session/userMessage';
import type { FileRestorer, Restored, RestorePlan, ReviewNote } from '../../node/rewind/fileRestorer';
import { restoreProblemText } from '../../node/rewind/restoreFiles';
import type { ActiveChat } from '../chat/activeChat';
import type { OpenChats } from '../chat/places/openChats';
import type { SessionTab } from '../chat/sessionTab';
import { storeActionText } from '../history/storeAccess';
import type { CommandName } from '../manifest';
import { oneLine, plainLabel } from '../plainText';
import type { ChangeDocuments } from '../tools/changeDocuments';
import type { ShownEditor } from '../tools/shownEditor';
import { textOf } from './openReview';

export interface RestoreCommandsDeps {
  readonly active: Pick<ActiveChat, 'chat' | 'conversation' | 'session' | 'draft' | 'replaceDraft'>;
  readonly chats: Pick<OpenChats, 'find'>;
  readonly restorer: () => Promise<FileRestorer>;
  /** Whether files go along when another branch is shown. */
  readonly choice: () => 'always' | 'ask' | 'never';
  readonly changes: ChangeDocuments;
  readonly tell: (text: string) => void;
}

export type RestoreCommandName = Extract<CommandName, 'restoreFromMessage' | 'undoRestore'>;

/** How a plan is carried out. */
export interface Way {
  readonly title: string;
  /** Whether the user looks at it first; a plan with files that only they can decide about is always looked at. */
  readonly asks?: boolean;
  /** The leaf to which the conversation goes along, null: before the first message; omitted: it stays. */
  readonly to?: string | null;
  /** What it means for reviews when these are done. */
  readonly reviews?: (done: readonly FilePlan[]) => readonly ReviewNote[];
}

interface PlanItem extends QuickPickItem {
  readonly plan: FilePlan;
}

/** Takes files and conversation back to a message, and brings files along with branches. */
export class RestoreCommands {
  constructor(private readonly deps: RestoreCommandsDeps) {}

  readonly all: Readonly<Record<RestoreCommandName, (args: readonly unknown[]) => Promise<void>>> = {
    restoreFromMessage: async ([entry]) =>
      this.restore(typeof entry === 'string' ? entry : await this.pickMessage(t('Restore to before which message?'))),
    undoRestore: () => this.undoLast(),
  };

  async restore(entry: string | undefined): Promise<void> {
    if (entry === undefined) return;
    const conversation = await this.conversation();
    const restorer = await this.deps.restorer();
    const session = conversation.session.uuid;
    const plan = await restorer.planBefore(session, entry);
    const scope = await pickScope(plan, t('Restore to before this message'), t('What was said since stays, as a branch'));
    if (scope === undefined) return;
    const to = await conversation.branching.before(entry);
    const said = messagesOf(conversation).find(({ uuid }) => uuid === entry);
    const title = t('Restore Files');
    if (scope !== 'conversation' && !(await this.carryOut(conversation, restorer, plan, { title, ...(scope === 'both' ? { to } : {}) })))
      return;
    if (scope === 'files') return;
    await goTo(conversation, to);
    // Most people go back to say it in other words.
    if (said && this.deps.active.session?.uuid === session) await this.deps.active.replaceDraft(nothingWritten, said.written);
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
    // What was imported may come from anybody, tasks and hooks among it: each file is shown first.
    const asks = plan.isImported || plan.files.some(({ action }) => action === 'ask' || action === 'blocked');
    return this.carryOut(conversation, restorer, plan, { title: t('Switch Files'), asks, to: leaf });
  }

  private async undoLast(): Promise<void> {
    const conversation = await this.conversation();
    const restorer = await this.deps.restorer();
    await this.undo(conversation, restorer, await restorer.planUndo(conversation.session.uuid));
  }

  /** Takes back the restore that the user was told of, whichever session is on show by now. */
  private async undoTold(session: string, restore: string): Promise<void> {
    // The chat of its session, on show or not; none where it is not open.
    const chat = this.deps.chats.find(session);
    const conversation = chat ? await ready(chat.conversation, chat) : null;
    const restorer = await this.deps.restorer();
    const plan = await restorer.planUndo(session);
    if (plan && plan.undoes?.uuid !== restore)
      return this.deps.tell(t('This restore is not the last one any more: only the last one can be undone.'));
    if (plan?.undoes?.content.moved && !conversation)
      throw new Error(
        t('This restore took its conversation along. Open that session in the chat, then run “Threadkeeper: Undo Last Restore of Files”.'),
      );
    await this.undo(conversation, restorer, plan);
  }

  private async undo(conversation: Conversation | null, restorer: FileRestorer, plan: RestorePlan | null): Promise<void> {
    if (!plan) return this.deps.tell(t('There is no restore to undo: files were not restored, or have been changed by tools since.'));
    const back = conversation && (await this.conversationBack(conversation, plan));
    if (back === undefined) return;
    const title = back === null ? t('Undo Restore of Files') : t('Undo Restore of Files and Conversation');
    if (!(await this.carryOut(conversation, restorer, plan, { title, ...(back ? { to: back.leaf } : {}) }))) return;
    if (!conversation || !back) return;
    await goTo(conversation, back.leaf);
    // What was to be said again stands in the conversation again.
    const { active } = this.deps;
    const isOnShow = active.session?.uuid === conversation.session.uuid;
    if (isOnShow && messagesOf(conversation).some(({ written }) => isSame(written, active.draft)))
      await active.replaceDraft(active.draft, nothingWritten);
  }

  /** Where the conversation was before the restore; null: it stays where it is; undefined: the user has changed their mind. */
  private async conversationBack(
    conversation: Conversation,
    plan: RestorePlan,
  ): Promise<{ readonly leaf: string | null } | null | undefined> {
    const { moved } = plan.undoes?.content ?? {};
    const { leaf } = conversation.branching;
    if (!moved || moved.from === leaf) return null;
    if (moved.to === leaf) return { leaf: moved.from };
    // Something has been said since; it stays, as a branch.
    const scope = await pickScope(plan, t('Undo the last restore'), t('What was said since stays, as a branch'), ['both', 'files']);
    return scope === undefined ? undefined : scope === 'both' ? { leaf: moved.from } : null;
  }

  /** Shows what would happen and does what the user leaves selected; false: nothing was done. */
  async carryOut(conversation: Conversation | null, restorer: FileRestorer, plan: RestorePlan, way: Way): Promise<boolean> {
    const { title, asks = true } = way;
    const open = plan.files.filter(
      ({ action, to, reason }) => action !== 'blocked' && !(action === 'ask' && to === null && reason === 'not_kept'),
    );
    const closed = plan.files.filter((file) => !open.includes(file));
    if (closed.length > 0) void window.showWarningMessage(leftText(closed));
    if (plan.files.length === 0) this.deps.tell(t('No file has to change.'));
    else if (open.length === 0) return false;
    const picked = asks && open.length > 0 ? await this.pickFiles(restorer, plan, open, title) : open;
    if (!picked) return false;
    // The lists may have stood there for a while.
    assertIdle(conversation);
    await this.apply(conversation, restorer, { ...plan, files: picked }, way);
    return true;
  }

  private async apply(conversation: Conversation | null, restorer: FileRestorer, plan: RestorePlan, { to, reviews }: Way): Promise<void> {
    const done = await window.withProgress(
      { location: ProgressLocation.Notification, title: t('Restoring files…'), cancellable: true },
      async (progress, token) => {
        const stop = new AbortController();
        token.onCancellationRequested(() => stop.abort());
        const onProgress = (done: number, total: number) => progress.report({ message: `${done} / ${total}`, increment: 100 / total });
        const options = { chosen: plan.files, signal: stop.signal, onProgress, reviews: reviews?.(plan.files) ?? [] };
        return restorer.apply(plan, { ...options, ...(to === undefined ? {} : { to }) }).catch((error: unknown) => {
          // Any other fault is told, whenever it was that somebody pressed Cancel.
          if (error === stop.signal.reason) return null;
          throw new Error(restoreProblemText(error), { cause: error });
        });
      },
    );
    if (done === null) throw new Error(t('Cancelled: no file was changed.'));
    conversation?.branching.marked(done.marks);
    if (done.files.length > 0) void this.offerUndo(plan.session, done);
  }

  private async offerUndo(session: string, { files, marks }: Restored): Promise<void> {
    const undo = t('Undo');
    const restore = marks.find(({ content }) => content.type === 'file_changes' && content.source === 'restore');
    const buttons = restore ? [undo] : [];
    const answer = await window.showInformationMessage(t('Files restored: {0}', changedText(files)), ...buttons);
    if (!restore || answer !== undo) return;
    await this.undoTold(session, restore.uuid).catch((error: unknown) =>
      this.deps.tell(StoreError.is(error) ? storeActionText(error) : shown(errorText(error))),
    );
  }

  /** The selected ones; their editor is closed again. Undefined: the user has changed their mind. */
  private async pickFiles(
    restorer: FileRestorer,
    plan: RestorePlan,
    open: readonly FilePlan[],
    title: string,
  ): Promise<readonly FilePlan[] | undefined> {
    const editor = await this.preview(restorer, open, title);
    const options = { title, placeHolder: placeHolderOf(plan), canPickMany: true, ignoreFocusOut: true } as const;
    const picked = await window.showQuickPick<PlanItem>(open.map(planItem), options);
    await editor.close();
    return picked?.map((item) => item.plan);
  }

  private async preview(restorer: FileRestorer, plans: readonly FilePlan[], title: string): Promise<ShownEditor> {
    const files = await Promise.all(
      plans.map(async (plan) => {
        const { now, then } = await restorer.sides(plan);
        return { path: plan.path, before: now && textOf(now), after: then && textOf(then) };
      }),
    );
    return (await this.deps.changes.compareAll(title, files)).editor;
  }

  private async pickMessage(title: string): Promise<string | undefined> {
    const conversation = await this.conversation();
    const said = messagesOf(conversation).reverse();
    const picked = await window.showQuickPick(
      said.map(({ uuid, written }) => ({ label: plainLabel(oneLine(written.text, 90)), uuid })),
      { title },
    );
    return picked?.uuid;
  }

  private async conversation(): Promise<Conversation> {
    const conversation = await this.deps.active.conversation();
    if (!conversation) throw new Error(t('This session has no messages yet.'));
    return ready(conversation, this.deps.active.chat);
  }
}

/** All of it, when no turn runs in it. */
async function ready(conversation: Conversation, chat: SessionTab | null): Promise<Conversation> {
  // The view shows the end of a turn before its last write has ended.
  if (chat?.conversation === conversation && chat.presenter.turnState === null) await conversation.idle();
  assertIdle(conversation);
  await conversation.whole();
  return conversation;
}

function assertIdle(conversation: Conversation | null): void {
  if (conversation?.isBusy) throw new Error(t('An answer is being written. Stop it or wait for it, then restore.'));
}

type Scope = 'both' | 'files' | 'conversation';

async function pickScope(
  { files, uncovered }: RestorePlan,
  title: string,
  placeHolder: string,
  scopes: readonly Scope[] = ['both', 'files', 'conversation'],
): Promise<Scope | undefined> {
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
  const offered = items.filter(({ scope }) => scopes.includes(scope));
  return (await window.showQuickPick(offered, { title, placeHolder }))?.scope;
}

/** Oldest first. */
function messagesOf({ entries }: Conversation): { readonly uuid: string; readonly written: Written }[] {
  return entries.filter(isUserMessage).map(({ uuid, content: { text, attachments = [] } }) => ({ uuid, written: { text, attachments } }));
}

async function goTo(conversation: Conversation, leaf: string | null): Promise<void> {
  const problem = await conversation.branching.goTo(leaf);
  if (problem !== null) throw new Error(problem);
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
