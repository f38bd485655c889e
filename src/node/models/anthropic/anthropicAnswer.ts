import type { Anthropic } from '@anthropic-ai/sdk';
import type { ModelBlock } from '../../../core/models/modelRequest';
import type { ModelEvent, TokenUsage } from '../../../core/models/modelEvent';
import type { Ending, StreamedAnswer } from '../streamAnswer';
import { parseToolInput } from '../requestParts';

type Start = Anthropic.RawContentBlockStartEvent['content_block'] | Anthropic.Beta.BetaCompactionBlock;
type Delta = Anthropic.RawContentBlockDelta | Anthropic.Beta.BetaCompactionContentBlockDelta;

interface OpenBlock {
  readonly start: Start;
  text: string;
  signature: string;
}

const nothing: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Puts an answer together from the raw events of its stream. */
export class AnthropicAnswer implements StreamedAnswer<Anthropic.RawMessageStreamEvent> {
  private readonly open = new Map<number, OpenBlock>();
  private usage: TokenUsage = nothing;
  private compaction: TokenUsage = nothing;
  private stop: { readonly reason: string; readonly explanation: string } | null = null;
  private said = false;
  private whole = false;

  /** Whether `message_stop` has been seen: nothing of the answer is missing. */
  get complete(): boolean {
    return this.whole;
  }

  read(event: Anthropic.RawMessageStreamEvent): ModelEvent[] {
    switch (event.type) {
      case 'message_start':
        return this.measured(event.message.usage);
      case 'content_block_start':
        return this.started(event.index, event.content_block);
      case 'content_block_delta':
        return this.continued(event.index, event.delta);
      case 'content_block_stop':
        return this.finished(event.index);
      case 'message_delta': {
        const { stop_reason: reason, stop_details: details } = event.delta;
        if (reason !== null) this.stop = { reason, explanation: details?.explanation ?? '' };
        return this.measured(event.usage);
      }
      case 'message_stop':
        this.whole = true;
        return [...this.open.keys()].sort((a, b) => a - b).flatMap((index) => this.finished(index));
      default:
        return [];
    }
  }

  /**
   * The last event, when the provider has ended the answer; undefined when it has not. A connection that breaks after the stop
   * reason has cost nothing. A refusal is a failure whatever was said before it: the provider asks to discard that. A window
   * that was already full is an overflow; one that filled up while the model was writing leaves an answer worth keeping.
   */
  ending(): { readonly rest: readonly ModelEvent[]; readonly end: Ending } | undefined {
    if (!this.stop) return this.whole ? ended({ type: 'stopped', reason: 'end_turn' }) : undefined;
    const { reason, explanation } = this.stop;
    if (reason === 'refusal') return ended({ type: 'failed', failure: { reason: 'refused', detail: explanation } });
    if (reason === 'model_context_window_exceeded' && !this.said)
      return ended({ type: 'failed', failure: { reason: 'overflow', detail: reason } });
    return ended({ type: 'stopped', reason });
  }

  private started(index: number, start: Start): ModelEvent[] {
    const block: OpenBlock = { start, text: '', signature: '' };
    this.open.set(index, block);
    if (start.type === 'text') return this.grown(index, block, start.text);
    if (start.type === 'thinking') {
      block.signature = start.signature ?? '';
      return this.grown(index, block, start.thinking);
    }
    return [];
  }

  private continued(index: number, delta: Delta): ModelEvent[] {
    const block = this.open.get(index);
    if (!block) return [];
    switch (delta.type) {
      case 'text_delta':
        return this.grown(index, block, delta.text);
      case 'thinking_delta':
        return this.grown(index, block, delta.thinking);
      case 'compaction_delta':
        return this.grown(index, block, delta.content ?? '');
      case 'input_json_delta':
        block.text += delta.partial_json;
        return [];
      case 'signature_delta':
        block.signature = delta.signature;
        return [];
      default:
        return [];
    }
  }

  private grown(index: number, block: OpenBlock, text: string | undefined): ModelEvent[] {
    if (!text) return [];
    block.text += text;
    const type = block.start.type === 'thinking' ? 'thinking_delta' : 'text_delta';
    this.said ||= type === 'text_delta';
    return [{ type, index, text }];
  }

  private finished(index: number): ModelEvent[] {
    const open = this.open.get(index);
    this.open.delete(index);
    const block = open && contentOf(open);
    if (!block) return [];
    this.said ||= block.type === 'tool_use';
    return [{ type: 'block', index, block }];
  }

  /** Counts are cumulative: one of 0 behind another was not counted, and a prompt without tokens is of a gateway that does not count. */
  private measured(usage: Partial<Anthropic.MessageDeltaUsage & Pick<Anthropic.Usage, 'cache_creation'>> | undefined): ModelEvent[] {
    if (!usage) return [];
    const last = this.usage;
    this.usage = {
      input: usage.input_tokens || last.input,
      output: usage.output_tokens ?? last.output,
      cacheRead: usage.cache_read_input_tokens || last.cacheRead,
      cacheWrite: usage.cache_creation_input_tokens || last.cacheWrite,
      ...hourOf(usage.cache_creation?.ephemeral_1h_input_tokens ?? last.cacheWriteHour),
    };
    this.compaction = compactionUsage(usage) ?? this.compaction;
    const all = sum(this.usage, this.compaction);
    return all.input + all.cacheRead + all.cacheWrite === 0 ? [] : [{ type: 'usage', usage: all }];
  }
}

/** Undefined for what we never ask for (the provider's own tools) and for empty text, which could not be sent back. */
function contentOf({ start, text, signature }: OpenBlock): ModelBlock | undefined {
  switch (start.type) {
    case 'text':
      return text === '' ? undefined : { type: 'text', text };
    case 'compaction':
      // The summary of a compaction that failed is null.
      return text === '' && !start.content ? undefined : { type: 'text', text: text || (start.content ?? '') };
    case 'thinking':
      return { type: 'thinking', text, ...(signature === '' ? {} : { signature }) };
    case 'redacted_thinking':
      return { type: 'thinking', text: '', redactedData: start.data };
    case 'tool_use':
      // Some gateways send the whole input at the start and no deltas.
      return { type: 'tool_use', callId: start.id, name: start.name, input: text === '' ? (start.input ?? {}) : parseToolInput(text) };
    default:
      return undefined;
  }
}

/** What a compaction took is paid for, and stands beside the other counts, not in them; undefined where nothing is said of it. */
function compactionUsage(usage: Partial<Anthropic.MessageDeltaUsage>): TokenUsage | undefined {
  const { iterations } = usage as Partial<Anthropic.Beta.BetaMessageDeltaUsage>;
  const all = iterations?.filter((one) => one.type === 'compaction');
  return all
    ?.map((one) => ({
      input: one.input_tokens,
      output: one.output_tokens,
      cacheRead: one.cache_read_input_tokens,
      cacheWrite: one.cache_creation_input_tokens,
      ...hourOf(one.cache_creation?.ephemeral_1h_input_tokens),
    }))
    .reduce(sum, nothing);
}

function sum(one: TokenUsage, other: TokenUsage): TokenUsage {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    ...hourOf((one.cacheWriteHour ?? 0) + (other.cacheWriteHour ?? 0)),
  };
}

function hourOf(tokens: number | undefined): Pick<TokenUsage, 'cacheWriteHour'> {
  return tokens ? { cacheWriteHour: tokens } : {};
}

/** Blocks that were not closed are not complete. */
function ended(end: Ending): { readonly rest: readonly ModelEvent[]; readonly end: Ending } {
  return { rest: [], end };
}
