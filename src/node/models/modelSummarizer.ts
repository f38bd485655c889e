import type { ModelClient, Summarizer, SummaryRequest } from '../../core/ports';
import type { ModelFailure, TokenUsage } from '../../core/models/modelEvent';
import type { ModelMessage, ModelRequest } from '../../core/models/modelRequest';
import { ModelError } from '../../core/chat/modelError';
import { CancelledError } from '../../core/errors';
import { english } from '../../core/l10n';

/**
 * Room on top of the summary for models that think unasked: the provider counts their thinking as output. The prompt tells the
 * model how long the summary may be, so this makes no summary longer.
 */
const thinkingTokens = 4_096;

/** How providers say that the model had finished what it wanted to say. */
const finished: ReadonlySet<string> = new Set(['end_turn', 'stop_sequence', 'stop']);

export interface ModelSummarizerOptions {
  readonly client: ModelClient;
  readonly model: string;
  /** How much the model can read. */
  readonly contextTokens: number;
  /** Omitted: as long as the client waits. */
  readonly timeoutMs?: number;
  /** Asked whenever it matters: the user may have been asked meanwhile. */
  readonly needsConsent?: () => boolean;
  /** Of the model of the conversation only: what it is called there, and whoever has shown that they cannot go on from one. */
  readonly continuing?: { readonly from: string; readonly declined: Set<string> };
}

/** A summary written by a model. It is asked once, with a stream, and is given no tools but those of a conversation that it goes on from. */
export class ModelSummarizer implements Summarizer {
  readonly provider: string;
  readonly model: string;
  readonly contextTokens: number;
  private readonly asksConsent: () => boolean;
  private readonly client: ModelClient;
  private readonly timeoutMs: number | undefined;
  private readonly continuing: ModelSummarizerOptions['continuing'];

  constructor({ client, model, contextTokens, timeoutMs, continuing, needsConsent }: ModelSummarizerOptions) {
    this.continuing = continuing;
    this.asksConsent = needsConsent ?? (() => false);
    this.provider = client.provider;
    this.client = client;
    this.timeoutMs = timeoutMs;
    this.model = model;
    this.contextTokens = contextTokens;
  }

  get needsConsent(): boolean {
    return this.asksConsent();
  }

  get continuesFrom(): string | undefined {
    return this.continuing && !this.continuing.declined.has(this.continuing.from) ? this.continuing.from : undefined;
  }

  declineContinuing(): void {
    this.continuing?.declined.add(this.continuing.from);
  }

  async summarize(asked: SummaryRequest, stop: AbortSignal): Promise<{ text: string; usage: TokenUsage }> {
    if (stop.aborted) throw new CancelledError();
    const limit = this.timeoutMs === undefined ? null : AbortSignal.timeout(this.timeoutMs);
    const signal = limit ? AbortSignal.any([stop, limit]) : stop;
    try {
      return await this.ask(asked, signal);
    } catch (error) {
      if (limit?.aborted && !stop.aborted) throw new ModelError({ reason: 'network', detail: english('It did not finish within {0} s.', Math.round((this.timeoutMs ?? 0) / 1_000)) });
      throw error;
    }
  }

  private async ask({ system, prompt, maxTokens, continues, onProgress }: SummaryRequest, signal: AbortSignal): Promise<{ text: string; usage: TokenUsage }> {
    const { maxOutput } = await this.client.describe(this.model, signal);
    const block: ModelMessage = { role: 'user', blocks: [{ type: 'text', text: prompt }] };
    const request: ModelRequest = {
      ...(continues ?? { model: this.model, system, tools: [] }),
      // Without a mark of its own: nobody will ask for what ends with it.
      messages: [...(continues?.messages ?? []), block],
      maxOutputTokens: Math.min(maxTokens + thinkingTokens, maxOutput),
    };
    const parts: string[] = [];
    let usage: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    let calledTool = false;
    let reason = '';
    for await (const event of this.client.stream(request, signal)) {
      onProgress?.(event.type === 'usage' ? event.usage : null);
      if (event.type === 'usage') usage = event.usage;
      else if (event.type === 'stopped') reason = event.reason;
      else if (event.type === 'failed') throw failureError(event.failure);
      else if (event.type === 'block' && event.block.type === 'text') parts.push(event.block.text);
      else if (event.type === 'block' && event.block.type === 'tool_use') calledTool = true;
    }
    if (signal.aborted) throw new CancelledError();
    const text = parts.join('').trim();
    const flaw = flawOf(text, reason, calledTool);
    // Not worth a retry with the same request: the next summariser or the next rung is.
    if (flaw) throw new ModelError({ reason: 'invalid_request', detail: flaw });
    return { text, usage };
  }
}

function flawOf(text: string, reason: string, calledTool: boolean): string | undefined {
  if (calledTool) return english('The summary was not written: the model called a tool instead.');
  if (!finished.has(reason)) return english('The summary was cut off ({0}).', reason || 'no end');
  return text === '' ? english('The summary is empty.') : undefined;
}

function failureError(failure: ModelFailure): Error {
  return failure.reason === 'cancelled' ? new CancelledError() : new ModelError(failure);
}
