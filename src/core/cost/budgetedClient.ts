import type { ModelBinding } from '../context/engine';
import { english } from '../l10n';
import { ModelError, type ModelEvent, type OwnLimit } from '../models/modelEvent';
import type { ModelInfo } from '../models/modelInfo';
import type { ModelRequest } from '../models/modelRequest';
import type { ModelClient, Summarizer, SummaryRequest } from '../ports';
import type { CacheRules } from '../models/modelInfo';
import { untilAborted } from '../base/untilAborted';

/** Null: go on; else why not. `mayAsk`: somebody waits and can be asked, where that is still open. */
export type BudgetGate = (mayAsk: boolean) => Promise<string | null>;

/** A binding whose requests, those of its summarisers included, are asked for first; what only counts or lists is not. */
export function withBudget(binding: ModelBinding, gate: BudgetGate, limit: OwnLimit = 'budget'): ModelBinding {
  const { client, summarizer, chain } = binding;
  const held = (one: Summarizer) => new BudgetedSummarizer(one, gate, limit);
  return {
    ...binding,
    client: client.generates ? new BudgetedClient(client, gate, limit) : client,
    summarizer: summarizer && held(summarizer),
    ...(chain ? { chain: async (entries) => (await chain(entries)).map(held) } : {}),
  };
}

class BudgetedClient implements ModelClient {
  readonly provider: string;
  readonly generates: boolean;
  readonly cacheRules?: CacheRules;
  readonly countTokens?: NonNullable<ModelClient['countTokens']>;

  constructor(
    private readonly client: ModelClient,
    private readonly gate: BudgetGate,
    private readonly limit: OwnLimit,
  ) {
    this.provider = client.provider;
    this.generates = client.generates;
    if (client.cacheRules) this.cacheRules = client.cacheRules;
    if (client.countTokens) this.countTokens = (...request) => client.countTokens!(...request);
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    // A budget that cannot be looked up stops nobody.
    const refusal = signal.aborted
      ? null
      : await untilAborted(
          this.gate(true).catch(() => null),
          signal,
          () => null,
        );
    if (refusal !== null)
      yield { type: 'failed', failure: { reason: this.limit, detail: english('{0} Nothing was sent. Your message is saved.', refusal) } };
    else yield* this.client.stream(request, signal);
  }

  listModels(signal?: AbortSignal): Promise<ModelInfo[]> {
    return this.client.listModels(signal);
  }

  describe(model: string, signal?: AbortSignal): Promise<ModelInfo> {
    return this.client.describe(model, signal);
  }
}

/**
 * A summariser that is asked only while there is a budget for it; then it fails with that limit as its reason, and the next way of
 * summarising is taken.
 */
class BudgetedSummarizer implements Summarizer {
  readonly provider: string;
  readonly model: string;
  readonly contextTokens: number;
  readonly serverSide: boolean;
  readonly summarize: Summarizer['summarize'];
  readonly declineContinuing?: () => void;

  constructor(
    private readonly summarizer: Summarizer,
    gate: BudgetGate,
    limit: OwnLimit,
  ) {
    this.provider = summarizer.provider;
    this.model = summarizer.model;
    this.contextTokens = summarizer.contextTokens;
    this.serverSide = summarizer.serverSide === true;
    this.summarize = async (request: SummaryRequest, signal) => {
      // A budget that cannot be looked up stops nobody.
      const refusal = await gate(request.background !== true).catch(() => null);
      if (refusal !== null) throw new ModelError({ reason: limit, detail: refusal });
      return summarizer.summarize(request, signal);
    };
    if (summarizer.declineContinuing) this.declineContinuing = () => summarizer.declineContinuing!();
  }

  get needsConsent(): boolean {
    return this.summarizer.needsConsent === true;
  }

  // An accessor cannot be left out, as the port has it for those that never go on.
  get continuesFrom(): string {
    return this.summarizer.continuesFrom ?? '';
  }
}
