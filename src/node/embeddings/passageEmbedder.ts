import { CancelledError, errorText, StoreError } from '../../core/errors';
import { ModelError } from '../../core/models/modelEvent';
import type { Clock, Logger, SessionStore } from '../../core/ports';
import type { PassageVector, UnembeddedPassage } from '../../core/embeddings/embeddings';
import { problemOf } from './embeddingEndpoint';

export interface EmbedderDeps {
  readonly store: Pick<SessionStore, 'status' | 'countSessions' | 'unembedded' | 'saveVectors'>;
  /** The model's vectors of some texts; null where no model is named (any more). Rejects with `ModelError`. */
  readonly embed: (
    texts: readonly string[],
    signal: AbortSignal,
  ) => Promise<{ readonly space: string; readonly vectors: number[][] } | null>;
  /** The space that vectors are to lie in; null where no model is named. */
  readonly space: () => string | null;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  /** After each batch, when all is done (`done`), and when the endpoint is away, with the reason. */
  readonly onStep: (step: { readonly state: 'working' | 'done' | 'waiting'; readonly error: string | null }) => void;
}

/** Passages in one request: about 8,000 tokens at most, which every server takes at once. */
const batch = 24;
/** Between two requests, so that the machine and the store have time for the person: the index is brought up to date meanwhile. */
const pauseMs = 300;
/** How often new passages are looked for when all have their vectors. */
const restMs = 30_000;
/** After the first failure, and at most; it doubles from one to the next. */
const firstRetryMs = 30_000;
const mostRetryMs = 15 * 60_000;
const mostStoreFailures = 5;

/** Has vectors made of a store's passages in the background, the newest first, for as long as a model is named. */
export class PassageEmbedder {
  private failures = 0;
  private nap = new AbortController();
  /** Also where it was at work when it was woken. */
  private isWoken = false;

  constructor(private readonly deps: EmbedderDeps) {}

  /** Resolves when the signal is aborted or the store closed. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, onStep } = this.deps;
    while (!signal.aborted) {
      try {
        const isAll = !(await this.isHere()) || (await this.step(signal));
        this.failures = 0;
        await this.rest(isAll ? restMs : pauseMs, signal);
      } catch (error) {
        if (CancelledError.is(error) || signal.aborted) return;
        // A store that has failed is opened anew by whoever needs it, and followed from there.
        if (StoreError.is(error) && (error.reason === 'closed' || this.failures >= mostStoreFailures)) return;
        if (!StoreError.is(error)) onStep({ state: 'waiting', error: problemOf(error) });
        const wait = Math.min(mostRetryMs, firstRetryMs * 2 ** this.failures++);
        log.info('passages_not_embedded', { detail: errorText(error), againInMs: wait });
        await this.rest(wait, signal).catch(() => undefined);
      }
    }
  }

  /** Looks again now, whatever it was waiting for. */
  wake(): void {
    this.isWoken = true;
    this.nap.abort();
  }

  private async rest(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.isWoken) await this.sleep(ms, signal);
    this.isWoken = false;
  }

  private async sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.nap = new AbortController();
    await this.deps.clock.sleep(ms, AbortSignal.any([signal, this.nap.signal])).catch((error: unknown) => {
      if (signal.aborted) throw error;
    });
  }

  /** False where another window has the store, or every commit writes the whole file. Rejects once the store is closed. */
  private async isHere(): Promise<boolean> {
    const { store } = this.deps;
    if (store.status.access === 'owner') return store.status.durability === 'file';
    await store.countSessions();
    return false;
  }

  /** All of it, without pauses. Rejects with `ModelError` or `StoreError`. */
  async finish(signal: AbortSignal): Promise<void> {
    while (!(await this.step(signal))) if (signal.aborted) throw new CancelledError();
  }

  /** One batch; returns whether there is nothing (more) to do. */
  private async step(signal: AbortSignal): Promise<boolean> {
    const { store, space, onStep } = this.deps;
    const wanted = space();
    if (wanted === null) return true;
    const { passages, more } = await store.unembedded(wanted, batch);
    if (passages.length === 0) {
      if (!more) onStep({ state: 'done', error: null });
      return !more;
    }
    const vectors = await this.vectorsOf(passages, signal);
    if (vectors === null) return true;
    await store.saveVectors(wanted, vectors);
    onStep({ state: 'working', error: null });
    return false;
  }

  /** A text that the model refuses gets an empty vector, so that it does not hold up the others: it is found by asking for each alone. */
  private async vectorsOf(passages: readonly UnembeddedPassage[], signal: AbortSignal): Promise<PassageVector[] | null> {
    const { embed, space } = this.deps;
    const wanted = space();
    try {
      const answer = await embed(
        passages.map(({ text }) => text),
        signal,
      );
      if (answer === null || answer.space !== wanted) return null;
      return passages.map(({ hash }, i) => ({ hash, vector: answer.vectors[i] ?? [] }));
    } catch (error) {
      if (!isOfTheText(error)) throw error;
      if (passages.length === 1) return passages.map(({ hash }) => ({ hash, vector: [] }));
      const parts: PassageVector[] = [];
      for (const passage of passages) {
        const part = await this.vectorsOf([passage], signal);
        if (part === null) return null;
        parts.push(...part);
      }
      // A server that refuses every one of them has another quarrel than with their text.
      if (parts.every(({ vector }) => vector.length === 0)) throw error;
      return parts;
    }
  }
}

function isOfTheText(error: unknown): boolean {
  return ModelError.is(error) && (error.failure.reason === 'overflow' || error.failure.status === 400);
}
