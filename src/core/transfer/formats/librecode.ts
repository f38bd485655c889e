import { commandMessage, type CommandRun } from '../../session/commandRun';
import { kept, noted, said, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { foreignCompaction } from './messageBlocks';
import { parseForeign, tooDeep, numberOf, textOf, timeOf, wordOf } from './foreignJson';
import { isObject, type Json } from '../../base/json';
import { commandRun, tagName } from './pi';

/** A row of `sessions`, and its rows of `session_entries`: a tree like ours. */
export function librecodeEvents(session: Json, entries: readonly { readonly row: Json; readonly hash: string }[]): SourceEvent[] {
  const id = String(session['id']);
  const createdAt = timeOf(session['created_at']);
  const title = textOf(session['name']) ?? '';
  const parentSession = textOf(session['parent_session']) ?? '';
  return [
    {
      type: 'session',
      session: {
        id,
        cwd: textOf(session['cwd']) ?? null,
        ...(createdAt === null ? {} : { createdAt }),
        ...(parentSession === '' ? {} : { metadata: { parentSession } }),
      },
    },
    ...(title === '' ? [] : [{ type: 'title', title, rank: 3 } as const]),
    ...entries.flatMap(({ row, hash }): SourceEvent[] => {
      const cut: SourceEvent[] = [];
      const parts = partsOf(row, `${id}/${String(row['id'])}/${hash}`, () => cut.push({ type: 'repaired', kind: tooDeep() }));
      return [
        ...cut,
        {
          type: 'record',
          record: { id: String(row['id']), parent: textOf(row['parent_id']) || null, at: timeOf(row['created_at']), hash, parts },
        },
      ];
    }),
  ];
}

function partsOf(row: Json, operationId: string, onCut: () => void): RecordPart[] {
  const flags = { modelFacing: row['model_facing'] !== 0, display: row['display'] !== 0 };
  const text = textOf(row['content']) ?? '';
  const summary = textOf(row['summary']) || text;
  const data = dataOf(row['data_json'], onCut);
  switch (row['entry_type']) {
    case 'message':
      return messageOf(row, text, data, flags, onCut);
    case 'custom_message':
      return [said({ type: 'custom_message', customType: tagName(row['custom_type']), text }, flags)];
    case 'compaction':
      // The program replaces everything before it by the summary, unless it names what it kept.
      return [
        noted(
          foreignCompaction(
            operationId,
            summary,
            textOf(row['compaction_first_kept_entry_id']) || null,
            numberOf(row['compaction_tokens_before']),
          ),
        ),
      ];
    case 'branch_summary':
      return [said({ type: 'branch_summary', text: summary, branchLeaf: textOf(row['branch_from_entry_id']) ?? '' })];
    case 'label':
      return [
        noted({
          type: 'label',
          target: textOf(isObject(data) ? (data['targetId'] ?? data['target_id']) : undefined) ?? textOf(row['parent_id']) ?? '',
          label: textOf(isObject(data) ? data['label'] : undefined) ?? text,
        }),
      ];
    case 'model_change':
      return [noted({ type: 'model_change', provider: textOf(row['provider']) ?? '', model: textOf(row['model']) ?? '' })];
    case 'thinking_level_change':
      return [
        noted({
          type: 'thinking_level_change',
          level: textOf(isObject(data) ? (data['thinkingLevel'] ?? data['level']) : undefined) ?? text,
        }),
      ];
    case 'session_info':
      return [noted({ type: 'session_info', title: textOf(isObject(data) ? data['name'] : undefined) ?? text })];
    case 'custom':
      return [kept({ type: 'custom', customType: textOf(row['custom_type']) ?? 'unknown', data: data ?? text })];
    default:
      return [kept(unreadable(wordOf(row['entry_type']), row))];
  }
}

/** A result has its call with it, but no id that would tie them: both are named after the row. */
function messageOf(
  row: Json,
  text: string,
  data: unknown,
  flags: Pick<RecordPart, 'modelFacing' | 'display'>,
  onCut: () => void,
): RecordPart[] {
  const role = row['role'];
  const origin = {
    ...(textOf(row['provider']) ? { provider: String(row['provider']) } : {}),
    ...(textOf(row['model']) ? { model: String(row['model']) } : {}),
  };
  if (role === 'user') return [said({ type: 'message', role, text }, flags)];
  if (role === 'assistant') return [said({ type: 'message', role, text, ...origin }, flags)];
  if (role === 'thinking')
    return [said({ type: 'thinking', text, ...(textOf(row['provider']) ? { provider: String(row['provider']) } : {}) }, flags)];
  // What a person has run goes to the model where the program says so, and is shown either way.
  if (role === 'bashExecution')
    return [
      said(commandMessage(commandOf(data, text, onCut)), {
        modelFacing: flags.modelFacing && !(isObject(data) && data['excludeFromContext'] === true),
        display: true,
      }),
    ];
  const name = textOf(row['tool_name']);
  if (name === undefined || name === '') return [kept(unreadable(`role:${wordOf(role)}`, row))];
  const callId = `librecode_${String(row['id']).replace(/[^\w-]/g, '_')}`;
  const input = dataOf(row['tool_args_json'], onCut) ?? {};
  const status = /error|fail/i.test(textOf(row['tool_status']) ?? '') ? 'error' : 'ok';
  return [
    said({ type: 'tool_call', callId, name, input, ...origin }, flags),
    said({ type: 'tool_result', callId, name, text, status }, flags),
    ...(data === undefined ? [] : [kept(unreadable('fields', data))]),
  ];
}

/** Fields of their own, or a text whose first line is the command (`$ ls`). */
function commandOf(data: unknown, text: string, onCut: () => void): CommandRun {
  const written = dataOf(text, onCut);
  const fields = isObject(data) && 'command' in data ? data : isObject(written) ? written : null;
  if (fields) return commandRun({ output: fields === data ? text : '', ...fields });
  const [first = '', ...rest] = text.split('\n');
  return { command: first.replace(/^\$ /, ''), output: rest.join('\n'), exitCode: null };
}

function dataOf(json: unknown, onCut: () => void): unknown {
  if (typeof json !== 'string' || json === '' || json === '{}' || json === 'null') return undefined;
  const parsed = parseForeign(json);
  if (parsed && parsed.cut > 0) onCut();
  return parsed ? parsed.value : json;
}
