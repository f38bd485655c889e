import { Emitter } from '../../core/base/event';
import type { Disposable } from '../../core/base/disposable';
import { ModelError } from '../../core/models/modelEvent';
import { english } from '../../core/l10n';
import type { Clock, Logger, SessionStore } from '../../core/ports';
import { embeddingSpace, type EmbeddingChoice, type EmbeddingProgress, type TextTask } from '../../core/embeddings/embeddings';
import type { ProviderId } from '../../core/models/providers';
import type { ProviderAccess } from '../models/providerAccess';
import { EmbeddingEndpoint } from './embeddingEndpoint';
import { PassageEmbedder } from './passageEmbedder';
import { QueryVectors, usualPatienceMs } from './queryVectors';

export interface EmbeddingsDeps {
  /** Null: the user has named no model. Asked again each time. */
  readonly choice: () => EmbeddingChoice | null;
  /** How a provider is reached, at another address than usual if one is named. Rejects with `ModelError`. */
  readonly reach: (provider: ProviderId, url: string | undefined) => Promise<ProviderAccess>;
  readonly clock: Clock;
  readonly log: Logger;
  /** So long a search waits for the vector of its query; 400 ms where nothing is said. */
  readonly patienceMs?: number;
}

/** Batches after which a user is told how far it is: to count takes a moment in a large history. */
const toldEvery = 4;

/** Finding by meaning, with an embedding model that the user has. Without one nothing is done and nothing waited for. */
export class Embeddings implements Disposable {
  private readonly changed = new Emitter<EmbeddingProgress>();
  readonly onDidChange = this.changed.event;
  private readonly ending = new AbortController();
  private readonly queries: QueryVectors;
  private readonly following = new Set<PassageEmbedder>();
  private asked: string | null = null;
  private latest: EmbeddingProgress | null = null;

  constructor(private readonly deps: EmbeddingsDeps) {
    const { clock, log, patienceMs = usualPatienceMs } = deps;
    this.queries = new QueryVectors({
      clock,
      log,
      patienceMs,
      embed: async (text) => {
        const answer = await this.embed([text], 'query');
        const [vector] = answer?.vectors ?? [];
        return answer && vector ? { space: answer.space, vector } : null;
      },
    });
  }

  /** How far it was when that was last looked at; null where no model is named. */
  get progress(): EmbeddingProgress | null {
    return this.deps.choice() === null ? null : this.latest;
  }

  /** Why the last search went by words alone, in words for the user; null where it did not. */
  get searchProblem(): string | null {
    return this.deps.choice() === null ? null : this.queries.problem;
  }

  /** From now on searches of this store that want it (`byMeaning`) go by meaning, too. Returns the store. */
  searching(store: SessionStore): SessionStore {
    const search = store.search.bind(store);
    return Object.assign(store, {
      search: async (query: Parameters<SessionStore['search']>[0]) => {
        const choice = this.deps.choice();
        if (choice === null || !query.byMeaning || query.near || query.text.trim() === '') return search(query);
        const near = await this.queries.find(query.text);
        return search(near ? { ...query, near } : query);
      },
    });
  }

  /** Makes vectors of what the store has, until it is closed or this is disposed of. */
  follow(store: SessionStore): void {
    const embedder = this.embedder(store);
    this.following.add(embedder);
    void embedder.run(this.ending.signal).then(() => this.following.delete(embedder));
  }

  /** Another model may have been named, or the server come back. */
  wake(): void {
    for (const embedder of this.following) embedder.wake();
  }

  /** Makes all vectors that are missing now. Rejects with `ModelError` or `StoreError`. */
  async finish(store: SessionStore): Promise<void> {
    await this.embedder(store).finish(this.ending.signal);
  }

  dispose(): void {
    this.ending.abort();
    this.changed.dispose();
  }

  private embedder(store: SessionStore): PassageEmbedder {
    const { clock, log, choice } = this.deps;
    let batches = 0;
    return new PassageEmbedder({
      store,
      clock,
      log,
      space: () => {
        const chosen = choice();
        return chosen && embeddingSpace(chosen);
      },
      embed: (texts, signal) => this.embed(texts, 'passage', signal),
      onStep: (step) => {
        if (step.state === 'working' && batches++ % toldEvery !== 0) return;
        // Once told, all done is no news.
        if (step.state === 'done' && this.latest?.state === 'done' && batches === 0) return;
        if (step.state === 'done') batches = 0;
        void this.tell(store, step).catch(() => undefined);
      },
    });
  }

  private async tell(store: SessionStore, step: Pick<EmbeddingProgress, 'state' | 'error'>): Promise<void> {
    const choice = this.deps.choice();
    if (choice === null) return;
    const { embedded, passages, full } = await store.vectorStatus();
    this.latest = { model: choice.model, embedded, passages, full, ...step };
    this.changed.fire(this.latest);
  }

  private async embed(
    texts: readonly string[],
    task: TextTask,
    signal: AbortSignal = this.ending.signal,
  ): Promise<{ readonly space: string; readonly vectors: number[][] } | null> {
    const choice = this.deps.choice();
    if (choice === null) return null;
    const way = JSON.stringify(choice);
    if (this.asked !== null && this.asked !== way) this.queries.forget();
    this.asked = way;
    const access = await this.deps.reach(choice.provider, choice.url);
    if (access.provider !== 'ollama' && access.provider !== 'openai-compatible')
      throw new ModelError({ reason: 'invalid_request', detail: english('{0} has no embedding models.', access.provider) });
    const vectors = await new EmbeddingEndpoint(access, choice.model).embed(texts, task, signal);
    return { space: embeddingSpace(choice), vectors };
  }
}
