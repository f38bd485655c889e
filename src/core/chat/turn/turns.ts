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

/** Begins turns and ends them, whatever becomes of them: their message is on disk before anything else, and none rejects. */
export class Turns {
  private running: Turn | null = null;
  private closed = false;
  /** The store failed in the middle of a turn. */
  private broken = false;

  constructor(private readonly deps: TurnsDeps) {}

  /** Sends a message, or queues it behind what runs. Resolves when its turn has ended. */
  async send(id: string, message: Written, accepted: Accepted = unheard): Promise<SendOutcome> {
    const { operations, queue } = this.deps;
    if (isBlank(message)) return notBegun(id, { reason: 'invalid_request', message: english('The message is empty.') });
    if (!operations.isBusy) return operations.enqueue(() => this.run(id, message, accepted));
    const queued = queue.add(id, message);
    // Its place behind what was asked for before is taken first; that it is on disk follows.
    const outcome = operations.enqueue(async () => (queue.has(id) ? this.run(id, message, accepted) : notBegun(id, outOfQueue)));
    await queued;
    accepted();
    return outcome;
  }

  /** Sends what was still waiting when the last process ended; resolves when all of it has had its turn. */
  async resumeQueue(): Promise<void> {
    const { operations, queue } = this.deps;
    await Promise.all(queue.messages.map((one) => operations.enqueue(() => this.run(one.id, { ...nothingWritten, ...one }, unheard))));
  }

  /** Asks again for an answer to what is already there. */
  retry(id: string, accepted: Accepted = unheard): Promise<SendOutcome> {
    return this.deps.operations.enqueue(() => this.run(id, null, accepted));
  }

  /** `begin` puts the branch where the turn starts from, and appends its message if it has one; it cannot wait for another window. */
  branchingOff(id: string, message: Written | null, begin: () => Promise<void>, accepted: Accepted = unheard): Promise<SendOutcome> {
    return this.deps.operations.enqueue(() => this.run(id, message, accepted, begin));
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

  private async run(id: string, message: Written | null, accepted: Accepted, begin?: () => Promise<void>): Promise<SendOutcome> {
    const { operations, queue, context, meter, emit } = this.deps;
    if (this.closed) return notBegun(id, { reason: 'cancelled', message: english('The conversation was closed.') });
    let hasWaited = false;
    const held = async (): Promise<SendOutcome | undefined> => {
      if (message === null || begin) return notBegun(id, elsewhere);
      hasWaited = true;
      if (!queue.has(id)) await queue.putBack(id, message);
      accepted();
      return undefined;
    };
    const begun = operations.exclusive<SendOutcome>(async (signal) => {
      if (hasWaited && !queue.has(id)) return notBegun(id, outOfQueue);
      emit({ type: 'turn_started', id });
      let saved = message === null;
      const outcome = await this.guarded(
        () => saved,
        async () => {
          await this.recoverBroken();
          if (begin) await begin();
          else if (message !== null) await this.appendUserMessage(id, message, accepted);
          saved = true;
          if (begin && message !== null) accepted();
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
        },
      );
      meter.tell();
      emit({ type: 'turn_ended', id, ...outcome });
      await context.afterTurn();
      return { id, begun: true, ...outcome };
    }, held);
    return begun.catch((error: unknown) => {
      if (CancelledError.is(error)) return notBegun(id, outOfQueue);
      const outcome: TurnOutcome = { ok: false, text: '', error: storeTurnError(error) };
      emit({ type: 'turn_started', id });
      emit({ type: 'turn_ended', id, ...outcome });
      return { id, begun: true, ...outcome };
    });
  }

  /** What a turn had shown when the store failed under it becomes an entry before anything else is appended. */
  private async recoverBroken(): Promise<void> {
    if (!this.broken) return;
    const { store, branch, engine, emit } = this.deps;
    const recovered = await store.recoverPartials(branch.session.uuid);
    this.broken = false;
    await branch.reload();
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
      { display: true, modelFacing: true },
    );
    meter.draftSent();
    context.branchSummaries.forget();
    await queue.remove(id);
    emit({ type: 'entry_appended', entry });
    accepted();
    if (branch.session.title === '') await rename(titleFrom(text.trim() === '' ? (attachments[0]?.name ?? '') : text));
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
}

/** For a caller that waits for the end of the turn only. */
function unheard(): void {}
