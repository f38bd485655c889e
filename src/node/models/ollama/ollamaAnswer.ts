import type { ModelEvent, TokenUsage } from '../../../core/models/modelEvent';
import { AnswerBlocks } from '../answerBlocks';
import { HttpError } from '../httpFailure';
import type { Ending, StreamedAnswer } from '../streamAnswer';

type Fields = Readonly<Record<string, unknown>>;

/** Puts an answer together from the JSON lines of `/api/chat`. */
export class OllamaAnswer implements StreamedAnswer<string> {
  private readonly blocks = new AnswerBlocks();
  private reason: string | null = null;
  private called = 0;
  usage: TokenUsage | null = null;

  get complete(): boolean {
    return this.reason !== null;
  }

  read(line: string): ModelEvent[] {
    if (line.trim() === '') return [];
    const event = JSON.parse(line) as Fields;
    if (event['error'] !== undefined) throw new HttpError(undefined, line);
    const message = (event['message'] ?? {}) as Fields;
    const calls = Array.isArray(message['tool_calls']) ? (message['tool_calls'] as Fields[]) : [];
    const events = [
      ...this.blocks.add('thinking', message['thinking']),
      ...this.blocks.add('text', message['content']),
      ...calls.flatMap((call) => this.call(call)),
    ];
    if (event['done'] !== true) return events;
    this.reason = String(event['done_reason'] ?? 'stop');
    const { prompt_eval_count: input, eval_count: output } = event;
    if (typeof input !== 'number' || input <= 0) return events;
    this.usage = { input, output: typeof output === 'number' ? output : 0, cacheRead: 0, cacheWrite: 0 };
    return [...events, { type: 'usage', usage: this.usage }];
  }

  ending(): { readonly rest: readonly ModelEvent[]; readonly end: Ending } | undefined {
    if (this.reason === null) return undefined;
    const called = this.blocks.hasCalls;
    const rest = this.blocks.finish();
    // `length` is also what ends an answer for which `num_ctx` has no room left: no proof of an overflow.
    return { rest, end: { type: 'stopped', reason: this.reason === 'length' ? 'max_tokens' : called ? 'tool_use' : 'end_turn' } };
  }

  /** Every call comes whole, in a list without ids (before 0.12) and with the input as an object. */
  private call({ id, function: called }: Fields): ModelEvent[] {
    const { name, arguments: input } = (called ?? {}) as Fields;
    return this.blocks.call(String(this.called++), {
      ...(typeof id === 'string' ? { id } : {}),
      ...(typeof name === 'string' ? { name } : {}),
      input,
    });
  }
}
