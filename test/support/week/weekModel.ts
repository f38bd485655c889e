import type { ModelEvent, ModelFailureReason, TokenUsage } from '../../../src/core/models/modelEvent';
import type { ModelInfo } from '../../../src/core/models/modelInfo';
import type { ModelRequest } from '../../../src/core/models/modelRequest';
import { ModelError } from '../../../src/core/models/modelEvent';
import { CancelledError } from '../../../src/core/errors';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import type { ModelClient, Summarizer, SummaryRequest } from '../../../src/core/ports';

const window = 12_000;
const failures: readonly ModelFailureReason[] = ['overloaded', 'rate_limited', 'server', 'network', 'quota', 'refused'];

/** A provider with bad days. What it has answered in full is in `answered`. */
export class WeekModel implements ModelClient {
  readonly provider = 'week';
  readonly generates = true;
  readonly answered: string[] = [];
  failed = 0;
  private count = 0;

  constructor(private readonly random: () => number) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const draw = this.random();
    const input = estimateTokens(JSON.stringify(request.messages)) + estimateTokens(request.system);
    if (input > window) return yield* this.fails('overflow');
    if (draw < 0.12) return yield* this.fails(failures[Math.floor(this.random() * failures.length)]!);
    const text = `answer-${++this.count}- ${'so it is settled and noted. '.repeat(1 + Math.floor(this.random() * 40))}`;
    for (let i = 0; i < text.length; i += 200) {
      yield { type: 'text_delta', index: 0, text: text.slice(i, i + 200) };
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return yield* this.fails('cancelled');
      if (draw < 0.18 && i > 200) return yield* this.fails('network');
    }
    yield { type: 'block', index: 0, block: { type: 'text', text } };
    yield { type: 'usage', usage: { ...used, input, output: estimateTokens(text) } };
    this.answered.push(text);
    yield { type: 'stopped', reason: draw > 0.97 ? 'max_tokens' : 'end_turn' };
  }

  async listModels(): Promise<ModelInfo[]> {
    return [await this.describe('week-1')];
  }

  async describe(model: string): Promise<ModelInfo> {
    return { provider: this.provider, id: model, name: model, window, maxOutput: 1_000, source: 'provider' };
  }

  private *fails(reason: ModelFailureReason): Generator<ModelEvent> {
    this.failed++;
    yield { type: 'failed', failure: { reason, detail: `${reason}, by chance` } };
  }
}

const used: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** It writes summaries, sometimes fails, and sometimes writes nonsense. */
export class WeekSummarizer implements Summarizer {
  readonly provider = 'week';
  readonly model = 'week-small';
  readonly contextTokens = 50_000;

  constructor(private readonly random: () => number) {}

  async summarize(_: SummaryRequest, signal: AbortSignal): Promise<{ text: string; usage: TokenUsage }> {
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) throw new CancelledError();
    const draw = this.random();
    if (draw < 0.15) throw new ModelError({ reason: 'overloaded', detail: 'by chance' });
    if (draw < 0.2) return { text: 'Bananas are yellow.', usage: used };
    const state = { logos: ['the plan is set (#2)'], pathos: [], abstract: [], conversation_summary: 'They talked and settled it.' };
    return { text: JSON.stringify(state), usage: { ...used, input: 500, output: 60 } };
  }
}
