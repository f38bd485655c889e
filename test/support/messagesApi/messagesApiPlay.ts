import { extend, sign } from './messagesApiPrefix';
import type { Piece, Reply, ReplyBlock, Step } from './messagesApiScript';
import { firstTokens, textTokens } from './messagesApiTokens';
import type { Prompt, WireBlock, WireUsage } from './messagesApiWire';

/** What the server does next: send an event, or carry out a step of the script. */
export type Action = { readonly kind: 'event'; readonly data: WireBlock } | Step;

export interface Stage {
  readonly prompt: Prompt;
  readonly id: string;
  /** Of the input; `output_tokens` grows while playing. */
  readonly usage: Omit<WireUsage, 'output_tokens'>;
  /** Stands for everything before the answer. */
  readonly prefix: string;
}

export interface PlayedMessage {
  readonly content: readonly WireBlock[];
  readonly stop_reason: string;
  readonly usage: WireUsage;
}

/** Characters per delta. */
const deltaChars = 24;

/** The answer as the events of a stream, cut off where `max_tokens` or the window ends. Returns the message as a whole. */
export function* play(reply: Reply, stage: Stage): Generator<Action, PlayedMessage> {
  const { prompt, id, usage, prefix } = stage;
  if (prompt.compaction && reply.stopReason === undefined) return yield* playCompaction(reply, stage);
  const { model, maxTokens } = prompt;
  const used = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
  const room = Math.max(0, model.window - used);
  const limit = Math.min(maxTokens, room);
  const message = { id, type: 'message', role: 'assistant', model: model.id, container: null };
  const content: WireBlock[] = [];
  let output = 0;
  let cut = false;
  let hash = prefix;

  yield event('message_start', {
    message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: wireUsage(usage, 1) },
  });
  yield event('ping', {});
  for (const [index, scripted] of reply.blocks.entries()) {
    if (cut) break;
    const { pieces, text, truncated } = fitted(scripted, limit - output);
    output += textTokens(text);
    cut = truncated;
    if (cut && text === '') break;
    const block = finished(scripted, text, prompt, hash);
    yield event('content_block_start', { index, content_block: opening(scripted, block) });
    for (const piece of pieces) {
      if (typeof piece !== 'string') yield piece;
      else if (!(scripted.type === 'thinking' && block['thinking'] === '')) yield* deltas(scripted.type, index, piece);
    }
    if (block.type === 'thinking')
      yield event('content_block_delta', { index, delta: { type: 'signature_delta', signature: block['signature'] } });
    yield event('content_block_stop', { index });
    content.push(block);
    hash = extend(hash, 'assistant', block);
  }
  const called = content.some(({ type }) => type === 'tool_use');
  const cutReason = room < maxTokens ? 'model_context_window_exceeded' : 'max_tokens';
  const reason = cut ? cutReason : (reply.stopReason ?? (called ? 'tool_use' : 'end_turn'));
  const details = reply.stopReason === 'refusal' ? { type: 'refusal', category: null, explanation: reply.explanation ?? null } : null;
  const stop = { stop_reason: reason, stop_sequence: null, stop_details: details };
  yield event('message_delta', { delta: { ...stop, container: null }, usage: wireUsage(usage, output) });
  yield event('message_stop', {});
  return { ...message, content, ...stop, usage: wireUsage(usage, output) };
}

/**
 * The text of the script in one signed block and nothing after it; null when the server could not finish it. What it took is no part
 * of the usual counts.
 */
function* playCompaction(reply: Reply, { prompt, id, usage, prefix }: Stage): Generator<Action, PlayedMessage> {
  const message = { id, type: 'message', role: 'assistant', model: prompt.model.id, container: null };
  const none = wireUsage(
    {
      input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    },
    0,
  );
  const pieces = reply.blocks.flatMap((block): readonly Piece[] => (block.type === 'text' ? block.pieces : []));
  const whole = pieces.filter((piece) => typeof piece === 'string').join('');
  const content = whole === '' || textTokens(whole) > prompt.maxTokens ? null : whole;
  const signature = sign({ model: prompt.model.id, prefix, text: whole });
  const block = { type: 'compaction', content, encrypted_content: null, signature, tool_changes: [] };
  const spent = { ...none, iterations: [{ type: 'compaction', ...usage, output_tokens: textTokens(whole) }] };
  const stop = { stop_reason: 'compaction', stop_sequence: null, stop_details: null };
  yield event('message_start', { message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: none } });
  yield event('content_block_start', { index: 0, content_block: { ...block, content: null } });
  for (const piece of pieces) if (typeof piece !== 'string') yield piece;
  yield event('content_block_delta', { index: 0, delta: { type: 'compaction_delta', content, encrypted_content: null } });
  yield event('content_block_stop', { index: 0 });
  yield event('message_delta', { delta: { ...stop, container: null }, usage: spent });
  yield event('message_stop', {});
  return { ...message, content: [block], ...stop, usage: { ...none, output_tokens: textTokens(whole) } };
}

function event(type: string, fields: object): Action {
  return { kind: 'event', data: { type, ...fields } };
}

function* deltas(type: ReplyBlock['type'], index: number, text: string): Generator<Action> {
  for (const [part] of text.matchAll(new RegExp(`[\\s\\S]{1,${deltaChars}}`, 'gu'))) {
    if (type === 'tool_use') yield event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: part } });
    else if (type === 'thinking') yield event('content_block_delta', { index, delta: { type: 'thinking_delta', thinking: part } });
    else yield event('content_block_delta', { index, delta: { type: 'text_delta', text: part } });
  }
}

/** The pieces of a block that fit into so many tokens. */
function fitted(block: ReplyBlock, tokens: number): { pieces: readonly Piece[]; text: string; truncated: boolean } {
  if (block.type === 'redacted_thinking') return { pieces: [], text: '', truncated: false };
  const pieces: readonly Piece[] = block.type === 'tool_use' ? [block.json, ...block.pieces] : block.pieces;
  const whole = pieces.filter((piece) => typeof piece === 'string').join('');
  if (textTokens(whole) <= tokens) return { pieces, text: whole, truncated: false };
  const text = firstTokens(whole, tokens);
  const kept: Piece[] = [];
  let left = text.length;
  for (const piece of pieces) {
    if (left <= 0) break;
    kept.push(typeof piece === 'string' ? piece.slice(0, left) : piece);
    if (typeof piece === 'string') left -= piece.length;
  }
  return { pieces: kept, text, truncated: true };
}

function finished(block: ReplyBlock, text: string, prompt: Prompt, prefix: string): WireBlock {
  const { model } = prompt;
  switch (block.type) {
    case 'text':
      return { type: 'text', text };
    case 'thinking': {
      const shown = (prompt.thinkingDisplay ?? (model.omitsThinking ? 'omitted' : 'summarized')) === 'omitted' ? '' : text;
      return { type: 'thinking', thinking: shown, signature: sign({ model: model.id, prefix, text: shown }) };
    }
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: sign({ model: model.id, prefix, text: '' }) };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: parsedOrEmpty(text) };
  }
}

function opening(scripted: ReplyBlock, block: WireBlock): object {
  if (scripted.type === 'text') return { type: 'text', text: '', citations: null };
  if (scripted.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return scripted.type === 'tool_use' ? { ...block, input: {} } : block;
}

function parsedOrEmpty(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function wireUsage(usage: Omit<WireUsage, 'output_tokens'>, output: number): WireUsage & Record<string, unknown> {
  return { ...usage, output_tokens: output, output_tokens_details: null, server_tool_use: null };
}
