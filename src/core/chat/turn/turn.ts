import type { Clock, IdSource, Logger, SessionStore, Summarizer } from '../../ports';
import type { ModelFailure } from '../../models/modelEvent';
import type { ContextEngine } from '../../context/engine';
import { english } from '../../l10n';
import { dueNudge } from '../../memory/nudges';
import { isUserMessage, type ContentOf, type EntryContent, type StoredEntry } from '../../session/entry';
import { recallToolName } from '../../recall/history';
import { hintText, referenceIn, sureHit } from '../../recall/recallHint';
import { errorText } from '../../errors';
import { cycleEntries, verbatimEntries } from '../../session/liveCompaction';
import { isModeSwitch, isPlanning, modeNote, planRefusal, runsInPlanMode } from '../../plan/planMode';
import type { NoteWrite, ToldMessage, Tool } from '../../tools/tool';
import { toSpec, type ToolBox } from '../../tools/toolBox';
import type { Approvals } from './approvals';
import type { BranchState } from '../branchState';
import type { CompactionOptions } from '../../compaction/ladder/rung';
import type { Compactor } from '../../compaction/compactor';
import { turnErrorType, type ConversationEvent, type TurnError, type TurnPhase, type CompactionResult, type TurnOutcome } from '../events';
import { modelStep, type StepOutcome } from './modelStep';
import { savedTurnError, RetryPolicy } from './turnError';
import type { CallRecorder } from '../../rewind/callRecorder';
import { fileChangeMarks, type RecordedChanges } from '../../rewind/fileChanges';
import { runCalls, type ToolCallEntry } from './toolRun';
import { systemPrompt } from './systemPrompt';
import { closingEntries, fittingMessage, instructionsChange, policyChangeNote, toolsChange, usageNote } from './turnNotes';
import { untilAborted } from '../../base/untilAborted';

export interface TurnDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly compactor: Compactor;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Logger;
  readonly toolBox: ToolBox;
  readonly approvals: Approvals;
  readonly recorder?: CallRecorder;
  /** Model steps with calls in one turn; the loop ends there with a question to the user. */
  readonly maxRounds: () => number;
  readonly askWhenFull?: AskWhenFull;
  readonly reviewCompaction?: ReviewCompaction;
  /** The user's standing instructions as they are now. */
  readonly instructions: () => string;
  /** Whether the model is told of what a message clearly refers to and has not before it; omitted: no. */
  readonly recallHints?: () => boolean;
  /** Index and head of the notes, at most about 1,000 tokens; null when there are none. */
  readonly memoryHead: () => Promise<string | null>;
  /** 0–1. */
  readonly random: () => number;
  readonly emit: (event: ConversationEvent) => void;
  readonly emitContext: () => void;
  /** Records a better summary of what stands in the prompt, if one has been written meanwhile; false: none has. */
  readonly improveSummary: () => Promise<boolean>;
  /** Folds with a prepared summary where the prompt cache has expired; null: nothing was folded. */
  readonly foldIfCold: (stop: AbortSignal) => Promise<CompactionResult | null>;
  /** Decides for how long the provider keeps the prompt, where it has none. Never rejects. */
  readonly chooseCacheTime: () => Promise<void>;
}

export type WhenFullAnswer = 'summarize' | 'truncate' | 'continue';

/** What an automatic compaction would do, where the policy has each of them looked at first. */
export interface CompactionReview {
  readonly session: string;
  readonly content: ContentOf<'compaction'>;
  readonly folds: readonly StoredEntry[];
  readonly stays: readonly StoredEntry[];
}

/** Shows it to the user; whether it is to be made. Must not reject. */
export type ReviewCompaction = (review: CompactionReview, signal: AbortSignal) => Promise<boolean | { readonly summary: string }>;

/** Asks the user what is to happen with a full context, where the policy says so. Sizes in tokens. Must not reject. */
export type AskWhenFull = (question: FullQuestion, signal: AbortSignal) => Promise<WhenFullReply>;

export interface FullQuestion {
  /** UUID. */
  readonly session: string;
  readonly used: number;
  readonly effective: number;
  readonly limit: number;
}

/** `summarize`: with instructions for the summary. */
export type WhenFullReply = WhenFullAnswer | { readonly summarize: string };

/**
 * Everything between a durable user message and its answer: nudge, compaction, request, retries, tools, overflow recovery.
 * Rejects only when the store does.
 */
export class Turn {
  private recoveredOverflow = false;
  /** How often the last request has been sent. */
  private attempts = 1;
  /** Standing instructions of this turn: what changes meanwhile waits for the next one, so that no break falls into a loop of calls. */
  private instructions = '';
  /** They stay the same through the turn, for the same reason. */
  private tools: readonly Tool[] = [];
  /** The user has said that the full context of the next request stays as it is. */
  private isDeclined = false;
  /** Ends the compaction that is shown or made now. Each has its own: one that was cancelled takes no summary from a later one. */
  private compaction = new AbortController();

  constructor(
    private readonly id: string,
    private readonly deps: TurnDeps,
    private readonly signal: AbortSignal,
    /** The model that wrote the conversation so far has these; they are needed when this turn goes to one with a smaller window. */
    private readonly formerSummarizers: readonly Summarizer[] = [],
  ) {}

  /** Ends a running compaction by its next rung; the turn goes on. Without one nothing happens. */
  cancelCompaction(): void {
    this.compaction.abort();
  }

  async run(): Promise<TurnOutcome> {
    let text = '';
    const maxRounds = Math.max(1, this.deps.maxRounds());
    for (let stepNumber = 0; stepNumber < maxRounds; stepNumber++) {
      const blocked = await this.prepare(stepNumber === 0);
      if (blocked) return this.fail(blocked, text);
      if (this.signal.aborted) return { ok: false, text, error: { reason: 'cancelled', message: english('Stopped.') } };

      const step = await this.stepWithRetries();
      text += step.text;
      if (!step.failure) this.deps.compactor.prepareIfDue(false);
      if (step.failure?.reason === 'overflow' && (await this.recoverOverflow(step.failure, step.model))) continue;
      if (step.failure) return this.fail(savedTurnError(step.failure, step.model, this.attempts), text);
      const calls = step.entries.filter((entry): entry is ToolCallEntry => entry.content.type === 'tool_call');
      if (calls.length === 0) return this.finish(step, text);
      await this.runCalls(calls);
    }
    return this.fail(
      {
        reason: 'rounds',
        message: english('The model has called tools in {0} rounds and is not done. Continue, or tell it what to do instead.', maxRounds),
      },
      text,
    );
  }

  /** Ends the turn with an error that was found before anything could be asked. */
  async refuse(error: TurnError): Promise<TurnOutcome> {
    return this.fail(error, '');
  }

  /** Notes, nudge and compaction before a request; an error when nothing that could be sent would fit. */
  private async prepare(first: boolean): Promise<TurnError | null> {
    const { branch, engine, emitContext } = this.deps;
    await branch.settleCounts();
    engine.recounted();
    engine.resumeBound();
    if (first) {
      this.instructions = this.deps.instructions();
      this.tools = this.deps.toolBox.current();
      engine.useSystem(systemPrompt(this.tools, this.instructions, branch.frames));
      engine.useTools(this.tools.map(toSpec));
      const change = toolsChange(
        branch.entries,
        this.tools.map(({ name }) => name),
        this.deps.toolBox.usual,
      );
      if (change) await this.append(change, true, false);
    }
    if (first && !engine.isThinkingThroughCalls && (await this.deps.foldIfCold(this.signal))) engine.resumeBound();
    await this.appendNotes(first);
    if (first) await this.appendRecallHint();
    if (first && engine.policy.showUsageToModel) await this.append(usageNote(engine.measure().used, engine.budget), false);
    // Last, because some providers take a system message only at the end of a user's turn.
    await this.appendNudge();
    emitContext();
    this.isDeclined = false;
    let refusal = await this.compactIfDue(first);
    if (!this.isDeclined && (await this.showLess())) {
      refusal = await this.compactIfDue(first);
      // A compaction begins with the policy's own bound.
      await this.showLess();
    }
    await this.deps.chooseCacheTime();
    for (const content of closingEntries(engine.projection())) await this.append(content, content.type === 'tool_result');
    emitContext();
    const { used } = engine.measure();
    if (used <= engine.budget.limit || this.signal.aborted) return null;
    return {
      reason: 'too_long',
      message: english(
        'The conversation needs {0} tokens and the model takes {1}. {2} Shorten the message, compact, or start a new session. Nothing was sent. Your message is saved.',
        used.toLocaleString('en'),
        engine.budget.limit.toLocaleString('en'),
        refusal ?? '',
      ),
    };
  }

  /** The last resort, for a newest message (or the results that are to be answered) that is too much beside what cannot be left out. */
  private async showLess(): Promise<boolean> {
    const { engine } = this.deps;
    let isLess = false;
    if (!engine.policy.compaction.enabled || this.signal.aborted) return false;
    while (this.neededTokens() > engine.budget.limit && engine.showLess()) isLess = true;
    if (isLess) await this.appendNotes(false);
    return isLess;
  }

  /**
   * What the request takes once it is recorded how much of an entry is shown: what the provider has measured may not be its beginning then.
   */
  private neededTokens(): number {
    const { branch, engine } = this.deps;
    const change = policyChangeNote(branch.entries, engine.boundInUse, branch.tokensOf);
    return change?.data.isBreak ? engine.estimatedTokens() : engine.measure().used;
  }

  /** As it is now: a switch while a turn runs counts at once. */
  private get isPlanning(): boolean {
    return isPlanning(this.deps.branch.session.metadata);
  }

  private async appendNotes(first: boolean): Promise<void> {
    const { branch, engine } = this.deps;
    const change = instructionsChange(branch.entries, this.instructions);
    if (change) await this.append(change, false, false);
    const bound = policyChangeNote(branch.entries, engine.boundInUse, branch.tokensOf);
    if (bound) await this.append(bound, false, false);
    const mode = modeNote(branch.entries, this.isPlanning, this.tools);
    if (mode) await this.append(mode, isModeSwitch(branch.entries, this.isPlanning));
    if (first) await this.appendMemoryHead();
  }

  private async appendMemoryHead(): Promise<void> {
    const { branch } = this.deps;
    // Once a cycle, before its first answer: from then on the model knows what it writes itself.
    if (
      cycleEntries(branch.entries).some(
        ({ content }) => content.type === 'memory_note' || (content.type === 'message' && content.role === 'assistant'),
      )
    )
      return;
    const head = await this.deps.memoryHead();
    if (head) await this.append({ type: 'memory_note', text: head }, false);
  }

  /** Behind the message, so that the cached prompt holds. A search that fails is no reason to keep the user waiting. */
  private async appendRecallHint(): Promise<void> {
    const { branch, store, recallHints, log } = this.deps;
    if (!recallHints?.() || !this.tools.some(({ name }) => name === recallToolName)) return;
    const message = branch.entries.findLast(isUserMessage);
    const query = message?.content.type === 'message' ? referenceIn(message.content.text) : null;
    if (!message || query === null) return;
    try {
      const open = new Set(verbatimEntries(branch.entries).map(({ uuid }) => uuid));
      const hit = sureHit(query, await store.search({ text: query, limit: 10 }), ({ entry }) => open.has(entry));
      if (hit) await this.append({ type: 'usage_note', text: hintText(hit, message.session) }, false);
    } catch (error) {
      log.warn('recall_hint_failed', { detail: errorText(error) });
    }
  }

  /** On the overflow path whatever was not asked for in this cycle is asked for now: the messages are about to be folded. */
  private async appendNudge(isLast = false): Promise<void> {
    const { engine, log } = this.deps;
    const { used } = engine.measure();
    const asked = isLast ? Math.max(used, engine.budget.trigger) : used;
    const nudge = dueNudge(engine.nudges(asked), used, engine.budget.effective);
    if (!nudge) return;
    await this.append(nudge, true);
    log.info('nudge_delivered', { percent: nudge.percent, usedTokens: nudge.usedTokens });
  }

  /** Why nothing was folded although it was due; null when it was not due or has been done. */
  private async compactIfDue(isBeginning: boolean, holdsTurn = true): Promise<string | null> {
    const { branch, engine, compactor, log } = this.deps;
    await this.improveSummary();
    const { used } = engine.measure();
    if (!engine.compactionDue(used)) {
      log.debug('context_ok', { used, trigger: engine.budget.trigger });
      return null;
    }
    if (!engine.policy.compaction.enabled) return english('Automatic compaction is off.');
    // Calls that are being answered belong to the thinking they came from: the break waits for the end of the turn while there is room.
    if (engine.isThinkingThroughCalls && used <= engine.budget.hardLimit) return null;
    if (compactor.guard.holds(branch.entries, used, engine.budget) || compactor.waitsForEnd(used, isBeginning)) return null;
    const answer = await this.askWhenFull(used);
    if (answer === 'continue') return this.declined(used);
    const instructions = typeof answer === 'object' ? answer.summarize : null;
    const reviewed = answer === 'truncate' ? null : await this.review(used, instructions);
    if (reviewed === false) return this.declined(used);
    return this.compact('automatic', {
      holdsTurn,
      instructions,
      truncates: answer === 'truncate',
      isReviewed: reviewed !== null,
      ...(typeof reviewed === 'object' ? reviewed : {}),
    });
  }

  /** The user does not want the compaction that is due; returns that in words. */
  private declined(used: number): string {
    this.isDeclined = true;
    this.deps.compactor.guard.postponed(used);
    return english('It stays as it is, as you chose.');
  }

  /** A break of the prompt, too: calls that are being answered belong to the thinking they came from. */
  private async improveSummary(): Promise<void> {
    const { engine } = this.deps;
    if (engine.isThinkingThroughCalls || !(await this.deps.improveSummary())) return;
    engine.resumeBound();
    await this.appendNotes(true);
  }

  /** What the user makes of the compaction that is due; false: nothing. Null where nobody is to be asked, or nothing could be shown. */
  private async review(used: number, instructions: string | null): Promise<Awaited<ReturnType<ReviewCompaction>> | null> {
    const { branch, compactor, engine, reviewCompaction, emit } = this.deps;
    if (engine.policy.compaction.review !== 'always' || !reviewCompaction || this.signal.aborted) return null;
    const stop = AbortSignal.any([this.signal, this.beginCompaction()]);
    emit({ type: 'compaction_started', trigger: 'automatic', tokensBefore: used });
    const preview = await compactor.preview(instructions, stop);
    const { content, cut } = preview ?? {};
    const answer = stop.aborted
      ? false
      : content && cut
        ? await untilAborted(
            reviewCompaction({ session: branch.session.uuid, content, folds: cut.folded, stays: cut.kept }, stop),
            stop,
            () => false,
          )
        : null;
    emit({
      type: 'compaction_ended',
      entry: null,
      message: answer === false ? english('Not compacted: everything stays as it is.') : null,
    });
    return answer;
  }

  /** What the policy says, or the user where it leaves that to them. */
  private async askWhenFull(used: number): Promise<WhenFullReply> {
    const { branch, engine, askWhenFull, emit } = this.deps;
    if (engine.policy.compaction.whenFull !== 'ask' || !askWhenFull || this.signal.aborted) return 'summarize';
    const numbers = { used, effective: engine.budget.effective, limit: engine.budget.limit };
    emit({ type: 'context_full', id: this.id, ...numbers });
    try {
      return await untilAborted<WhenFullReply>(
        askWhenFull({ session: branch.session.uuid, ...numbers }, this.signal),
        this.signal,
        () => 'continue' as const,
      );
    } finally {
      emit({ type: 'context_full_answered', id: this.id });
    }
  }

  /** Null when something was folded; else why not. */
  private async compact(
    trigger: CompactionOptions['trigger'],
    options: Partial<Pick<CompactionOptions, 'holdsTurn' | 'truncates' | 'isReviewed' | 'instructions' | 'summary'>> = {},
  ): Promise<string | null> {
    const { compactor } = this.deps;
    const skip = this.beginCompaction();
    const result = await compactor.run(
      { trigger, instructions: null, holdsTurn: true, ...options, summarizers: this.formerSummarizers },
      { stop: this.signal, skip },
    );
    if (result.entry) {
      this.deps.engine.resumeBound();
      await this.appendNotes(true);
    }
    return result.message;
  }

  /** Aborted when the user cancels this one. */
  private beginCompaction(): AbortSignal {
    this.phase('compacting');
    this.compaction = new AbortController();
    return this.compaction.signal;
  }

  private async recoverOverflow({ window }: ModelFailure, model: string): Promise<boolean> {
    const { engine } = this.deps;
    if (window !== undefined && model === engine.binding.info.id) await engine.learnWindow(window);
    if (this.recoveredOverflow || !engine.policy.compaction.retryOnOverflow || this.signal.aborted) return false;
    this.recoveredOverflow = true;
    const before = engine.rawRequestTokens();
    await this.appendNudge(true);
    await this.improveSummary();
    await this.compact('overflow');
    return engine.rawRequestTokens() < before;
  }

  private async stepWithRetries(): Promise<StepOutcome> {
    const { clock, emit, log } = this.deps;
    let policy = new RetryPolicy();
    for (;;) {
      this.attempts = policy.attempt + 1;
      this.phase('waiting');
      const step = await modelStep({ ...this.deps, onGrowth: () => this.deps.emitContext() }, this.signal);
      if (!step.failure || this.signal.aborted) return step;
      const next = policy.next(step.failure, this.deps.random());
      log.warn('model_request_failed', {
        reason: step.failure.reason,
        status: step.failure.status,
        detail: step.failure.detail,
        attempt: policy.attempt,
      });
      if (!next) return step;
      policy = next.policy;
      this.phase('retrying');
      emit({
        type: 'retry_scheduled',
        id: this.id,
        attempt: policy.attempt,
        at: clock.now() + next.delayMs,
        delayMs: next.delayMs,
        reason: step.failure.reason,
      });
      const waited = await clock.sleep(next.delayMs, this.signal).then(
        () => true,
        () => false,
      );
      if (!waited) return { ...step, failure: cancelled };
    }
  }

  private async runCalls(calls: readonly ToolCallEntry[]): Promise<void> {
    this.phase('tools');
    const told: ToldMessage[] = [];
    await runCalls(
      calls,
      {
        ...this.deps,
        tools: this.tools,
        tell: (message) => void told.push(message),
        refuses: (tool) => (this.isPlanning && !runsInPlanMode(tool) ? planRefusal(tool.name) : null),
      },
      (result, { call, notes, files }) => this.recordCall(result, call, notes, files),
      this.signal,
    );
    for (const message of told) await this.say(message);
  }

  /** What it did to files first: a result without it would be believed, and could not be taken back. */
  private async recordCall(result: EntryContent, call: string, notes: readonly NoteWrite[], files: RecordedChanges): Promise<void> {
    for (const mark of fileChangeMarks(files)) {
      const stored = await this.deps.branch.append(mark, { display: true, modelFacing: false, parent: call });
      this.deps.emit({ type: 'entry_appended', entry: stored });
    }
    await this.append(result, true, true, notes);
  }

  /** Once a cycle: what stands in the context verbatim is not said again. */
  private async say({ customType, text }: ToldMessage): Promise<void> {
    const { branch, engine } = this.deps;
    const content = { type: 'custom_message', customType, text: fittingMessage(text, engine.estimate, engine.budget.oversized) } as const;
    const isKnown = verbatimEntries(branch.entries).some(
      (entry) => entry.content.type === 'custom_message' && entry.content.customType === customType && entry.content.text === content.text,
    );
    if (!isKnown) await this.append(content, true);
  }

  private async finish(step: StepOutcome, text: string): Promise<TurnOutcome> {
    if (step.stopReason === 'model_context_window_exceeded') {
      return this.fail(
        {
          reason: 'overflow',
          message: english('The answer was cut because the window is full. Compact the conversation, then say “continue” for the rest.'),
        },
        text,
      );
    }
    if (step.stopReason === 'max_tokens')
      return this.fail(
        { reason: 'invalid_request', message: english('The answer reached the length limit and was cut. Say “continue” for the rest.') },
        text,
      );
    if (step.text.trim() === '')
      return this.fail({ reason: 'server', message: english('The model gave no answer. Try again, or rephrase the message.') }, text);
    if (this.deps.engine.policy.compaction.afterResponse) await this.compactIfDue(false, false);
    return { ok: true, text, error: null };
  }

  private async fail(error: TurnError, text: string): Promise<TurnOutcome> {
    if (error.reason !== 'cancelled') await this.append({ type: 'custom', customType: turnErrorType, data: error }, true, false);
    return { ok: false, text, error };
  }

  private async append(content: EntryContent, display: boolean, modelFacing = true, notes: readonly NoteWrite[] = []): Promise<void> {
    const stored = await this.deps.branch.append(content, { display, modelFacing, notes });
    this.deps.emit({ type: 'entry_appended', entry: stored });
  }

  private phase(phase: TurnPhase): void {
    this.deps.emit({ type: 'phase_changed', id: this.id, phase });
  }
}

const cancelled: ModelFailure = { reason: 'cancelled', detail: '' };
