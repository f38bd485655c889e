import * as z from 'zod/mini';
import type { ConversationEvent } from '../../../core/chat/events';
import { linesOf } from '../../models/linesOf';

const id = z.optional(z.union([z.string(), z.number()]));
const pinKind = z.enum(['entry', 'file', 'text']);

/** One line of standard input of `run`. */
export const RunCommand = z.discriminatedUnion('cmd', [
  z.strictObject({ cmd: z.literal('send'), id, text: z.string() }),
  z.strictObject({ cmd: z.literal('compact'), id, instructions: z.optional(z.string()) }),
  z.strictObject({ cmd: z.literal('undo_compaction'), id }),
  z.strictObject({ cmd: z.literal('preview'), id, instructions: z.optional(z.string()) }),
  z.strictObject({ cmd: z.literal('summary'), id }),
  z.strictObject({ cmd: z.literal('edit_summary'), id, text: z.string() }),
  z.strictObject({ cmd: z.literal('resummarize'), id, instructions: z.optional(z.string()) }),
  z.strictObject({ cmd: z.literal('checkpoint'), id }),
  z.strictObject({ cmd: z.literal('pin'), id, kind: pinKind, target: z.string() }),
  z.strictObject({ cmd: z.literal('unpin'), id, kind: pinKind, target: z.string() }),
  z.strictObject({ cmd: z.literal('pins'), id }),
  z.strictObject({ cmd: z.literal('stop'), id }),
]);
export type RunCommand = z.infer<typeof RunCommand>;

/**
 * The lines of standard input, also one that the end of input ends; rejects as the stream does, and closes it when nobody reads on. Not by
 * `readline`, which from Node 24 on ends a line at U+2028 and U+2029 as well: JSON has these within a text.
 */
export async function* inputLines(input: AsyncIterable<unknown>): AsyncGenerator<string, void, undefined> {
  for await (const line of linesOf(input, () => undefined, Infinity)) yield line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Parses a line; the error names what is wrong with it, and has the id of the line where there is one. */
export function parseRunCommand(
  line: string,
): { readonly command: RunCommand } | { readonly error: string; readonly id?: string | number | undefined } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { error: `Not a JSON line: ${line.slice(0, 80)}` };
  }
  const parsed = RunCommand.safeParse(value);
  if (parsed.success) return { command: parsed.data };
  const cmd = (value as { cmd?: unknown } | null)?.cmd;
  const named = id.safeParse((value as { id?: unknown } | null)?.id).data;
  const known: readonly string[] = [
    'send',
    'compact',
    'undo_compaction',
    'preview',
    'summary',
    'edit_summary',
    'resummarize',
    'checkpoint',
    'pin',
    'unpin',
    'pins',
    'stop',
  ];
  if (typeof cmd !== 'string' || !known.includes(cmd))
    return { id: named, error: `Unknown cmd ${JSON.stringify(cmd)}. Known: ${known.join(', ')}.` };
  return {
    id: named,
    error: `Bad "${cmd}": ${parsed.error.issues.map((issue) => `${issue.path.join('.') || 'line'}: ${issue.message}`).join('; ')}`,
  };
}

export type OutputLine = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A conversation's events as the JSON lines of `run`; null for those that the command line does not show. */
export function toOutputLine(event: ConversationEvent, idOf: (id: string) => unknown): OutputLine | null {
  switch (event.type) {
    case 'turn_started':
      return { type: 'turn_started', id: idOf(event.id) };
    case 'text_delta':
      return event.block === 'message' ? { type: 'text_delta', text: event.text } : { type: 'thinking_delta', text: event.text };
    case 'entry_appended': {
      const { content, uuid } = event.entry;
      if (content.type === 'tool_call') return { type: 'tool_call', callId: content.callId, name: content.name, input: content.input };
      if (content.type === 'tool_result')
        return { type: 'tool_result', callId: content.callId, name: content.name, status: content.status, text: content.text };
      if (content.type === 'nudge')
        return { type: 'nudge', percent: content.percent, injectAs: content.injectAs, usedTokens: content.usedTokens };
      if (content.type === 'checkpoint') return { type: 'checkpoint', entryId: uuid, tokens: content.tokensAtCheckpoint };
      return null;
    }
    case 'memory_written':
      return { type: 'memory', path: event.path, op: event.op, bytes: event.bytes };
    case 'approval_requested':
      return { type: 'approval', tool: event.tool, title: event.question.title };
    case 'tool_output':
      return { type: 'tool_output', text: event.text };
    case 'context_full':
      return { type: 'full', id: idOf(event.id), used: event.used, effective: event.effective, limit: event.limit };
    case 'compaction_started':
      return { type: 'compaction', phase: 'start', trigger: event.trigger, tokensBefore: event.tokensBefore };
    case 'compaction_ended': {
      if (!event.entry) return { type: 'compaction', phase: 'end', ok: false, message: event.message };
      const { trigger, rung, tokensBefore, tokensAfter, heldMs, durationMs, note, audit, continuity } = event.entry.content;
      return {
        type: 'compaction',
        phase: 'end',
        ok: true,
        trigger,
        rung,
        tokensBefore,
        tokensAfter,
        heldMs,
        durationMs,
        ...(note ? { note } : {}),
        ...(audit ? { audit } : {}),
        ...(continuity ? { continuity } : {}),
      };
    }
    case 'retry_scheduled':
      return { type: 'retry', id: idOf(event.id), attempt: event.attempt, delayMs: event.delayMs, reason: event.reason };
    case 'usage_reported':
      return { type: 'usage', kind: event.kind, model: event.model, ...event.usage, cost: event.cost };
    case 'context_changed':
      return { type: 'context', ...event.snapshot };
    case 'turn_ended':
      return { type: 'done', id: idOf(event.id), ok: event.ok, text: event.text, ...(event.error ? { error: event.error } : {}) };
    case 'queue_changed':
      return { type: 'queue', queue: event.queue.map(({ id, text }) => ({ id: idOf(id), text })) };
    case 'approval_settled':
    case 'context_full_answered':
    case 'phase_changed':
    case 'live_dropped':
    case 'session_changed':
    case 'elsewhere_changed':
    case 'branch_replaced':
    case 'branch_left':
    case 'became_idle':
    case 'pins_changed':
    case 'savings_changed':
      return null;
  }
}
