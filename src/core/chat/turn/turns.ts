import type { ContextEngine } from '../../context/engine';
import { CancelledError, errorText } from '../../errors';
import { english } from '../../l10n';
import type { Summarizer } from '../../ports';
import { isBlank, nothingWritten, type Written } from '../../session/userMessage';
import type { ToolBox } from '../../tools/toolBox';
import type { Approvals } from './approvals';
import type { BranchState } from '../branchState';
import type { ContextMeter } from '../../context/measure/contextMeter';
import type { ContextManager } from '../../context/contextManager';
import type { ConversationDeps } from '../conversationDeps';
import {
  elsewhere,
  notBegun,
  outOfQueue,
  type ConversationEvent,
  type TurnError,
  type Accepted,
  type SendOutcome,
  type TurnOutcome,
} from '../events';
import type { MessageQueue } from '../messageQueue';
import type { Operations } from '../operations';
import { titleFrom } from '../../session/session';
import { Turn } from './turn';
import { storeTurnError } from './turnError';
import { modelChange } from './turnNotes';

export interface TurnsDeps extends ConversationDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly context: ContextManager;
  readonly meter: ContextMeter;
  readonly toolBox: ToolBox;
  readonly approvals: Approvals;
  readonly operations: Operations;
  readonly queue: MessageQueue;
  readonly emit: (event: ConversationEvent) => void;
  /** Adopts the model and the settings as they are now; null, or why there is no model. */
  readonly refreshModel: () => Promise<TurnError | null>;
  /** Why the session may not cost any more, in words for the user; null while it may. */
  readonly overLimit: () => Promise<string | null>;
  readonly rename: (title: string) => Promise<void>;
}

/** A turn that is to be: `begin` puts the branch where it starts from, and appends the message if there is one. */
interface Due {
  readonly id: string;
  readonly message: Written | null;
  readonly accepted: Accepted;
  readonly begin?: Begin;
}

/** Puts the branch where a turn starts from, its message included; `stored` is called as soon as that is on disk. */
type Begin = (stored: () => void) => Promise<void>;

/** Begins turns and ends them, whatever becomes of them: their message is on disk before anything else, and none rejects. */
export class Turns {
  private running: Turn | null = null;
  /** Messages that are to be sent, each with who waits for the end of its turn. */
  private readonly outcomes = new Map<string, (outcome: SendOutcome | Promise<SendOutcome>) => void>();
  private closed = false;
  /** The store failed in the middle of a turn. */
  private broken = false;

  constructor(private readonly deps: TurnsDeps) {}

  /** Sends a message, or queues it behind what runs. Resolves when its turn has ended. */
  async send(id: string, message: Written, accepted: Accepted = unheard): Promise<SendOutcome> {
    const { operations, queue } = this.deps;
    if (isBlank(message)) return notBegun(id, { reason: 'invalid_request', message: english('The message is empty.') });
    const outcome = this.outcomeOf(id);
    if (!operations.isBusy) {
      this.place({ id, message, accepted });
      return outcome;
    }
    const queued = queue.add(id, message);
    // Its place behind what was asked for before is taken first; that it is on disk follows.
    this.place(null);
    try {
      await queued;
      accepted();
    } catch (error) {
      this.settle(id, notBegun(id, storeTurnError(error)));
    }
    return outcome;
  }

  /** Sends what was still waiting when the last process ended; resolves when all of it has had its turn. */
  async resumeQueue(): Promise<void> {
    await Promise.all(this.deps.queue.messages.map(({ id }) => this.resume(id)));
  }

  /** Has a queued message sent before all others, once what runs has ended. False when it does not wait any more. */
  async sendNext(id: string): Promise<boolean> {
    const { queue } = this.deps;
    if (queue.isFixed(id)) return false;
    const first = queue.messages.find((one) => !queue.isFixed(one.id));
    const moved = queue.move(id, first?.id ?? null);
    if (!this.outcomes.has(id)) void this.resume(id);
    return moved;
  }

  /** Asks again for an answer to what is already there. */
  retry(id: string, accepted: Accepted = unheard): Promise<SendOutcome> {
    return this.deps.operations.enqueue(() => this.run({ id, message: null, accepted }));
  }

  /** A turn that cannot wait for another window. */
  branchingOff(id: string, message: Written | null, begin: Begin, accepted: Accepted = unheard): Promise<SendOutcome> {
    return this.deps.operations.enqueue(() => this.run({ id, message, accepted, begin }));
  }

  /** Lets the compaction of the running turn end by its next rung. False when no turn runs. */
  cancelCompaction(): boolean {
    this.running?.cancelCompaction();
    return this.running !== null;
  }

  /** Begins no more. */
  close(): void {
    this.closed = true;
  }

  private outcomeOf(id: string): Promise<SendOutcome> {
    return new Promise((resolve) => this.outcomes.set(id, resolve));
  }

  private resume(id: string): Promise<SendOutcome> {
    const outcome = this.outcomeOf(id);
    this.place(null);
    return outcome;
  }

  /**
   * A place behind what was asked for before: for one message, or for the one that is the first in the queue by then, which the user may
   * have put there since.
   */
  private place(own: Due | null): void {
    const { operations, queue } = this.deps;
    let due: Due | null = own;
    void operations
      .enqueue(async () => {
        due ??= this.nextInQueue();
        return due && this.run(due, own === null);
      })
      .then(
        (outcome) => {
          if (outcome) this.settle(outcome.id, outcome);
          for (const id of this.outcomes.keys()) if (!queue.has(id)) this.settle(id, notBegun(id, outOfQueue));
        },
        (error: unknown) => due && this.settle(due.id, Promise.reject(error instanceof Error ? error : new Error(errorText(error)))),
      );
  }

  private settle(id: string, outcome: SendOutcome | Promise<SendOutcome>): void {
    this.outcomes.get(id)?.(outcome);
    this.outcomes.delete(id);
  }

  private nextInQueue(): Due | null {
    const next = this.deps.queue.messages.find(({ id }) => this.outcomes.has(id));
    return next ? { id: next.id, message: { ...nothingWritten, ...next }, accepted: unheard } : null;
  }

  private async run(asked: Due, isQueued = false): Promise<SendOutcome> {
    const { operations, queue, emit } = this.deps;
    if (this.closed) return notBegun(asked.id, { reason: 'cancelled', message: english('The conversation was closed.') });
    let due = asked;
    let hasWaited = isQueued;
    const held = async (): Promise<SendOutcome | undefined> => {
      if (due.message === null || due.begin) return notBegun(due.id, elsewhere);
      hasWaited = true;
      if (!queue.has(due.id)) await queue.putBack(due.id, due.message);
      due.accepted();
      return undefined;
    };
    const begun = operations.exclusive<SendOutcome>(async (signal) => {
      if (hasWaited) {
        const next = this.nextInQueue();
        if (!next) return notBegun(due.id, outOfQueue);
        due = next;
      }
      return this.told(due, signal);
    }, held);
    const ended = begun.finally(() => (queue.begun = null));
    return ended.catch((error: unknown) => {
      const { id } = due;
      if (CancelledError.is(error)) return notBegun(id, outOfQueue);
      const outcome: TurnOutcome = { ok: false, text: '', error: storeTurnError(error) };
      emit({ type: 'turn_started', id });
      emit({ type: 'turn_ended', id, ...outcome });
      return { id, begun: true, ...outcome };
    });
  }

  /** A turn from its first event to its last, whatever fails in it. */
  private async told(due: Due, signal: AbortSignal): Promise<SendOutcome> {
    const { queue, context, meter, emit } = this.deps;
    const { id, message, accepted } = due;
    queue.begun = id;
    emit({ type: 'turn_started', id });
    let saved = message === null;
    const stored = () => {
      saved = true;
      accepted();
    };
    const outcome = await this.answered(due, signal, stored).catch((error: unknown) => this.failed(error, saved));
    meter.tell();
    emit({ type: 'turn_ended', id, ...outcome });
    await context.afterTurn();
    return { id, begun: true, ...outcome };
  }

  /** `stored` is called when the message is on disk. Rejects with `StoreError`. */
  private async answered({ id, message, accepted, begin }: Due, signal: AbortSignal, stored: () => void): Promise<TurnOutcome> {
    const { context, meter, branch } = this.deps;
    await this.recoverBroken();
    if (begin) await branch.whole().then(() => begin(stored));
    else if (message !== null) await this.appendUserMessage(id, message, stored);
    await this.takeOutOfTrash();
    await branch.whole();
    const { problem, former } = await this.adoptModel();
    const turn = new Turn(
      id,
      {
        ...this.deps,
        compactor: context.compactor,
        emitContext: () => meter.tell(),
        improveSummary: () => context.retries.apply(),
        foldIfCold: (stop) => context.foldIfCold(stop),
        chooseCacheTime: () => context.chooseCacheTime(),
      },
      signal,
      former,
    );
    // What becomes of it from here on is told in the transcript.
    if (message === null) accepted();
    if (problem) return turn.refuse(problem);
    const overLimit = await this.deps.overLimit();
    if (overLimit !== null)
      return turn.refuse({ reason: 'cost_limit', message: english('{0} Nothing was sent. Your message is saved.', overLimit) });
    this.running = turn;
    context.background.nextTurn();
    return turn.run().finally(() => (this.running = null));
  }

  /** Somebody has put it there in another window, on another device, or by a rule; it would be deleted for good while it is in use. */
  private async takeOutOfTrash(): Promise<void> {
    const { store, branch, emit } = this.deps;
    const { uuid } = branch.session;
    if (((await store.session(uuid))?.deletedAt ?? null) === null) return;
    branch.session = await store.updateSession(uuid, { deletedAt: null });
    emit({ type: 'session_changed', session: branch.session });
  }

  /** What a turn had shown when the store failed under it becomes an entry before anything else is appended. */
  private async recoverBroken(): Promise<void> {
    if (!this.broken) return;
    const { store, branch, engine, emit } = this.deps;
    const recovered = await store.recoverPartials(branch.session.uuid);
    this.broken = false;
    await branch.reload();
    // What was shown is an entry now, and would count twice.
    engine.setLive('');
    engine.recounted();
    for (const entry of recovered) emit({ type: 'entry_appended', entry });
  }

  /** The model of this turn; with the summarisers of the one before it when the conversation may have to shrink for the new one. */
  private async adoptModel(): Promise<{ readonly problem: TurnError | null; readonly former: readonly Summarizer[] }> {
    const { engine } = this.deps;
    const { binding, budget } = engine;
    const problem = await this.deps.refreshModel();
    if (problem) return { problem, former: [] };
    await this.noteModelChange();
    const changed = binding.info.id !== engine.binding.info.id || binding.info.provider !== engine.binding.info.provider;
    const shrinks = changed && engine.budget.trigger < budget.trigger && engine.compactionDue(engine.measure().used);
    return { problem: null, former: shrinks && binding.summarizer ? [binding.summarizer] : [] };
  }

  /** Answers of another model than the last one's: a declared prefix break, and an entry. */
  private async noteModelChange(): Promise<void> {
    const { branch, engine, emit } = this.deps;
    const change = modelChange(branch.entries, engine.binding.info);
    if (!change) return;
    const entry = await branch.append(change, { display: true, modelFacing: false });
    emit({ type: 'entry_appended', entry });
  }

  private async appendUserMessage(id: string, { text, attachments }: Written, accepted: Accepted): Promise<void> {
    const { branch, context, meter, queue, emit, rename } = this.deps;
    const entry = await branch.append(
      { type: 'message', role: 'user', text, ...(attachments.length > 0 ? { attachments: [...attachments] } : {}) },
      { display: true, modelFacing: true, ...(queue.has(id) ? { queued: id } : {}) },
    );
    meter.draftSent();
    context.branchSummaries.forget();
    await queue.remove(id);
    emit({ type: 'entry_appended', entry });
    accepted();
    if (branch.session.title === '') await rename(titleFrom(text.trim() === '' ? (attachments[0]?.name ?? '') : text));
  }

  private failed(error: unknown, saved: boolean): TurnOutcome {
    this.broken = true;
    this.deps.log.error('turn_failed', { detail: errorText(error), stack: error instanceof Error ? error.stack : undefined });
    return { ok: false, text: '', error: storeTurnError(error, saved) };
  }
}

/** For a caller that waits for the end of the turn only. */
function unheard(): void {}
