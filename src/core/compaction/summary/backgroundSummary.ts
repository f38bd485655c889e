import type { ContextEngine } from '../../context/engine';
import { english } from '../../l10n';
import type { Clock, Summarizer, TextAnalysis } from '../../ports';
import type { CompactionRecorder } from '../compactionRecorder';
import { sentEntries, type Cut } from '../ladder/cutPoint';
import type { FoldPlanner } from '../ladder/foldPlanner';
import type { BranchState } from '../../chat/branchState';
import { SummaryJob } from './summaryJob';
import type { SummaryCall } from './summaryWriter';

export interface BackgroundSummaryDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly planner: FoldPlanner;
  readonly recorder: Pick<CompactionRecorder, 'spend' | 'expectedContinuity' | 'reachOf'>;
  readonly clock: Clock;
  /** Stores a summary that was written before anybody asked for one. Never rejects. */
  readonly keep: (job: SummaryJob) => Promise<void>;
  /** A summary that nobody waits for has begun, or ended. */
  readonly changed: () => void;
}

export interface JobOptions {
  readonly instructions?: string | null;
  /** Nobody has asked for it yet. */
  readonly background?: boolean;
  readonly first?: readonly Summarizer[];
  /** The conversation's own prompt still fits the model, and may be gone on from; `only`: it is not worth a transcript. */
  readonly inPrompt?: boolean | 'only';
}

export type SummaryState = 'idle' | 'writing' | 'ready' | 'outdated' | 'failed';

/**
 * The one summary of a session that is being written or waits to be used. Turns come and go meanwhile.
 *
 *   idle ──begin──▶ writing ──accepted──▶ ready ──its record is appended, or drop──▶ idle
 *                    │   │                  │
 *                    │   └─the branch begins otherwise, other record, policy or instructions─▶ outdated ──drop──▶ idle
 *                    ├─every summariser failed──▶ failed ──the turn after the one that was told──▶ idle
 *                    └─drop──▶ idle
 *
 * `outdated` is looked at, not told: what a job has read is compared with the context whenever somebody asks for the state, and a
 * job that is outdated by an entry which another window takes back is ready again. A new summary may begin in any state, and drops
 * the one before it. Whatever becomes of a job, what it has used is recorded.
 */
export class BackgroundSummary {
  private job: SummaryJob | null = null;
  private turn = 0;
  /** What the last turn that had to do without a summary was told. */
  private told: { readonly turn: number; readonly why: string; readonly job: SummaryJob | null } | null = null;

  constructor(private readonly deps: BackgroundSummaryDeps) {}

  /** For who wants one with these instructions. */
  state(instructions: string | null = null): SummaryState {
    const { job, told } = this;
    const isTold = told?.turn === this.turn;
    if (!job) return isTold ? 'failed' : 'idle';
    if (job.failure !== null) return isTold || (job !== told?.job && job.basis === this.basis()) ? 'failed' : 'idle';
    const sent = sentEntries(this.deps.branch.entries);
    const holds =
      job.instructions === instructions &&
      job.basis === this.basis() &&
      job.cut.folded.every(({ uuid }, index) => sent[index]?.uuid === uuid);
    if (!holds) return 'outdated';
    return job.fold ? 'ready' : 'writing';
  }

  /** The job, where it is `writing` or `ready`. */
  usable(instructions: string | null = null): SummaryJob | null {
    const state = this.state(instructions);
    return state === 'writing' || state === 'ready' ? this.job : null;
  }

  /** A summary is being written, or waits to be used. */
  get isUsable(): boolean {
    return this.usable() !== null;
  }

  /** Something is being written that nobody has asked for yet. */
  get isWriting(): boolean {
    return this.job !== null && this.job.isPrepared && this.job.isRunning;
  }

  /** What may have failed can be asked again, once somebody has been told of it. */
  nextTurn(): void {
    this.turn++;
  }

  /**
   * Why there is no summary, in words for the user, where it has `failed`: the turn that is told does not ask again, whatever else changes.
   */
  tellFailure(): string | null {
    const { job, told, turn } = this;
    if (this.state() !== 'failed') return null;
    if (told?.turn !== turn) this.told = { turn, why: failureNote(job!.failure!), job };
    return this.told!.why;
  }

  /** Ends what is being written although it is wanted, and counts as a failure for the rest of the turn. */
  giveUp(why: string): void {
    this.told = { turn: this.turn, why, job: null };
    this.drop();
  }

  /** Takes over what the job has used so far: from here on the caller records it. */
  takeCalls(): SummaryCall[] {
    return this.job?.calls.splice(0) ?? [];
  }

  begin(cut: Cut, { instructions = null, background = false, first = [], inPrompt = true }: JobOptions): SummaryJob {
    const { planner, clock, recorder } = this.deps;
    this.drop();
    const previous = planner.previousState();
    const options = { cut, previous, instructions, background, first, inPrompt };
    const job: SummaryJob = new SummaryJob(
      cut,
      this.basis(),
      instructions,
      clock,
      (hooks) => planner.byChain(options, { ...hooks, onRead: (analysis) => onRead(analysis) }),
      background,
    );
    // Whether the range is found again is looked up while a model writes: a turn that waits for the summary does not wait for that.
    const onRead = (analysis: TextAnalysis) =>
      void (background ? null : recorder.reachOf(cut, analysis).then((reach) => (job.reach = reach)));
    this.job = job;
    // What is prepared is measured in the background too: a turn that takes it has nothing to wait for.
    if (background) {
      job.measure((fold) => recorder.expectedContinuity(fold, cut));
      job.stored = this.deps.keep(job);
      this.deps.changed();
      void job.ended.then(() => this.deps.changed());
    }
    return job;
  }

  /** Takes up one that was written before, by this process or another. */
  async adopt(job: SummaryJob): Promise<void> {
    this.drop();
    this.job = job;
    await job.ended;
  }

  /** Nobody pays for a summary that can no longer be used. */
  dropOutdated(): void {
    if (this.job && this.state(this.job.instructions) === 'outdated') this.drop();
  }

  /** Ends what is being written, and forgets what was. */
  drop(): void {
    const { job } = this;
    this.job = null;
    if (!job) return;
    job.cancel();
    void job.ended.then(() => this.deps.recorder.spend(job.calls.splice(0)));
  }

  /**
   * What the branch and the policy are like: a summary is of use only while that holds. Whoever wrote it, it is of use to any model.
   */
  basis(): string {
    const { engine, planner } = this.deps;
    const { format, maxSummaryTokens } = engine.policy.compaction;
    return JSON.stringify([planner.live?.uuid ?? null, format, maxSummaryTokens]);
  }
}

export function failureNote(failure: string): string {
  return english('The model could not summarize: {0}.', failure.replace(/\.$/, ''));
}
