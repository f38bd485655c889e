import type { ContentOf } from '../../session/entry';
import { commandMessage, type CommandRun } from '../../session/commandRun';
import { english } from '../../l10n';
import { entryOfMessage } from '../openClawRecord';
import { kept, noted, said, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { messageParts, toolResultParts, foreignCompaction } from './messageBlocks';
import { isObject, type Json } from '../../base/json';
import { joinedText, numberOf, otherFields, textOf, timeOf, wordOf } from './foreignJson';

const frame = ['type', 'id', 'parentId', 'timestamp'];
const known: Readonly<Record<string, ReadonlySet<string>>> = {
  message: new Set([...frame, 'message']),
  compaction: new Set([
    ...frame,
    'summary',
    'firstKeptEntryId',
    'firstKeptEntryIndex',
    'tokensBefore',
    'usage',
    'retainedTail',
    'fromHook',
  ]),
  branch_summary: new Set([...frame, 'fromId', 'summary']),
  custom_message: new Set([...frame, 'customType', 'content', 'display']),
};
const knownOfMessage = new Set([
  'role',
  'content',
  'timestamp',
  'api',
  'provider',
  'model',
  'usage',
  'stopReason',
  'errorMessage',
  'toolCallId',
  'toolName',
  'isError',
  'command',
  'output',
  'exitCode',
  'cancelled',
  'truncated',
  'customType',
  'display',
  'excludeFromContext',
  'fromId',
  'summary',
  'tokensBefore',
]);

/**
 * Session files of pi (versions 1 to 3) and of OpenClaw, which adds `leaf` and `reset`: a line at a time, so that a file can be followed
 * while it grows. Version 1 has neither ids nor parents: its records follow each other and are named by their line.
 */
export class PiReader {
  private sessionId = '';
  private readonly toolNames = new Map<string, string>();
  /** It lists the messages in the order of the file: a compaction may say only how many it keeps. */
  private readonly messages: string[] = [];

  /** `line`: counted from 0, the header included. `fallbackId`: of the session, where the header is missing. */
  read(value: unknown, line: number, hash: string, fallbackId: string): SourceEvent[] {
    if (!isObject(value))
      return this.begun(fallbackId, [
        { type: 'record', record: { id: `L${line}`, parent: undefined, at: null, hash, parts: [kept(unreadable('line', value))] } },
      ]);
    if (value['type'] === 'session' && this.sessionId === '') return this.header(value, fallbackId);
    const id = textOf(value['id']) ?? `L${line}`;
    const parentId = value['parentId'];
    // A first message may name the session as its parent; version 1 names none.
    const parent = parentId === null || parentId === this.sessionId ? null : (textOf(parentId) ?? undefined);
    const entry = isObject(value['message']) ? entryOfMessage(value['message']) : undefined;
    const record = (parts: readonly RecordPart[], asChildOf = parent): SourceEvent => ({
      type: 'record',
      record: { id, parent: asChildOf, at: timeOf(value['timestamp']), hash, parts, ...(entry === undefined ? {} : { entry }) },
    });
    return this.begun(fallbackId, this.events(value, id, hash, parent, record));
  }

  private header(value: Json, fallbackId: string): SourceEvent[] {
    this.sessionId = textOf(value['id']) ?? fallbackId;
    const createdAt = timeOf(value['timestamp']);
    const parentSession = textOf(value['parentSession']);
    return [
      {
        type: 'session',
        session: {
          id: this.sessionId,
          cwd: textOf(value['cwd']) ?? null,
          ...(createdAt === null ? {} : { createdAt }),
          ...(parentSession === undefined ? {} : { metadata: { parentSession } }),
        },
      },
    ];
  }

  private begun(fallbackId: string, events: SourceEvent[]): SourceEvent[] {
    if (this.sessionId !== '') return events;
    this.sessionId = fallbackId;
    return [{ type: 'session', session: { id: fallbackId } }, { type: 'repaired', kind: english('missing header') }, ...events];
  }

  private events(
    value: Json,
    id: string,
    hash: string,
    parent: string | null | undefined,
    record: (parts: readonly RecordPart[], asChildOf?: string | null) => SourceEvent,
  ): SourceEvent[] {
    switch (value['type']) {
      case 'message': {
        const message = isObject(value['message']) ? value['message'] : {};
        if (message['role'] !== 'toolResult') this.messages.push(id);
        return [record([...this.message(message), ...leftover(value), ...leftoverOf(message)])];
      }
      case 'compaction': {
        const { usage } = usageOf(value['usage'], 'pi', 'unknown');
        const fold = foreignCompaction(
          `${this.sessionId}/${id}/${hash}`,
          textOf(value['summary']) ?? '',
          this.firstKept(value),
          numberOf(value['tokensBefore']),
        );
        return [record([{ ...noted(fold), ...(usage ? { usage } : {}) }, ...leftover(value)])];
      }
      case 'reset':
        return [
          record([
            noted(
              foreignCompaction(`${this.sessionId}/${id}/${hash}`, '', textOf(value['firstKeptEntryId']) ?? null, 0, {
                note: english('The session was reset in the program that it was imported from.'),
              }),
            ),
            ...leftover(value),
          ]),
        ];
      case 'branch_summary':
        return [
          record([
            said({ type: 'branch_summary', text: textOf(value['summary']) ?? '', branchLeaf: textOf(value['fromId']) ?? '' }),
            ...leftover(value),
          ]),
        ];
      case 'model_change':
        return [
          record([noted({ type: 'model_change', provider: textOf(value['provider']) ?? '', model: textOf(value['modelId']) ?? '' })]),
        ];
      case 'thinking_level_change':
        return [record([noted({ type: 'thinking_level_change', level: textOf(value['thinkingLevel']) ?? '' })])];
      case 'session_info': {
        const title = textOf(value['name']) ?? '';
        return [record([noted({ type: 'session_info', title })]), ...(title === '' ? [] : [{ type: 'title', title, rank: 2 } as const])];
      }
      case 'label':
        return [record([noted({ type: 'label', target: textOf(value['targetId']) ?? '', label: textOf(value['label']) ?? '' })])];
      case 'leaf': {
        const target = textOf(value['targetId']) ?? null;
        return [record([], target), { type: 'leaf', record: target }];
      }
      case 'custom':
        return [record([kept({ type: 'custom', customType: textOf(value['customType']) ?? 'unknown', data: value['data'] ?? null })])];
      case 'custom_message':
        return [
          record([
            {
              ...said({ type: 'custom_message', customType: tagName(value['customType']), text: joinedText(value['content']) }),
              display: value['display'] !== false,
            },
            ...leftover(value),
          ]),
        ];
      default:
        return [record([kept(unreadable(wordOf(value['type'] ?? 'line'), value))], parent)];
    }
  }

  private message(message: Json): RecordPart[] {
    const provider = textOf(message['provider']);
    const model = textOf(message['model']);
    switch (message['role']) {
      case 'user':
        return messageParts(message['content'], { role: 'user', toolNames: this.toolNames });
      case 'assistant': {
        const parts = messageParts(message['content'], {
          role: 'assistant',
          toolNames: this.toolNames,
          ...(provider === undefined ? {} : { provider }),
          ...(model === undefined ? {} : { model }),
        });
        return withUsage(withEnd(parts, message), usageOf(message['usage'], provider ?? 'pi', model ?? 'unknown').usage);
      }
      case 'toolResult': {
        const callId = textOf(message['toolCallId']) ?? '';
        const name = textOf(message['toolName']);
        if (name !== undefined && !this.toolNames.has(callId)) this.toolNames.set(callId, name);
        return toolResultParts(callId, this.toolNames, message['content'], message['isError'] === true, {
          display: true,
          modelFacing: true,
        });
      }
      case 'bashExecution': {
        return [{ ...said(commandMessage(commandRun(message))), modelFacing: message['excludeFromContext'] !== true }];
      }
      case 'custom':
      case 'hookMessage':
        return [
          {
            ...said({ type: 'custom_message', customType: tagName(message['customType']), text: joinedText(message['content']) }),
            display: message['display'] !== false,
          },
        ];
      case 'branchSummary':
        return [
          said({
            type: 'branch_summary',
            text: textOf(message['summary']) ?? joinedText(message['content']),
            branchLeaf: textOf(message['fromId']) ?? '',
          }),
        ];
      case 'compactionSummary':
        return [
          said({ type: 'custom_message', customType: 'summary', text: textOf(message['summary']) ?? joinedText(message['content']) }),
        ];
      default:
        return [kept(unreadable(`role:${wordOf(message['role'])}`, message))];
    }
  }

  private firstKept(value: Json): string | null {
    const id = textOf(value['firstKeptEntryId']);
    if (id !== undefined) return id;
    if (typeof value['firstKeptEntryIndex'] === 'number') return `L${value['firstKeptEntryIndex']}`;
    const tail: unknown = value['retainedTail'];
    if (!Array.isArray(tail) || tail.length === 0) return null;
    const first: unknown = tail[0];
    return textOf(first) ?? (isObject(first) ? textOf(first['id']) : undefined) ?? this.messages.at(-tail.length) ?? null;
  }
}

/** Reads a record with role `bashExecution`, which librecode has too. */
export function commandRun(message: Json): CommandRun {
  const exitCode = message['exitCode'];
  return {
    command: textOf(message['command']) ?? '',
    output: textOf(message['output']) ?? '',
    exitCode: typeof exitCode === 'number' ? exitCode : null,
    cancelled: message['cancelled'] === true,
    truncated: message['truncated'] === true,
  };
}

/** What ended an answer before it was complete. */
function withEnd(parts: readonly RecordPart[], message: Json): RecordPart[] {
  const reason = message['stopReason'];
  if (reason !== 'error' && reason !== 'aborted') return [...parts];
  const interrupted = reason === 'aborted' ? 'stopped' : 'disconnected';
  const error = textOf(message['errorMessage']);
  const marked = parts.map((part) =>
    part.content.type === 'message' || part.content.type === 'thinking'
      ? { ...part, content: { ...part.content, interrupted } as ContentOf<'message'> | ContentOf<'thinking'> }
      : part,
  );
  return error === undefined ? marked : [...marked, noted(unreadable('error', error))];
}

function withUsage(parts: readonly RecordPart[], usage: RecordPart['usage']): RecordPart[] {
  return usage === undefined ? [...parts] : parts.map((part, i) => (i === parts.length - 1 ? { ...part, usage } : part));
}

/** None for a mirrored message: it was billed elsewhere. */
function usageOf(value: unknown, provider: string, model: string): { readonly usage: RecordPart['usage'] } {
  if (!isObject(value) || (provider === 'openclaw' && model === 'delivery-mirror')) return { usage: undefined };
  const [input, output, cacheRead, cacheWrite] = [value['input'], value['output'], value['cacheRead'], value['cacheWrite']].map(
    numberOf,
  ) as [number, number, number, number];
  if (input + output + cacheRead + cacheWrite === 0) return { usage: undefined };
  const cost = isObject(value['cost']) ? value['cost']['total'] : value['cost'];
  return { usage: { provider, model, input, output, cacheRead, cacheWrite, cost: typeof cost === 'number' ? cost : null } };
}

function leftover(value: Json): RecordPart[] {
  const other = otherFields(value, known[wordOf(value['type'])] ?? new Set(frame));
  return other === undefined || value['type'] === 'reset' ? [] : [kept(unreadable('fields', other))];
}

function leftoverOf(message: Json): RecordPart[] {
  const other = otherFields(
    message,
    entryOfMessage(message) === undefined ? knownOfMessage : new Set([...knownOfMessage, 'idempotencyKey']),
  );
  return other === undefined ? [] : [kept(unreadable('fields', other))];
}

/** It becomes an attribute of a tag in the prompt. */
export function tagName(value: unknown): string {
  return (textOf(value) ?? 'note').replace(/[^\w.:-]/g, '_').slice(0, 80) || 'note';
}
