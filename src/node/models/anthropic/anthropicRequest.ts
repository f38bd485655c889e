import type { Anthropic } from '@anthropic-ai/sdk';
import type { CacheTime } from '../../../core/context/measure/snapshot';
import type { ModelBlock, ModelMessage, ModelRequest, ToolSpec } from '../../../core/models/modelRequest';
import { plainName, sealedContent, asToolInput, systemRuns, wellFormed } from '../requestParts';
import { thinkingTokens } from '../../../core/models/modelInfo';
import { takesSystemInside, thinksAdaptively, thinksUnasked } from '../modelTable';

/** The provider refuses a request with more. */
const maxBreakpoints = 4;

/** The provider takes no smaller budget for thinking, in tokens; as much is left for the answer. */
const leastBudget = 1_024;
const summarized: Anthropic.ThinkingConfigParam = { type: 'adaptive', display: 'summarized' };

/** A tool's name has at most so many characters. */
const longestName = 128;

const marks: Readonly<Record<CacheTime, Anthropic.CacheControlEphemeral>> = {
  // Without a time, which some gateways do not know.
  '5m': { type: 'ephemeral' },
  '1h': { type: 'ephemeral', ttl: '1h' },
};

type Prompt = Pick<Anthropic.MessageCreateParams, 'model' | 'messages' | 'system' | 'thinking' | 'output_config'> & {
  tools?: Anthropic.Tool[];
};

/**
 * The request as the Messages API takes it, the same for sending and for counting. Defensive: text without anything in it, thinking that
 * cannot be proven (an interrupted answer has no signature) or that nothing came of, and messages that are empty after that are left out,
 * lone surrogates become U+FFFD, and the ids and names of calls that another provider has made get the letters that this one knows,
 * because it refuses the whole request for any of them.
 */
export function anthropicPrompt(request: ModelRequest, systemInside = takesSystemInside(request.model)): Prompt {
  const heard = withoutLastThoughts(request.messages);
  const system = wellFormed(request.system);
  const tools = request.tools.map(tool);
  const hasSystem = !isBlank(system);
  const summary = wellFormed(request.systemSummary ?? '');
  const head = (hasSystem || tools.length > 0 ? 1 : 0) + (isBlank(summary) ? 0 : 1);
  const lastTool = tools.at(-1);
  // One time for all marks: longer ones would have to stand before shorter ones.
  const mark = marks[request.cacheTime ?? '5m'];
  // Tools come before the system text in the cached prefix, so a mark at the end of the system text covers both.
  if (!hasSystem && lastTool) lastTool.cache_control = mark;
  // The summary changes with every compaction, what stands before it stays cached.
  const systemBlocks = [system, summary]
    .filter((part) => !isBlank(part))
    .map((part) => ({ type: 'text' as const, text: part, cache_control: mark }));
  return {
    model: request.model,
    messages: messages(systemInside ? parted(heard) : heard, maxBreakpoints - head, mark),
    ...(systemBlocks.length > 0 ? { system: systemBlocks } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...options(request),
  };
}

function options(request: ModelRequest): Pick<Prompt, 'thinking' | 'output_config'> {
  const { answerSchema: schema } = request;
  const { output_config: config, ...rest } = thinking(request);
  if (!schema) return thinking(request);
  return { ...rest, output_config: { ...config, format: { type: 'json_schema', schema } } };
}

/** A level is an effort for models that think as they see fit, and a number of tokens for those before them. */
function thinking({ model, thinking: level, maxOutputTokens }: ModelRequest): Pick<Prompt, 'thinking' | 'output_config'> {
  // What these models do anyway, but with the text of the thinking instead of an empty block.
  if (level === undefined) return thinksUnasked(model) ? { thinking: summarized } : {};
  if (level === 'off') return thinksUnasked(model) ? { thinking: { type: 'disabled' } } : {};
  if (thinksAdaptively(model)) return { thinking: summarized, output_config: { effort: level } };
  const budget = Math.min(thinkingTokens[level], maxOutputTokens - leastBudget);
  return budget < leastBudget ? {} : { thinking: { type: 'enabled', budget_tokens: budget } };
}

/**
 * The provider refuses the whole request, for as long as it stands there, for an assistant's message that ends in thinking: one that was
 * stopped behind it, or that said nothing. A mark for the cache goes to the message before.
 */
function withoutLastThoughts(all: readonly ModelMessage[]): ModelMessage[] {
  const kept: ModelMessage[] = [];
  for (const message of all) {
    const { role, blocks, cacheBreakpoint = false } = message;
    const isSaid = (one: ModelBlock) => block(one, blocks).some(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
    const end = role === 'assistant' ? blocks.findLastIndex(isSaid) + 1 : blocks.length;
    const previous = kept.at(-1);
    if (end > 0) kept.push(end === blocks.length ? message : { ...message, blocks: blocks.slice(0, end) });
    else if (previous && cacheBreakpoint) kept[kept.length - 1] = { ...previous, cacheBreakpoint };
  }
  return kept;
}

type Spoken = Omit<ModelMessage, 'role'> & { readonly role: Anthropic.MessageParam['role'] };

/**
 * A system message may only stand behind what the user has said and in front of an answer, or at the end: what the program says at the
 * end of a user's message becomes one, anything before that stays a block of it.
 */
function parted(messages: readonly ModelMessage[]): Spoken[] {
  return messages.flatMap((message, at): Spoken[] => {
    const runs = systemRuns(message.blocks);
    const last = runs.at(-1);
    if (last?.as !== 'system' || runs.length === 1 || messages[at + 1]?.role === 'user') return [message];
    const { cacheBreakpoint = false } = message;
    return [
      { role: message.role, blocks: message.blocks.slice(0, -last.blocks.length) },
      { role: 'system', blocks: last.blocks, cacheBreakpoint },
    ];
  });
}

function messages(all: readonly Spoken[], breakpoints: number, cacheMark: Anthropic.CacheControlEphemeral): Anthropic.MessageParam[] {
  const kept: { role: Spoken['role']; content: Anthropic.ContentBlockParam[]; mark: boolean }[] = [];
  for (const { role, blocks, cacheBreakpoint = false } of all) {
    const content = blocks.flatMap((one) => block(one, blocks));
    const previous = kept.at(-1);
    if (content.length > 0) kept.push({ role, content, mark: cacheBreakpoint });
    else if (previous && cacheBreakpoint) previous.mark = true;
  }
  // With too many marks the last ones count: they cover the most.
  const marked = kept.filter(({ mark }) => mark).slice(-breakpoints);
  for (const { content } of marked) {
    const last = content.findLast(canBeMarked);
    if (last) last.cache_control = cacheMark;
  }
  return kept.map(({ role, content }) => ({ role, content }) as Anthropic.MessageParam);
}

type Markable = Anthropic.TextBlockParam | Anthropic.ImageBlockParam | Anthropic.ToolUseBlockParam | Anthropic.ToolResultBlockParam;

/** The API takes no mark on thinking blocks. */
function canBeMarked(content: Anthropic.ContentBlockParam): content is Markable {
  return content.type === 'text' || content.type === 'image' || content.type === 'tool_use' || content.type === 'tool_result';
}

/** An image that a call returned stands in its result. */
function block(content: ModelBlock, beside: readonly ModelBlock[]): Anthropic.ContentBlockParam[] {
  switch (content.type) {
    case 'text':
      return isBlank(content.text) ? [] : [{ type: 'text', text: wellFormed(content.text) }];
    case 'image':
      return content.callId === undefined ? [picture(content)] : [];
    case 'thinking':
      if (content.redactedData) return [{ type: 'redacted_thinking', data: content.redactedData }];
      return content.signature && sealedContent(content) === undefined
        ? [{ type: 'thinking', thinking: content.text, signature: content.signature }]
        : [];
    case 'tool_use':
      return [
        { type: 'tool_use', id: plainName(content.callId), name: plainName(content.name, longestName), input: asToolInput(content.input) },
      ];
    case 'tool_result': {
      const pictures = beside.flatMap((one) => (one.type === 'image' && one.callId === content.callId ? [picture(one)] : []));
      const text = isBlank(content.text) ? [] : [{ type: 'text' as const, text: wellFormed(content.text) }];
      return [
        {
          type: 'tool_result',
          tool_use_id: plainName(content.callId),
          ...(pictures.length > 0 ? { content: [...text, ...pictures] } : text[0] ? { content: text[0].text } : {}),
          ...(content.isError ? { is_error: true } : {}),
        },
      ];
    }
  }
}

function picture({ mime, data }: Extract<ModelBlock, { type: 'image' }>): Anthropic.ImageBlockParam {
  return { type: 'image', source: { type: 'base64', media_type: mime, data } };
}

function tool({ name, description, inputSchema }: ToolSpec): Anthropic.Tool {
  return { name, description, input_schema: { ...inputSchema, type: 'object' } };
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
