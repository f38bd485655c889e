import { isUserMessage, sentEntries, type Cut } from './ladder/cutPoint';
import { newestOnBranch } from './checkpoints/checkpointDue';
import { emptyFoldedState, withUsersText } from './ledgers/foldedState';
import type { Fold } from './ladder/fold';
import { coverage, foldByCheckpoint, foldByExtraction, foldByTruncation } from './ladder/foldWithoutModel';
import { maskPlan } from './ladder/mask';
import type { SummaryCall } from './summary/summaryWriter';
import type { ContextEngine } from '../context/engine';
import { english } from '../l10n';
import type { Clock, Logger, Summarizer } from '../ports';
import type { ContentOf, EntryOf } from '../session/entry';
import { verbatimEntries } from '../session/liveCompaction';
import type { BranchState } from '../chat/branchState';
import { CompactionGuard } from './compactionGuard';
import type { CompactionRecorder, RecordFacts } from './compactionRecorder';
import type { ConversationEvent } from '../chat/events';
import { leastSaving, type FoldPlanner } from './ladder/foldPlanner';
import { SummaryJob } from './summary/summaryJob';

export type CompactionEntry = EntryOf<'compaction'>;

export interface CompactionResult {
  readonly entry: CompactionEntry | null;
  /** Why nothing was folded, in words for the user; null when it was. */
  readonly message: string | null;
}

export interface CompactionOptions {
  readonly trigger: 'automatic' | 'manual' | 'overflow';
  readonly instructions: string | null;
  /** A turn is waiting for it. */
  readonly holdsTurn: boolean;
  /** Without a summary, whatever the policy says: the user chose so. */
  readonly truncates?: boolean;
  /** The user has seen a preview and said yes: that is what is made, and no mask in its place. */
  readonly isReviewed?: boolean;
  /** What the user has made of the summary in that preview. */
  readonly summary?: string;
  /** Asked before those of the policy: the model that wrote the conversation, when the next one has a smaller window. */
  readonly summarizers?: readonly Summarizer[];
}

export interface CompactionSignals {
  /** Ends it without a record. */
  readonly stop: AbortSignal;
  /** Gives up on the summariser and takes the next rung. */
  readonly skip?: AbortSignal;
}

export interface CompactorDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly planner: FoldPlanner;
  readonly recorder: CompactionRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly emit: (event: ConversationEvent) => void;
  /** Newest last; of this session, on any branch. */
  readonly checkpoints: () => Promise<readonly EntryOf<'checkpoint'>[]>;
  /** A record without a model's summary was made. */
  readonly onStandIn: (entry: CompactionEntry) => void;
}

interface Candidate {
  readonly fold: Fold;
  readonly cut: Cut;
  /** That wrote it. */
  readonly job?: SummaryJob;
}

/** A turn waits no longer than this for a summariser from which nothing comes. */
const patienceMs = 2_000;
/**
 * Where a context has to come down to for masking alone to be worth it: share of the trigger. Whatever is left has to be written to
 * the provider's cache again (1.25 per token) and buys room up to the trigger; at half of it a mask costs 1.25 per token of room, as
 * much as a summary of everything. Measured over 150 turns with three tool results each in a 100,000-token window: at 0.8 a mask
 * every few turns, 16 compactions and 20.6M tokens sent.
 */
const maskedEnough = 0.5;

/** Runs one compaction: down the ladder until a rung helps, then records it. History is untouched until the record. */
export class Compactor {
  readonly guard = new CompactionGuard();
  private job: SummaryJob | null = null;
  /** Size at which the last preparation failed; it is not begun again for the same context. */
  private prepareFailedAt = 0;

  constructor(private readonly deps: CompactorDeps) {}

  /** Begins a summary in the background when the policy's mark is passed. Never rejects, never waits. */
  prepareIfDue(): void {
    const { engine, branch, planner } = this.deps;
    const { prepare, trigger } = engine.budget;
    const { used } = engine.measure();
    if (prepare === null || !engine.policy.compaction.enabled || used < prepare || used >= trigger) return;
    if (this.usableJob() || this.guard.holds(branch.entries, used, engine.budget.limit) || used < this.prepareFailedAt * 1.05) return;
    const cut = planner.preparedCut();
    if (!cut) return;
    const job = this.startJob(cut, { background: true });
    void job.ended.then(() => {
      if (job.failure !== null) this.prepareFailedAt = used;
    });
  }

  /** A summary is being written, or waits to be used. */
  get isPrepared(): boolean {
    return this.usableJob() !== null;
  }

  /** Ends what is being prepared; what it has cost is recorded. */
  cancelPrepared(): void {
    const { job } = this;
    this.job = null;
    if (!job) return;
    job.cancel();
    void job.ended.then(() => this.deps.recorder.spend(job.calls.splice(0)));
  }

  /** Rejects only with `StoreError`; whatever the summariser does ends in a lower rung. */
  async run(options: CompactionOptions, { stop, skip }: CompactionSignals): Promise<CompactionResult> {
    const { engine, clock, emit, log, planner, recorder } = this.deps;
    const startedAt = clock.now();
    const tokensBefore = engine.measure().used;
    const end = (result: CompactionResult): CompactionResult => {
      emit({ type: 'compaction_ended', ...result });
      return result;
    };
    const facts = { trigger: options.trigger, tokensBefore, startedAt, holdsTurn: options.holdsTurn, ...(options.instructions ? { instructions: options.instructions } : {}) };
    const masked = options.trigger === 'automatic' && !options.isReviewed ? await this.mask(facts) : null;
    if (masked) return end({ entry: masked, message: null });
    // What does not fit cannot be sent at all: then whatever makes it fit is worth it.
    const isOver = options.trigger !== 'manual' && tokensBefore > engine.budget.limit;
    const usual = planner.cuts(options.trigger, isOver ? 0 : leastSaving);
    const cuts = isOver && usual.length === 0 ? planner.emergencyCuts() : usual;
    if (cuts.length === 0) {
      const shortened = isOver ? await this.shorten(facts) : null;
      return end(shortened ? { entry: shortened, message: null } : { entry: null, message: this.fruitless(options, tokensBefore, nothingToFold) });
    }
    this.begun(facts);

    const spent: SummaryCall[] = [];
    for await (const candidate of this.candidates(cuts, options, tokensBefore, { stop, skip: AbortSignal.any(skip ? [stop, skip] : [stop]) }, spent)) {
      if (stop.aborted) break;
      if (candidate === 'later') return end({ entry: null, message: stillWriting });
      const fold = options.summary === undefined ? candidate.fold : editedFold(candidate.fold, options.summary);
      const draft = await recorder.draft(fold, candidate.cut, { ...facts, rung: candidate.job?.isPrepared ? 'prepared' : candidate.fold.rung });
      const pays = isOver || draft.tokensAfter <= tokensBefore * (1 - leastSaving);
      const fits = options.trigger === 'manual' || draft.tokensAfter <= engine.budget.limit;
      if (!pays || !fits) continue;
      const expected = options.summary === undefined ? candidate.job?.continuity : null;
      const continuity = expected ?? (await recorder.continuity(candidate.fold, candidate.cut, draft.summaryText, options.holdsTurn));
      const durationMs = clock.now() - startedAt;
      const content = { ...draft, durationMs, heldMs: options.holdsTurn ? durationMs : 0, continuity };
      if (stop.aborted) break;
      const entry = await recorder.append(content, spent);
      this.cancelPrepared();
      this.told(entry);
      return end({ entry, message: null });
    }
    await recorder.spend(spent);
    if (stop.aborted) return end({ entry: null, message: english('Cancelled: nothing was changed.') });
    log.info('compaction_ineffective', { trigger: options.trigger, tokensBefore });
    return end({ entry: null, message: this.fruitless(options, tokensBefore, notWorthIt) });
  }

  /** Folds as `run` would with a model, without recording anything; the result is used by the next `run`. Null: nothing to fold, or stopped. */
  async preview(instructions: string | null, stop: AbortSignal): Promise<{ readonly fold: Fold; readonly cut: Cut; readonly content: ContentOf<'compaction'> } | null> {
    const { engine, clock, planner, recorder } = this.deps;
    const cut = planner.cuts('manual')[0];
    if (!cut) return null;
    const startedAt = clock.now();
    let job = this.usableJob(instructions);
    if (!job) {
      this.cancelPrepared();
      job = this.startJob(cut, { instructions });
    }
    if ((await job.wait(null, stop)) === 'given_up') {
      this.cancelPrepared();
      return null;
    }
    const note = job.failure !== null && (await engine.summarizers()).length > 0 ? failureNote(job.failure) : null;
    const fold = job.fold ?? (await foldByExtraction(planner.request(cut, instructions), note));
    const own = job.fold ? this.spliced(job, 'manual') : cut;
    const content = await recorder.draft(fold, own, { trigger: 'manual', tokensBefore: engine.measure().used, rung: fold.rung, startedAt, holdsTurn: false });
    const continuity = job.continuity ?? (await recorder.continuity(fold, own, content.summaryText, false));
    return { fold, cut: own, content: { ...content, continuity } };
  }

  /** Rung 0. Null when it would not gain enough. */
  private async mask(facts: Omit<RecordFacts, 'rung'>): Promise<CompactionEntry | null> {
    const { branch, engine, planner, recorder } = this.deps;
    const { masking } = engine.policy.compaction;
    if (!masking.enabled) return null;
    const { effective, trigger, target } = engine.budget;
    // The policy's figures are for a window of 200,000.
    const scaled = (tokens: number) => Math.min(tokens, Math.floor((tokens / 200_000) * effective));
    const plan = maskPlan(branch.entries, { protectTokens: scaled(masking.protectTokens), protectUserTurns: masking.protectUserTurns, minGain: scaled(masking.minGainTokens), tokensOf: branch.tokensOf });
    if (!plan) return null;
    const { live } = planner;
    const kept = verbatimEntries(branch.entries);
    const cut: Cut = { folded: [], firstKept: kept[0] ?? null, kept, currentRequest: null };
    const unused: Fold = { folded: planner.previousState() ?? emptyFoldedState, rung: 'model', model: null, note: null, audit: null, analysis: null };
    const draft = await recorder.draft(unused, cut, { ...facts, rung: 'mask' });
    // The state of the record before it stands on: a mask folds nothing.
    const content = await recorder.measured({
      ...draft,
      summaryText: live?.content.summaryText ?? '',
      summary: live?.content.summary,
      coversFrom: live?.content.coversFrom ?? null,
      needsSummaryRetry: live?.content.needsSummaryRetry ?? false,
      masked: [...plan.masked],
    });
    if (content.tokensAfter > (target ?? trigger * maskedEnough)) return null;
    this.begun(facts);
    const entry = await recorder.append(content, []);
    this.cancelPrepared();
    this.told(entry);
    return entry;
  }

  /**
   * What stands in front of the newest turn is the state alone, and it was made for a larger window: the last rung for a model that
   * takes less. Null when it would not fit for all that.
   */
  private async shorten(facts: Omit<RecordFacts, 'rung'>): Promise<CompactionEntry | null> {
    const { branch, engine, planner, recorder } = this.deps;
    const { live } = planner;
    const kept = verbatimEntries(branch.entries);
    if (!live) return null;
    // In the middle of a turn its request may stand in the state.
    const currentRequest = kept.some(isUserMessage) ? null : (branch.entries.findLast(isUserMessage) ?? null);
    const cut: Cut = { folded: [], firstKept: kept[0] ?? null, kept, currentRequest };
    const request = { ...planner.request(cut, null), shortens: true };
    for (const fold of [await foldByExtraction(request, tooLongState), foldByTruncation(request, tooLongState)]) {
      const draft = await recorder.draft(fold, cut, { ...facts, rung: fold.rung, coversFrom: live.content.coversFrom });
      if (draft.tokensAfter > engine.budget.limit) continue;
      this.begun(facts);
      const entry = await recorder.append(draft, []);
      this.cancelPrepared();
      this.told(entry);
      return entry;
    }
    return null;
  }

  private begun({ trigger, tokensBefore }: Omit<RecordFacts, 'rung'>): void {
    this.deps.log.info('compaction_triggered', { trigger, tokensBefore });
    this.deps.emit({ type: 'compaction_started', trigger, tokensBefore });
  }

  /** Best first: each is tried only when the one before did not help enough. `later`: the summary will be there for the next request. */
  private async *candidates(cuts: readonly Cut[], options: CompactionOptions, used: number, signals: { readonly stop: AbortSignal; readonly skip: AbortSignal }, spent: SummaryCall[]): AsyncGenerator<Candidate | 'later'> {
    const { engine, planner } = this.deps;
    const { policy, budget } = engine;
    const first = cuts[0]!;
    let note: string | null = null;
    const chain = [...(options.summarizers ?? []), ...(await engine.summarizers())];
    const truncates = options.truncates === true || (policy.compaction.whenFull === 'truncate' && options.trigger !== 'manual');
    const canWrite = chain.length > 0 && !truncates;
    if (canWrite) {
      let job = this.usableJob(options.instructions);
      const failed = options.trigger === 'manual' ? null : this.failedJob();
      const isOver = (job !== null && !job.isRunning) || failed !== null;
      if (job?.fold) {
        spent.push(...job.calls.splice(0));
        yield { fold: job.fold, cut: this.spliced(job, options.trigger), job };
      }
      // Nothing overflows yet: the summary that is being written is there for a later request. It is paid for, and better than a checkpoint.
      const canWait = options.trigger === 'automatic' && used < budget.hardLimit;
      if (job?.isRunning && canWait) return yield 'later';
      const checkpoint = await this.checkpointFor(first, options);
      if (checkpoint) yield { fold: await foldByCheckpoint(planner.request(first, options.instructions), checkpoint), cut: first };
      if (!isOver) {
        if (!job) {
          this.cancelPrepared();
          job = this.startJob(first, { instructions: options.instructions, first: options.summarizers ?? [], inPrompt: options.trigger !== 'overflow' });
        }
        const waited = await job.wait(options.holdsTurn ? patienceMs : null, signals.skip);
        if (waited === 'late' && canWait) return yield 'later';
        if (waited !== 'ended') {
          note = waited === 'late' ? english('The summariser did not answer in time.') : english('The summary by the model was cancelled.');
          this.cancelPrepared();
        }
        spent.push(...job.calls.splice(0));
        if (waited === 'ended' && job.fold) yield { fold: job.fold, cut: this.spliced(job, options.trigger), job };
      }
      const failure = failed?.failure ?? job?.failure;
      if (failed) spent.push(...failed.calls.splice(0));
      note ??= failure ? failureNote(failure) : english("The model's summary was too long to help.");
      if (signals.stop.aborted) return;
      if (policy.compaction.whenFails === 'keep' && options.trigger === 'automatic' && used < budget.hardLimit) return;
    }
    const canExtract = !canWrite ? !truncates : policy.compaction.whenFails === 'extract' || options.trigger === 'manual';
    if (canExtract) {
      for (const cut of cuts) {
        const request = planner.request(cut, options.instructions);
        const share = note ? 0.5 : 1;
        yield { fold: await foldByExtraction({ ...request, maxSummaryTokens: Math.floor(request.maxSummaryTokens * share) }, note), cut };
      }
      const least = cuts.at(-1)!;
      if (options.trigger !== 'manual' && used > budget.limit) yield { fold: await foldByExtraction({ ...planner.request(least, options.instructions), shortens: true }, note ?? tooLongState), cut: least };
    }
    // Nobody asks for a compaction in order to lose the summary: that is only better than not being able to go on.
    if (options.trigger === 'manual') return;
    for (const cut of planner.emergencyCuts()) yield { fold: foldByTruncation(planner.request(cut, null), note), cut };
  }

  private async checkpointFor(cut: Cut, options: CompactionOptions): Promise<EntryOf<'checkpoint'> | null> {
    const { engine, planner, checkpoints } = this.deps;
    const { preferCheckpoint, minCheckpointCoverage } = engine.policy.compaction;
    if (!preferCheckpoint || options.trigger === 'manual') return null;
    const newest = newestOnBranch(cut.folded, await checkpoints());
    return newest && coverage(cut, newest, planner.tokensOf()) >= minCheckpointCoverage ? newest : null;
  }

  private startJob(cut: Cut, options: { readonly instructions?: string | null; readonly background?: boolean; readonly first?: readonly Summarizer[]; readonly inPrompt?: boolean }): SummaryJob {
    const { instructions = null, background = false, first = [], inPrompt = true } = options;
    const { planner, clock } = this.deps;
    const previous = planner.previousState();
    const job = new SummaryJob(cut, this.basis(), instructions, clock, (hooks) => planner.byChain({ cut, previous, instructions, background, first, inPrompt }, hooks), background);
    this.job = job;
    // What is prepared is measured in the background too: a turn that takes it has nothing to wait for.
    if (background) void job.measure((fold) => this.deps.recorder.expectedContinuity(fold, cut));
    return job;
  }

  /** Of a summary of this very context: asking again would only hold the turn. */
  private failedJob(): SummaryJob | null {
    return this.job && this.job.failure !== null && this.job.basis === this.basis() ? this.job : null;
  }

  /** The job, if what it has read is still what the context begins with, and nothing else has changed. */
  private usableJob(instructions: string | null = null): SummaryJob | null {
    const { job } = this;
    if (!job || job.failure !== null || job.instructions !== instructions) return null;
    const sent = sentEntries(this.deps.branch.entries);
    const holds = job.basis === this.basis() && job.cut.folded.every(({ uuid }, index) => sent[index]?.uuid === uuid);
    if (holds) return job;
    this.cancelPrepared();
    return null;
  }

  /**
   * The cut of a job with everything that was added since on the side that stays. What would be kept besides, if the summary were
   * begun now, stays as well, although it tells of that too.
   */
  private spliced({ cut }: SummaryJob, trigger: CompactionOptions['trigger']): Cut {
    const live = sentEntries(this.deps.branch.entries);
    const read = live.findIndex(({ uuid }) => uuid === cut.folded.at(-1)!.uuid) + 1;
    const now = this.deps.planner.cuts(trigger)[0] ?? { folded: [], firstKept: live[0] ?? null, kept: live, currentRequest: null };
    if (now.folded.length < read) return now;
    const kept = live.slice(read);
    return { folded: live.slice(0, read), firstKept: kept[0] ?? null, kept, currentRequest: kept.some(isUserMessage) ? null : cut.currentRequest };
  }

  private basis(): string {
    const { engine, planner } = this.deps;
    const { provider, id } = engine.binding.info;
    const { format, maxSummaryTokens } = engine.policy.compaction;
    return JSON.stringify([planner.live?.uuid ?? null, provider, id, format, maxSummaryTokens]);
  }

  private told(entry: CompactionEntry): void {
    const { rung, tokensBefore, tokensAfter, messagesBefore, messagesAfter, needsSummaryRetry, trigger } = entry.content;
    const { engine, log } = this.deps;
    const savings = Math.round((1 - tokensAfter / Math.max(1, tokensBefore)) * 100);
    log.info(rung === 'truncate' ? 'context_truncated' : 'context_compacted', { rung, tokensBefore, tokensAfter, messagesBefore, messagesAfter, savingsPercent: savings });
    // What is due again at once has not helped.
    if (tokensAfter >= engine.budget.trigger && trigger !== 'manual') this.guard.failed(tokensAfter);
    else this.guard.helped();
    this.prepareFailedAt = 0;
    if (needsSummaryRetry) this.deps.onStandIn(entry);
  }

  private fruitless({ trigger }: CompactionOptions, used: number, message: string): string {
    if (trigger === 'manual') return message;
    this.guard.failed(used);
    return this.guard.shouldTell ? english('{0} Automatic compaction stops until you compact yourself or start a new session.', message) : message;
  }
}

function editedFold(fold: Fold, text: string): Fold {
  return { ...fold, folded: withUsersText(fold.folded, text, fold.model !== null), note: fold.note ?? english('You edited the summary before it was applied.') };
}

function failureNote(failure: string): string {
  return english('The model could not summarise: {0}.', failure.replace(/\.$/, ''));
}

const tooLongState = english('The summary was longer than what this model takes beside the newest messages, so the oldest of it is not sent.');
const nothingToFold = english('There is nothing to compact: the conversation is as short as what a compaction would keep.');
const notWorthIt = english('Folding the older messages would not make the context noticeably smaller, so everything stays as it is.');
const stillWriting = english('The summary is still being written. It is used as soon as it is there.');
