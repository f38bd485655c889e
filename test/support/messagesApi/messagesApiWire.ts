export interface DoubleModel {
  readonly id: string;
  readonly name: string;
  /** Input limit in tokens. */
  readonly window: number;
  readonly maxOutput: number;
  /** Shorter prefixes are not cached. */
  readonly minCacheTokens: number;
  /** Returns thinking without its text unless the request asks for a summary. */
  readonly omitsThinking: boolean;
  /** Its answers can be held to a schema. */
  readonly structured?: boolean;
  /** Takes a system message behind a user's turn. */
  readonly hears?: true;
}

export interface WireBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface WireTool {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Consecutive messages of one role, as the provider joins them; a system message belongs to the user's turn that it follows. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly { readonly block: WireBlock; readonly path: string; readonly system?: true }[];
}

/** A request that passed validation. */
export interface Prompt {
  readonly model: DoubleModel;
  readonly system: readonly WireBlock[];
  readonly tools: readonly WireTool[];
  readonly turns: readonly Turn[];
  readonly maxTokens: number;
  readonly stream: boolean;
  /** `cache_control` at the top of the request: a breakpoint at the end of everything. */
  readonly cacheAll: CacheTime | null;
  /** What `thinking.display` asks for; null when the request leaves it to the model. */
  readonly thinkingDisplay: 'summarized' | 'omitted' | null;
  /** A compaction is asked for: nothing else is answered. `instructions` null: the server's own. */
  readonly compaction: { readonly instructions: string | null } | null;
}

/** What a mark can be paid for: five minutes at 1.25 times the price of a token, an hour at twice. */
export type CacheTime = '5m' | '1h';

export interface WireUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  /** What was written, by the time that it was written for. */
  readonly cache_creation: { readonly ephemeral_5m_input_tokens: number; readonly ephemeral_1h_input_tokens: number };
  readonly output_tokens: number;
}

/** An answer other than 200, in the provider's format. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  /** The body of the response. */
  get text(): string {
    return JSON.stringify({ type: 'error', error: { type: this.type, message: this.message }, request_id: 'req_double' });
  }
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'invalid_request_error', message);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of a block that has some, else an empty string. */
export function textOf(block: WireBlock): string {
  if (block.type === 'text') return String(block['text']);
  if (block.type === 'thinking') return String(block['thinking']);
  const content = block['content'];
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((part) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('\n')
    : '';
}
