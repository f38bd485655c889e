import type { ModelClient, Summarizer, SummaryRequest } from '../../core/ports';
import { ModelError, type ModelFailure, type TokenUsage } from '../../core/models/modelEvent';
import type { ModelMessage, ModelRequest } from '../../core/models/modelRequest';
import { CancelledError } from '../../core/errors';
import { english } from '../../core/l10n';

/**
 * Room on top of the summary for models that think unasked: the provider counts their thinking as output. The prompt tells the
 * model how long the summary may be, so this makes no summary longer.
 */
const thinkingTokens = 4_096;

/** How providers say that the model had finished what it wanted to say. */
const finished: ReadonlySet<string> = new Set(['end_turn', 'stop_sequence', 'stop']);
/** Any other end is that of an answer to the conversation: a gateway may drop what it does not know of a request. */
const compacted: ReadonlySet<string> = new Set(['compaction']);

export interface ModelSummarizerOptions {
  readonly client: ModelClient;
  readonly model: string;
  /** How much the model can read. */
  readonly contextTokens: number;
  /** Omitted: as long as the client waits. */
  readonly timeoutMs?: number;
  /** The provider's own compaction is asked for; only with a client that `compacts`. */
  readonly serverSide?: boolean;
  /** Asked whenever it matters: the user may have been asked meanwhile. */
  readonly needsConsent?: () => boolean;
  /** Only the model of the conversation has this: what it is called there, and whoever has shown that they cannot go on from one. */
  readonly continuing?: { readonly from: string; readonly declined: Set<string> };
}

/**
 * A summary written by a model. It is asked once, with a stream, and is given no tools but those of a conversation that it goes on from.
 * The provider's own compaction is given the same and told the same, in the place it has for instructions; of the signed block that
 * comes back only the text is used, which unlike the block can be checked, edited, undone and read by any other model.
 */
export class ModelSummarizer implements Summarizer {
  readonly provider: string;
  readonly model: string;
  readonly contextTokens: number;
  readonly serverSide: boolean;
  private readonly asksConsent: () => boolean;
  private readonly client: ModelClient;
  private readonly timeoutMs: number | undefined;
  private readonly continuing: ModelSummarizerOptions['continuing'];

  constructor({ client, model, contextTokens, timeoutMs, serverSide = false, continuing, needsConsent }: ModelSummarizerOptions) {
    this.serverSide = serverSide;
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
    return this.continuing && !this.continuing.declined.has(this.way(this.continuing.from)) ? this.continuing.from : undefined;
  }

  declineContinuing(): void {
    this.continuing?.declined.add(this.way(this.continuing.from));
  }

  private way(from: string): string {
    return this.serverSide ? `${from} (server)` : from;
  }

  async summarize(asked: SummaryRequest, stop: AbortSignal): Promise<{ text: string; usage: TokenUsage }> {
    if (stop.aborted) throw new CancelledError();
    const limit = this.timeoutMs === undefined ? null : AbortSignal.timeout(this.timeoutMs);
    const signal = limit ? AbortSignal.any([stop, limit]) : stop;
    try {
      return await this.ask(asked, signal);
    } catch (error) {
      if (limit?.aborted && !stop.aborted)
        throw new ModelError({
          reason: 'network',
          detail: english('It did not finish within {0} s.', Math.round((this.timeoutMs ?? 0) / 1_000)),
        });
      throw error;
    }
  }

  private async ask(
    { system, prompt, maxTokens, schema, continues, onProgress }: SummaryRequest,
    signal: AbortSignal,
  ): Promise<{ text: string; usage: TokenUsage }> {
    const { maxOutput } = await this.client.describe(this.model, signal);
    const block: ModelMessage = { role: 'user', blocks: [{ type: 'text', text: prompt }] };
    const maxOutputTokens = Math.min(maxTokens + thinkingTokens, maxOutput);
    const fresh = { model: this.model, tools: [] };
    const request: ModelRequest = this.serverSide
      ? { ...(continues ?? { ...fresh, system: '', messages: [block] }), maxOutputTokens, compact: continues ? prompt : system }
      : // Without a mark of its own: nobody will ask for what ends with it.
        {
          ...(continues ?? { ...fresh, system }),
          messages: [...(continues?.messages ?? []), block],
          maxOutputTokens,
          ...(schema ? { answerSchema: schema } : {}),
        };
    const parts: string[] = [];
    let usage: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    let calledTool = false;
    let reason = '';
    for await (const event of this.client.stream(request, signal)) {
      if (event.type !== 'failed')
        onProgress?.(
          event.type === 'usage' ? event.usage : null,
          event.type === 'text_delta' || event.type === 'thinking_delta' ? event.text : '',
        );
      if (event.type === 'usage') usage = event.usage;
      else if (event.type === 'stopped') reason = event.reason;
      else if (event.type === 'failed') throw failureError(event.failure);
      else if (event.type === 'block' && event.block.type === 'text') parts.push(event.block.text);
      else if (event.type === 'block' && event.block.type === 'tool_use') calledTool = true;
    }
    if (signal.aborted) throw new CancelledError();
    const text = parts.join('').trim();
    const flaw = flawOf(text, this.serverSide ? compacted : finished, reason, calledTool);
    // The same request is not worth a retry: the next summariser or the next rung is.
    if (flaw) throw new ModelError({ reason: 'invalid_request', detail: flaw });
    return { text, usage };
  }
}

function flawOf(text: string, ends: ReadonlySet<string>, reason: string, calledTool: boolean): string | undefined {
  if (ends === compacted && finished.has(reason)) return english('The provider answered the conversation instead of compacting it.');
  if (calledTool) return english('The summary was not written: the model called a tool instead.');
  if (!ends.has(reason)) return english('The summary was cut off ({0}).', reason || 'no end');
  return text === '' ? english('The summary is empty.') : undefined;
}

function failureError(failure: ModelFailure): Error {
  return failure.reason === 'cancelled' ? new CancelledError() : new ModelError(failure);
}
