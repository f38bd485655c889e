import { Tiktoken } from 'js-tiktoken/lite';
import cl100k from 'js-tiktoken/ranks/cl100k_base';
import { isRecord, textOf, type Prompt, type WireBlock } from './messagesApiWire';

/**
 * Another tokenizer than the product's (o200k_base), and 30 % more than it says, like the provider's newer models: whoever shows
 * a number before the request has to have learned the difference.
 */
const factor = 1.3;

/** js-tiktoken is quadratic in the length of a run without a break: 20,000 CJK characters took 89 s whole, 0.25 s in pieces of 16. */
const longRun = /[\p{L}\p{M}]{17,}|[^\s\p{L}\p{N}]{17,}|\s{17,}/gu;
const piece = /[\s\S]{1,16}/gu;

const rememberedChars = 20_000_000;

/** One per process: making it takes 260 ms, and every bundle of tests has its own copy of this module. */
interface Shared {
  readonly encoder: Tiktoken;
  readonly counts: Map<string, number>;
  chars: number;
}

function shared(): Shared {
  const key = Symbol.for('threadkeeper.test.cl100k');
  const store = globalThis as unknown as Record<symbol, Shared | undefined>;
  return (store[key] ??= { encoder: new Tiktoken(cl100k), counts: new Map(), chars: 0 });
}

/** Tokens of a text as this provider counts them. */
export function textTokens(text: string): number {
  const memory = shared();
  let raw = memory.counts.get(text);
  if (raw === undefined) {
    raw = encode(text).length;
    if ((memory.chars += text.length) > rememberedChars) {
      memory.counts.clear();
      memory.chars = text.length;
    }
    memory.counts.set(text, raw);
  }
  return Math.ceil(raw * factor);
}

/** The longest beginning of the text that has at most so many tokens. */
export function firstTokens(text: string, tokens: number): string {
  const cut = shared().encoder.decode(encode(text).slice(0, Math.floor(tokens / factor)));
  return cut.endsWith('\ufffd') ? cut.slice(0, -1) : cut;
}

function encode(text: string): number[] {
  const { encoder } = shared();
  const tokens: number[] = [];
  const add = (part: string) => {
    for (const token of encoder.encode(part, [], [])) tokens.push(token);
  };
  let start = 0;
  for (const run of text.matchAll(longRun)) {
    add(text.slice(start, run.index));
    for (const [part] of run[0].matchAll(piece)) add(part);
    start = run.index + run[0].length;
  }
  add(text.slice(start));
  return tokens;
}

/** What the provider adds around the parts of a prompt; of the size it has there. */
const overhead = { prompt: 6, turn: 4, block: 2, call: 12, result: 10, tools: 290, tool: 12 } as const;

export interface Part {
  readonly role: 'tools' | 'system' | 'user' | 'assistant';
  readonly block: Readonly<Record<string, unknown>>;
  readonly path: string;
  readonly tokens: number;
}

/** The prompt as a flat list, in the order in which it is cached: tools, system, messages. */
export function promptParts(prompt: Prompt): Part[] {
  const parts: Part[] = [];
  prompt.tools.forEach((tool, index) => {
    const { cache_control: _mark, ...definition } = tool;
    const tokens = textTokens(JSON.stringify(definition)) + overhead.tool + (index === 0 ? overhead.tools : 0);
    parts.push({ role: 'tools', block: tool, path: `tools.${index}`, tokens });
  });
  prompt.system.forEach((block, index) => parts.push({ role: 'system', block, path: `system.${index}`, tokens: blockTokens(block) }));
  for (const { role, blocks } of prompt.turns) {
    blocks.forEach(({ block, path, system }, index) => {
      parts.push({ role: system ? 'system' : role, block, path, tokens: blockTokens(block) + (index === 0 ? overhead.turn : 0) });
    });
  }
  return parts;
}

export function totalTokens(parts: readonly Part[]): number {
  return parts.reduce<number>((sum, { tokens }) => sum + tokens, overhead.prompt);
}

function blockTokens(block: WireBlock): number {
  switch (block.type) {
    case 'tool_use':
      return textTokens(`${String(block['name'])} ${JSON.stringify(block['input'])}`) + overhead.call;
    case 'tool_result':
      return textTokens(textOf(block)) + overhead.result;
    case 'redacted_thinking':
      return textTokens(String(block['data'])) + overhead.block;
    case 'image':
      return imageCost(block) + overhead.block;
    default:
      return textTokens(textOf(block)) + overhead.block;
  }
}

/** Width × height / 750 of a png, which says both in its first bytes; of others about what a screenshot has. */
function imageCost({ source }: WireBlock): number {
  const head = Buffer.from(isRecord(source) ? String(source['data']).slice(0, 44) : '', 'base64');
  return head.subarray(1, 4).toString('latin1') === 'PNG' ? Math.ceil((head.readUInt32BE(16) * head.readUInt32BE(20)) / 750) : 1_000;
}
