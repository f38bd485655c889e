import type { CompactionResult } from '../../core/chat/events';
import { ProgressLocation, window } from 'vscode';
import type { Conversation } from '../../core/chat/conversation';
import type { PinTarget } from '../../core/context/pins';
import { shown, t } from '../../core/l10n';
import { excludedEntries, isExcludable } from '../../core/context/contextExclusion';
import { timeText } from '../../core/recall/dateText';
import type { SessionStore } from '../../core/ports';
import type { ChatController } from '../chat/chatController';
import { compactionPreviewText, compactionText, orFault } from './compactionText';
import type { CompactionPreviews } from './compactionPreviews';
import type { CommandName } from '../manifest';
import { confirmUndo } from '../notices';
import type { FullQuestions } from './fullQuestions';
import { pickCompaction, pickEntry, pickPin, pickPinned } from './contextPickers';
import type { SummaryFiles } from './summaryFiles';
import type { ChangeDocuments } from '../tools/changeDocuments';

export interface ContextCommandsDeps {
  readonly controller: ChatController;
  readonly store: () => Promise<Pick<SessionStore, 'entries'>>;
  readonly previews: CompactionPreviews;
  readonly summaries: SummaryFiles;
  readonly changes: ChangeDocuments;
  readonly fullQuestions: Pick<FullQuestions, 'pending'>;
  /** Where the user looks: beside the view, or in a message. */
  readonly tell: (text: string) => void;
  readonly tellUndoable: (text: string, undo: () => Promise<void>) => void;
}

export type ContextCommandName = Extract<
  CommandName,
  | 'compact'
  | 'compactWithInstructions'
  | 'previewCompaction'
  | 'applyPreview'
  | 'closePreview'
  | 'editSummary'
  | 'resummarize'
  | 'compareCompaction'
  | 'excludeEntry'
  | 'includeEntry'
  | 'createCheckpoint'
  | 'pin'
  | 'unpin'
  | 'cancelCompaction'
  | 'undoCompaction'
>;

/** In a list to choose from. */
const mostOffered = 50;

const decideFirst = () =>
  t(
    'Your message waits for a decision about the full context: decide first, in the chat or with Threadkeeper: Decide About the Full Context.',
  );
const noMessages = () => t('This session has no messages yet.');

/** What the user can do to what the model is sent: fold it, look first, rewrite the summary, keep something in sight. */
export class ContextCommands {
  constructor(private readonly deps: ContextCommandsDeps) {}

  readonly all: Readonly<Record<ContextCommandName, () => Promise<void>>> = {
    compact: () => this.compact(),
    compactWithInstructions: () => this.compactWithInstructions(),
    previewCompaction: () => this.preview(null),
    applyPreview: () => this.applyPreview(),
    closePreview: () => this.closePreview(),
    editSummary: () => this.editSummary(),
    resummarize: () => this.resummarize(),
    compareCompaction: () => this.pickAndCompare(),
    excludeEntry: () => this.pickAndExclude(),
    includeEntry: () => this.pickAndInclude(),
    createCheckpoint: () => this.createCheckpoint(),
    pin: () => this.pin(),
    unpin: () => this.unpin(),
    cancelCompaction: async () => this.deps.controller.active.chat?.conversation.cancelCompaction(),
    undoCompaction: () => this.undo(),
  };

  /** As the policy says: at once, or by way of a preview. A turn that asks what to do about the full context is told to do it. */
  private async compact(): Promise<void> {
    const conversation = await this.deps.controller.active.conversation();
    if (conversation && conversation.policy.compaction.review !== 'never' && !this.asksWhenFull) return this.preview(null);
    await this.fold(null);
  }

  /** Who writes instructions has looked already: no preview comes before it. */
  private async compactWithInstructions(): Promise<void> {
    const instructions = await window.showInputBox({
      title: t('Compact Conversation with Instructions'),
      prompt: t('What the summary should keep, leave out or look at'),
      placeHolder: t('Keep every port number and the reasons for the schema'),
    });
    if (instructions !== undefined) await this.fold(instructions.trim() || null);
  }

  private async preview(instructions: string | null): Promise<void> {
    const { store, previews } = this.deps;
    const conversation = await this.conversation();
    if (this.asksWhenFull) throw new Error(decideFirst());
    const preview = await cancellable(conversation, t('Preparing a preview of the compaction'), () =>
      conversation.previewCompaction(instructions),
    );
    const { content } = preview;
    if (!content) return this.deps.tell((preview.message && shown(preview.message)) ?? t('There is nothing to compact.'));
    const entries = await (await store()).entries([...preview.folds, ...preview.stays]);
    await previews.show(
      { session: conversation.session.uuid, instructions },
      compactionPreviewText({ ...preview, content }, new Map(entries.map((entry) => [entry.uuid, entry]))),
    );
  }

  private async applyPreview(): Promise<void> {
    const { previews, controller } = this.deps;
    const previewed = previews.current;
    if (!previewed) throw new Error(t('Open a preview first: Threadkeeper: Preview Compaction.'));
    const summary = previews.edited(previewed.uri);
    // Whoever waits for it closes the document.
    if (previewed.answer) return previewed.answer(true);
    if (this.asksWhenFull) throw new Error(decideFirst());
    if (controller.active.session?.uuid !== previewed.session)
      throw new Error(t('This preview belongs to another session. Open that session in the chat first.'));
    // What was written stays where it is until it stands in the conversation.
    if (await this.fold(previewed.instructions, summary)) await previews.close(previewed.uri);
  }

  private async closePreview(): Promise<void> {
    const { current } = this.deps.previews;
    if (current?.answer) return current.answer(false);
    if (current) await this.deps.previews.close(current.uri);
  }

  /** False when nothing was compacted; the user is told why. */
  private async fold(instructions: string | null, summary?: string): Promise<boolean> {
    const { controller, tell, tellUndoable } = this.deps;
    const { entry, message } = await window.withProgress(
      { location: ProgressLocation.Window, title: t('Threadkeeper: organizing conversation history…') },
      () => controller.compact(instructions, summary),
    );
    if (!entry) {
      tell(message ?? t('Nothing was compacted.'));
      return false;
    }
    if (!controller.feed.visible) tellUndoable(compactionText(entry.content), () => this.undo(entry.uuid));
    return true;
  }

  /** Folds for the view, where the card that appears is the answer. Resolves with why there was nothing to do; rejects with what failed. */
  async compactNow(): Promise<string | null> {
    return orFault(await this.deps.controller.compact());
  }

  /** Takes a snapshot for the view, where the mark in the transcript is the answer. Resolves and rejects as `compactNow` does. */
  async checkpoint(): Promise<string | null> {
    const conversation = await this.deps.controller.active.conversation();
    if (!conversation) return t('There is nothing to save: this session has no messages yet.');
    return orFault(await conversation.checkpoint());
  }

  /** Undoes the last compaction for the view and the composer, which show the result themselves. Rejects with the reason when it stays. */
  async undoCompaction(): Promise<void> {
    const result = await this.deps.controller.undoCompaction(confirmUndo);
    if (typeof result === 'object') throw new Error(result.message);
  }

  private async undo(only?: string): Promise<void> {
    const { controller, tell } = this.deps;
    const result = await controller.undoCompaction(confirmUndo, only);
    if (typeof result === 'object') tell(shown(result.message));
    else if (result === 'undone' && !controller.feed.visible)
      tell(t('The last compaction was undone: the model sees the original messages again.'));
  }

  async editSummary(): Promise<void> {
    await this.deps.summaries.open(await this.conversation());
  }

  /** Rejects with the reason when the summary stays as it was. */
  async reuseSummary(compaction: string): Promise<void> {
    const { entry, message } = await (await this.conversation()).reuseSummary(compaction);
    if (!entry) throw new Error(message === null ? t('The summary stays as it was.') : shown(message));
  }

  async resummarize(): Promise<void> {
    const conversation = await this.conversation();
    if (conversation.editableSummary === null) throw new Error(t('There is no summary: nothing of this conversation has been compacted.'));
    const instructions = await window.showInputBox({
      title: t('Re-summarize with Instructions'),
      prompt: t('What the new summary should do better. It is made from the original messages; leave this empty to just try again.'),
    });
    if (instructions === undefined) return;
    this.report(
      await cancellable(conversation, t('Summarizing the original messages again'), () =>
        conversation.resummarize(instructions.trim() || null),
      ),
    );
  }

  private async createCheckpoint(): Promise<void> {
    const conversation = await this.conversation();
    const { message } = await window.withProgress({ location: ProgressLocation.Window, title: t('Threadkeeper: saving a snapshot…') }, () =>
      conversation.checkpoint(),
    );
    this.deps.tell((message && shown(message)) ?? t('The snapshot is saved. The next compaction can use it.'));
  }

  private async pin(): Promise<void> {
    const conversation = await this.conversation();
    const target = await pickPin(conversation.entries);
    if (!target) return;
    const isNew = await this.pinTarget(target);
    this.deps.tell(isNew ? t('Pinned: every compaction keeps it, word for word.') : t('This is pinned already.'));
  }

  /** False when it was pinned before. Rejects with the reason when it cannot be. */
  async pinTarget(target: PinTarget): Promise<boolean> {
    const { message, added } = await (await this.conversation()).pin(target);
    if (message !== null) throw new Error(shown(message));
    return added !== null;
  }

  async unpinTarget(target: PinTarget): Promise<void> {
    await (await this.deps.controller.active.conversation())?.unpin(target);
  }

  private async unpin(): Promise<void> {
    const { store, tell } = this.deps;
    const conversation = await this.conversation();
    const pins = await conversation.pins();
    if (pins.length === 0) return tell(t('Nothing is pinned in this session.'));
    const entries = await (await store()).entries(pins.flatMap(({ kind, target }) => (kind === 'entry' ? [target] : [])));
    const picked = await pickPinned(pins, new Map(entries.map((entry) => [entry.uuid, entry])));
    if (!picked) return;
    await conversation.unpin(picked);
    tell(t('Unpinned. The next compaction includes it like the rest.'));
  }

  /** The prompt without and with a compaction, whatever has become of it. Rejects with the reason when it cannot be made. */
  async compare(compaction: string): Promise<void> {
    const { before, after, at } = await (await this.conversation()).comparePrompts(compaction);
    await this.deps.changes.compare(t('Compaction of {0}: without ↔ with', timeText(at)), `${t('Prompt')}.md`, before, after);
  }

  private async pickAndCompare(): Promise<void> {
    const { controller } = this.deps;
    const conversation = await this.conversation();
    const records = await conversation.compactions();
    if (records.length === 0) throw new Error(t('Nothing of this conversation has been compacted.'));
    const picked = records.length === 1 ? records[0]!.entry.uuid : await pickCompaction(records);
    if (picked !== undefined && controller.active.session?.uuid === conversation.session.uuid) await this.compare(picked);
  }

  /** Rejects with the reason when it stays as it is. */
  async setExcluded(entry: string, excluded: boolean): Promise<void> {
    const message = await (await this.conversation()).setExcluded(entry, excluded);
    if (message !== null) throw new Error(message);
  }

  private async pickAndExclude(): Promise<void> {
    const conversation = await this.conversation();
    const entries = new Map(conversation.entries.map((entry) => [entry.uuid, entry]));
    const { largest } = conversation.breakdown(mostOffered);
    const offered = largest.flatMap(({ entry, tokens }) => {
      const found = entries.get(entry);
      return found && isExcludable(found) ? [{ entry: found, tokens }] : [];
    });
    if (offered.length === 0) throw new Error(t('There is nothing in the context that could be left out.'));
    const picked = await pickEntry(offered, t('Exclude from Context'), t('What the model need not see any more; it stays in the history'));
    if (picked === undefined) return;
    await this.setExcluded(picked, true);
    this.deps.tell(t('Left out. “Include in Context Again…” takes that back.'));
  }

  private async pickAndInclude(): Promise<void> {
    const conversation = await this.conversation();
    const excluded = excludedEntries(conversation.entries);
    const offered = conversation.entries
      .filter(({ uuid, content }) => excluded.has(uuid) && content.type !== 'tool_result')
      .map((entry) => ({ entry, tokens: entry.tokenEstimate }));
    if (offered.length === 0) throw new Error(t('Nothing has been left out of the context.'));
    const picked = await pickEntry(offered, t('Include in Context Again'), t('What the model shall see again'));
    if (picked === undefined) return;
    await this.setExcluded(picked, false);
    this.deps.tell(t('Included again: the model sees it from the next message on.'));
  }

  private report({ message }: CompactionResult): void {
    if (message !== null) this.deps.tell(shown(message));
    else if (!this.deps.controller.feed.visible) this.deps.tell(t('The summary was written again.'));
  }

  /** The turn waits for the user's decision: what is to come after it would wait for the same. */
  private get asksWhenFull(): boolean {
    return this.deps.fullQuestions.pending(this.deps.controller.active.session?.uuid) !== undefined;
  }

  private async conversation(): Promise<Conversation> {
    const conversation = await this.deps.controller.active.conversation();
    if (!conversation) throw new Error(noMessages());
    await conversation.whole();
    return conversation;
  }
}

/** A model may have to be asked, which takes its time: another session may be on show when the user cancels. */
function cancellable<T>(conversation: Conversation, title: string, work: () => Promise<T>): Thenable<T> {
  return window.withProgress({ location: ProgressLocation.Notification, title, cancellable: true }, (_, token) => {
    const listening = token.onCancellationRequested(() => conversation.cancelCompaction());
    return work().finally(() => listening.dispose());
  });
}
