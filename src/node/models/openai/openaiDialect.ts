import type { ThinkingLevel } from '../../../core/models/modelInfo';
import type { ModelFailure } from '../../../core/models/modelEvent';
import type { ModelRequest } from '../../../core/models/modelRequest';
import { holdsSystem, refusesSystem } from '../requestParts';

/** A server is spoken to in one of OpenAI's two interfaces; `detect` takes the newer one where there is one. */
export const openaiApis = ['chat-completions', 'responses', 'detect'] as const;
export type OpenaiApi = (typeof openaiApis)[number];

/** What a server has shown to take; found out once and kept. */
export interface OpenaiDialect {
  readonly api: Exclude<OpenaiApi, 'detect'>;
  /** Reasoning models of OpenAI refuse `max_tokens`, most other servers do not know the newer name. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  /** The other name has been refused: a server that refuses this one as well takes none. */
  readonly limitRenamed?: true;
  /** Older servers refuse `stream_options`, and report no usage. */
  readonly usage: boolean;
  /** Models without eyes refuse what has an image in it. */
  readonly images: boolean;
  /** Not every server can hold a model to a schema. */
  readonly schemas: boolean;
  /** The effort that stands for no thinking, the least that the model takes; null: it takes no effort at all. */
  readonly least: 'none' | 'minimal' | 'low' | null;
  /** The model's reasoning comes sealed with its answers and goes back with them. Models that do not reason refuse to be asked for it. */
  readonly reasoning: boolean;
  /** OpenAI shows a summary of the reasoning to verified organisations only. */
  readonly reasoningShown: boolean;
  /** A message of the system's may stand among the others. The templates of some models refuse one that is not the first. */
  readonly systemInside: boolean;
  /** Models of DeepSeek and Kimi that think refuse answers of theirs that come back without thinking. */
  readonly thinkingBack: boolean;
  /** Google's models refuse a call that comes back without the signature of the thinking behind it. */
  readonly signsCalls: boolean;
}

/** Models of OpenAI think with `minimal` effort before they can be told `none`, and with `low` before that. */
const more = { none: 'minimal', minimal: 'low', low: null } as const;

/** `o3`, `gpt-5-mini`, `openai/o4-mini`. */
export function firstDialect(model: string, api: OpenaiDialect['api']): OpenaiDialect {
  const reasons = !/(^|\/)(gpt-[34]|chatgpt)/i.test(model);
  return {
    api,
    limit: /(^|\/)(o\d|gpt-[5-9])/i.test(model) ? 'max_completion_tokens' : 'max_tokens',
    usage: true,
    images: true,
    schemas: true,
    least: 'none',
    reasoning: reasons,
    reasoningShown: reasons,
    systemInside: true,
    thinkingBack: false,
    signsCalls: false,
  };
}

/** Something is wrong with this picture; others are seen. */
const oneImage =
  /\b(?:unsupported|invalid|valid|corrupt\w*) image\b(?! inputs?\b)|\bimage (?:data|size|format|file|dimensions?)\b|\bimages? [^.]{0,40}\b(?:too (?:large|big|small)|exceeds?|download|decod\w+)\b/i;

/** A server without the Responses API has no such route; one that does not know the model has. */
export function isMissingRoute({ status, reason }: ModelFailure): boolean {
  return (status === 404 || status === 405 || status === 501) && reason !== 'unknown_model';
}

/** The dialect to try when a server has refused another; undefined when its words are about something else. */
export function otherDialect(dialect: OpenaiDialect, failure: ModelFailure, request: ModelRequest): OpenaiDialect | undefined {
  const { status, detail } = failure;
  // llama.cpp says 500 where a template refuses.
  const withoutSystem =
    dialect.systemInside && (status === 400 || status === 422 || status === 500) && holdsSystem(request) && refusesSystem(detail)
      ? { ...dialect, systemInside: false }
      : undefined;
  return (status === 400 || status === 422 ? otherParameter(dialect, detail, request) : undefined) ?? withoutSystem;
}

function otherParameter(dialect: OpenaiDialect, refusal: string, { thinking, messages }: ModelRequest): OpenaiDialect | undefined {
  if (dialect.api === 'responses') {
    if (dialect.reasoningShown && /reasoning[_. ]summar|['"`]reasoning['"`]/i.test(refusal)) return { ...dialect, reasoningShown: false };
    if (dialect.reasoning && /encrypted[_ ]content|['"`]include['"`]/i.test(refusal)) return { ...dialect, reasoning: false };
  }
  if (dialect.api === 'chat-completions') {
    const lacksThinking = /reasoning_content/i.test(refusal) && /\bmissing\b|must be passed/i.test(refusal);
    if (!dialect.thinkingBack && lacksThinking) return { ...dialect, thinkingBack: true };
    if (!dialect.signsCalls && /thought_signature/i.test(refusal)) return { ...dialect, signsCalls: true };
  }
  const effort = otherEffort(dialect, refusal, thinking);
  if (effort) return effort;
  if (dialect.usage && /stream_options|include_usage/i.test(refusal)) return { ...dialect, usage: false };
  if (dialect.schemas && /response_format|text\.format|json_schema|structured output|\bgrammar\b/i.test(refusal))
    return { ...dialect, schemas: false };
  const hasImage = messages.some(({ blocks }) => blocks.some(({ type }) => type === 'image'));
  if (dialect.images && hasImage && !oneImage.test(refusal) && /\b(input_)?image(_url|s| input)?\b|\bvision\b|multimodal/i.test(refusal))
    return { ...dialect, images: false };
  const refused =
    /max_completion_tokens/i.test(refusal) && !/['"`]max_tokens['"`]/i.test(refusal)
      ? 'max_completion_tokens'
      : /max_tokens/i.test(refusal)
        ? 'max_tokens'
        : null;
  const isName = /unsupported|not supported|unknown|unrecognized|not permitted|extra|use ['"`]?max_/i.test(refusal);
  if (dialect.api !== 'chat-completions' || refused !== dialect.limit || !isName || dialect.limitRenamed) return undefined;
  return { ...dialect, limit: refused === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens', limitRenamed: true };
}

function otherEffort(dialect: OpenaiDialect, refusal: string, thinking: ThinkingLevel | undefined): OpenaiDialect | undefined {
  if (!dialect.least || !thinking || !/reasoning[_. ]effort|['"`]reasoning['"`]/i.test(refusal)) return undefined;
  return {
    ...dialect,
    least:
      (thinking === 'off' && !/unrecognized|unknown|unsupported parameter|not permitted|extra/i.test(refusal) && more[dialect.least]) ||
      null,
  };
}
