import type { ModelEvent } from '../../../core/models/modelEvent';
import { AnswerBlocks } from '../answerBlocks';
import { HttpError } from '../httpFailure';
import type { Ending, StreamedAnswer } from '../streamAnswer';
import { isCount } from '../modelTable';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Puts an answer together from the events of a Chat Completions stream. Servers differ: usage may come with every event
 * (cumulative), after the last choice, be zero or be missing; calls may lack an index or an id; thinking has two names; a server
 * that does not stream sends the message as a whole.
 */
export class ChatCompletionAnswer implements StreamedAnswer<string> {
  private readonly blocks = new AnswerBlocks();
  private reason: string | null = null;
  private refusal = '';
  private done = false;
  private lastCall = 0;
  /** The id of the call that goes on under an index, and how many had the index before it. */
  private readonly begun = new Map<number, { id: string; before: number }>();

  /** The answer does not end at the reason for stopping: the usage comes after it. */
  get complete(): boolean {
    return this.done;
  }

  read(line: string): ModelEvent[] {
    const text = line.trim();
    if (text === 'data: [DONE]' || text === 'data:[DONE]') {
      this.done = true;
      return [];
    }
    const json = text.startsWith('data:') ? text.slice(5) : text.startsWith('{') ? text : '';
    if (json.trim() === '') return [];
    const event = JSON.parse(json) as Fields;
    if (event['error'] || event['object'] === 'error') throw new HttpError(undefined, json);
    const [choice] = list(event['choices']);
    return [...(choice ? this.choice(choice) : []), ...measured(event['usage'])];
  }

  ending(): { readonly rest: readonly ModelEvent[]; readonly end: Ending } | undefined {
    const { reason, refusal } = this;
    if (reason === null && !(this.done && this.blocks.any)) return undefined;
    if (reason === 'content_filter' || refusal !== '')
      return { rest: [], end: { type: 'failed', failure: { reason: 'refused', detail: refusal || 'content_filter' } } };
    // Some servers say `stop` after a call.
    const called = this.blocks.hasCalls;
    const rest = this.blocks.finish();
    return { rest, end: { type: 'stopped', reason: reason === 'length' ? 'max_tokens' : called ? 'tool_use' : 'end_turn' } };
  }

  private choice(choice: Fields): ModelEvent[] {
    const delta = (choice['delta'] ?? choice['message'] ?? {}) as Fields;
    if (typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== '') this.reason = choice['finish_reason'];
    if (typeof delta['refusal'] === 'string') this.refusal += delta['refusal'];
    return [
      ...this.blocks.add('thinking', delta['reasoning_content'] ?? delta['reasoning']),
      ...this.blocks.add('text', delta['content']),
      ...list(delta['tool_calls']).flatMap((call) => this.call(call)),
    ];
  }

  private call({ index, id, function: called }: Fields): ModelEvent[] {
    const { name, arguments: input } = (called ?? {}) as Fields;
    return this.blocks.call(this.keyOf(index, id, name), {
      ...(typeof id === 'string' ? { id } : {}),
      ...(typeof name === 'string' ? { name } : {}),
      input,
    });
  }

  /**
   * Without an index, an id begins another call. Some servers give all calls the same index: there it is another id with a name that does,
   * since others make up an id for every piece of one call.
   */
  private keyOf(index: unknown, id: unknown, name: unknown): string {
    if (typeof index === 'number') this.lastCall = index;
    else if (id) this.lastCall++;
    const call = this.begun.get(this.lastCall) ?? { id: '', before: 0 };
    this.begun.set(this.lastCall, call);
    if (typeof id === 'string' && id !== '' && id !== call.id && (call.id === '' || name)) {
      if (call.id !== '') call.before++;
      call.id = id;
    }
    return `${this.lastCall}.${call.before}`;
  }
}

/** A prompt without tokens is a server that does not count. */
function measured(usage: unknown): ModelEvent[] {
  const { prompt_tokens: prompt, completion_tokens: output, prompt_tokens_details: details } = (usage ?? {}) as Fields;
  if (!isCount(prompt) || prompt === 0) return [];
  const cached = (details as Fields | null | undefined)?.['cached_tokens'];
  const cacheRead = isCount(cached) ? Math.min(cached, prompt) : 0;
  return [{ type: 'usage', usage: { input: prompt - cacheRead, output: isCount(output) ? output : 0, cacheRead, cacheWrite: 0 } }];
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((item): item is Fields => typeof item === 'object' && item !== null) : [];
}
