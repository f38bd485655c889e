import { kept, unreadable, type RecordPart, type SourceEvent, type SourceRecord } from '../sourceRecord';
import { parseForeign, tooDeep, numberOf, textOf, timeOf } from './foreignJson';
import { isObject, type Json } from '../../base/json';
import { messageParts } from './messageBlocks';

/** A row of `sessions`, and its rows of `messages` in order. */
export function gooseEvents(
  session: Json,
  messages: readonly { readonly row: Json; readonly hash: string }[],
  hashOf: (value: unknown) => string,
): SourceEvent[] {
  const id = String(session['id']);
  const createdAt = timeOf(session['created_at']);
  const archivedAt = timeOf(session['archived_at']);
  const title = textOf(session['description']) || textOf(session['name']) || '';
  const toolNames = new Map<string, string>();
  const ids = new Set<string>();
  const events: SourceEvent[] = [
    {
      type: 'session',
      session: {
        id,
        cwd: textOf(session['working_dir']) ?? null,
        ...(createdAt === null ? {} : { createdAt }),
        ...(archivedAt === null ? {} : { archivedAt }),
      },
    },
    ...(title === '' ? [] : [{ type: 'title', title, rank: 2 } as const]),
  ];
  for (const [i, { row, hash }] of messages.entries()) {
    const { content, isBroken, isCut } = contentOf(row['content_json']);
    if (isCut) events.push({ type: 'repaired', kind: tooDeep() });
    const metadata = jsonOf(row['metadata_json']);
    const flags = { display: metadata['userVisible'] !== false, modelFacing: metadata['agentVisible'] !== false };
    const role = row['role'] === 'assistant' ? 'assistant' : 'user';
    const model = textOf(jsonOf(session['model_config_json'])['model_name']);
    const provider = textOf(session['provider_name']);
    const parts = isBroken
      ? [kept(unreadable('message', row))]
      : content.flatMap((block) =>
          messageParts([shapeOf(block)], {
            role,
            toolNames,
            ...flags,
            ...(provider === undefined ? {} : { provider }),
            ...(model === undefined ? {} : { model }),
          }),
        );
    const usage = i === messages.length - 1 ? usageOf(session, provider ?? 'goose', model ?? 'unknown') : undefined;
    const last = parts.length - 1;
    events.push({
      type: 'record',
      record: {
        ...identityOf(row, hash, ids, hashOf),
        parent: undefined,
        at: timeOf(row['created_timestamp']),
        parts:
          usage === undefined ? parts : parts.map((part, n): RecordPart => (n === last ? { ...part, usage, usageIsTotal: true } : part)),
      },
    });
  }
  return events;
}

/**
 * A compaction of Goose writes all messages of the session anew: under other numbers, with other marks and times. Their own ids stay, which
 * parts of one answer may share. Databases of its older versions have none.
 */
function identityOf(
  row: Json,
  hash: string,
  taken: Set<string>,
  hashOf: (value: unknown) => string,
): Pick<SourceRecord, 'id' | 'hash' | 'former'> {
  const byNumber = { id: String(row['id']), hash };
  const own = textOf(row['message_id']) ?? '';
  if (own === '') return byNumber;
  let id = own;
  for (let n = 2; taken.has(id); n++) id = `${own}/${n}`;
  taken.add(id);
  return { id, hash: hashOf([row['role'], row['content_json']]), former: [{ ...byNumber, part: 0 }] };
}

/** Goose's blocks in the words of the Messages API. */
function shapeOf(block: unknown): unknown {
  if (!isObject(block)) return block;
  switch (block['type']) {
    case 'toolRequest': {
      const call = outcomeOf(block['toolCall']);
      return {
        type: 'tool_use',
        id: block['id'],
        name: isObject(call.value) ? call.value['name'] : undefined,
        input: isObject(call.value) ? (call.value['arguments'] ?? {}) : {},
      };
    }
    case 'toolResponse': {
      const { value, isError } = outcomeOf(block['toolResult']);
      const content = isObject(value) && 'content' in value ? value['content'] : value;
      return {
        type: 'tool_result',
        tool_use_id: block['id'],
        content,
        is_error: isError || (isObject(value) && value['isError'] === true),
      };
    }
    case 'redactedThinking':
      return { type: 'redacted_thinking', data: block['data'] };
    default:
      return block;
  }
}

/** `{status: 'success', value}` or `{status: 'error', error}`. */
function outcomeOf(outcome: unknown): { readonly value: unknown; readonly isError: boolean } {
  if (!isObject(outcome)) return { value: outcome, isError: false };
  return outcome['status'] === 'error'
    ? { value: textOf(outcome['error']) ?? JSON.stringify(outcome['error'] ?? 'error'), isError: true }
    : { value: 'value' in outcome ? outcome['value'] : outcome, isError: false };
}

/** Goose counts by the session: the last message has what those before it have not. */
function usageOf(session: Json, provider: string, model: string): RecordPart['usage'] {
  const input = numberOf(session['accumulated_input_tokens'] ?? session['input_tokens']);
  const output = numberOf(session['accumulated_output_tokens'] ?? session['output_tokens']);
  return input + output === 0 ? undefined : { provider, model, input, output, cacheRead: 0, cacheWrite: 0, cost: null };
}

function contentOf(json: unknown): { readonly content: readonly unknown[]; readonly isBroken: boolean; readonly isCut: boolean } {
  const parsed = parseForeign(String(json));
  if (!parsed) return { content: [], isBroken: true, isCut: false };
  return { content: Array.isArray(parsed.value) ? (parsed.value as unknown[]) : [parsed.value], isBroken: false, isCut: parsed.cut > 0 };
}

function jsonOf(json: unknown): Json {
  const value = parseForeign(String(json))?.value;
  return isObject(value) ? value : {};
}
