import { kept, noted, unreadable, type RecordPart, type SourceEvent, type SourceRecord } from '../sourceRecord';
import { claudeCodeEdits, editParts } from '../fileEdits';
import { messageParts, foreignCompaction } from './messageBlocks';
import { isObject, type Json } from '../../base/json';
import { joinedText, numberOf, otherFields, textOf, timeOf, wordOf } from './foreignJson';

/** Bookkeeping of the program, the same on every line, or taken over into an entry. */
const knownFields = new Set(
  'type subtype uuid parentUuid logicalParentUuid sessionId timestamp cwd gitBranch version isSidechain isMeta requestId message userType isCompactSummary isVisibleInTranscriptOnly agentId slug isApiErrorMessage entrypoint permissionMode promptId sourceToolAssistantUUID'.split(
    ' ',
  ),
);

const titleRanks: ReadonlyMap<unknown, number> = new Map([
  ['custom-title', 3],
  ['ai-title', 2],
  ['summary', 1],
]);

/**
 * Copies of what was sent, since 2.1.330: of the prompt, of the tools and of each request. A turn of two lines took 370 KB, and all but 30
 * of them were these. What was said stands in other lines, so of these nothing is kept.
 */
const sentAgain: ReadonlySet<unknown> = new Set(['api-request', 'api-request-blob', 'api-request-shape']);

/** What a compaction has folded, and the record that what it left begins with. */
interface Fold {
  readonly tokens: number;
  readonly firstKept: string | null;
}

/** The lines of one answer and the results of its calls. */
interface Answer {
  readonly messageId: string;
  /** The last of them, or what the program noted behind it. */
  tip: string;
  /** Ids of the calls that have their result. */
  readonly results: Set<string>;
}

/**
 * Session files of Claude Code, a line at a time. Every line is a record of its own; lines of one answer follow each other and are
 * projected as one message. Each result names the line of its own call as its parent: of calls side by side all but one would stand
 * on branches of their own, so results follow each other here.
 *
 * The usage of the lines is that of the whole answer: they are held back, with what comes between them, until another message begins,
 * and the first of them has it. Not the last: of an answer that was half there at an import, another one would be the last the next time.
 */
export class ClaudeCodeReader {
  private sessionId = '';
  private cwd = '';
  private readonly toolNames = new Map<string, string>();
  private held: { readonly messageId: string; readonly events: SourceEvent[]; usage: RecordPart['usage'] } | null = null;
  /** Ids of the answers whose usage has been given to a line: others may stand between its lines, notes of the program or a sub-task's. */
  private readonly billed = new Set<string>();
  private readonly answers = new Map<string, Answer>();
  /** The compaction whose summary comes next has folded this. */
  private folded: Fold = { tokens: 0, firstKept: null };

  read(value: unknown, line: number, hash: string, fallbackId: string): SourceEvent[] {
    const begun = this.begin(value, fallbackId);
    if (!isObject(value) || typeof value['uuid'] !== 'string') return [...begun, ...this.holdBack(this.loose(value, line, hash))];
    const cwd: SourceEvent[] = typeof value['cwd'] === 'string' && this.cwd === '' ? [{ type: 'cwd', cwd: (this.cwd = value['cwd']) }] : [];
    const message = isObject(value['message']) ? value['message'] : null;
    const messageId = message && value['type'] === 'assistant' ? textOf(message['id']) : undefined;
    const results = value['type'] === 'user' ? resultsIn(message?.['content']) : [];
    const endsAnswer = messageId === undefined ? message !== null && results.length === 0 : messageId !== this.held?.messageId;
    const released = endsAnswer ? this.release() : [];
    if (messageId !== undefined) {
      this.held ??= { messageId, events: [], usage: undefined };
      // A line that a fork has taken over was paid for in the session that it names.
      if (!isObject(value['forkedFrom'])) this.held.usage = usageOf(message) ?? this.held.usage;
    }
    const record = this.record(value, message, hash, messageId, results);
    return [...begun, ...released, ...this.holdBack([...cwd, { type: 'record', record }])];
  }

  /** What is held back: at the end of a file, and when nothing more comes for a while. */
  release(): SourceEvent[] {
    const { held } = this;
    this.held = null;
    if (!held) return [];
    const { messageId, events, usage } = held;
    const first =
      usage === undefined || this.billed.has(messageId)
        ? -1
        : events.findIndex((event) => event.type === 'record' && event.record.parts.length > 0);
    if (first !== -1) this.billed.add(messageId);
    return events.map((event, i) =>
      event.type === 'record' && i === first
        ? { type: 'record', record: { ...event.record, parts: event.record.parts.map((part, n) => (n === 0 ? { ...part, usage } : part)) } }
        : event,
    );
  }

  private holdBack(events: readonly SourceEvent[]): readonly SourceEvent[] {
    if (!this.held) return events;
    this.held.events.push(...events);
    return [];
  }

  private begin(value: unknown, fallbackId: string): SourceEvent[] {
    if (this.sessionId !== '') return [];
    // A sub-task's file names the session that it belongs to; it is one of its own.
    const isSubtask = isObject(value) && value['isSidechain'] === true && typeof value['agentId'] === 'string';
    const own = isObject(value) ? textOf(value['sessionId']) : undefined;
    // Titles may stand before the first line that names the session; the file has its name.
    this.sessionId = isSubtask || own === undefined ? fallbackId : own;
    const createdAt = isObject(value) ? timeOf(value['timestamp']) : null;
    return [
      {
        type: 'session',
        session: {
          id: this.sessionId,
          ...(createdAt === null ? {} : { createdAt }),
          ...(isSubtask && own !== undefined ? { metadata: { parentSession: own } } : {}),
        },
      },
    ];
  }

  private record(value: Json, message: Json | null, hash: string, messageId: string | undefined, results: readonly string[]): SourceRecord {
    const other = otherFields(value, knownFields);
    const parts = [
      ...this.parts(value, message, hash),
      ...(other === undefined || message === null ? [] : [kept(unreadable('fields', other))]),
      ...(results.length === 0 ? [] : editParts(claudeCodeEdits(value['toolUseResult']), textOf(value['cwd']) ?? this.cwd)),
    ];
    const id = String(value['uuid']);
    const named = textOf(value['parentUuid']) ?? textOf(value['logicalParentUuid']) ?? null;
    const parent = this.placeInAnswer(id, named, message !== null, messageId, results);
    return { id, parent, at: timeOf(value['timestamp']), hash, parts, ...(value['isSidechain'] === true ? { aside: true } : {}) };
  }

  /** The record that it follows: the one that it names, or the last one of the answer that it belongs to. */
  private placeInAnswer(
    id: string,
    named: string | null,
    isMessage: boolean,
    messageId: string | undefined,
    results: readonly string[],
  ): string | null {
    const before = named === null ? undefined : this.answers.get(named);
    if (messageId !== undefined && before?.messageId !== messageId) {
      this.answers.set(id, { messageId, tip: id, results: new Set() });
      return named;
    }
    // A second result of the same call is another attempt, on a branch of its own.
    const belongs =
      messageId !== undefined ||
      (isMessage ? results.length > 0 && !results.some((call) => before?.results.has(call)) : before?.tip === named);
    if (!before || !belongs) return named;
    const { tip } = before;
    before.tip = id;
    for (const call of results) before.results.add(call);
    this.answers.set(id, before);
    return tip;
  }

  private parts(value: Json, message: Json | null, hash: string): RecordPart[] {
    if (message === null || (value['type'] !== 'user' && value['type'] !== 'assistant')) {
      if (value['subtype'] === 'compact_boundary') this.folded = foldOf(isObject(value['compactMetadata']) ? value['compactMetadata'] : {});
      // Its place in the tree is kept: what follows names it.
      if (value['type'] === 'attachment' && isObject(value['attachment']) && value['attachment']['type'] === 'prompt_snapshot') return [];
      return [kept(unreadable(textOf(value['subtype']) ?? wordOf(value['type']), value))];
    }
    if (value['isCompactSummary'] === true)
      return [
        noted(
          foreignCompaction(
            `${this.sessionId}/${String(value['uuid'])}/${hash}`,
            joinedText(message['content']),
            this.folded.firstKept,
            this.folded.tokens,
          ),
        ),
      ];
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
    if (isObject(value) && sentAgain.has(value['type'])) return [];
    const record: SourceEvent = {
      type: 'record',
      record: {
        id: `L${line}`,
        parent: undefined,
        at: isObject(value) ? timeOf(value['timestamp']) : null,
        hash,
        parts: [kept(unreadable(isObject(value) ? wordOf(value['type'] ?? 'line') : 'line', value))],
      },
    };
    if (!isObject(value)) return [record];
    const title = textOf(value['customTitle'] ?? value['aiTitle'] ?? value['summary'] ?? value['title']);
    const rank = titleRanks.get(value['type']);
    const leaf = value['type'] === 'last-prompt' ? textOf(value['leafUuid']) : undefined;
    return [
      record,
      ...(title !== undefined && rank !== undefined ? [{ type: 'title', title, rank } as const] : []),
      ...(leaf === undefined ? [] : [{ type: 'leaf', record: leaf } as const]),
    ];
  }
}

/** What the program leaves as it was said stands at the end of what was before. */
function foldOf(meta: Json): Fold {
  const [segment, messages] = [meta['preservedSegment'], meta['preservedMessages']];
  const uuids: unknown = isObject(messages) ? messages['uuids'] : undefined;
  const firstKept =
    (isObject(segment) ? textOf(segment['headUuid']) : undefined) ?? (Array.isArray(uuids) ? textOf(uuids[0]) : undefined) ?? null;
  return { tokens: numberOf(meta['preTokens']), firstKept };
}

/** The calls that a message answers; empty for one that says something. */
function resultsIn(content: unknown): string[] {
  return Array.isArray(content)
    ? content.flatMap((block: unknown) => (isObject(block) && block['type'] === 'tool_result' ? [textOf(block['tool_use_id']) ?? ''] : []))
    : [];
}

function usageOf(message: Json | null): RecordPart['usage'] {
  const usage = message?.['usage'];
  if (!isObject(usage)) return undefined;
  const [input, output, cacheRead, cacheWrite] = [
    usage['input_tokens'],
    usage['output_tokens'],
    usage['cache_read_input_tokens'],
    usage['cache_creation_input_tokens'],
  ].map(numberOf) as [number, number, number, number];
  if (input + output + cacheRead + cacheWrite === 0) return undefined;
  return { provider: 'anthropic', model: textOf(message?.['model']) ?? 'unknown', input, output, cacheRead, cacheWrite, cost: null };
}
