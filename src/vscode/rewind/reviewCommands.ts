import { commands, Uri, window, type QuickPickItem } from 'vscode';
import type { Conversation } from '../../core/chat/conversation';
import { t, wholeNumber } from '../../core/l10n';
import { changedText, editText, planReasonText } from '../../core/rewind/fileTexts';
import type { TextHunk } from '../../core/rewind/textHunks';
import { isOpen } from '../../core/rewind/turnReview';
import { notesOf, type TurnReview, type TurnReviewer } from '../../node/rewind/turnReviewer';
import type { ActiveChat } from '../chat/activeChat';
import type { OpenChats } from '../chat/places/openChats';
import type { CommandName } from '../manifest';
import { oneLine, plainLabel } from '../plainText';
import type { HunkName, OpenFile, OpenReview } from './openReview';
import type { RestoreCommands } from './restoreCommands';

export interface ReviewCommandsDeps {
  readonly active: Pick<ActiveChat, 'conversation'>;
  readonly chats: Pick<OpenChats, 'find'>;
  readonly reviewer: () => Promise<TurnReviewer>;
  readonly restores: Pick<RestoreCommands, 'carryOut'>;
  readonly open: OpenReview;
  readonly tell: (text: string) => void;
}

export type ReviewCommandName = Extract<
  CommandName,
  'reviewChanges' | 'decideChanges' | 'keepChange' | 'undoChange' | 'keepFile' | 'undoFile' | 'keepAllChanges' | 'undoAllChanges'
>;

type Answer = 'keep' | 'undo';

interface DecisionItem extends QuickPickItem {
  readonly files: readonly OpenFile[];
  readonly hunk?: TextHunk;
}

/** Shows what a turn has changed; from there each hunk, each file or all of it is kept or undone. */
export class ReviewCommands {
  constructor(private readonly deps: ReviewCommandsDeps) {}

  readonly all: Readonly<Record<ReviewCommandName, (args: readonly unknown[]) => Promise<void>>> = {
    reviewChanges: () => this.open(null),
    decideChanges: () => this.pick(),
    keepChange: ([name]) => this.decideHere('keep', name),
    undoChange: ([name]) => this.decideHere('undo', name),
    keepFile: () => this.decideFile('keep'),
    undoFile: () => this.decideFile('undo'),
    keepAllChanges: () => this.decideAll('keep'),
    undoAllChanges: () => this.decideAll('undo'),
  };

  /** The turn of an entry, or the last one. */
  async open(entry: string | null): Promise<void> {
    const conversation = await this.conversation();
    const reviewer = await this.deps.reviewer();
    const review = await reviewer.find(conversation.session.uuid, entry);
    if (!review || review.files.length === 0) return this.deps.tell(t('The last answer changed no file that is recorded.'));
    if (!review.files.some(isOpen))
      return this.deps.tell(t('Nothing is left to review: {0} kept or undone.', changedText(review.files.map(({ edit }) => edit))));
    await this.deps.open.show(review, reviewer);
  }

  /** Without the mouse, and in words: what there is, then what becomes of it. */
  private async pick(): Promise<void> {
    const review = await this.review();
    const files = this.left();
    const items = files.flatMap((file): DecisionItem[] => [
      { label: plainLabel(file.reviewed.edit.path), description: editText(file.reviewed.edit), files: [file] },
      ...(file.hunks && file.hunks.length > 1 ? file.hunks.map((hunk) => hunkItem(file, hunk)) : []),
    ]);
    const all: DecisionItem[] =
      files.length > 1 ? [{ label: t('All files'), description: changedText(review.files.map(({ edit }) => edit)), files }] : [];
    const what = await window.showQuickPick([...all, ...items], { title: t('Keep or undo which change?'), matchOnDetail: true });
    if (!what) return;
    const answers = [
      { label: t('$(check) Keep'), description: t('it is reviewed, and stays as it is'), answer: 'keep' as const },
      { label: t('$(discard) Undo'), description: t('as it was before the answer; your own changes stay'), answer: 'undo' as const },
    ];
    const answer = await window.showQuickPick(answers, { title: what.label });
    if (answer) await this.decide(answer.answer, what.files, what.hunk);
  }

  /** The hunk that a line of the editor names, or that the cursor is in. */
  private async decideHere(answer: Answer, name: unknown): Promise<void> {
    await this.review();
    const named = isHunkName(name) ? this.deps.open.named(name) : null;
    if (isHunkName(name) && !named) throw new Error(t('This change is not there any more: it was kept or undone meanwhile.'));
    const { file, hunk } = named ?? this.atCursor();
    if (!hunk && file.hunks !== null) throw new Error(t('Put the cursor into a change first.'));
    await this.decide(answer, [file], hunk ?? undefined);
  }

  private async decideFile(answer: Answer): Promise<void> {
    await this.review();
    await this.decide(answer, [this.atCursor().file]);
  }

  private async decideAll(answer: Answer): Promise<void> {
    await this.review();
    await this.decide(answer, this.left());
  }

  private async decide(answer: Answer, files: readonly OpenFile[], hunk?: TextHunk): Promise<void> {
    const review = await this.review();
    // The chat of its session, on show or not; none where it is not open.
    const conversation = this.deps.chats.find(review.session)?.conversation ?? null;
    if (conversation?.isBusy) throw new Error(t('An answer is being written. Stop it or wait for it, then decide.'));
    const reviewer = await this.deps.reviewer();
    const reviewed = files.map((file) => file.reviewed);
    if (answer === 'keep') {
      const marks = await reviewer.keep(review, reviewed, hunk);
      conversation?.branching.marked(marks);
    } else await this.undo(conversation, reviewer, review, files, hunk);
    const now = await reviewer.find(review.session, review.turn);
    if (now) await this.deps.open.refresh(now, reviewer);
    if (now && !now.files.some(isOpen)) this.deps.tell(t('Every change of the answer is reviewed.'));
  }

  private async undo(
    conversation: Conversation | null,
    reviewer: TurnReviewer,
    review: TurnReview,
    files: readonly OpenFile[],
    hunk: TextHunk | undefined,
  ): Promise<void> {
    const planned = await reviewer.undo(
      review,
      files.map(({ reviewed }) => reviewed),
      hunk,
    );
    const [problem] = planned.plan.files.filter(({ action }) => action === 'ask' || action === 'blocked');
    // A hunk that somebody has written in since is theirs: it is left to them, in the editor.
    if (hunk && problem) return leftToUser(problem.path, planReasonText(problem.reason!), reviewer.restorer.place(problem));
    await this.deps.restores.carryOut(conversation, reviewer.restorer, planned.plan, {
      title: t('Undo in Files'),
      asks: problem !== undefined,
      reviews: (done) => notesOf(planned, done),
    });
  }

  private left(): OpenFile[] {
    return this.deps.open.all.filter(({ reviewed }) => isOpen(reviewed));
  }

  private atCursor(): { readonly file: OpenFile; readonly hunk: TextHunk | null } {
    const editor = window.activeTextEditor;
    const found = editor && this.deps.open.at(editor.document, editor.selection.active.line);
    if (found) return found;
    const files = this.left();
    if (files.length === 1) return { file: files[0]!, hunk: null };
    throw new Error(t('Put the cursor into a changed file first.'));
  }

  private async review(): Promise<TurnReview> {
    const { open } = this.deps;
    if (!open.current) await this.open(null);
    if (!open.current) throw new Error(t('No review is open.'));
    return open.current;
  }

  private async conversation(): Promise<Conversation> {
    const conversation = await this.deps.active.conversation();
    if (!conversation) throw new Error(t('This session has no messages yet.'));
    return conversation;
  }
}

async function leftToUser(path: string, reason: string, place: string | null): Promise<void> {
  const show = t('Open File');
  const text = t('{0}: {1}. Nothing was undone there.', path, reason);
  void window.showWarningMessage(text, ...(place === null ? [] : [show])).then((answer) => {
    if (answer === show && place !== null) void commands.executeCommand('vscode.open', Uri.file(place));
  });
}

function hunkItem(file: OpenFile, hunk: TextHunk): DecisionItem {
  const first = [...hunk.added, ...hunk.removed].find((line) => line.trim() !== '') ?? '';
  return {
    label: t('Line {0}', wholeNumber(hunk.newStart + 1)),
    description: `${plainLabel(file.reviewed.edit.path)} (+${wholeNumber(hunk.added.length)} −${wholeNumber(hunk.removed.length)})`,
    detail: plainLabel(oneLine(first, 90)),
    files: [file],
    hunk,
  };
}

function isHunkName(value: unknown): value is HunkName {
  return typeof value === 'object' && value !== null && 'file' in value && 'at' in value;
}
