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
  /** Runs something with the session to itself, after what runs; not at all while another window works in it. Rejects as that does. */
  readonly whenFree: (run: () => Promise<void>) => Promise<void>;
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
      const [next] = await store.summaryRetries(branch.session.uuid);
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
    await this.deps.store.removeSummaryRetry(better.target.uuid);
    await this.wake();
    return isLive;
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
    const chain = await engine
      .summarizers()
      .catch((error: unknown) => (log.warn('summary_failed', { compaction, detail: errorText(error) }), []));
    if (chain.length === 0) return;
    let rewritten: Rewritten | null = null;
    const noCut = { folded: [], firstKept: null, kept: [], currentRequest: null };
    const job = (this.job = new SummaryJob(noCut, compaction, null, clock, async (hooks) => {
      rewritten = await rewriter.rewrite(target, { instructions: target.content.instructions ?? null, background: true }, hooks);
      return rewritten.fold;
    }));
    await job.ended;
    this.job = null;
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
