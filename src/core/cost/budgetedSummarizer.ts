import { ModelError } from '../models/modelError';
import type { OwnLimit } from '../models/modelEvent';
import type { Summarizer, SummaryRequest } from '../ports';
import type { BudgetGate } from './budgetedClient';

/** A summariser that is asked only while there is a budget for it; then it fails with that limit as its reason, and the next way of summarising is taken. */
export class BudgetedSummarizer implements Summarizer {
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
