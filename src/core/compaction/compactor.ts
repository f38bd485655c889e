import type { BranchState } from '../chat/branchState';
import type { ConversationEvent, CompactionResult } from '../chat/events';
import type { ContextEngine } from '../context/engine';
import { leastSaving } from '../context/measure/budget';
import { english } from '../l10n';
import type { Clock, Disposable, Logger } from '../ports';
import type { ContentOf, EntryOf } from '../session/entry';
import { CompactionGuard } from './compactionGuard';
import {
  factsOf,
  type FoldStep,
  type Rung,
  type Situation,
  type Step,
  type CompactionOptions,
  type CompactionSignals,
} from './ladder/rung';
import type { CompactionRecorder } from './compactionRecorder';
import { countSent, type Cut } from './ladder/cutPoint';
import { foldByExtraction, type Fold } from './ladder/fold';
import type { FoldPlanner } from './ladder/foldPlanner';
import { ladder, notWorthIt, type Previewed } from './ladder/ladder';
import { withUsersText } from './ledgers/foldedState';
import { failureNote, type BackgroundSummary } from './summary/backgroundSummary';
import type { SummaryJob } from './summary/summaryJob';

/*
 * The words of this folder. A *compaction* makes room in a context and leaves a *record*, an entry of its own; the history stays
 * whole. It *folds* a range of entries into a *state*; a *cut* says which. A *rung* is one way of doing that, the *ladder* the list
 * of them, best first. A *summary* is what a model writes of a range, a *job* the writing of one. *Ledgers* are what is left behind
 * without a model. A checkpoint (users read “snapshot”) is a summary that folds nothing.
 */

export type CompactionEntry = EntryOf<'compaction'>;

export interface CompactorDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly planner: FoldPlanner;
  readonly recorder: CompactionRecorder;
  readonly background: BackgroundSummary;
  readonly clock: Clock;
  readonly log: Logger;
  readonly emit: (event: ConversationEvent) => void;
  /** Newest last; of this session, on any branch. */
  readonly checkpoints: () => Promise<readonly EntryOf<'checkpoint'>[]>;
  /** A record without a model's summary was made. */
  readonly onStandIn: (entry: CompactionEntry) => void;
}

/** The score of a summary that was only just written may still be measured: a turn waits no longer than this for it. */
const scorePatienceMs = 50;

/** Runs one compaction: down the ladder until a rung helps, then records it. History is untouched until the record. */
export class Compactor {
  readonly guard = new CompactionGuard();
  private readonly ladder: readonly Rung[];
  /** At the moment of return nothing is asked of a model. */
  private readonly coldLadder: readonly Rung[];
  /** Size at which the last preparation failed; it is not begun again for the same context. */
  private prepareFailedAt = 0;
  private previewed: Previewed | null = null;

  constructor(private readonly deps: CompactorDeps) {
    this.ladder = ladder({ ...deps, previewed: () => this.previewed });
    this.coldLadder = this.ladder.filter(({ name }) => name === 'ready');
  }

  /** A compaction will find a summary that was prepared for it: nothing else has to be written to stand in for one. */
  get prepares(): boolean {
    const { policy, budget } = this.deps.engine;
    return policy.compaction.enabled && budget.prepare !== null && this.prepareFailedAt === 0;
  }

  /**
   * Whether a compaction that is due waits for the end of the turn, where its summary is prepared while nobody waits for anything, and
   * tells of all of the turn: only as long as everything can be sent, and where the user is not to be asked about it. Measured over 150
   * turns that read files in a window of 100,000 tokens: what a compaction leaves is half as much as in the middle of a turn.
   */
  waitsForEnd(used: number, isBeginning: boolean): boolean {
    const { engine, background } = this.deps;
    const { whenFull, review } = engine.policy.compaction;
    if (!this.prepares || used > engine.budget.hardLimit || whenFull !== 'summarize' || review === 'always') return false;
    const state = background.state();
    return state === 'idle' || state === 'writing' || (state === 'ready' && !isBeginning);
  }

  /** Whether a message that makes the context so large is compacted before it is sent, with a summary that is there. */
  foldsNext(used: number): boolean {
    const { engine, background, branch } = this.deps;
    const { enabled, whenFull, review } = engine.policy.compaction;
    if (!enabled || whenFull !== 'summarize' || review === 'always' || !engine.compactionDue(used)) return false;
    const state = background.state();
    return (state === 'ready' || state === 'idle') && !this.guard.holds(branch.entries, used, engine.budget);
  }

  /**
   * Begins a summary in the background for the compaction that is ahead, when the policy's mark is passed. Never rejects, never waits.
   * At the end of a turn also when the compaction is due, for it has waited for that, or when the next turn could go beyond what can be
   * sent.
   */
  prepareIfDue(isEnd: boolean): void {
    const { engine, branch, planner, background } = this.deps;
    const { prepare, trigger, hardLimit } = engine.budget;
    const { used } = engine.measure();
    background.dropOutdated();
    if (prepare === null || !engine.policy.compaction.enabled) return;
    const begins = isEnd ? used >= prepare || used + (engine.turnGrowth() ?? 0) > hardLimit : used >= prepare && used < trigger;
    if (!begins) return;
    if (this.isPrepared(engine.budget.keep) || this.guard.holds(branch.entries, used, engine.budget) || used < this.prepareFailedAt * 1.05)
      return;
    const cut = planner.preparedCut();
    if (!cut) return;
    const job = background.begin(cut, { background: true });
    void job.ended.then(() => {
      if (job.failure !== null) this.prepareFailedAt = used;
    });
  }

  /** A summary is being written, or waits, behind which no more has been said than would stay verbatim: in tokens. */
  isPrepared(most: number): boolean {
    const { background, planner, engine } = this.deps;
    const job = background.usable();
    return job !== null && planner.saidSince(job.cut) <= engine.ownTokens(most);
  }

  /**
   * Begins a summary in the cached prompt, for a return after that has expired; null: there is nothing to fold, or one is there already.
   * Never waits.
   */
  prepareForReturn(): SummaryJob | null {
    const { engine, branch, planner, background } = this.deps;
    background.dropOutdated();
    if (this.isPrepared(engine.policy.compaction.coldKeepTokens) || this.guard.holds(branch.entries, engine.measure().used, engine.budget))
      return null;
    const cut = planner.idleCut();
    return cut && background.begin(cut, { background: true, inPrompt: 'only' });
  }

  /** Rejects only with `StoreError`; whatever the summariser does ends in a lower rung. */
  async run(options: CompactionOptions, signals: CompactionSignals): Promise<CompactionResult> {
    const { log, recorder } = this.deps;
    const situation = await this.situation(options, signals);
    for (const rung of options.trigger === 'cold' ? this.coldLadder : this.ladder) {
      if (signals.stop.aborted) break;
      if (!rung.mayTry(situation)) continue;
      if (rung.costs !== 'nothing') this.begun(situation);
      for await (const step of rung.tries(situation)) {
        if (signals.stop.aborted) break;
        if ('stays' in step) return this.stays(situation, step.stays);
        const content = await this.judged(step, situation);
        if (!content) continue;
        if (signals.stop.aborted) break;
        this.begun(situation);
        return this.record(content, situation);
      }
    }
    await recorder.spend(situation.spent);
    if (options.trigger === 'cold') return { entry: null, message: nothingPrepared };
    if (signals.stop.aborted) return this.ended({ entry: null, message: english('Cancelled: nothing was changed.'), isNothing: true });
    const isNothing = situation.failure === null;
    if (situation.cuts.length === 0) return this.ended({ entry: null, message: this.fruitless(situation, nothingToFold), isNothing });
    log.info('compaction_ineffective', { trigger: options.trigger, tokensBefore: situation.used });
    return this.ended({ entry: null, message: this.fruitless(situation, notWorthIt), isNothing });
  }

  /**
   * Folds as `run` would with a model, without recording anything; the result is used by the next `run`, and an edited summary stands for
   * what the last preview showed. Null: nothing to fold, or stopped.
   */
  async preview(
    instructions: string | null,
    stop: AbortSignal,
  ): Promise<{ readonly fold: Fold; readonly cut: Cut; readonly content: ContentOf<'compaction'> } | null> {
    const { engine, clock, planner, recorder, background } = this.deps;
    const cut = planner.cuts('manual')[0];
    if (!cut) return null;
    const startedAt = clock.now();
    const job = background.usable(instructions) ?? background.begin(cut, { instructions });
    if ((await job.wait(null, stop)) === 'given_up') {
      background.drop();
      return null;
    }
    const note = job.failure !== null && (await engine.summarizers()).length > 0 ? failureNote(job.failure) : null;
    const fold = job.fold ?? (await foldByExtraction(planner.request(cut, instructions), note));
    const own = job.fold ? (planner.cutsFor(job.cut, job.fold.folded, 'manual')[0] ?? cut) : cut;
    this.previewed = { fold, cut: job.fold ? job.cut : cut, basis: background.basis(), ...(job.fold ? { job } : {}) };
    const content = await recorder.draft(fold, own, {
      trigger: 'manual',
      tokensBefore: engine.measure().used,
      rung: fold.rung,
      startedAt,
      holdsTurn: false,
    });
    const continuity = job.continuity ?? (await recorder.continuity(fold, own, content.summaryText, false));
    return { fold, cut: own, content: { ...content, ...(continuity ? { continuity } : {}) } };
  }

  private async situation(options: CompactionOptions, { stop, skip }: CompactionSignals): Promise<Situation> {
    const { engine, clock, planner } = this.deps;
    const { used } = engine.measure();
    const { limit, hardLimit } = engine.budget;
    // What does not fit cannot be sent at all.
    const isOver = options.trigger !== 'manual' && used > limit;
    const usual = planner.cuts(options.trigger, isOver ? 0 : leastSaving);
    return {
      options,
      signals: { stop, skip: AbortSignal.any(skip ? [stop, skip] : [stop]) },
      startedAt: clock.now(),
      used,
      isOver,
      hasRoom: options.trigger === 'automatic' && used < hardLimit,
      cuts: isOver && usual.length === 0 ? planner.emergencyCuts() : usual,
      chain: [...(options.summarizers ?? []), ...(await engine.summarizers())],
      truncates:
        options.truncates === true ||
        (engine.policy.compaction.whenFull === 'truncate' && options.trigger !== 'manual' && options.trigger !== 'cold'),
      failure: null,
      wasTooLong: false,
      paidBefore: 0,
      spent: [],
      isAnnounced: false,
    };
  }

  /** The record that a step would lead to; null when it does not help. */
  private async judged(step: Exclude<Step, { readonly stays: string }>, situation: Situation): Promise<ContentOf<'compaction'> | null> {
    if ('record' in step) return step.record;
    const { engine, recorder, clock } = this.deps;
    const { options, used, isOver, startedAt } = situation;
    const { job, cut } = step;
    const fold = options.summary === undefined ? step.fold : editedFold(step.fold, options.summary);
    const facts = { ...factsOf(situation), rung: job?.isPrepared ? ('prepared' as const) : step.fold.rung };
    const draft = await recorder.draft(fold, cut, facts, job?.cut.folded);
    const pays = isOver || draft.tokensAfter <= used * (1 - leastSaving);
    const fits = options.trigger === 'manual' || draft.tokensAfter <= engine.budget.limit;
    const reaches = !step.hasToReach || !engine.isDueAfter(draft.tokensAfter, countSent(cut.kept));
    if (!pays || !fits || !reaches) return null;
    const continuity = await this.continuityOf(step, draft.summaryText, options);
    const durationMs = clock.now() - startedAt;
    const edited = options.summary === undefined ? {} : { edited: true, needsSummaryRetry: false };
    return { ...draft, durationMs, heldMs: options.holdsTurn ? durationMs : 0, ...edited, ...(continuity ? { continuity } : {}) };
  }

  private async continuityOf(
    { fold, cut, job }: FoldStep,
    summaryText: string,
    { summary, holdsTurn }: CompactionOptions,
  ): Promise<ContentOf<'compaction'>['continuity'] | null> {
    const isAsWritten = summary === undefined && job?.fold === fold;
    if (isAsWritten && job?.continuity) return job.continuity;
    const measuring = this.deps.recorder.continuity(fold, cut, summaryText, holdsTurn, job?.reach ?? null);
    if (!holdsTurn) return measuring;
    let timer: Disposable | undefined;
    const late = new Promise<null>((resolve) => (timer = this.deps.clock.after(scorePatienceMs, () => resolve(null))));
    return Promise.race([measuring, late]).finally(() => timer?.dispose());
  }

  private async record(content: ContentOf<'compaction'>, situation: Situation): Promise<CompactionResult> {
    const { recorder, background } = this.deps;
    const entry = await recorder.append(content, situation.spent, situation.paidBefore);
    background.drop();
    this.told(entry, situation);
    return this.ended({ entry, message: null });
  }

  private async stays({ spent }: Situation, message: string): Promise<CompactionResult> {
    await this.deps.recorder.spend(spent);
    return this.ended({ entry: null, message });
  }

  private begun(situation: Situation): void {
    if (situation.isAnnounced) return;
    situation.isAnnounced = true;
    const { options, used: tokensBefore } = situation;
    this.deps.log.info('compaction_triggered', { trigger: options.trigger, tokensBefore });
    this.deps.emit({ type: 'compaction_started', trigger: options.trigger, tokensBefore });
  }

  private ended(result: CompactionResult): CompactionResult {
    const { entry, message } = result;
    this.deps.emit({ type: 'compaction_ended', entry, message });
    return result;
  }

  private told(entry: CompactionEntry, { failure }: Situation): void {
    const { rung, tokensBefore, tokensAfter, messagesBefore, messagesAfter, needsSummaryRetry, trigger } = entry.content;
    const { engine, log } = this.deps;
    const savings = Math.round((1 - tokensAfter / Math.max(1, tokensBefore)) * 100);
    log.info(rung === 'truncate' ? 'context_truncated' : 'context_compacted', {
      rung,
      tokensBefore,
      tokensAfter,
      messagesBefore,
      messagesAfter,
      savingsPercent: savings,
    });
    // What is due again at once has not helped; what had to do without a summary says nothing of the next one.
    if (tokensAfter < engine.budget.trigger || trigger === 'manual') this.guard.helped();
    else if (failure === null) this.guard.failed(tokensAfter);
    this.prepareFailedAt = 0;
    if (needsSummaryRetry) this.deps.onStandIn(entry);
  }

  private fruitless({ options, used, failure }: Situation, message: string): string {
    if (failure !== null)
      return english('{0} Without a summary the context would not become noticeably smaller, so everything stays as it is.', failure);
    if (options.trigger === 'manual') return message;
    this.guard.failed(used);
    return this.guard.shouldTell
      ? english('{0} Automatic compaction stops until you compact yourself or start a new session.', message)
      : message;
  }
}

function editedFold(fold: Fold, text: string): Fold {
  return {
    ...fold,
    folded: withUsersText(fold.folded, text, fold.model !== null),
    note: fold.note ?? english('You edited the summary before it was applied.'),
  };
}

const nothingToFold = english('There is nothing to compact: the conversation is as short as what a compaction would keep.');
const nothingPrepared = english('No summary was prepared before the prompt cache expired.');
