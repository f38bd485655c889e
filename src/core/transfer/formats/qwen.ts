import { isObject, type Json } from '../../base/json';
import { kept, noted, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { joinedText, numberOf, textOf, timeOf, wordOf } from './foreignJson';
import { geminiParts, geminiUsage } from './geminiParts';
import { foreignCompaction } from './messageBlocks';

/** Counts of the program, with which nobody can do anything. */
const unsaid = new Set(['ui_telemetry', 'attribution_snapshot']);

/** Chats of Qwen Code, a line at a time: a tree like that of Claude Code, with messages in the shape of Google's API. */
export class QwenReader {
  private sessionId = '';
  private readonly toolNames = new Map<string, string>();

  read(value: unknown, line: number, hash: string, fallbackId: string): SourceEvent[] {
    const begun = this.begin(value, fallbackId);
    const id = (isObject(value) ? textOf(value['uuid']) : undefined) ?? `L${line}`;
    const parts = isObject(value) ? this.parts(value, `${this.sessionId}/${id}/${hash}`) : [kept(unreadable('line', value))];
    const payload = isObject(value) && isObject(value['systemPayload']) ? value['systemPayload'] : {};
    const title = isObject(value) && value['subtype'] === 'custom_title' ? textOf(payload['customTitle'] ?? payload['title']) : undefined;
    const parent = isObject(value) ? value['parentUuid'] : undefined;
    return [
      ...begun,
      {
        type: 'record',
        record: {
          id,
          parent: parent === null ? null : textOf(parent),
          at: isObject(value) ? timeOf(value['timestamp']) : null,
          hash,
          parts,
        },
      },
      ...(title === undefined ? [] : [{ type: 'title', title, rank: 2 } as const]),
    ];
  }

  private begin(value: unknown, fallbackId: string): SourceEvent[] {
    if (this.sessionId !== '') return [];
    const head = isObject(value) ? value : {};
    this.sessionId = textOf(head['sessionId']) ?? fallbackId;
    const createdAt = timeOf(head['timestamp']);
    return [
      { type: 'session', session: { id: this.sessionId, cwd: textOf(head['cwd']) ?? null, ...(createdAt === null ? {} : { createdAt }) } },
    ];
  }

  private parts(value: Json, operation: string): RecordPart[] {
    const message = isObject(value['message']) ? value['message'] : {};
    const model = textOf(value['model']);
    switch (value['type']) {
      case 'user':
      case 'tool_result':
        return geminiParts(message['parts'], 'user', this.toolNames, undefined);
      case 'assistant': {
        const usage = geminiUsage(
          isObject(value['usageMetadata']) ? value['usageMetadata'] : {},
          ['promptTokenCount', 'candidatesTokenCount', 'cachedContentTokenCount', 'none'],
          model ?? 'unknown',
        );
        return geminiParts(message['parts'], 'assistant', this.toolNames, model).map((part, i) =>
          usage && i === 0 ? { ...part, usage: { ...usage, provider: 'qwen' } } : part,
        );
      }
      case 'system':
        if (unsaid.has(wordOf(value['subtype']))) return [];
        return value['subtype'] === 'chat_compression'
          ? [
              noted(compression(isObject(value['systemPayload']) ? value['systemPayload'] : {}, operation)),
              kept(unreadable('chat_compression', value)),
            ]
          : [kept(unreadable(wordOf(value['subtype'] ?? 'system'), value))];
      default:
        return [kept(unreadable(wordOf(value['type'] ?? 'line'), value))];
    }
  }
}

/** The model goes on from this list, which begins with the summary. */
function compression(payload: Json, operation: string) {
  const info = isObject(payload['info']) ? payload['info'] : {};
  const history = Array.isArray(payload['compressedHistory']) ? payload['compressedHistory'].filter(isObject) : [];
  const text = history.map((content) => joinedText(content['parts'])).find((one) => one !== '') ?? '';
  return foreignCompaction(operation, text, null, numberOf(info['originalTokenCount']));
}
