import type { Cut } from '../ladder/cutPoint';
import type { Fold } from '../ladder/fold';
import type { SummaryCall } from './summaryWriter';
import { errorText } from '../../errors';
import type { Clock, Disposable, Summarizer, TextAnalysis } from '../../ports';
import type { ContentOf, Continuity } from '../../session/entry';
import type { Reach } from '../measure/continuity';

export interface JobHooks {
  readonly signal: AbortSignal;
  readonly onLife: () => void;
  readonly spent: (call: SummaryCall) => void;
  /** The range has been read. */
  readonly onRead?: (analysis: TextAnalysis) => void;
}

export type Waited = 'ended' | 'late' | 'given_up';

/**
 * One summary that is being written (`BackgroundSummary` says what becomes of it). A turn waits for it or does not: the same job is
 * prepared in the background, waited for in the foreground, and goes on when the turn has stopped waiting.
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
  /** The record of it, from when it is stored; its requests are paid for and recorded with that. */
  kept: ContentOf<'prepared_summary'> | null = null;
  /** Resolves when it has been stored, or will not be. */
  stored: Promise<void> = Promise.resolve();
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
  measure(measure: (fold: Fold) => Promise<Continuity | null>): void {
    void this.ended.then(async () => {
      if (this.fold && !this.abort.signal.aborted) this.continuity = await measure(this.fold);
    });
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

export interface FailoverRule {
  readonly failureThreshold: number;
  readonly resetMinutes: number;
}

/**
 * Which summariser to ask first. One that failed `failureThreshold` times in a row is asked last, until `resetMinutes` have passed
 * or it succeeds:
 *
 *   trusted ──n failures in a row──▶ last ──success, or reset time──▶ trusted
 */
export class Failover {
  private readonly failures = new Map<string, { count: number; at: number }>();

  constructor(private readonly clock: Clock) {}

  order(chain: readonly Summarizer[], { failureThreshold, resetMinutes }: FailoverRule): readonly Summarizer[] {
    const isLast = (summarizer: Summarizer) => {
      const failed = this.failures.get(nameOf(summarizer));
      return failed !== undefined && failed.count >= failureThreshold && this.clock.now() - failed.at < resetMinutes * 60_000;
    };
    return [...chain.filter((one) => !isLast(one)), ...chain.filter(isLast)];
  }

  failed(summarizer: Summarizer): void {
    const name = nameOf(summarizer);
    this.failures.set(name, { count: (this.failures.get(name)?.count ?? 0) + 1, at: this.clock.now() });
  }

  succeeded(summarizer: Summarizer): void {
    this.failures.delete(nameOf(summarizer));
  }
}

function nameOf({ provider, model, serverSide }: Summarizer): string {
  return `${provider}/${model}${serverSide ? ' (server)' : ''}`;
}
