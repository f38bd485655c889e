import type { ModelEvent } from '../../../core/models/modelEvent';
import { AnswerBlocks } from '../answerBlocks';
import { HttpError } from '../httpFailure';
import type { Ending, StreamedAnswer } from '../streamAnswer';
import { sealed } from '../requestParts';
import { isCount } from '../modelTable';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Puts an answer together from the events of the Responses API. An answer is a list of items (reasoning, message, call), each begun,
 * continued and ended by events of its own; servers leave some of those out, so that what an ended item says counts where nothing
 * of it came before. A server that does not stream sends the response as a whole.
 */
export class ResponsesAnswer implements StreamedAnswer<string> {
  private readonly blocks = new AnswerBlocks();
  private readonly heard = new Set<string>();
  private called = false;
  private refusal = '';
  private end: { readonly incomplete: string | null } | null = null;

  get complete(): boolean {
    return this.end !== null;
  }

  read(line: string): ModelEvent[] {
    const text = line.trim();
    const json = text.startsWith('data:') ? text.slice(5).trim() : text.startsWith('{') ? text : '';
    if (json === '' || json === '[DONE]') return [];
    const event = JSON.parse(json) as Fields;
    if (event['object'] === 'response') return this.whole(event);
    if (event['error'] && event['type'] !== 'response.failed') throw new HttpError(undefined, json);
    const key = String(event['output_index'] ?? event['item_id'] ?? '');
    switch (event['type']) {
      case 'response.output_item.added':
        return this.begun(key, fieldsOf(event['item']));
      case 'response.output_text.delta':
        return this.grown(key, 'text', event['delta']);
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.grown(key, 'thinking', event['delta']);
      case 'response.reasoning_summary_part.added':
        // The parts of a summary are paragraphs.
        return this.heard.has(key) ? this.grown(key, 'thinking', '\n\n') : [];
      case 'response.refusal.delta':
        this.refusal += typeof event['delta'] === 'string' ? event['delta'] : '';
        return [];
      case 'response.function_call_arguments.delta':
        this.heard.add(key);
        return this.blocks.call(key, { input: event['delta'] });
      case 'response.output_item.done':
        return this.finished(key, fieldsOf(event['item']));
      case 'response.completed':
      case 'response.incomplete':
        return this.ended(fieldsOf(event['response']));
      case 'response.failed':
        return this.whole(fieldsOf(event['response']));
      case 'error':
        throw new HttpError(undefined, JSON.stringify({ error: { code: event['code'], message: event['message'] } }));
      default:
        return [];
    }
  }

  ending(): { readonly rest: readonly ModelEvent[]; readonly end: Ending } | undefined {
    if (!this.end) return undefined;
    const { incomplete } = this.end;
    if (incomplete === 'content_filter' || this.refusal !== '')
      return { rest: [], end: { type: 'failed', failure: { reason: 'refused', detail: this.refusal || 'content_filter' } } };
    this.called ||= this.blocks.hasCalls;
    const rest = this.blocks.finish();
    return { rest, end: { type: 'stopped', reason: incomplete ? 'max_tokens' : this.called ? 'tool_use' : 'end_turn' } };
  }

  private begun(key: string, item: Fields): ModelEvent[] {
    return item['type'] === 'function_call' ? this.blocks.call(key, named(item)) : [];
  }

  private grown(key: string, type: 'text' | 'thinking', delta: unknown): ModelEvent[] {
    this.heard.add(key);
    return this.blocks.add(type, delta);
  }

  private finished(key: string, item: Fields): ModelEvent[] {
    const isNew = !this.heard.has(key);
    switch (item['type']) {
      case 'message': {
        const parts = list(item['content']);
        const said = isNew ? parts.flatMap((part) => this.blocks.add('text', part['text'])) : [];
        if (this.refusal === '') for (const part of parts) if (typeof part['refusal'] === 'string') this.refusal += part['refusal'];
        return [...said, ...this.blocks.finish()];
      }
      case 'reasoning': {
        const texts = [...list(item['summary']), ...list(item['content'])]
          .map((part) => part['text'])
          .filter((text) => typeof text === 'string' && text !== '');
        const said = isNew ? this.blocks.add('thinking', texts.join('\n\n')) : [];
        const encrypted = item['encrypted_content'];
        return [
          ...said,
          ...(typeof encrypted === 'string' && encrypted !== '' ? this.blocks.seal(sealed(encrypted)) : this.blocks.finish()),
        ];
      }
      case 'function_call': {
        this.called = true;
        const events = this.blocks.call(key, { ...named(item), ...(isNew ? { input: item['arguments'] } : {}) });
        return [...events, ...this.blocks.finish()];
      }
      default:
        return [];
    }
  }

  private whole(response: Fields): ModelEvent[] {
    if (response['error']) throw new HttpError(undefined, JSON.stringify({ error: response['error'] }));
    if (response['status'] === 'failed') throw new HttpError(undefined, JSON.stringify({ error: { code: 'server_error', message: '' } }));
    return [...list(response['output']).flatMap((item, index) => this.finished(String(index), item)), ...this.ended(response)];
  }

  private ended(response: Fields): ModelEvent[] {
    const reason = fieldsOf(response['incomplete_details'])['reason'];
    this.end = {
      incomplete: response['status'] === 'incomplete' || typeof reason === 'string' ? String(reason ?? 'max_output_tokens') : null,
    };
    return measured(fieldsOf(response['usage']));
  }
}

function named({ call_id: id, name }: Fields): { readonly id?: string; readonly name?: string } {
  return { ...(typeof id === 'string' ? { id } : {}), ...(typeof name === 'string' ? { name } : {}) };
}

/** A prompt without tokens is a server that does not count. */
function measured({ input_tokens: input, output_tokens: output, input_tokens_details: details }: Fields): ModelEvent[] {
  if (!isCount(input) || input === 0) return [];
  const cached = fieldsOf(details)['cached_tokens'];
  const cacheRead = isCount(cached) ? Math.min(cached, input) : 0;
  return [{ type: 'usage', usage: { input: input - cacheRead, output: isCount(output) ? output : 0, cacheRead, cacheWrite: 0 } }];
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
