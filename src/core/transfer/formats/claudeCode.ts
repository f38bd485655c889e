import { unreadable } from '../rawEntry';
import { kept, noted, type RecordPart, type SourceEvent, type SourceRecord } from '../sourceRecord';
import { foreignCompaction } from './foldRecord';
import { isObject, joinedText, numberOf, otherFields, textOf, timeOf, type Json } from './jsonShape';
import { messageParts } from './messageBlocks';

/** Bookkeeping of the program, the same on every line, or taken over into an entry. */
const knownFields = new Set(
  'type subtype uuid parentUuid logicalParentUuid sessionId timestamp cwd gitBranch version isSidechain isMeta requestId message userType isCompactSummary isVisibleInTranscriptOnly agentId slug isApiErrorMessage entrypoint permissionMode promptId sourceToolAssistantUUID'.split(' '),
);

/**
 * Session files of Claude Code, a line at a time. Every line is a record of its own; lines of one answer follow each other and are
 * projected as one message. Their usage is that of the whole answer: they are held back until another message begins, and the first of
 * them has it. Not the last: of an answer that was half there at an import, another one would be the last the next time.
 */
export class ClaudeCodeReader {
  private sessionId = '';
  private cwd = '';
  private readonly toolNames = new Map<string, string>();
  private held: { readonly messageId: string; readonly records: SourceRecord[]; usage: RecordPart['usage'] } | null = null;
  private foldedTokens = 0;

  read(value: unknown, line: number, hash: string, fallbackId: string): SourceEvent[] {
    const begun = this.begin(value, fallbackId);
    if (!isObject(value) || typeof value['uuid'] !== 'string') return [...begun, ...this.release(), ...this.loose(value, line, hash)];
    const events: SourceEvent[] = [];
    if (typeof value['cwd'] === 'string' && this.cwd === '') events.push({ type: 'cwd', cwd: (this.cwd = value['cwd']) });
    const message = isObject(value['message']) ? value['message'] : null;
    const messageId = message && value['type'] === 'assistant' ? textOf(message['id']) : undefined;
    if (messageId === undefined || messageId !== this.held?.messageId) events.push(...this.release());
    const record = this.record(value, message, hash);
    if (messageId === undefined) events.push({ type: 'record', record });
    else {
      this.held ??= { messageId, records: [], usage: undefined };
      this.held.records.push(record);
      this.held.usage = usageOf(message) ?? this.held.usage;
    }
    return [...begun, ...events];
  }

  /** What is held back: at the end of a file, and when nothing more comes for a while. */
  release(): SourceEvent[] {
    const { held } = this;
    this.held = null;
    if (!held) return [];
    const { records, usage } = held;
    const billed = records.find(({ parts }) => parts.length > 0);
    return records.map((record) => ({ type: 'record', record: record === billed && usage !== undefined ? { ...record, parts: record.parts.map((part, i) => (i === 0 ? { ...part, usage } : part)) } : record }));
  }

  private begin(value: unknown, fallbackId: string): SourceEvent[] {
    if (this.sessionId !== '') return [];
    // A sub-task's file names the session that it belongs to; it is one of its own.
    const isSubtask = isObject(value) && value['isSidechain'] === true && typeof value['agentId'] === 'string';
    const own = isObject(value) ? textOf(value['sessionId']) : undefined;
    // Titles may stand before the first line that names the session; the file has its name.
    this.sessionId = isSubtask || own === undefined ? fallbackId : own;
    const createdAt = isObject(value) ? timeOf(value['timestamp']) : null;
    return [{ type: 'session', session: { id: this.sessionId, ...(createdAt === null ? {} : { createdAt }), ...(isSubtask && own !== undefined ? { metadata: { parentSession: own } } : {}) } }];
  }

  private record(value: Json, message: Json | null, hash: string): SourceRecord {
    const other = otherFields(value, knownFields);
    const parts = [...this.parts(value, message, hash), ...(other === undefined || message === null ? [] : [kept(unreadable('fields', other))])];
    const parent = textOf(value['parentUuid']) ?? textOf(value['logicalParentUuid']) ?? null;
    return { id: String(value['uuid']), parent, at: timeOf(value['timestamp']), hash, parts, ...(value['isSidechain'] === true ? { aside: true } : {}) };
  }

  private parts(value: Json, message: Json | null, hash: string): RecordPart[] {
    if (message === null || (value['type'] !== 'user' && value['type'] !== 'assistant')) {
      const meta = value['compactMetadata'];
      if (isObject(meta)) this.foldedTokens = numberOf(meta['preTokens']);
      return [kept(unreadable(textOf(value['subtype']) ?? String(value['type']), value))];
    }
    if (value['isCompactSummary'] === true) return [noted(foreignCompaction(`${this.sessionId}/${String(value['uuid'])}/${hash}`, joinedText(message['content']), null, this.foldedTokens))];
    const role = value['type'];
    const model = textOf(message['model']);
    const parts = messageParts(message['content'], {
      role,
      toolNames: this.toolNames,
      provider: 'anthropic',
      ...(model === undefined ? {} : { model }),
      display: value['isMeta'] !== true,
      // The program's own words about a failed request, not the model's.
      modelFacing: value['isApiErrorMessage'] !== true,
    });
    // An answer without content still has its place in the tree.
    return parts;
  }

  private loose(value: unknown, line: number, hash: string): SourceEvent[] {
    const record: SourceEvent = { type: 'record', record: { id: `L${line}`, parent: undefined, at: isObject(value) ? timeOf(value['timestamp']) : null, hash, parts: [kept(unreadable(isObject(value) ? String(value['type'] ?? 'line') : 'line', value))] } };
    if (!isObject(value)) return [record];
    const title = textOf(value['customTitle'] ?? value['aiTitle'] ?? value['summary'] ?? value['title']);
    const rank = { 'custom-title': 3, 'ai-title': 2, summary: 1 }[String(value['type'])];
    const leaf = value['type'] === 'last-prompt' ? textOf(value['leafUuid']) : undefined;
    return [record, ...(title !== undefined && rank !== undefined ? [{ type: 'title', title, rank } as const] : []), ...(leaf === undefined ? [] : [{ type: 'leaf', record: leaf } as const])];
  }
}

function usageOf(message: Json | null): RecordPart['usage'] {
  const usage = message?.['usage'];
  if (!isObject(usage)) return undefined;
  const [input, output, cacheRead, cacheWrite] = [usage['input_tokens'], usage['output_tokens'], usage['cache_read_input_tokens'], usage['cache_creation_input_tokens']].map(numberOf) as [number, number, number, number];
  if (input + output + cacheRead + cacheWrite === 0) return undefined;
  return { provider: 'anthropic', model: textOf(message?.['model']) ?? 'unknown', input, output, cacheRead, cacheWrite, cost: null };
}
