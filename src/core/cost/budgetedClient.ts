import type { ModelBinding } from '../context/engine';
import type { ModelClient } from '../ports';
import type { ModelEvent } from '../models/modelEvent';
import type { ModelInfo } from '../models/modelInfo';
import type { ModelRequest } from '../models/modelRequest';

/** A binding whose requests are asked for first; what only counts or lists is not. `check`: null, or why not. */
export function withBudget(binding: ModelBinding, check: () => Promise<string | null>): ModelBinding {
  return binding.client.generates ? { ...binding, client: new BudgetedClient(binding.client, check) } : binding;
}

class BudgetedClient implements ModelClient {
  readonly provider: string;
  readonly generates: boolean;
  readonly countTokens?: NonNullable<ModelClient['countTokens']>;

  constructor(
    private readonly client: ModelClient,
    private readonly check: () => Promise<string | null>,
  ) {
    this.provider = client.provider;
    this.generates = client.generates;
    if (client.countTokens) this.countTokens = (...request) => client.countTokens!(...request);
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    let stop = () => {};
    const stopped = new Promise<null>((resolve) => (stop = () => resolve(null)));
    signal.addEventListener('abort', stop, { once: true });
    // A budget that cannot be looked up stops nobody.
    const refusal = signal.aborted ? null : await Promise.race([this.check().catch(() => null), stopped]);
    signal.removeEventListener('abort', stop);
    if (refusal !== null) yield { type: 'failed', failure: { reason: 'budget', detail: refusal } };
    else yield* this.client.stream(request, signal);
  }

  listModels(signal?: AbortSignal): Promise<ModelInfo[]> {
    return this.client.listModels(signal);
  }

  describe(model: string, signal?: AbortSignal): Promise<ModelInfo> {
    return this.client.describe(model, signal);
  }
}
