import { SummaryJob } from './summaryJob';
import type { SummaryRewriter, Rewritten } from './summaryRewriter';
import { errorText } from '../../errors';
import type { Clock, Disposable, Logger, SessionStore } from '../../ports';
import type { EntryOf } from '../../session/entry';
import type { BranchState } from '../../chat/branchState';
import type { CompactionRecorder } from '../compactionRecorder';
import type { FoldPlanner } from '../ladder/foldPlanner';
import type { ContextEngine } from '../../context/engine';
import type { SummaryCall } from './summaryWriter';

export interface RetriesDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly store: Pick<SessionStore, 'summaryRetries' | 'saveSummaryRetry' | 'removeSummaryRetry' | 'status'>;
  readonly planner: FoldPlanner;
  readonly rewriter: SummaryRewriter;
  readonly recorder: CompactionRecorder;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The interval doubles with every failure, this often. */
const mostDoublings = 5;
/** A provider's prompt cache is cold after this: changing the prompt costs nothing any more. */
const coldAfterMs = 5 * 60_000;

/**
 * Summaries that a rung without a model stands in for, made again from the originals in the background. The queue is on disk and
 * survives the process; a better summary waits in memory until the prompt changes anyway, and is made again when it is lost.
 *
 *   queued ──interval──▶ asking ──failed──▶ queued, for twice as long
 *                           └──written──▶ better ──next prefix break──▶ a record that supersedes
 */
export class SummaryRetries {
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
      const [next] = await store.summaryRetries(branch.session.uuid);
      if (!next || this.closed) return;
      (this.timer as Disposable | null)?.dispose();
      this.timer = clock.after(Math.max(0, next.nextAt - clock.now()), () => void this.attempt(next.compaction, next.attempts));
    } catch (error) {
      log.warn('summary_retries_not_read', { detail: errorText(error) });
    }
  }

  /** Records a better summary that waits. To be called where the prompt changes anyway, by who may append. Rejects with `StoreError`. */
  async apply(): Promise<void> {
    const { better } = this;
    if (!better) return;
    const isLive = this.targetOf(better.target.uuid)?.uuid === better.target.uuid;
    // It has been paid for: when it cannot be stored it waits for the next occasion.
    if (isLive) await this.deps.rewriter.record(better, 'retry', better.calls);
    this.better = null;
    if (!isLive) await this.deps.recorder.spend(better.calls);
    await this.deps.store.removeSummaryRetry(better.target.uuid);
    await this.wake();
  }

  /** Whether nothing that the provider has cached would be lost by `apply`. */
  get isCacheCold(): boolean {
    const { branch, clock } = this.deps;
    return branch.lastUsage === null || clock.now() - branch.lastUsage.at > coldAfterMs;
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
      await store.removeSummaryRetry(compaction).catch(() => undefined);
      return this.wake();
    }
    // Offline: tried again after the next turn.
    const chain = await engine.summarizers().catch((error: unknown) => (log.warn('summary_failed', { compaction, detail: errorText(error) }), []));
    if (chain.length === 0) return;
    let rewritten: Rewritten | null = null;
    const noCut = { folded: [], firstKept: null, kept: [], currentRequest: null };
    const job = (this.job = new SummaryJob(noCut, compaction, null, clock, async (hooks) => {
      rewritten = await rewriter.rewrite(target, { instructions: target.content.instructions ?? null, background: true }, hooks);
      return rewritten.fold;
    }));
    await job.ended;
    // Now, while nobody waits: it is recorded in front of a turn.
    const continuity = rewritten && job.fold ? await recorder.expectedContinuity(job.fold, (rewritten as Rewritten).cut) : undefined;
    this.job = null;
    log.info('summary_retry', { compaction, attempt: attempts + 1, ok: job.fold !== null, ...(job.failure ? { detail: job.failure } : {}) });
    if (rewritten && job.fold) this.better = { ...(rewritten as Rewritten), target, calls: job.calls, ...(continuity ? { continuity } : {}) };
    else {
      await recorder.spend(job.calls);
      if (!this.closed) await this.save(compaction, attempts + 1);
    }
    await this.wake();
  }

  /** The live record, when it is the one that is queued or a mask over it. */
  private targetOf(compaction: string): EntryOf<'compaction'> | null {
    const { live } = this.deps.planner;
    if (!live?.content.needsSummaryRetry) return null;
    return live.uuid === compaction || (live.content.rung === 'mask' && live.content.previous === compaction) ? live : null;
  }

  private async save(compaction: string, attempts: number): Promise<void> {
    const { store, engine, clock, log } = this.deps;
    const waitMs = engine.policy.summarizer.retryIntervalSeconds * 1_000 * 2 ** Math.min(attempts, mostDoublings);
    await store.saveSummaryRetry({ compaction, attempts, nextAt: clock.now() + waitMs }).catch((error: unknown) => log.warn('summary_retry_not_saved', { detail: errorText(error) }));
  }
}
