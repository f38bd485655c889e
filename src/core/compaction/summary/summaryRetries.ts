import { SummaryJob, type JobHooks } from './summaryJob';
import { errorText } from '../../errors';
import { english } from '../../l10n';
import type { Clock, Disposable, Logger, SessionStore } from '../../ports';
import { isEntryOf, isUserMessage, type EntryOf, type ContentOf } from '../../session/entry';
import type { BranchState } from '../../chat/branchState';
import type { CompactionRecorder } from '../compactionRecorder';
import type { FoldPlanner } from '../ladder/foldPlanner';
import type { ContextEngine } from '../../context/engine';
import type { SummaryCall } from './summaryWriter';
import type { Cut } from '../ladder/cutPoint';
import { editableText, emptyFoldedState, withUsersText } from '../ledgers/foldedState';
import type { Fold } from '../ladder/fold';
import type { Reach } from '../measure/continuity';
import { requestIn } from '../../session/carriedRequest';
import { firstOfRange, leftOutEntries, verbatimEntries } from '../../session/liveCompaction';

export interface RetriesDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly store: Pick<SessionStore, 'summaryRetries' | 'saveSummaryRetry' | 'removeSummaryRetry' | 'status'>;
  readonly planner: FoldPlanner;
  readonly rewriter: SummaryRewriter;
  readonly recorder: CompactionRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs something with the session to itself, after what runs; not at all while another window works in it. Rejects as that does. */
  readonly whenFree: (run: () => Promise<void>) => Promise<void>;
  /** A summary is being written, or no longer. */
  readonly changed: () => void;
}

/** The interval doubles with every failure up to this, or stays what the policy says where that is longer. */
const longestWaitMs = 5 * 60_000;

/**
 * Summaries that a rung without a model stands in for, made again from the originals in the background. The queue is on disk and
 * survives the process; a better summary is recorded as soon as nothing else runs, or before the next request of what runs, and is
 * what that request sends.
 *
 *   queued ──interval──▶ asking ──failed──▶ queued, for twice as long
 *                           └──written──▶ better ──at once──▶ a record that supersedes
 *                                           └──the store refuses, or another window works here──▶ before the next request
 */
export class SummaryRetries {
  /** It has been paid for: when it cannot be stored it waits for the next occasion. */
  private better: (Rewritten & { readonly calls: readonly SummaryCall[] }) | null = null;
  private timer: Disposable | null = null;
  private job: SummaryJob | null = null;
  private closed = false;

  constructor(private readonly deps: RetriesDeps) {}

  /** Queues a record. Never rejects. */
  async add(record: EntryOf<'compaction'>): Promise<void> {
    await this.save(record.uuid, 0);
    await this.wake();
  }

  /** Looks at the queue and waits for what is next in it. Never rejects. */
  async wake(): Promise<void> {
    const { store, branch, clock, log } = this.deps;
    this.timer?.dispose();
    this.timer = null;
    if (this.closed || this.job || this.better || store.status.access === 'readonly') return;
    try {
      // What is live on another branch waits there.
      const next = (await store.summaryRetries(branch.session.uuid)).find(({ compaction }) => this.isHere(compaction));
      if (!next || this.closed) return;
      (this.timer as Disposable | null)?.dispose();
      this.timer = clock.after(Math.max(0, next.nextAt - clock.now()), () => void this.attempt(next.compaction, next.attempts));
    } catch (error) {
      log.warn('summary_retries_not_read', { detail: errorText(error) });
    }
  }

  /** Records a better summary that waits, and says whether there was one. To be called by who may append. Rejects with `StoreError`. */
  async apply(): Promise<boolean> {
    const { better } = this;
    if (!better) return false;
    const isLive = this.targetOf(better.target.uuid)?.uuid === better.target.uuid;
    if (isLive) await this.deps.rewriter.record(better, 'retry', better.calls);
    this.better = null;
    if (!isLive) await this.deps.recorder.spend(better.calls);
    if (isLive || this.isHere(better.target.uuid)) await this.deps.store.removeSummaryRetry(better.target.uuid);
    await this.wake();
    return isLive;
  }

  get isWriting(): boolean {
    return this.job !== null;
  }

  close(): void {
    this.closed = true;
    this.timer?.dispose();
    this.job?.cancel();
  }

  private async attempt(compaction: string, attempts: number): Promise<void> {
    const { rewriter, engine, clock, store, log, recorder } = this.deps;
    if (this.closed || this.job) return;
    const target = this.targetOf(compaction);
    if (!target) {
      // Undone, or replaced by a better one.
      if (this.isHere(compaction)) await store.removeSummaryRetry(compaction).catch(() => undefined);
      return this.wake();
    }
    // Offline: tried again after the next turn.
    const chain = await engine
      .summarizers()
      .catch((error: unknown) => (log.warn('summary_failed', { compaction, detail: errorText(error) }), []));
    if (chain.length === 0) return;
    let rewritten: Rewritten | null = null;
    const noCut = { folded: [], firstKept: null, kept: [], currentRequest: null };
    const job = (this.job = new SummaryJob(noCut, compaction, null, clock, async (hooks) => {
      await this.deps.branch.whole();
      rewritten = await rewriter.rewrite(target, { instructions: target.content.instructions ?? null, background: true }, hooks);
      return rewritten.fold;
    }));
    this.deps.changed();
    await job.ended;
    this.job = null;
    this.deps.changed();
    log.info('summary_retry', {
      compaction,
      attempt: attempts + 1,
      ok: job.fold !== null,
      ...(job.failure ? { detail: job.failure } : {}),
    });
    if (rewritten && job.fold) {
      this.better = { ...(rewritten as Rewritten), target, calls: job.calls };
      await this.deps
        .whenFree(async () => void (await this.apply()))
        .catch((error: unknown) => log.warn('summary_retry_not_saved', { detail: errorText(error) }));
      return;
    }
    await recorder.spend(job.calls);
    if (!this.closed) await this.save(compaction, attempts + 1);
    await this.wake();
  }

  /** Whether the branch on show has it. */
  private isHere(compaction: string): boolean {
    return this.deps.branch.entries.some(({ uuid }) => uuid === compaction);
  }

  /** The live record, when it is the one that is queued or a mask over it. */
  private targetOf(compaction: string): EntryOf<'compaction'> | null {
    const { live } = this.deps.planner;
    if (!live?.content.needsSummaryRetry) return null;
    return live.uuid === compaction || (live.content.rung === 'mask' && live.content.previous === compaction) ? live : null;
  }

  private async save(compaction: string, attempts: number): Promise<void> {
    const { store, engine, clock, log } = this.deps;
    const interval = engine.policy.summarizer.retryIntervalSeconds * 1_000;
    const waitMs = Math.min(interval * 2 ** Math.min(attempts, 10), Math.max(interval, longestWaitMs));
    await store
      .saveSummaryRetry({ compaction, attempts, nextAt: clock.now() + waitMs })
      .catch((error: unknown) => log.warn('summary_retry_not_saved', { detail: errorText(error) }));
  }
}

interface RewriterDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly store: Pick<SessionStore, 'branchSteps' | 'entries'>;
  readonly planner: FoldPlanner;
  readonly recorder: CompactionRecorder;
  readonly clock: Clock;
}

export interface Rewritten {
  readonly target: EntryOf<'compaction'>;
  readonly fold: Fold;
  readonly cut: Cut;
  /** How the summary was made, for the record. */
  readonly rung: ContentOf<'compaction'>['rung'];
  /** Whether it tells of the results that stand as stubs behind the range; only a summary that was prepared has read so far. */
  readonly maskedTold: boolean | undefined;
  /** Whether the range is found again; omitted: it is looked up when this is recorded. */
  readonly reach?: Reach;
}

/** Puts another summary in the place of a record's: the same range, from its originals, as a new record that supersedes it. */
export class SummaryRewriter {
  constructor(private readonly deps: RewriterDeps) {}

  /** Has the folded range summarised anew. Rejects as the chain does, or with `StoreError`. */
  async rewrite(
    target: EntryOf<'compaction'>,
    options: { readonly instructions: string | null; readonly background: boolean },
    hooks: JobHooks,
  ): Promise<Rewritten> {
    const cut = await this.originals(target);
    // Where another branch is on show by now, these are not its originals.
    if (this.deps.planner.live?.uuid !== target.uuid) throw new Error(english('another branch is on show'));
    const previous = this.deps.planner.previousState(await this.before(target));
    // In the background that is looked up first: a summary is recorded as soon as it is written.
    const reach = options.background ? await this.deps.recorder.reachOf(cut) : undefined;
    const fold = await this.deps.planner.byChain({ cut, previous, ...options }, hooks);
    return { target, cut, fold, rung: fold.rung, maskedTold: false, ...(reach ? { reach } : {}) };
  }

  /** With the user's own text in the place of what a model wrote, or of the passages that stood in for it. */
  async edited(target: EntryOf<'compaction'>, text: string): Promise<Rewritten> {
    const state = this.deps.planner.previousState(target) ?? emptyFoldedState;
    const { model, rung, maskedTold } = target.content;
    const folded = withUsersText(state, text, model !== null);
    const fold: Fold = { folded, rung: 'model', model, note: null, audit: null, analysis: null };
    return { target, cut: await this.originals(target), fold, rung, maskedTold };
  }

  /** With the summary of a record that `target` has taken the place of, as it was. */
  async again(target: EntryOf<'compaction'>, earlier: EntryOf<'compaction'>): Promise<Rewritten> {
    const folded = this.deps.planner.previousState(earlier) ?? emptyFoldedState;
    const { model, rung, maskedTold } = earlier.content;
    const note = english('An earlier summary, in use again.');
    const fold: Fold = { folded, rung: 'model', model, note, audit: null, analysis: null };
    return { target, cut: await this.originals(target), fold, rung, maskedTold };
  }

  /** What can be edited of a record. */
  editable(target: EntryOf<'compaction'>): string {
    return editableText(this.deps.planner.previousState(target) ?? emptyFoldedState);
  }

  /** Records it. The tokens before it are those without any compaction, so that an undo can be judged by it. Rejects with `StoreError`. */
  async record(
    { target, fold, cut, rung, maskedTold, reach }: Rewritten,
    trigger: ContentOf<'compaction'>['trigger'],
    calls: readonly SummaryCall[],
    instructions: string | null = null,
  ): Promise<EntryOf<'compaction'>> {
    const { recorder, engine, clock } = this.deps;
    const grown = Math.max(0, engine.measure().used - target.content.tokensAfter);
    const { coversFrom, firstKeptEntry, previous, masked } = target.content;
    const stubs = masked ? { masked, ...(maskedTold === undefined ? {} : { maskedTold }) } : {};
    const draft = await recorder.draft(fold, cut, {
      trigger,
      tokensBefore: target.content.tokensBefore + grown,
      rung,
      startedAt: clock.now(),
      holdsTurn: false,
      supersedes: target.uuid,
      coversFrom,
      firstKeptEntry,
      previous: previous ?? null,
      ...(instructions ? { instructions } : {}),
    });
    const { masked: _, maskedTold: __, ...content } = await recorder.measured({ ...draft, needsSummaryRetry: false, ...stubs });
    const continuity =
      cut.folded.length > 0 ? await recorder.continuity(fold, cut, content.summaryText, reach !== undefined, reach ?? null) : null;
    return recorder.append({ ...content, ...stubs, ...(continuity ? { continuity } : {}) }, calls);
  }

  /** The range that a record folded, read again, and what is sent verbatim behind it now. */
  private async originals(target: EntryOf<'compaction'>): Promise<Cut> {
    const { branch, store } = this.deps;
    const { coversFrom } = target.content;
    const first = firstOfRange(target, branch.entries);
    // By steps rather than by pages of the transcript: what takes an entry out of the prompt is not displayed.
    const steps = coversFrom === null ? [] : (await store.branchSteps(branch.session.uuid)).map(({ entry }) => entry);
    const start = Math.max(0, steps.indexOf(coversFrom ?? ''));
    const range = await store.entries(steps.slice(start, steps.indexOf(first.content.firstKeptEntry ?? first.uuid)));
    // What has been taken out of the range may have been said behind it.
    const gone = leftOutEntries([...range, ...branch.entries]);
    const folded = range.filter((entry) => entry.modelFacing && !gone.has(entry.uuid));
    const kept = verbatimEntries(branch.entries).filter(({ modelFacing }) => modelFacing);
    // A record behind a whole answer carries none.
    const carries = requestIn(target.content.summary) !== undefined && !kept.some(isUserMessage);
    return { folded, firstKept: kept[0] ?? null, kept, currentRequest: carries ? (folded.findLast(isUserMessage) ?? null) : null };
  }

  private async before(target: EntryOf<'compaction'>): Promise<EntryOf<'compaction'> | null> {
    const { previous } = target.content;
    const [entry] = previous ? await this.deps.store.entries([previous]) : [];
    return entry && isEntryOf(entry, 'compaction') ? entry : null;
  }
}
