import { SummaryJob, Failover } from '../compaction/summary/summaryJob';
import { RememberingAnalyst } from '../compaction/measure/textAnalysis';
import type { ContextEngine } from './engine';
import { pinnedType } from './projection/projection';
import type { ThinkingLevel } from '../models/modelInfo';
import { foldSavings, type FoldSaving } from '../cost/returns';
import { cheaperTime, pastRequests } from '../cost/cacheTime';
import { errorText } from '../errors';
import { english, t } from '../l10n';
import type { CacheTime } from './measure/snapshot';
import type { Clock, IdSource, Logger, PinnedFiles, SessionStore, TextAnalyst, TokenCounter } from '../ports';
import { excludedEntries } from './contextExclusion';
import type { ContentOf, StoredEntry } from '../session/entry';
import { earlierSummaries, liveCompaction, verbatimEntries } from '../session/liveCompaction';
import { BranchSummaries } from '../branches/branchSummaries';
import type { BranchState } from '../chat/branchState';
import { BackgroundSummary } from '../compaction/summary/backgroundSummary';
import { Checkpoints } from '../compaction/checkpoints/checkpoints';
import { CompactionRecorder } from '../compaction/compactionRecorder';
import { Compactor } from '../compaction/compactor';
import type { ConversationEvent, CompactionResult } from '../chat/events';
import { Exclusions } from './exclusions';
import { FoldPlanner } from '../compaction/ladder/foldPlanner';
import { Pins, type PinResult, type PinTarget } from './pins';
import { CacheWatch } from '../compaction/cacheWatch';
import { PreparedSummaries } from '../compaction/summary/preparedSummaries';
import { SummaryRetries, SummaryRewriter, type Rewritten } from '../compaction/summary/summaryRetries';

export interface ContextManagerDeps {
  readonly store: SessionStore;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Logger;
  readonly analyst: TextAnalyst;
  readonly pinnedFiles: PinnedFiles | null;
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly emit: (event: ConversationEvent) => void;
  readonly offerBranchSummary?: () => boolean;
  /** Runs something with the session to itself, after what runs; not at all while another window works in it. */
  readonly whenFree: (run: () => Promise<void>) => Promise<void>;
  /** Index and head of the notes; null when there are none. */
  readonly memoryHead: () => Promise<string | null>;
  /** Nothing runs or waits here, no other window works in the session, and it can be written. */
  readonly isIdle: () => boolean;
  /** The context is another one now, or may be. */
  readonly tell: () => void;
  /** Omitted: decided by the rhythm of the person. */
  readonly cacheTime?: () => CacheTime | 'automatic';
}

export interface CompactionPreview {
  /** It is the record that would be written. */
  readonly content: ContentOf<'compaction'> | null;
  /** Entries that would be folded, and that would stay. */
  readonly folds: readonly string[];
  readonly stays: readonly string[];
  /** Why nothing would be folded, in words for the user; null when something would. */
  readonly message: string | null;
}

export interface UndoPreview {
  /** UUID of the compaction's entry. */
  readonly target: string;
  readonly tokensRestored: number;
  readonly fits: boolean;
}

/** Pins may take this share of the limit. */
const pinShare = 0.05;

/** Everything that changes what a conversation's prompt is made of, wired together for one session. */
export class ContextManager {
  readonly pins: Pins;
  readonly checkpoints: Checkpoints;
  readonly compactor: Compactor;
  readonly background: BackgroundSummary;
  readonly prepared: PreparedSummaries;
  readonly cacheWatch: CacheWatch;
  readonly retries: SummaryRetries;
  readonly branchSummaries: BranchSummaries;
  readonly exclusions: Exclusions;
  private readonly planner: FoldPlanner;
  private readonly recorder: CompactionRecorder;
  private readonly rewriter: SummaryRewriter;
  /** The last turn ran in this window. */
  private ranLast = false;
  /** This turn has begun with a compaction on a return. */
  private foldedCold = false;

  constructor(private readonly deps: ContextManagerDeps) {
    const { branch, engine, pinnedFiles, clock } = deps;
    const analyst = new RememberingAnalyst(deps.analyst);
    const failover = new Failover(clock);
    this.pins = new Pins({
      ...deps,
      session: () => branch.session.uuid,
      estimate: engine.estimate,
      budget: () => Math.floor(engine.budget.limit * pinShare),
      files: pinnedFiles,
    });
    this.recorder = new CompactionRecorder({ ...deps, analyst, pins: this.pins });
    this.planner = new FoldPlanner({ ...deps, analyst, failover });
    this.rewriter = new SummaryRewriter({ ...deps, planner: this.planner, recorder: this.recorder });
    this.retries = new SummaryRetries({
      ...deps,
      planner: this.planner,
      recorder: this.recorder,
      rewriter: this.rewriter,
      changed: deps.tell,
    });
    this.branchSummaries = new BranchSummaries({
      ...deps,
      planner: this.planner,
      spend: (calls) => this.recorder.spend(calls),
      isOffered: () => deps.offerBranchSummary?.() ?? false,
    });
    this.checkpoints = new Checkpoints({
      ...deps,
      analyst,
      failover,
      recorder: this.recorder,
      willPrepare: () => this.compactor.prepares || this.background.isUsable,
    });
    const { planner, recorder } = this;
    this.background = new BackgroundSummary({ ...deps, planner, recorder, keep: (job) => this.prepared.keep(job), changed: deps.tell });
    engine.isSummarizing = () => this.background.isWriting || this.retries.isWriting;
    this.prepared = new PreparedSummaries({ ...deps, planner, recorder, background: this.background });
    this.compactor = new Compactor({
      ...deps,
      background: this.background,
      planner: this.planner,
      recorder: this.recorder,
      checkpoints: () => this.checkpoints.list(),
      onStandIn: (entry) => void this.retries.add(entry),
    });
    this.cacheWatch = new CacheWatch({
      ...deps,
      cache: () => engine.cache(deps.clock.now()),
      isOwn: () => this.ranLast,
      leastTokens: () => engine.policy.compaction.coldLeastTokens,
      folds: () => engine.policy.compaction.enabled,
      // One for a return that does not know the notes is written again.
      recall: async () => {
        if (!(await this.prepared.recall())) this.background.drop();
      },
      readAll: () => branch.whole(),
      prepare: () => this.compactor.prepareForReturn(),
    });
    engine.idleCache = {
      askedAt: () => this.cacheWatch.askedAt,
      folded: (said, added) => this.prepared.sizeOf(said, added),
      full: (said, added) => (this.compactor.foldsNext(said + added) ? this.prepared.sizeWhenFull(said, added) : null),
    };
    this.exclusions = new Exclusions({
      ...deps,
      changed: () => {
        this.background.drop();
        this.checkpoints.cancel();
      },
    });
  }

  /** Pins, and shows the model at once what it does not see word for word any more. Rejects with `StoreError`. */
  async pin(target: PinTarget): Promise<PinResult> {
    const { branch, emit } = this.deps;
    if (target.kind === 'entry' && excludedEntries(branch.entries).has(target.target))
      return { message: t('This is not in the context. Include it again, then pin it.'), added: null };
    const result = await this.pins.pin(target);
    const isSeen = target.kind === 'entry' && verbatimEntries(branch.entries).some(({ uuid }) => uuid === target.target);
    if (result.added === null || isSeen) return result;
    const entry = await branch.append(
      { type: 'custom_message', customType: pinnedType, text: result.added },
      { display: false, modelFacing: true },
    );
    emit({ type: 'entry_appended', entry });
    return result;
  }

  /** After a turn: what can be done while the user reads. Never rejects, never waits for a model. */
  async afterTurn(): Promise<void> {
    this.ranLast = true;
    this.compactor.prepareIfDue(true);
    await this.checkpoints.writeIfDue();
    await this.retries.wake();
    if (this.foldedCold) await this.tellSavings();
    this.foldedCold = false;
  }

  /** What compactions on a return have saved. Rejects with `StoreError`. */
  async savings(): Promise<FoldSaving[]> {
    const { store, branch } = this.deps;
    return foldSavings(await store.returns(branch.session.uuid), (...request) => branch.costOf(...request));
  }

  private async tellSavings(): Promise<void> {
    try {
      this.deps.emit({ type: 'savings_changed', savings: await this.savings() });
    } catch (error) {
      this.deps.log.warn('savings_not_told', { detail: errorText(error) });
    }
  }

  /**
   * Folds with the summary that was prepared, where the prompt cache has expired and the policy wants that: no model is asked. Null:
   * nothing was folded. Rejects with `StoreError`.
   */
  async foldIfCold(stop: AbortSignal): Promise<CompactionResult | null> {
    const { engine, clock, branch } = this.deps;
    const knowsNotes = await this.prepared.recall();
    const { state, matters } = engine.cache(clock.now());
    const { whenCold, enabled } = engine.policy.compaction;
    const { used } = engine.measure();
    const wants =
      state === 'cold' && matters && whenCold === 'fold' && enabled && !this.compactor.guard.holds(branch.entries, used, engine.budget);
    if (!wants || !knowsNotes || this.background.state() !== 'ready') return null;
    const result = await this.compactor.run({ trigger: 'cold', instructions: null, holdsTurn: true }, { stop });
    this.foldedCold = result.entry !== null;
    return result.entry ? result : null;
  }

  /** Decides for how long the provider is to keep the prompt, where nothing is decided. Never rejects. */
  async chooseCacheTime(): Promise<void> {
    const { engine, store, clock, log, cacheTime } = this.deps;
    const { whenCold, coldLeastTokens: from, coldKeepTokens, maxSummaryTokens, enabled } = engine.policy.compaction;
    // What stands beside a summary comes to as much again.
    const rule = enabled && whenCold === 'fold' ? { from, to: 2 * maxSummaryTokens + coldKeepTokens } : null;
    try {
      await engine.chooseCacheTime(clock.now(), async () => {
        const fixed = cacheTime?.() ?? 'automatic';
        return fixed === 'automatic' ? cheaperTime(await store.pastRequests(pastRequests), rule) : fixed;
      });
    } catch (error) {
      log.warn('cache_time_not_chosen', { detail: errorText(error) });
    }
  }

  /** What a compaction would do, without doing it. What it took to find out is used by the next one. Rejects with `StoreError`. */
  async preview(instructions: string | null, stop: AbortSignal): Promise<CompactionPreview> {
    await this.prepared.recall();
    const preview = await this.compactor.preview(instructions, stop);
    if (!preview || stop.aborted)
      return {
        content: null,
        folds: [],
        stays: [],
        message: stop.aborted
          ? english('Cancelled: nothing was changed.')
          : english('There is nothing to compact: the conversation is as short as what a compaction would keep.'),
      };
    const uuids = (entries: readonly { readonly uuid: string }[]) => entries.map(({ uuid }) => uuid);
    return { content: preview.content, folds: uuids(preview.cut.folded), stays: uuids(preview.cut.kept), message: null };
  }

  /** The part of the live summary that a user may rewrite; null without a compaction. */
  get editable(): string | null {
    const live = liveCompaction(this.deps.branch.entries);
    return live ? this.rewriter.editable(live) : null;
  }

  undoPreview(): UndoPreview | null {
    const { branch, engine } = this.deps;
    const live = liveCompaction(branch.entries);
    if (!live) return null;
    const grown = Math.max(0, engine.measure().used - live.content.tokensAfter);
    const tokensRestored = live.content.tokensBefore + grown;
    return { target: live.uuid, tokensRestored, fits: tokensRestored <= engine.budget.limit };
  }

  /**
   * The level holds in the session from its next request on; null lets the model do as it does by itself. It is an entry, and a declared
   * prefix break. Rejects with `StoreError`.
   */
  async setThinkingLevel(level: ThinkingLevel | null): Promise<null> {
    const { store, branch, emit } = this.deps;
    branch.session = await store.updateSession(branch.session.uuid, { thinkingLevel: level });
    const entry = await branch.append(
      { type: 'thinking_level_change', level: level ?? 'automatic' },
      { display: true, modelFacing: false },
    );
    emit({ type: 'entry_appended', entry });
    return null;
  }

  /** Rejects with `StoreError`. */
  async undo(): Promise<CompactionResult> {
    const { branch, engine, emit } = this.deps;
    const preview = this.undoPreview();
    if (!preview) return { entry: null, message: english('There is no compaction to undo.') };
    const undone = await branch.append(
      { type: 'compaction_undone', target: preview.target, tokensRestored: preview.tokensRestored },
      { display: true, modelFacing: false },
    );
    await branch.reload();
    await branch.settleCounts();
    engine.recounted();
    emit({ type: 'entry_appended', entry: undone });
    return { entry: null, message: null };
  }

  /** Rejects with `StoreError`. */
  async edit(text: string): Promise<CompactionResult> {
    const live = liveCompaction(this.deps.branch.entries);
    if (!live) return { entry: null, message: noSummary };
    if (text.trim() === '')
      return {
        entry: null,
        message: english('An empty summary would lose what it stands for. To get the messages back, undo the compaction.'),
      };
    return { entry: await this.replace(await this.rewriter.edited(live, text), 'edit', []), message: null };
  }

  /** Puts a summary in force again that another one of the same range has taken the place of. Rejects with `StoreError`. */
  async reuse(compaction: string, known: readonly StoredEntry[]): Promise<CompactionResult> {
    const live = liveCompaction(this.deps.branch.entries);
    if (!live) return { entry: null, message: noSummary };
    const earlier = earlierSummaries(live, (uuid) => known.find((entry) => entry.uuid === uuid));
    const again = earlier.find(({ uuid }) => uuid === compaction);
    if (!again) return { entry: null, message: otherMessages };
    return { entry: await this.replace(await this.rewriter.again(live, again), 'manual', []), message: null };
  }

  /** Rejects with `StoreError`. */
  async resummarize(instructions: string | null, stop: AbortSignal): Promise<CompactionResult> {
    const { clock, branch } = this.deps;
    const live = liveCompaction(branch.entries);
    if (!live) return { entry: null, message: noSummary };
    let rewritten: Rewritten | null = null;
    const cut = { folded: [], firstKept: null, kept: [], currentRequest: null };
    const job = new SummaryJob(cut, live.uuid, instructions, clock, async (hooks) => {
      rewritten = await this.rewriter.rewrite(live, { instructions, background: false }, hooks);
      return rewritten.fold;
    });
    await job.wait(null, stop);
    if (stop.aborted) job.cancel();
    await job.ended;
    if (job.fold && rewritten && !stop.aborted)
      return { entry: await this.replace(rewritten, 'manual', job.calls, instructions), message: null };
    await this.recorder.spend(job.calls);
    return {
      entry: null,
      message: stop.aborted
        ? english('Cancelled: the summary stays as it was.')
        : english('The summary stays as it was: {0}.', job.failure ?? english('no answer')),
    };
  }

  /** It has grown by another window, or (`replaced`) is another one: what was prepared for the old one is of no use. */
  branchChanged(replaced: boolean): void {
    this.ranLast = false;
    if (replaced) this.background.drop();
    this.checkpoints.forget();
    void this.retries.wake();
    this.cacheWatch.look();
  }

  close(): void {
    this.retries.close();
    this.cacheWatch.close();
    this.checkpoints.cancel();
    this.background.drop();
  }

  private async replace(rewritten: Rewritten, trigger: 'edit' | 'manual', calls: SummaryJob['calls'], instructions: string | null = null) {
    const entry = await this.rewriter.record(rewritten, trigger, calls, instructions);
    this.background.drop();
    this.compactor.guard.helped();
    await this.deps.store.removeSummaryRetry(rewritten.target.uuid);
    return entry;
  }
}

const otherMessages = english('This summary stands for other messages than those that are folded now. It stays in the history.');
const noSummary = english('There is no summary: nothing of this conversation has been compacted.');
