import { english } from '../../l10n';
import { isObject, type Json } from '../../base/json';
import { kept, noted, said, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { joinedText, numberOf, textOf, timeOf, wordOf } from './foreignJson';
import { foreignCompaction, messageParts, toolResultParts } from './messageBlocks';

/** Bookkeeping of the program and what another record repeats: such a record has its place in the chain and nothing else. */
const unsaid =
  /^(?:session\.(?:resume|shutdown|info|model_change|start|idle|title_changed)|system\.message|assistant\.(?:turn_start|turn_end|intent|reasoning|streaming_delta|usage)|tool\.execution_(?:start|partial_result|progress)|hook\.|abort$|permission\.)/;

/**
 * `events.jsonl` of Copilot CLI, a line at a time. The transcripts that Copilot Chat keeps of its sessions in VS Code have the same
 * records.
 */
export class CopilotCliReader {
  private sessionId = '';
  private readonly toolNames = new Map<string, string>();

  read(value: unknown, line: number, hash: string, fallbackId: string): SourceEvent[] {
    const data = isObject(value) && isObject(value['data']) ? value['data'] : {};
    const begun = this.begin(isObject(value) ? value : {}, data, fallbackId);
    const id = (isObject(value) ? textOf(value['id']) : undefined) ?? `L${line}`;
    const parentId = isObject(value) ? value['parentId'] : undefined;
    const parts = isObject(value) ? this.parts(value, data, `${this.sessionId}/${id}/${hash}`) : [kept(unreadable('line', value))];
    const title = isObject(value) && value['type'] === 'session.title_changed' ? textOf(data['title']) : undefined;
    return [
      ...begun,
      {
        type: 'record',
        record: {
          id,
          parent: parentId === null ? null : textOf(parentId),
          at: isObject(value) ? timeOf(value['timestamp']) : null,
          hash,
          parts,
        },
      },
      ...(title === undefined ? [] : [{ type: 'title', title, rank: 2 } as const]),
    ];
  }

  private begin(value: Json, data: Json, fallbackId: string): SourceEvent[] {
    if (this.sessionId !== '') return [];
    const isHeader = value['type'] === 'session.start';
    this.sessionId = (isHeader ? textOf(data['sessionId']) : undefined) ?? fallbackId;
    const createdAt = timeOf(data['startTime'] ?? value['timestamp']);
    const context = isObject(data['context']) ? data['context'] : {};
    return [
      {
        type: 'session',
        session: { id: this.sessionId, cwd: textOf(context['cwd']) ?? null, ...(createdAt === null ? {} : { createdAt }) },
      },
      ...(isHeader ? [] : [{ type: 'repaired', kind: english('missing header') } as const]),
    ];
  }

  private parts(value: Json, data: Json, operation: string): RecordPart[] {
    const type = wordOf(value['type'] ?? 'line');
    switch (type) {
      case 'user.message':
        return messageParts(data['content'], { role: 'user', toolNames: this.toolNames });
      case 'assistant.message': {
        const thought = textOf(data['reasoningText']) ?? '';
        const requests = Array.isArray(data['toolRequests']) ? data['toolRequests'].filter(isObject) : [];
        return [
          ...(thought === '' ? [] : [said({ type: 'thinking', text: thought })]),
          ...messageParts(
            [
              { type: 'text', text: textOf(data['content']) ?? '' },
              ...requests.map((call) => ({ type: 'tool_use', id: call['toolCallId'], name: call['name'], input: call['arguments'] })),
            ],
            {
              role: 'assistant',
              toolNames: this.toolNames,
              provider: 'github-copilot',
              ...(textOf(data['model']) === undefined ? {} : { model: String(data['model']) }),
            },
          ),
        ];
      }
      case 'tool.execution_complete': {
        const result = isObject(data['result']) ? data['result'] : {};
        const error = isObject(data['error']) ? data['error']['message'] : data['error'];
        return toolResultParts(
          textOf(data['toolCallId']) ?? '',
          this.toolNames,
          textOf(result['content']) ?? textOf(error) ?? joinedText(result['contents']),
          data['success'] === false,
          { display: true, modelFacing: true },
        );
      }
      case 'session.usage_record':
        return usageParts(isObject(data['usage']) ? data['usage'] : {});
      case 'session.compaction_complete': {
        const summary = textOf(data['summaryContent']) ?? '';
        return summary === '' ? [] : [noted(foreignCompaction(operation, summary, null, numberOf(data['preCompactionTokens'])))];
      }
      default:
        return unsaid.test(type) ? [] : [kept(unreadable(type, value))];
    }
  }
}

function usageParts(usage: Json): RecordPart[] {
  const [all, output, cacheRead, cacheWrite] = [
    usage['inputTokens'],
    usage['outputTokens'],
    usage['cacheReadTokens'],
    usage['cacheWriteTokens'],
  ].map(numberOf) as [number, number, number, number];
  if (all + output === 0) return [];
  const input = Math.max(0, all - cacheRead - cacheWrite);
  const cost = typeof usage['cost'] === 'number' && usage['cost'] > 0 ? usage['cost'] : null;
  return [
    {
      ...kept(unreadable('usage', { input, output, cacheRead, cacheWrite })),
      usage: { provider: 'github-copilot', model: textOf(usage['model']) ?? 'unknown', input, output, cacheRead, cacheWrite, cost },
    },
  ];
}
