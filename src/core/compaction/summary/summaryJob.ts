import type { Cut } from '../ladder/cutPoint';
import type { Fold } from '../ladder/fold';
import type { SummaryCall } from './summaryWriter';
import { errorText } from '../../errors';
import type { Clock, Disposable } from '../../ports';
import type { Continuity } from '../../session/fidelity';
import type { Reach } from '../measure/continuity';
import type { TextAnalysis } from '../measure/textAnalysis';

export interface JobHooks {
  readonly signal: AbortSignal;
  readonly onLife: () => void;
  readonly spent: (call: SummaryCall) => void;
  /** The range has been read. */
  readonly onRead?: (analysis: TextAnalysis) => void;
}

export type Waited = 'ended' | 'late' | 'given_up';

/**
 * One summary that is being written (`BackgroundSummary` says what becomes of it). A turn waits for it or does not: the same job is prepared in the background, waited for in the
 * foreground, and goes on when the turn has stopped waiting.
 *
 *   running ──answer accepted──▶ ready (`fold`)
 *      ├─────every summariser failed──▶ failed (`failure`)
 *      └─────cancel──▶ cancelled (neither)
 */
export class SummaryJob {
  /** These are paid for, whatever becomes of the job. */
  readonly calls: SummaryCall[] = [];
  fold: Fold | null = null;
  failure: string | null = null;
  /** How much of the range is in the summary; null until it has been measured. */
  continuity: Continuity | null = null;
  /** Whether the range is found again; null until that has been looked up. */
  reach: Reach | null = null;
  readonly ended: Promise<void>;
  private readonly abort = new AbortController();
  private lastLife: number;

  constructor(
    readonly cut: Cut,
    /** What the branch, the model and the policy were like: a result is of use only while that holds. */
    readonly basis: string,
    readonly instructions: string | null,
    private readonly clock: Clock,
    run: (hooks: JobHooks) => Promise<Fold>,
    /** Begun before anybody asked for a summary. */
    readonly isPrepared = false,
  ) {
    this.lastLife = clock.now();
    const hooks: JobHooks = {
      signal: this.abort.signal,
      onLife: () => (this.lastLife = clock.now()),
      spent: (call) => this.calls.push(call),
    };
    this.ended = run(hooks).then(
      (fold) => void (this.fold = fold),
      (error: unknown) => {
        if (!this.abort.signal.aborted) this.failure = errorText(error);
      },
    );
  }

  get isRunning(): boolean {
    return this.fold === null && this.failure === null && !this.abort.signal.aborted;
  }

  /** Once there is a summary; nothing waits for it. `measure` must not reject. */
  async measure(measure: (fold: Fold) => Promise<Continuity | null>): Promise<void> {
    await this.ended;
    if (this.fold && !this.abort.signal.aborted) this.continuity = await measure(this.fold);
  }

  cancel(): void {
    this.abort.abort();
  }

  /** `late`: nothing has been heard from a summariser for `patienceMs`; null waits as long as it takes. Never rejects. */
  async wait(patienceMs: number | null, signal: AbortSignal): Promise<Waited> {
    if (!this.isRunning) return 'ended';
    if (signal.aborted) return 'given_up';
    let timer: Disposable | null = null;
    let giveUp!: () => void;
    const others: Promise<Waited>[] = [
      new Promise((resolve) => signal.addEventListener('abort', (giveUp = () => resolve('given_up')), { once: true })),
    ];
    if (patienceMs !== null) {
      const began = this.clock.now();
      others.push(
        new Promise((resolve) => {
          const check = () => {
            const quiet = this.clock.now() - Math.max(began, this.lastLife);
            if (quiet >= patienceMs) resolve('late');
            else timer = this.clock.after(patienceMs - quiet, check);
          };
          timer = this.clock.after(patienceMs, check);
        }),
      );
    }
    const waited = await Promise.race([this.ended.then((): Waited => 'ended'), ...others]);
    signal.removeEventListener('abort', giveUp);
    (timer as Disposable | null)?.dispose();
    return waited;
  }
}
