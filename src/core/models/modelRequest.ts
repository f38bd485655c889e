import type { CacheTime } from '../context/measure/snapshot';
import type { ThinkingLevel } from './modelInfo';
import type { ImageType } from '../session/userMessage';

export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  /** Stands behind the system text as a part of its own, which may be cached apart. */
  readonly systemSummary?: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly ModelMessage[];
  readonly maxOutputTokens: number;
  /**
   * Omitted: as the model does by itself. `off` also where the thinking that its unfinished tool calls came from can no longer be sent
   * along.
   */
  readonly thinking?: ThinkingLevel;
  /** The provider is paid to keep the marked prompt so long; omitted: as long as it does by itself. */
  readonly cacheTime?: CacheTime;
  /**
   * JSON Schema of an object that the answer has to be. A client whose provider cannot hold a model to it, or is not known to, leaves
   * it out: whoever asks says so in words as well, and reads the answer leniently.
   */
  readonly answerSchema?: Readonly<Record<string, unknown>>;
  /**
   * The provider is to put the conversation into a summary by its own means, as these instructions say; the answer is that summary,
   * with the stop reason `compaction`. Only for a client that `compacts`.
   */
  readonly compact?: string;
}

export interface ModelMessage {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly ModelBlock[];
  /** The provider may cache the prompt up to and including this message. */
  readonly cacheBreakpoint?: boolean;
}

export type ModelBlock =
  /**
   * `system`: the program's own words in a user's message. A client whose provider takes system messages among the others sends them as
   * one.
   */
  | { readonly type: 'text'; readonly text: string; readonly as?: 'system' }
  /**
   * The user attached it, or the call `callId` returned it, whose result stands in front of it; `data` is base64. A client whose model
   * sees no images sends `imageInWords` instead.
   */
  | { readonly type: 'image'; readonly name: string; readonly mime: ImageType; readonly data: string; readonly callId?: string }
  | { readonly type: 'thinking'; readonly text: string; readonly signature?: string; readonly redactedData?: string }
  | { readonly type: 'tool_use'; readonly callId: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'tool_result'; readonly callId: string; readonly text: string; readonly isError: boolean };

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** What stands in a request in an image's place for a model that sees none: it must not guess at what it was not shown. */
export function imageInWords({ name, callId }: Pick<Extract<ModelBlock, { type: 'image' }>, 'name' | 'callId'>): string {
  if (callId !== undefined) return `[The tool returned the image "${name}". You cannot see images: say so if the answer depends on it.]`;
  return `[The user has attached the image "${name}". You cannot see images: say so if the answer depends on it.]`;
}
