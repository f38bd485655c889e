import { Emitter, type Event } from '../base/event';
import { thresholdsOf } from '../context/budget';
import { ContextEngine, type ModelBinding } from '../context/engine';
import type { Policy } from '../context/policy';
import type { SessionPolicy } from '../context/resolvePolicy';
import type { ContextSnapshot } from '../context/snapshot';
import { parseThinkingLevel, type ThinkingLevel } from '../context/thinkingLevel';
import type { Pin } from '../session/pin';
import type { Summarizer } from '../ports';
import { attachmentTokens, isBlank, nothingWritten, type Attachment, type Written } from '../session/attachment';
import type { QueuedMessage } from '../session/queuedMessage';
import type { Session } from '../session/session';
import { onDemandShare, ToolBox, toSpec } from '../tools/toolBox';
import { AnchorKeeper } from './anchorKeeper';
import { Approvals } from './approvals';
import { Branching } from './branching';
import { BranchState } from './branchState';
import { Operations } from './operations';
import type { CheckpointResult } from './checkpoints';
import type { CompactionResult } from './compactor';
import { ContextTools, type CompactionPreview, type UndoPreview } from './contextTools';
import { elsewhere, noRecord, notBegun, outOfQueue, type SendOutcome } from './sendOutcome';
import { titleFrom } from './sessionTitle';
import { SharedSession } from './sharedSession';
import type { ConversationDeps } from './conversationDeps';
import type { ConversationEvent, TurnError } from './events';
import type { PinResult, PinTarget } from './pins';
import { ModelError } from './modelError';
import { systemPrompt } from './systemPrompt';
import { Turn, type TurnOutcome } from './turn';
import { modelChange } from './turnNotes';
import { modelTurnError, storeTurnError } from './turnError';
import { CancelledError, errorText } from '../errors';

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
  /** Other ways on from what has been said. */
  readonly branching: Branching;
  private readonly operations: Operations;
  private waiting: QueuedMessage[] = [];
  private turnRunning: Turn | null = null;
  private disposed = false;
  /** The store failed in the middle of a turn. */
  private broken = false;
  /** Grows with every draft and every send: a count that comes back late is dropped. */
  private draftVersion = 0;
  /** The last snapshot told to anyone, without its time: what has not changed is not told again. */
  private lastNumbers = '';

  private constructor(
    private readonly deps: ConversationDeps,
    private readonly _onDidEmit: Emitter<ConversationEvent>,
    private readonly branch: BranchState,
    private readonly engine: ContextEngine,
    private readonly context: ContextTools,
    readonly toolBox: ToolBox,
    private readonly anchor: AnchorKeeper,
    private readonly shared: SharedSession,
    readonly approvals: Approvals,
  ) {
    this.onDidEmit = _onDidEmit.event;
    this.branching = new Branching({
      ...deps,
      branch,
      emit: (event) => this.emit(event),
      branchChanged: () => this.branchChanged(true),
      summaries: context.branchSummaries,
      turn: (id, message, begin) => this.operations.enqueue(() => this.turn(id, message, begin)),
      alone: (run) => this.alone(run, (message) => message),
    });
    this.operations = new Operations(shared, () => {
      this.emit({ type: 'became_idle' });
      void this.restoreAnchor();
    });
  }

  /**
   * Opens a session: turns what a dead process left streaming into entries, reads the live branch, resolves the model. Rejects
   * with `StoreError`; a model that cannot be resolved is replaced by `fallback` until the next turn tries again.
   */
  static async open(deps: ConversationDeps, session: string, fallback: ModelBinding): Promise<Conversation> {
    const owner = deps.store.status.access !== 'readonly';
    if (owner) await deps.store.recoverPartials(session);
    const branch = await BranchState.load(deps, session);
    const events = new Emitter<ConversationEvent>();
    const emit = (event: ConversationEvent) => events.fire(event);
    // At once: what another window does from here on must not be missed.
    const shared = new SharedSession({ ...deps, branch, emit, branchChanged: (replaced) => conversation.branchChanged(replaced), stop: () => conversation.operations.abort() });
    const own = deps.tools(emit);
    const engine = new ContextEngine(branch, deps.store, deps.counter, { system: systemPrompt(own, deps.instructions()), tools: own.map(toSpec) }, deps.policy(branch.session), fallback);
    const toolBox = new ToolBox(own, deps.otherTools, { store: deps.store, branch, tokensOf: engine.estimate, budget: () => engine.budget.effective * onDemandShare });
    engine.useTools(toolBox.current().map(toSpec));
    const context = new ContextTools({ ...deps, branch, engine, emit });
    const anchor = new AnchorKeeper({ ...deps, branch, engine, canWrite: () => deps.store.status.access !== 'readonly' });
    const conversation: Conversation = new Conversation(deps, events, branch, engine, context, toolBox, anchor, shared, new Approvals(deps.approvalRule, emit));
    if (owner) conversation.waiting = [...(await deps.store.queue(session))];
    await conversation.refreshModel();
    void conversation.settle();
    void context.retries.wake();
    return conversation;
  }

  get session(): Session {
    return this.branch.session;
  }

  get isBusy(): boolean {
    return this.operations.isBusy;
  }

  get queued(): readonly QueuedMessage[] {
    return this.waiting;
  }

  get model(): ModelBinding {
    return this.engine.binding;
  }

  get policy(): Policy {
    return this.engine.policy;
  }

  get snapshot(): ContextSnapshot {
    return this.engine.snapshot(this.deps.clock.now());
  }

  /** Entries that are sent as head + tail because they are very long. */
  get excerpted(): ReadonlySet<string> {
    return this.engine.projection().excerpted;
  }

  breakdown(limit: number): ReturnType<ContextEngine['breakdown']> {
    return this.engine.breakdown(limit);
  }

  /** The live part of the branch: what fold marks and nudge outcomes are derived from. */
  get entries(): BranchState['entries'] {
    return this.branch.entries;
  }

  /** Tells, from now on, what another window is doing in this session. Never rejects. */
  follow(): Promise<void> {
    return this.shared.follow();
  }

  /** Sends a message, or queues it behind the running turn. Resolves when its turn has ended; never rejects. */
  async send(text: string, id: string = this.deps.ids.next(), attachments: readonly Attachment[] = []): Promise<SendOutcome> {
    const message = { text, attachments };
    if (isBlank(message)) return notBegun(id, { reason: 'invalid_request', message: 'The message is empty.' });
    if (!this.isBusy) return this.operations.enqueue(() => this.turn(id, message));
    this.waiting = [...this.waiting, queued(id, message)];
    // Its place behind what was asked for before is taken first; that it is on disk follows.
    const outcome = this.operations.enqueue(async () => {
      if (!this.waiting.some((one) => one.id === id)) return notBegun(id, outOfQueue);
      return this.turn(id, message);
    });
    await this.queueChanged();
    return outcome;
  }

  /** Sends what was still waiting when the last process ended; resolves when all of it has had its turn. */
  async resumeQueue(): Promise<void> {
    await Promise.all(this.waiting.map((one) => this.operations.enqueue(() => this.turn(one.id, { ...nothingWritten, ...one }))));
  }

  /** What a window that has ended left in the queue of this session; it is this window's now, but does not wait here. */
  leftInQueue(): Promise<readonly QueuedMessage[]> {
    return this.operations.enqueue(async () => {
      const found = await this.deps.store.queue(this.session.uuid);
      return found.filter(({ id }) => !this.waiting.some((message) => message.id === id));
    });
  }

  /** Takes a message out of the queue; undefined when its turn has already begun. */
  async unqueue(id: string): Promise<QueuedMessage | undefined> {
    const message = this.waiting.find((one) => one.id === id);
    if (!message) return undefined;
    this.waiting = this.waiting.filter((one) => one !== message);
    await this.queueChanged();
    return message;
  }

  /** Asks again for an answer to what is already there. */
  async retry(id: string = this.deps.ids.next()): Promise<SendOutcome> {
    return this.operations.enqueue(() => this.turn(id, null));
  }

  /** Ends the running operation, or asks the window it runs in to; resolves at once. Returns the queued messages, which are not sent any more. */
  async stop(): Promise<readonly QueuedMessage[]> {
    const back = this.waiting;
    this.waiting = [];
    this.operations.abort();
    if (back.length > 0) await this.queueChanged();
    if (this.shared.isElsewhere) await this.deps.store.requestStop(this.session.uuid).catch((error: unknown) => this.deps.log.warn('stop_not_asked', { detail: errorText(error) }));
    return back;
  }

  /** Lets the running compaction end by its next rung. */
  cancelCompaction(): void {
    if (this.turnRunning) this.turnRunning.cancelCompaction();
    else this.operations.abort();
  }

  /** Folds the older part of the conversation. Never rejects. */
  async compact(instructions: string | null = null): Promise<CompactionResult> {
    return this.alone(async (signal) => {
      await this.branch.settleCounts();
      await this.context.retries.apply();
      return this.context.compactor.run({ trigger: 'manual', instructions, holdsTurn: false }, { stop: signal });
    }, noRecord);
  }

  /** What a compaction would fold, keep and say, without doing it. Never rejects. */
  async previewCompaction(instructions: string | null = null): Promise<CompactionPreview> {
    return this.alone((signal) => this.context.preview(instructions, signal), (message) => ({ content: null, folds: [], stays: [], message }));
  }

  /** The part of the live summary that the user may rewrite; null without a compaction. */
  get editableSummary(): string | null {
    return this.context.editable;
  }

  /** Puts the user's own words in the place of the live summary; the original can be had back by an undo. Never rejects. */
  async editSummary(text: string): Promise<CompactionResult> {
    return this.alone(() => this.context.edit(text), noRecord);
  }

  /** Has the folded range summarised anew from its originals. Never rejects. */
  async resummarize(instructions: string | null = null): Promise<CompactionResult> {
    return this.alone((signal) => this.context.resummarize(instructions, signal), noRecord);
  }

  /** Writes a checkpoint now; turns go on meanwhile. Never rejects. */
  checkpoint(): Promise<CheckpointResult> {
    return this.context.checkpoints.write();
  }

  /** Ends what runs in the background: a checkpoint, a summary that is being prepared. */
  cancelBackground(): void {
    this.context.checkpoints.cancel();
    this.context.compactor.cancelPrepared();
  }

  /** Rejects with `StoreError`. */
  pins(): Promise<Pin[]> {
    return this.context.pins.list();
  }

  /** Keeps a message, a file or a text in front of the model through every compaction. Never rejects. */
  async pin(pin: PinTarget): Promise<PinResult> {
    return this.alone(() => this.context.pin(pin), (message) => ({ message, added: null }));
  }

  /** From the next compaction on it is folded like everything else. Rejects with `StoreError`. */
  unpin(pin: PinTarget): Promise<void> {
    return this.context.pins.unpin(pin);
  }

  /** What an undo would restore; null when there is no live compaction. */
  undoPreview(): UndoPreview | null {
    return this.context.undoPreview();
  }

  /** Takes the newest compaction back: its originals are sent again, turns made since stay. Never rejects. */
  async undoCompaction(): Promise<CompactionResult> {
    return this.alone(() => this.context.undo(), noRecord);
  }

  /** Shows the draft's size in the gauge. */
  async measureDraft(text: string, attachments: readonly Attachment[] = []): Promise<void> {
    const version = ++this.draftVersion;
    const [tokens] = text === '' ? [0] : await this.deps.counter.count([text]);
    if (version !== this.draftVersion) return;
    this.engine.setDraft(attachments.reduce((sum, attachment) => sum + attachmentTokens(attachment), tokens ?? 0));
    this.emitContext();
  }

  async rename(title: string): Promise<void> {
    this.branch.session = await this.deps.store.updateSession(this.session.uuid, { title });
    this.emit({ type: 'session_changed', session: this.session });
  }

  /** Gives the session a policy of its own, or none; in force from the next request that begins after what runs. Rejects with `StoreError`. */
  async setPolicy(policy: SessionPolicy | null): Promise<void> {
    await this.operations.enqueue(async () => {
      this.branch.session = await this.deps.store.updateSession(this.session.uuid, { policy });
      this.emit({ type: 'session_changed', session: this.session });
      await this.refreshModel();
    });
  }

  /** Null when the level is set, else why not. Never rejects. */
  async setThinkingLevel(level: ThinkingLevel | null): Promise<string | null> {
    return this.alone(() => this.context.setThinkingLevel(level), (message): string | null => message).finally(() => this.refreshModel());
  }

  /** Adopts changed settings: model, policy. Takes effect with the next request. */
  async refreshModel(): Promise<TurnError | null> {
    try {
      const moved = await this.engine.use(await this.deps.resolveModel(this.session), this.deps.policy(this.session), parseThinkingLevel(this.session.thinkingLevel));
      if (moved) this.deps.log.info('threshold_updated', { policy: this.policy.name, model: this.model.info.id, ...thresholdsOf(this.engine.budget) });
      this.emitContext();
      if (!this.isBusy) void this.restoreAnchor();
      return null;
    } catch (error) {
      if (ModelError.is(error)) return modelTurnError(error.failure, this.session.model ?? '');
      this.deps.log.error('model_unresolved', { detail: errorText(error) });
      return { reason: 'internal', message: errorText(error) };
    }
  }

  /** Resolves when everything asked for so far has ended. */
  async idle(): Promise<void> {
    await this.operations.idle();
  }

  /** Stops what runs. What is queued stays on disk and is not begun. */
  dispose(): void {
    this.disposed = true;
    this.approvals.close();
    this.operations.abort();
    this.anchor.close();
    this.context.close();
    this.shared.dispose();
    this._onDidEmit.dispose();
  }

  /** `begin` puts the branch where the turn starts from, and appends its message if it has one; it cannot wait for another window. */
  private async turn(id: string, message: Written | null, begin?: () => Promise<void>): Promise<SendOutcome> {
    if (this.disposed) return notBegun(id, { reason: 'cancelled', message: 'The conversation was closed.' });
    let hasWaited = false;
    const held = async (): Promise<SendOutcome | undefined> => {
      if (message === null || begin) return notBegun(id, elsewhere);
      hasWaited = true;
      if (this.waiting.some((one) => one.id === id)) return undefined;
      this.waiting = [queued(id, message), ...this.waiting];
      await this.queueChanged();
      return undefined;
    };
    const begun = this.operations.exclusive<SendOutcome>(async (signal) => {
      if (hasWaited && !this.waiting.some((one) => one.id === id)) return notBegun(id, outOfQueue);
      this.emit({ type: 'turn_started', id });
      let saved = message === null;
      const outcome = await this.guarded(() => saved, async () => {
        await this.recoverBroken();
        if (begin) await begin();
        else if (message !== null) await this.appendUserMessage(id, message);
        saved = true;
        const { problem, former } = await this.adoptModel();
        if (this.context.retries.isCacheCold) await this.context.retries.apply();
        const deps = { ...this.deps, toolBox: this.toolBox, approvals: this.approvals, branch: this.branch, engine: this.engine, compactor: this.context.compactor, emit: (event: ConversationEvent) => this.emit(event), emitContext: () => this.emitContext(), improveSummary: () => this.context.retries.apply() };
        const turn = new Turn(id, deps, signal, former);
        this.turnRunning = turn;
        return problem ? turn.refuse(problem) : turn.run().finally(() => (this.turnRunning = null));
      });
      this.emitContext();
      this.emit({ type: 'turn_ended', id, ...outcome });
      await this.context.afterTurn();
      return { id, begun: true, ...outcome };
    }, held);
    return begun.catch((error: unknown) => {
      if (CancelledError.is(error)) return notBegun(id, outOfQueue);
      const outcome: TurnOutcome = { ok: false, text: '', error: storeTurnError(error) };
      this.emit({ type: 'turn_started', id });
      this.emit({ type: 'turn_ended', id, ...outcome });
      return { id, begun: true, ...outcome };
    });
  }

  /** What a turn had shown when the store failed under it becomes an entry before anything else is appended. */
  private async recoverBroken(): Promise<void> {
    if (!this.broken) return;
    const recovered = await this.deps.store.recoverPartials(this.session.uuid);
    this.broken = false;
    await this.branch.reload();
    this.engine.recounted();
    for (const entry of recovered) this.emit({ type: 'entry_appended', entry });
  }

  /** The model of this turn; with the summarisers of the one before it when the conversation may have to shrink for the new one. */
  private async adoptModel(): Promise<{ readonly problem: TurnError | null; readonly former: readonly Summarizer[] }> {
    const { binding, budget } = this.engine;
    const problem = await this.refreshModel();
    if (problem) return { problem, former: [] };
    await this.noteModelChange();
    const changed = binding.info.id !== this.engine.binding.info.id || binding.info.provider !== this.engine.binding.info.provider;
    const shrinks = changed && this.engine.budget.trigger < budget.trigger && this.engine.compactionDue(this.engine.measure().used);
    return { problem: null, former: shrinks && binding.summarizer ? [binding.summarizer] : [] };
  }

  /** Answers of another model than the last one's: a declared prefix break, and an entry. */
  private async noteModelChange(): Promise<void> {
    const change = modelChange(this.branch.entries, this.engine.binding.info);
    if (!change) return;
    const entry = await this.branch.append(change, { display: true, modelFacing: false });
    this.emit({ type: 'entry_appended', entry });
    await this.context.retries.apply();
  }

  private async appendUserMessage(id: string, { text, attachments }: Written): Promise<void> {
    const entry = await this.branch.append({ type: 'message', role: 'user', text, ...(attachments.length > 0 ? { attachments: [...attachments] } : {}) }, { display: true, modelFacing: true });
    this.draftVersion++;
    this.engine.setDraft(0);
    this.branching.forgetLeft();
    if (this.waiting.some((message) => message.id === id)) {
      this.waiting = this.waiting.filter((message) => message.id !== id);
      await this.queueChanged();
    }
    this.emit({ type: 'entry_appended', entry });
    if (this.session.title === '') await this.rename(titleFrom(text.trim() === '' ? (attachments[0]?.name ?? '') : text));
  }

  private async guarded(saved: () => boolean, run: () => Promise<TurnOutcome>): Promise<TurnOutcome> {
    try {
      return await run();
    } catch (error) {
      this.broken = true;
      this.deps.log.error('turn_failed', { detail: errorText(error), stack: error instanceof Error ? error.stack : undefined });
      return { ok: false, text: '', error: storeTurnError(error, saved()) };
    }
  }

  /** One operation that holds no turn and fails in words. */
  private async alone<T>(run: (signal: AbortSignal) => Promise<T>, failed: (message: string) => T): Promise<T> {
    return this.operations
      .enqueueExclusive(async (signal) => {
        await this.refreshModel();
        const result = await run(signal);
        this.emitContext();
        return result;
      }, async () => failed(elsewhere.message))
      .catch((error: unknown) => failed(storeTurnError(error).message));
  }

  /** Replaces estimates by counts in the background, once the tokenizer is there. */
  private async settle(): Promise<void> {
    try {
      await this.engine.countPrompt();
      await this.branch.settleCounts();
      this.engine.recounted();
      this.emitContext();
      await this.restoreAnchor();
    } catch (error) {
      if (CancelledError.is(error)) return;
      this.deps.log.warn('token_count_failed', { detail: errorText(error) });
    }
  }

  private async restoreAnchor(): Promise<void> {
    if (!this.disposed && (await this.anchor.restore())) this.emitContext();
  }

  /** On disk first, then shown: a message that is seen waiting survives a kill. */
  private async queueChanged(): Promise<void> {
    const queue = this.waiting;
    await this.deps.store.saveQueue(this.session.uuid, queue).catch((error: unknown) => this.deps.log.warn('queue_not_saved', { detail: errorText(error) }));
    this.emit({ type: 'queue_changed', queue });
  }

  private branchChanged(replaced: boolean): void {
    if (replaced) this.context.branchReplaced();
    this.engine.recounted();
    this.emitContext();
  }

  private emitContext(): void {
    const { snapshot } = this;
    const numbers = JSON.stringify({ ...snapshot, updatedAt: 0 });
    if (numbers === this.lastNumbers) return;
    this.lastNumbers = numbers;
    this.emit({ type: 'context_changed', snapshot });
  }

  private emit(event: ConversationEvent): void {
    this._onDidEmit.fire(event);
  }
}

function queued(id: string, { text, attachments }: Written): QueuedMessage {
  return { id, text, ...(attachments.length > 0 ? { attachments } : {}) };
}
