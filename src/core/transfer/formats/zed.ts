import { isObject, type Json } from '../../base/json';
import { kept, said, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { joinedText, parseForeignOrThrow, textOf, timeOf, tooDeep, wordOf } from './foreignJson';
import { messageParts, toolResultParts } from './messageBlocks';

const flags = { display: true, modelFacing: true };

/** A row of Zed's `threads`, and what its `data` holds once it is unpacked: all of a thread, written anew by every save. */
export function zedEvents(row: Json, text: string, hashOf: (value: unknown) => string): SourceEvent[] {
  const parsed = parseForeignOrThrow(text);
  const thread = isObject(parsed.value) ? parsed.value : {};
  const messages = Array.isArray(thread['messages']) ? (thread['messages'] as unknown[]) : [];
  const title = textOf(row['summary'] ?? thread['title'] ?? thread['summary']) ?? '';
  const createdAt = timeOf(row['created_at']);
  const at = timeOf(thread['updated_at'] ?? row['updated_at']);
  const parentSession = textOf(row['parent_id']);
  const toolNames = new Map<string, string>();
  const model = isObject(thread['model']) ? thread['model'] : {};
  const origin = { provider: textOf(model['provider']) ?? 'zed', model: textOf(model['model']) ?? 'unknown' };
  return [
    {
      type: 'session',
      session: {
        id: String(row['id']),
        cwd: firstFolder(row['folder_paths']),
        ...(createdAt === null ? {} : { createdAt }),
        ...(parentSession === undefined ? {} : { metadata: { parentSession } }),
      },
    },
    ...(title === '' ? [] : [{ type: 'title', title, rank: 2 } as const]),
    ...Array.from({ length: parsed.cut }, () => ({ type: 'repaired', kind: tooDeep() }) as const),
    ...messages.flatMap((message, i): SourceEvent[] => {
      const pieces = piecesOf(message, toolNames, origin);
      return pieces.map(({ of, parts }, n) => ({
        type: 'record',
        record: { id: `m${i}/${n}`, parent: undefined, at, hash: hashOf(of), parts },
      }));
    }),
  ];
}

/** Each is a record of its own: a message grows at its end. */
interface Piece {
  readonly of: unknown;
  readonly parts: readonly RecordPart[];
}

function piecesOf(
  message: unknown,
  toolNames: Map<string, string>,
  origin: { readonly provider: string; readonly model: string },
): Piece[] {
  if (message === 'Resume') return [];
  if (!isObject(message)) return [{ of: message, parts: [kept(unreadable('message', message))] }];
  if (isObject(message['User'])) {
    const content = Array.isArray(message['User']['content']) ? (message['User']['content'] as unknown[]) : [];
    return [{ of: content, parts: messageParts(content.map(userBlock), { role: 'user', toolNames }) }];
  }
  if (isObject(message['Agent'])) {
    const { content, tool_results: results } = message['Agent'];
    const blocks = Array.isArray(content) ? (content as unknown[]) : [];
    const said: Piece[] = blocks.map((block) => ({
      of: block,
      parts: messageParts([agentBlock(block)], { role: 'assistant', toolNames, ...origin }),
    }));
    const answers = isObject(results) ? Object.entries(results) : [];
    return [...said, ...answers.map(([id, result]) => ({ of: result, parts: resultParts(id, result, toolNames) }))];
  }
  return legacyPieces(message, toolNames, origin);
}

/** `{Text}`, `{Mention: {uri, content}}`, `{Image}` in the words of the Messages API. */
function userBlock(block: unknown): unknown {
  if (!isObject(block)) return block;
  const { Text: text, Mention: mention, Image: image } = block;
  if (typeof text === 'string') return { type: 'text', text };
  if (isObject(mention)) return { type: 'text', text: `<mention>\n${textOf(mention['content']) ?? ''}\n</mention>` };
  if (isObject(image)) return { type: 'image', mimeType: 'image/png', data: image['source'] };
  return block;
}

function agentBlock(block: unknown): unknown {
  if (!isObject(block)) return block;
  const { Text: text, Thinking: thought, RedactedThinking: sealed, ToolUse: call } = block;
  if (typeof text === 'string') return { type: 'text', text };
  if (isObject(thought)) return { type: 'thinking', thinking: thought['text'], signature: thought['signature'] };
  if (sealed !== undefined) return { type: 'redacted_thinking', data: sealed };
  if (isObject(call)) return { type: 'tool_use', id: call['id'], name: call['name'], input: call['input'] };
  return block;
}

function resultParts(id: string, result: unknown, toolNames: ReadonlyMap<string, string>): RecordPart[] {
  const { content, is_error: isError } = isObject(result) ? result : { content: result, is_error: false };
  const list: unknown[] = Array.isArray(content) ? content : [content];
  const text = list
    .map((one) => (isObject(one) ? (textOf(one['Text'] ?? one['text']) ?? '') : typeof one === 'string' ? one : ''))
    .join('\n');
  return toolResultParts(id, toolNames, text, isError === true, flags);
}

/** Threads of before version 0.3.0: `{role, segments, tool_uses, tool_results}`. */
function legacyPieces(
  message: Json,
  toolNames: Map<string, string>,
  origin: { readonly provider: string; readonly model: string },
): Piece[] {
  const { role } = message;
  if (role !== 'user' && role !== 'assistant') return [{ of: message, parts: [kept(unreadable(`role:${wordOf(role)}`, message))] }];
  const segments = Array.isArray(message['segments']) ? message['segments'].filter(isObject) : [];
  const calls = Array.isArray(message['tool_uses']) ? message['tool_uses'].filter(isObject) : [];
  const results = Array.isArray(message['tool_results']) ? message['tool_results'].filter(isObject) : [];
  const spoken = segments.flatMap((segment): RecordPart[] => {
    const text = textOf(segment['text']) ?? joinedText(segment['content']);
    if (segment['type'] === 'thinking') return [said({ type: 'thinking', text })];
    return messageParts(text, { role, toolNames, ...(role === 'assistant' ? origin : {}) });
  });
  return [
    { of: segments, parts: spoken },
    ...calls.map((call) => ({
      of: call,
      parts: messageParts([{ type: 'tool_use', id: call['id'], name: call['name'], input: call['input'] }], {
        role: 'assistant',
        toolNames,
        ...origin,
      }),
    })),
    ...results.map((result) => ({ of: result, parts: resultParts(textOf(result['tool_use_id']) ?? '', result, toolNames) })),
  ].filter(({ parts }) => parts.length > 0);
}

/** One path on each line. */
function firstFolder(paths: unknown): string | null {
  return textOf(paths)?.split('\n')[0]?.trim() || null;
}
