import type { ContentOf, StoredEntry } from '../../session/entry';
import { memoryToolName } from '../../memory/nudges';
import { recallToolName } from '../../recall/history';
import { entryRef } from '../summary/prompts';

/** What one call did, read from its name, its input and its result alone: it works for tools nobody has heard of. */
export interface ToolFact {
  readonly ref: string;
  readonly tool: string;
  readonly failed: boolean;
  readonly files: readonly { readonly path: string; readonly action: FileAction; readonly range: string | null }[];
  readonly command: string | null;
  /** Open items, when the call wrote a list of them. */
  readonly todos: readonly string[] | null;
  readonly output: string;
}

export type FileAction = 'read' | 'created' | 'edited' | 'deleted';

/** The calls of a range with their results, in order. Notes and recall are the conversation's own business and no work. */
export function toolFacts(entries: readonly StoredEntry[]): ToolFact[] {
  const results = new Map<string, ContentOf<'tool_result'>>();
  for (const { content } of entries) if (content.type === 'tool_result') results.set(content.callId, content);
  return entries.flatMap((entry) => {
    const { content } = entry;
    if (content.type !== 'tool_call' || content.name === memoryToolName || content.name === recallToolName) return [];
    return [factOf(entryRef(entry), content, results.get(content.callId))];
  });
}

function factOf(ref: string, call: ContentOf<'tool_call'>, result: ContentOf<'tool_result'> | undefined): ToolFact {
  const input = isRecord(call.input) ? call.input : {};
  const command = commandOf(call.name, input);
  const output = result?.text ?? '';
  const code = exitCode(output);
  const failed = result === undefined || result.status !== 'ok' || (command !== null && code !== null && code !== 0);
  return {
    ref,
    tool: call.name,
    failed,
    files: failed || command !== null ? [] : filesOf(call.name, input),
    command,
    todos: todosOf(call.name, input),
    output,
  };
}

const pathKeys = [
  'path',
  'file',
  'file_path',
  'filePath',
  'filename',
  'fileName',
  'target_file',
  'targetFile',
  'notebook_path',
  'uri',
  'paths',
  'files',
];
const commandKeys = ['command', 'cmd', 'script', 'commandLine'];

function filesOf(tool: string, input: Readonly<Record<string, unknown>>): ToolFact['files'] {
  const action = actionOf(tool, input);
  if (action === null) return [];
  const values = pathKeys.flatMap((key) => (Array.isArray(input[key]) ? (input[key] as unknown[]) : [input[key]]));
  const paths = values
    .map((value) => (isRecord(value) ? value['path'] : value))
    .filter((value): value is string => typeof value === 'string' && value.trim() !== '' && value.length <= 300 && !value.includes('\n'));
  return [...new Set(paths)].map((path) => ({ path, action, range: rangeOf(input) }));
}

/** By the words of the tool's name; a tool with sub-commands says it in `command`. */
function actionOf(tool: string, input: Readonly<Record<string, unknown>>): FileAction | null {
  const verb = typeof input['command'] === 'string' ? input['command'] : tool;
  const words = verb.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  const has = (pattern: RegExp) => pattern.test(words);
  if (has(/delete|remove|unlink/)) return 'deleted';
  if (has(/edit|replace|insert|patch|update|modify|append|rename|move/)) return 'edited';
  if (has(/create|write|save|new_file/)) return 'created';
  if (has(/read|view|open|cat|get|fetch|show/)) return 'read';
  return null;
}

function rangeOf(input: Readonly<Record<string, unknown>>): string | null {
  const number = (...keys: string[]) =>
    keys.map((key) => input[key]).find((value): value is number => typeof value === 'number' && Number.isFinite(value));
  const view = input['view_range'] ?? input['range'];
  if (Array.isArray(view) && typeof view[0] === 'number' && typeof view[1] === 'number')
    return `${view[0]}–${view[1] === -1 ? 'end' : view[1]}`;
  const start = number('start_line', 'startLine', 'line_start', 'from_line', 'offset', 'line');
  const end = number('end_line', 'endLine', 'line_end', 'to_line');
  const limit = number('limit');
  if (start === undefined) return null;
  if (end !== undefined) return `${start}–${end}`;
  return limit === undefined ? `${start}` : `${start}–${start + limit - 1}`;
}

function commandOf(tool: string, input: Readonly<Record<string, unknown>>): string | null {
  if (!/bash|shell|terminal|exec|run|command|powershell|^sh$/i.test(tool)) return null;
  const value = commandKeys.map((key) => input[key]).find((one): one is string => typeof one === 'string' && one.trim() !== '');
  return value === undefined ? null : value.trim().replace(/\s+/g, ' ').slice(0, 200);
}

function exitCode(output: string): number | null {
  const found = /(?:exit(?:ed)?(?: with)?(?: code| status)?|return code)[:= ]+(-?\d+)/i.exec(
    `${output.slice(0, 400)}\n${output.slice(-400)}`,
  );
  return found ? Number(found[1]) : null;
}

function todosOf(tool: string, input: Readonly<Record<string, unknown>>): readonly string[] | null {
  if (!/todo|task_list|tasklist|plan/i.test(tool)) return null;
  const list = ['todos', 'items', 'tasks', 'plan', 'todoList'].map((key) => input[key]).find(Array.isArray) as unknown[] | undefined;
  return (
    list?.flatMap((item): string[] => {
      if (typeof item === 'string') return [item];
      if (!isRecord(item)) return [];
      const text = ['content', 'text', 'title', 'step', 'task', 'description']
        .map((key) => item[key])
        .find((one): one is string => typeof one === 'string');
      const closed =
        item['done'] === true ||
        item['completed'] === true ||
        /^(?:completed?|done|cancell?ed|closed)$/i.test(String(item['status'] ?? ''));
      return text === undefined || closed ? [] : [text];
    }) ?? null
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
