/**
 * What the double answers: an answer made of blocks, an HTTP error, or a connection that breaks at once.
 *
 *     api.enqueue(reply('Hello ', gate, 'world', toolCall('recall', { query: 'port' })));
 *     api.enqueue(rateLimited(7), reply('cut ', disconnect), reply('fine'));
 */
export type Script = Reply | HttpFault | { readonly kind: 'drop' };

export interface Reply {
  readonly kind: 'reply';
  readonly blocks: readonly ReplyBlock[];
  /** Before the first byte of the response. */
  readonly before: readonly Step[];
  /** Left out: `tool_use` when something is called, else `end_turn`. Cut-offs by a limit win. */
  readonly stopReason?: string;
  readonly explanation?: string;
}

export type ReplyBlock =
  | { readonly type: 'text' | 'thinking'; readonly pieces: readonly Piece[] }
  | { readonly type: 'redacted_thinking' }
  /** `json` is streamed as it stands, whether or not it can be parsed. */
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly json: string; readonly pieces: readonly Step[] };

/** A string is streamed in small deltas; a step happens between the deltas before and after it. */
export type Piece = string | Step;
export type Step = Hold | Delay | Cut;

/** Keeps the answer waiting until the test lets it go on. */
export interface Hold {
  readonly kind: 'hold';
  /** Everything before it has been sent. */
  readonly reached: Promise<void>;
  readonly released: Promise<void>;
  reach(): void;
  release(): void;
}

export interface Delay {
  readonly kind: 'delay';
  readonly ms: number;
}

/**
 * How an answer breaks: the connection is lost (`disconnect`), ends in the middle of an event (`half_event`) or between two
 * (`end`), goes silent (`stall`), or the provider sends an error event (`error`).
 */
export interface Cut {
  readonly kind: 'cut';
  readonly how: 'disconnect' | 'half_event' | 'end' | 'stall' | 'error';
  readonly error?: { readonly type: string; readonly message: string };
}

export interface HttpFault {
  readonly kind: 'fault';
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent instead of the provider's error format, as a gateway would. */
  readonly rawBody?: string;
}

/** Strings and steps between two blocks make one text block. */
export function reply(...parts: readonly (Piece | ReplyBlock)[]): Reply {
  const blocks: ReplyBlock[] = [];
  let pieces: Piece[] = [];
  const close = () => {
    if (pieces.length > 0) blocks.push({ type: 'text', pieces });
    pieces = [];
  };
  for (const part of parts) {
    if (typeof part === 'string' || 'kind' in part) {
      pieces.push(part);
    } else {
      close();
      blocks.push(part);
    }
  }
  close();
  return { kind: 'reply', blocks, before: [] };
}

export function thinking(...pieces: readonly Piece[]): ReplyBlock {
  return { type: 'thinking', pieces };
}

export const redactedThinking: ReplyBlock = { type: 'redacted_thinking' };

let calls = 0;

export function toolCall(name: string, input: unknown, id = `toolu_double_${++calls}`): ReplyBlock {
  return { type: 'tool_use', id, name, json: JSON.stringify(input), pieces: [] };
}

/** A call whose input is sent as it stands, and then whatever steps follow. */
export function rawToolCall(name: string, json: string, ...pieces: readonly Step[]): ReplyBlock {
  return { type: 'tool_use', id: `toolu_double_${++calls}`, name, json, pieces };
}

/** The answer does not begin before these steps are done: slow first byte. */
export function after(...steps: readonly [...Step[], Reply]): Reply {
  const last = steps.at(-1) as Reply;
  return { ...last, before: [...(steps.slice(0, -1) as Step[]), ...last.before] };
}

export function stopped(stopReason: string, answer: Reply): Reply {
  return { ...answer, stopReason };
}

export function refusal(explanation: string, answer = reply()): Reply {
  return { ...answer, stopReason: 'refusal', explanation };
}

export function hold(): Hold {
  let reach = () => {};
  let release = () => {};
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  return { kind: 'hold', reached, released, reach, release };
}

export function delay(ms: number): Delay {
  return { kind: 'delay', ms };
}

export const disconnect: Cut = { kind: 'cut', how: 'disconnect' };
export const halfEvent: Cut = { kind: 'cut', how: 'half_event' };
export const endEarly: Cut = { kind: 'cut', how: 'end' };
export const stall: Cut = { kind: 'cut', how: 'stall' };

export function errorEvent(type: string, message: string): Cut {
  return { kind: 'cut', how: 'error', error: { type, message } };
}

export function httpFault(status: number, type: string, message: string, headers: Record<string, string> = {}): HttpFault {
  return { kind: 'fault', status, type, message, headers };
}

/** An error as something between us and the provider words it. */
export function gatewayFault(status: number, rawBody: string, contentType = 'text/html'): HttpFault {
  return { ...httpFault(status, '', '', { 'content-type': contentType }), rawBody };
}

/** `retryAfter` in seconds, or an HTTP date. */
export function rateLimited(retryAfter?: number | string): HttpFault {
  const message = 'This request would exceed your organization’s rate limit of 400,000 input tokens per minute.';
  return httpFault(429, 'rate_limit_error', message, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) });
}

export function overloaded(): HttpFault {
  return httpFault(529, 'overloaded_error', 'Overloaded');
}

export function serverError(): HttpFault {
  return httpFault(500, 'api_error', 'Internal server error');
}

export function promptTooLong(tokens: number, maximum: number): HttpFault {
  return httpFault(400, 'invalid_request_error', `prompt is too long: ${tokens} tokens > ${maximum} maximum`);
}

/** The connection breaks before any byte of a response. */
export const dropConnection: Script = { kind: 'drop' };
