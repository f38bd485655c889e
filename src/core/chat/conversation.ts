import type { FoldSaving } from '../cost/returns';
import type { Emitter, Event } from '../base/event';
import { thresholdsOf } from '../context/measure/budget';
import type { ContextEngine, ModelBinding } from '../context/engine';
import type { Policy } from '../context/policy/policy';
import type { SessionPolicy } from '../context/policy/resolvePolicy';
import type { ContextSnapshot } from '../context/measure/snapshot';
import { parseThinkingLevel, type ThinkingLevel } from '../models/modelInfo';
import { compactionHistory, type PastCompaction } from '../session/liveCompaction';
import type { Pin } from '../session/storage';
import type { Attachment, QueuedMessage } from '../session/userMessage';
import type { Session, SessionDetails } from '../session/session';
import type { ToolBox } from '../tools/toolBox';
import type { Approvals } from './turn/approvals';
import { Branching } from '../branches/branching';
import { BranchState, openingReach } from './branchState';
import { MessageQueue } from './messageQueue';
import { Operations } from './operations';
import type { CheckpointResult } from '../compaction/checkpoints/checkpoints';
import type { ContextMeter } from '../context/measure/contextMeter';
import type { ContextManager, CompactionPreview, UndoPreview } from '../context/contextManager';
import {
  elsewhere,
  noRecord,
  type ConversationEvent,
  type TurnError,
  type Accepted,
  type SendOutcome,
  type CompactionResult,
} from './events';
import type { SharedSession } from './sharedSession';
import { conversationParts, type ConversationParts } from './conversationParts';
import type { ConversationDeps } from './conversationDeps';
import type { PinResult, PinTarget } from '../context/pins';
import { comparePrompts, type PromptComparison } from '../context/projection/promptComparison';
import { withBudget } from '../cost/budgetedClient';
import type { SessionLimit } from '../cost/spending';
import { ModelError } from '../models/modelEvent';
import { Turns } from './turn/turns';
import { savedTurnError, storeTurnError } from './turn/turnError';
import { errorText } from '../errors';

/*
 * One operation at a time, in the order they were asked for:
 *
 *   idle ──send/retry──▶ turn running ──▶ idle ──(queue not empty)──▶ next turn
 *     └──compact/undo──▶ working ───────▶ idle
 *
 * of all windows: while another one works in the session, a message waits in the queue and the rest is refused (sharedSession.ts).
 * `stop` aborts what runs; what waits in the queue is handed back to the composer.
 */
export class Conversation {
  readonly onDidEmit: Event<ConversationEvent>;
  private readonly _onDidEmit: Emitter<ConversationEvent>;
  private readonly branch: BranchState;
  private readonly engine: ContextEngine;
  private readonly context: ContextManager;
  private readonly meter: ContextMeter;
  private readonly shared: SharedSession;
  private readonly limit: SessionLimit;
  readonly toolBox: ToolBox;
  readonly approvals: Approvals;
  /** Other ways on from what has been said. */
  readonly branching: Branching;
  private readonly operations: Operations;
  /** Messages that wait, for what a user does to them. */
  readonly queue: MessageQueue;
  private readonly turns: Turns;

  private constructor(
    private readonly deps: ConversationDeps,
    parts: ConversationParts,
  ) {
    this._onDidEmit = parts.events;
    this.onDidEmit = parts.events.event;
    const branch = (this.branch = parts.branch);
    const engine = (this.engine = parts.engine);
    const context = (this.context = parts.context);
    const meter = (this.meter = parts.meter);
    const shared = (this.shared = parts.shared);
    const limit = (this.limit = parts.limit);
    const toolBox = (this.toolBox = parts.toolBox);
    const approvals = (this.approvals = parts.approvals);
    this.branching = new Branching({
      ...deps,
      branch,
      emit: (event) => this.emit(event),
      branchChanged: () => this.branchChanged(true),
      summaries: context.branchSummaries,
      turn: (id, message, begin, accepted) => this.turns.branchingOff(id, message, begin, accepted),
      alone: (run) => this.alone(run, (message) => message),
    });
    this.operations = new Operations(shared, () => {
      this.emit({ type: 'became_idle' });
      void meter.restoreAnchor();
      context.cacheWatch.look();
    });
    this.queue = new MessageQueue({ ...deps, session: () => this.session.uuid, emit: (event) => this.emit(event) });
    this.turns = new Turns({
      ...deps,
      branch,
      engine,
      context,
      meter,
      toolBox,
      approvals,
      operations: this.operations,
      queue: this.queue,
      emit: (event) => this.emit(event),
      refreshModel: () => this.refreshModel(),
      overLimit: () => limit.check(),
      rename: (title) => this.changeDetails({ title }),
    });
  }

  /**
   * Opens a session: turns what a dead process left streaming into entries, reads the live branch, resolves the model. Rejects
   * with `StoreError`; a model that cannot be resolved is replaced by `fallback` until the next turn tries again.
   */
  static async open(deps: ConversationDeps, session: string, fallback: ModelBinding): Promise<Conversation> {
    const owner = deps.store.status.access !== 'readonly';
    if (owner) await deps.store.recoverPartials(session);
    const parts = conversationParts(deps, await BranchState.load(deps, session, openingReach), fallback, {
      isBusy: () => conversation.isBusy,
      branchChanged: (replaced) => conversation.branchChanged(replaced),
      modelChanged: () => void conversation.refreshModel(),
      abort: () => conversation.operations.abort(),
      whenFree: (run) => conversation.whenFree(run),
    });
    const conversation: Conversation = new Conversation(deps, parts);
    try {
      if (owner) conversation.queue.messages = await deps.store.queue(session);
      await conversation.begin();
    } catch (error) {
      conversation.dispose();
      throw error;
    }
    return conversation;
  }

  private async begin(): Promise<void> {
    const { context, meter } = this;
    await this.refreshModel();
    void meter.settle();
    void context.retries.wake();
    await context.chooseCacheTime();
    void context.prepared.recall();
    context.cacheWatch.look();
  }

  get session(): Session {
    return this.branch.session;
  }

  get isBusy(): boolean {
    return this.operations.isBusy;
  }

  get queued(): readonly QueuedMessage[] {
    return this.queue.messages;
  }

  get model(): ModelBinding {
    return this.engine.binding;
  }

  get policy(): Policy {
    return this.engine.policy;
  }

  get snapshot(): ContextSnapshot {
    return this.meter.snapshot;
  }

  /** Entries that are sent as head + tail because they are very long. */
  get excerpted(): ReadonlySet<string> {
    return this.engine.projection().excerpted;
  }

  breakdown(limit: number): ReturnType<ContextEngine['breakdown']> {
    return this.engine.breakdown(limit);
  }

  /** The live part of the branch: what fold marks and nudge outcomes are derived from. Whoever needs their texts asks for `whole` first. */
  get entries(): BranchState['entries'] {
    return this.branch.entries;
  }

  /** Reads the texts of `entries` that an opened session has only the outline of. Rejects with `StoreError`. */
  readonly whole = (): Promise<void> => this.branch.whole();

  /** Tells, from now on, what another window is doing in this session. Never rejects. */
  follow(): Promise<void> {
    return this.shared.follow();
  }

  /** Sends a message, or queues it behind the running turn. Resolves when its turn has ended; never rejects. */
  send(
    text: string,
    id: string = this.deps.ids.next(),
    attachments: readonly Attachment[] = [],
    accepted?: Accepted,
  ): Promise<SendOutcome> {
    return this.turns.send(id, { text, attachments }, accepted);
  }

  /** Sends what was still waiting when the last process ended; resolves when all of it has had its turn. */
  resumeQueue(): Promise<void> {
    return this.turns.resumeQueue();
  }

  /** What a window that has ended left in the queue of this session; it is this window's now, but does not wait here. */
  leftInQueue(): Promise<readonly QueuedMessage[]> {
    return this.operations.enqueue(() => this.queue.left());
  }

  /** Takes a message out of the queue; undefined when its turn has already begun. */
  async unqueue(id: string): Promise<QueuedMessage | undefined> {
    return this.queue.isFixed(id) ? undefined : this.queue.remove(id);
  }

  /**
   * Ends what runs, here or in another window, as `stop` does, and sends a queued message next; the others go on waiting. False when its
   * turn has already begun.
   */
  async sendQueued(id: string): Promise<boolean> {
    const isNext = this.turns.sendNext(id);
    if (!this.queue.isFixed(id)) await (this.shared.isElsewhere ? this.stopElsewhere() : this.operations.abort());
    return isNext;
  }

  /** Asks again for an answer to what is already there. */
  retry(id: string = this.deps.ids.next(), accepted?: Accepted): Promise<SendOutcome> {
    return this.turns.retry(id, accepted);
  }

  /**
   * Ends the running operation, or asks the window it runs in to; resolves at once. Returns the queued messages, which are not sent any
   * more.
   */
  async stop(): Promise<readonly QueuedMessage[]> {
    const back = this.queue.waiting;
    const emptied = this.queue.empty();
    this.operations.abort();
    await emptied;
    if (this.shared.isElsewhere) await this.stopElsewhere();
    return back;
  }

  private async stopElsewhere(): Promise<void> {
    const { store, log } = this.deps;
    await store.requestStop(this.session.uuid).catch((error: unknown) => log.warn('stop_not_asked', { detail: errorText(error) }));
  }

  /** Lets the running compaction end by its next rung. */
  cancelCompaction(): void {
    if (!this.turns.cancelCompaction()) this.operations.abort();
  }

  /** Folds the older part of the conversation. `summary`: what the user has made of the one that a preview showed. Never rejects. */
  async compact(instructions: string | null = null, summary?: string): Promise<CompactionResult> {
    return this.alone(async (signal) => {
      await this.branch.settleCounts();
      await this.context.retries.apply();
      await this.context.prepared.recall();
      return this.context.compactor.run(
        { trigger: 'manual', instructions, holdsTurn: false, ...(summary === undefined ? {} : { summary }) },
        { stop: signal },
      );
    }, noRecord);
  }

  /** What a compaction would fold, keep and say, without doing it. Never rejects. */
  async previewCompaction(instructions: string | null = null): Promise<CompactionPreview> {
    return this.alone(
      (signal) => this.context.preview(instructions, signal),
      (message) => ({ content: null, folds: [], stays: [], message }),
    );
  }

  /** The part of the live summary that the user may rewrite; null without a compaction. */
  get editableSummary(): string | null {
    return this.context.editable;
  }

  /** Puts the user's own words in the place of the live summary; an undo brings back the messages that it stands for. Never rejects. */
  async editSummary(text: string): Promise<CompactionResult> {
    return this.alone(() => this.context.edit(text), noRecord);
  }

  /** Takes an earlier summary of the folded messages in the place of the live one. Never rejects. */
  async reuseSummary(compaction: string): Promise<CompactionResult> {
    return this.alone(async () => {
      const known = await this.compactions();
      return this.context.reuse(
        compaction,
        known.map(({ entry }) => entry),
      );
    }, noRecord);
  }

  /** Has the folded range summarised anew from its originals. Never rejects. */
  async resummarize(instructions: string | null = null): Promise<CompactionResult> {
    return this.alone((signal) => this.context.resummarize(instructions, signal), noRecord);
  }

  /** Writes a checkpoint now; turns go on meanwhile. Never rejects. */
  checkpoint(): Promise<CheckpointResult> {
    return this.context.checkpoints.write();
  }

  /** What compactions on a return have saved. Rejects with `StoreError`. */
  savings(): Promise<FoldSaving[]> {
    return this.context.savings();
  }

  /** Rejects with `StoreError`. */
  pins(): Promise<Pin[]> {
    return this.context.pins.list();
  }

  /** Keeps a message, a file or a text in front of the model through every compaction. Never rejects. */
  async pin(pin: PinTarget): Promise<PinResult> {
    return this.alone(
      () => this.context.pin(pin),
      (message) => ({ message, added: null }),
    );
  }

  /** It is folded like everything else from the next compaction on. Rejects with `StoreError`. */
  unpin(pin: PinTarget): Promise<void> {
    return this.context.pins.unpin(pin);
  }

  /** Takes an entry out of what the model is sent, or puts it back; null, or why not in words for the user. Never rejects. */
  async setExcluded(entry: string, excluded: boolean): Promise<string | null> {
    return this.alone(
      () => this.context.exclusions.set(entry, excluded),
      (message): string | null => message,
    );
  }

  /** Every compaction of the branch, oldest first. Rejects with `StoreError`. */
  async compactions(): Promise<PastCompaction[]> {
    const { store } = this.deps;
    const steps = await store.branchSteps(this.session.uuid);
    return compactionHistory(
      await store.entries(steps.flatMap(({ entry, type }) => (type === 'compaction' || type === 'compaction_undone' ? [entry] : []))),
    );
  }

  /** The prompt without and with a compaction of this branch. Rejects with `StoreError`, or an `Error` in words for the user. */
  comparePrompts(compaction: string): Promise<PromptComparison> {
    return comparePrompts({ ...this.deps, branch: this.branch, engine: this.engine }, compaction);
  }

  /** What an undo would restore; null when there is no live compaction. */
  undoPreview(): UndoPreview | null {
    return this.context.undoPreview();
  }

  /** Takes the newest compaction back: its originals are sent again, turns made since stay. Never rejects. */
  async undoCompaction(): Promise<CompactionResult> {
    return this.alone(() => this.context.undo(), noRecord);
  }

  /** Shows the draft's size in the gauge. Resolves with whether some of it is too long to be sent whole. */
  measureDraft(text: string, attachments: readonly Attachment[] = []): Promise<boolean> {
    return this.meter.measureDraft(text, attachments);
  }

  /** Rejects with `StoreError`. */
  async changeDetails(details: SessionDetails): Promise<void> {
    this.branch.session = await this.deps.store.updateSession(this.session.uuid, details);
    this.emit({ type: 'session_changed', session: this.session });
  }

  /** `provider/model`; null: whatever the settings say. In force from the next request. Rejects with `StoreError`. */
  async setModel(model: string | null): Promise<void> {
    this.branch.session = await this.deps.store.updateSession(this.session.uuid, { model });
    this.emit({ type: 'session_changed', session: this.session });
    await this.refreshModel();
  }

  /** Gives the session a policy of its own, or none; in force from the request behind what runs. Rejects with `StoreError`. */
  async setPolicy(policy: SessionPolicy | null): Promise<void> {
    await this.operations.enqueue(async () => {
      this.branch.session = await this.deps.store.updateSession(this.session.uuid, { policy });
      this.emit({ type: 'session_changed', session: this.session });
      await this.refreshModel();
    });
  }

  /** Null when the level is set, else why not. Never rejects. */
  async setThinkingLevel(level: ThinkingLevel | null): Promise<string | null> {
    return this.alone(
      () => this.context.setThinkingLevel(level),
      (message): string | null => message,
    ).finally(() => this.refreshModel());
  }

  /** Adopts changed settings: model, policy. Takes effect with the next request. */
  async refreshModel(): Promise<TurnError | null> {
    try {
      const moved = await this.engine.use(
        withBudget(await this.deps.resolveModel(this.session), () => this.limit.check(), 'cost_limit'),
        this.deps.policy(this.session),
        parseThinkingLevel(this.session.thinkingLevel),
      );
      if (moved)
        this.deps.log.info('threshold_updated', {
          policy: this.policy.name,
          model: this.model.info.id,
          ...thresholdsOf(this.engine.budget),
        });
      this.meter.tell();
      if (!this.isBusy) void this.meter.restoreAnchor();
      return null;
    } catch (error) {
      if (ModelError.is(error)) return savedTurnError(error.failure, this.session.model ?? '');
      this.deps.log.error('model_unresolved', { detail: errorText(error) });
      return { reason: 'internal', message: errorText(error) };
    }
  }

  /** Resolves when everything asked for so far has ended. */
  readonly idle = (): Promise<void> => this.operations.idle();

  /** Stops what runs. What is queued stays on disk and is not begun. */
  dispose(): void {
    this.turns.close();
    this.approvals.close();
    this.operations.abort();
    this.meter.close();
    this.context.close();
    this.shared.dispose();
    this._onDidEmit.dispose();
  }

  /** One operation that holds no turn and fails in words. */
  private async alone<T>(run: (signal: AbortSignal) => Promise<T>, failed: (message: string) => T): Promise<T> {
    return this.operations
      .enqueueExclusive(
        async (signal) => {
          await Promise.all([this.refreshModel(), this.branch.whole()]);
          const result = await run(signal);
          this.meter.tell();
          return result;
        },
        async () => failed(elsewhere.message),
      )
      .catch((error: unknown) => failed(storeTurnError(error).message));
  }

  /** What the background has come to is recorded between two operations. */
  private async whenFree(run: () => Promise<void>): Promise<void> {
    await this.operations.enqueueExclusive<boolean>(
      async () => {
        await this.branch.whole().then(run);
        this.meter.tell();
        return true;
      },
      async () => false,
    );
  }

  private branchChanged(replaced: boolean): void {
    this.context.branchChanged(replaced);
    this.meter.branchChanged();
  }

  private emit(event: ConversationEvent): void {
    this._onDidEmit.fire(event);
  }
}
