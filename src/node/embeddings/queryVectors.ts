import { errorText } from '../../core/errors';
import { english } from '../../core/l10n';
import type { Clock, Logger } from '../../core/ports';
import type { QueryVector } from '../../core/embeddings/embeddings';
import { problemOf } from './embeddingEndpoint';

export interface QueryVectorsDeps {
  /** Resolves with null where no model is named. Rejects with `ModelError`. */
  readonly embed: (text: string) => Promise<QueryVector | null>;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly log: Logger;
  /** So long a search waits for the vector of its query. */
  readonly patienceMs: number;
}

/** For searches that somebody watches: a model in memory takes 20 to 50 ms on the user's machine. */
export const usualPatienceMs = 400;
/** So long nobody waits after a server that was away or slow; its late answer ends that. */
const awayMs = 30_000;
/** People search again for what they have searched for, and while they type. */
const mostKept = 100;

/**
 * The vectors of queries. A server that is away or slow holds up one search for `patienceMs` and no other: its answer is waited for in the
 * background, and until it has come searches go by words alone.
 */
export class QueryVectors {
  private readonly known = new Map<string, QueryVector>();
  private readonly asked = new Map<string, Promise<QueryVector | null>>();
  private awayUntil = 0;
  private lastProblem: string | null = null;

  constructor(private readonly deps: QueryVectorsDeps) {}

  /** Why the last search went by words alone; null where it did not. */
  get problem(): string | null {
    return this.lastProblem;
  }

  /** Null where there is none in time. Never rejects. */
  async find(text: string): Promise<QueryVector | null> {
    const known = this.known.get(text);
    if (known) {
      this.lastProblem = null;
      return known;
    }
    const { clock, patienceMs } = this.deps;
    const isAway = clock.now() < this.awayUntil;
    // One request at a time while it is away: a server that loads its model is not helped by more.
    if (isAway && this.asked.size > 0) return null;
    const answer = this.ask(text);
    if (isAway) return null;
    return new Promise((resolve) => {
      let isLate = false;
      const late = clock.after(patienceMs, () => {
        isLate = true;
        this.awayUntil = clock.now() + awayMs;
        this.lastProblem = english('The embedding server has not answered within {0} ms.', patienceMs);
        resolve(null);
      });
      void answer.then((vector) => {
        late.dispose();
        // A late one does not take back what that search is told.
        if (vector && !isLate) this.lastProblem = null;
        resolve(vector);
      });
    });
  }

  /** Another model, or another way to it. */
  forget(): void {
    this.known.clear();
    this.asked.clear();
    this.awayUntil = 0;
    this.lastProblem = null;
  }

  private ask(text: string): Promise<QueryVector | null> {
    const before = this.asked.get(text);
    if (before) return before;
    const { embed, clock, log } = this.deps;
    const answer = embed(text).then(
      (vector) => {
        if (this.asked.get(text) !== answer) return null;
        this.awayUntil = 0;
        if (vector) this.keep(text, vector);
        return vector;
      },
      (error: unknown) => {
        this.awayUntil = clock.now() + awayMs;
        this.lastProblem = problemOf(error);
        log.debug('query_not_embedded', { detail: errorText(error) });
        return null;
      },
    );
    this.asked.set(text, answer);
    void answer.then(() => this.asked.get(text) === answer && this.asked.delete(text));
    return answer;
  }

  private keep(text: string, vector: QueryVector): void {
    this.known.set(text, vector);
    const [oldest] = this.known.keys();
    if (this.known.size > mostKept && oldest !== undefined) this.known.delete(oldest);
  }
}
