import { isObject } from '../../base/json';
import * as z from 'zod/mini';
import { indented } from '../../frames/frames';
import type { StoredEntry, ContentOf } from '../../session/entry';
import { memoryToolName } from '../../memory/nudges';
import { recallToolName } from '../../recall/history';
import { todoToolName } from '../../todo/todoList';
import { entryRef } from '../summary/prompts';

const file = z.object({
  path: z.string(),
  /** The strongest thing that was done to it. */
  action: z.enum(['read', 'edited', 'created', 'deleted']),
  /** Lines, as the last read asked for them. */
  range: z.nullable(z.string()),
  /** Names the call that did it last. */
  ref: z.string(),
});
const command = z.object({ command: z.string(), passed: z.boolean(), ref: z.string() });
const named = z.object({ text: z.string(), ref: z.string() });

/** What was done with tools in the folded ranges. No model has a part in it; a newer call replaces what an older one said. */
export const WorkLedger = z.object({
  files: z.array(file),
  /** Newest outcome of each command. */
  commands: z.array(command),
  /** With the command whose output named them. */
  failing: z.array(z.object({ text: z.string(), ref: z.string(), command: z.string() })),
  lastError: z.nullable(z.object({ text: z.string(), ref: z.string(), source: z.string(), fix: z.nullable(z.string()) })),
  todos: z.array(named),
  /** Entries of older work that no longer fit, by kind. */
  left: z.object({ files: z.number(), commands: z.number() }),
});
export type WorkLedger = z.infer<typeof WorkLedger>;

export const emptyWorkLedger: WorkLedger = {
  files: [],
  commands: [],
  failing: [],
  lastError: null,
  todos: [],
  left: { files: 0, commands: 0 },
};

const mostFailing = 20;
const mostTodos = 30;
const rank = { read: 0, edited: 1, created: 2, deleted: 3 } as const;

/** The ledger after a further folded range, bounded: files only read and commands that passed give way first, oldest first. */
export function extendWorkLedger(
  previous: WorkLedger,
  folded: readonly StoredEntry[],
  budgetTokens: number,
  estimate: (text: string) => number,
): WorkLedger {
  const files = new Map(previous.files.map((one) => [one.path, one]));
  const commands = new Map(previous.commands.map((one) => [one.command, one]));
  let { failing, lastError, todos } = previous;
  let editedSinceError: string[] = [];
  for (const fact of toolFacts(folded)) {
    for (const { path, action, range } of fact.files) {
      const known = files.get(path);
      const kept = known && known.action !== 'deleted' && rank[known.action] > rank[action];
      // Newest last: what is dropped is what has not been touched for longest.
      files.delete(path);
      files.set(
        path,
        kept
          ? { ...known, range: range ?? known.range }
          : { path, action: action === 'edited' && known?.action === 'created' ? 'created' : action, range, ref: fact.ref },
      );
      if (action !== 'read') editedSinceError.push(`${path} (${fact.ref})`);
    }
    const source = fact.command ?? fact.tool;
    if (fact.command !== null) {
      commands.delete(fact.command);
      commands.set(fact.command, { command: fact.command, passed: !fact.failed, ref: fact.ref });
      failing = [...failing.filter((one) => one.command !== fact.command), ...(fact.failed ? failingTests(fact) : [])].slice(-mostFailing);
    }
    if (fact.failed) {
      lastError = { text: errorLine(fact.output), ref: fact.ref, source, fix: null };
      editedSinceError = [];
    } else if (lastError?.source === source && lastError.fix === null) {
      lastError = { ...lastError, fix: [...editedSinceError.slice(-4), `works since ${fact.ref}`].join(', ') };
    }
    if (fact.todos) todos = fact.todos.slice(0, mostTodos).map((text) => ({ text: text.slice(0, 160), ref: fact.ref }));
  }
  return bounded(
    { files: [...files.values()], commands: [...commands.values()], failing, lastError, todos, left: previous.left },
    budgetTokens,
    estimate,
  );
}

function bounded(ledger: WorkLedger, budgetTokens: number, estimate: (text: string) => number): WorkLedger {
  let { files, commands, left } = ledger;
  const fits = () => estimate(renderWorkLedger({ ...ledger, files, commands, left })) <= budgetTokens;
  while (!fits()) {
    // An eighth at a time: a render per dropped line would be quadratic.
    const read = files.filter(({ action }) => action === 'read');
    const passed = commands.filter((one) => one.passed);
    const weak = read.length >= passed.length && read.length > 0 ? read : passed;
    const giving: readonly unknown[] = weak.length > 0 ? weak : files.length >= commands.length ? files : commands;
    const gone = new Set(giving.slice(0, Math.max(1, Math.floor(giving.length / 8))));
    if (gone.size === 0) break;
    const before = { files: files.length, commands: commands.length };
    files = files.filter((one) => !gone.has(one));
    commands = commands.filter((one) => !gone.has(one));
    left = { files: left.files + before.files - files.length, commands: left.commands + before.commands - commands.length };
  }
  return { ...ledger, files, commands, left };
}

/** Empty when no tool was used. */
export function renderWorkLedger({ files, commands, failing, lastError, todos, left }: WorkLedger): string {
  const group = (title: string, action: WorkLedger['files'][number]['action']) => {
    const own = files.filter((one) => one.action === action);
    return own.length === 0 ? [] : [`- ${title}: ${runsOf(own).map(runText).join(', ')}`];
  };
  const lines = [
    ...group('Created', 'created'),
    ...group('Edited', 'edited'),
    ...group('Deleted', 'deleted'),
    ...group('Read', 'read'),
    ...(commands.length === 0
      ? []
      : [`- Commands: ${commands.map((one) => `\`${one.command}\` ${one.passed ? 'passed' : 'failed'} (${one.ref})`).join('; ')}`]),
    ...(failing.length === 0 ? [] : [`- Failing: ${failing.map(({ text, ref }) => `${text} (${ref})`).join('; ')}`]),
    ...(lastError
      ? [`- Last error (${lastError.ref}, ${lastError.source}): ${lastError.text}${lastError.fix ? `. Fixed: ${lastError.fix}` : ''}`]
      : []),
    ...(todos.length === 0 ? [] : [`- Open: ${todos.map(({ text, ref }) => `${text} (${ref})`).join('; ')}`]),
    ...(left.files + left.commands === 0
      ? []
      : [`- Older and not listed: ${left.files} files, ${left.commands} commands (recall finds them)`]),
  ];
  return lines.length === 0 ? '' : ['## Work done with tools', ...lines.map(indented)].join('\n');
}

/** Files that were done with calls one behind the other: ids take a third of what a list of them takes. */
function runsOf(files: WorkLedger['files']): WorkLedger['files'][] {
  const runs: WorkLedger['files'][] = [];
  for (const one of files) {
    const before = runs.at(-1)?.at(-1);
    if (before && Number(one.ref.slice(1)) === Number(before.ref.slice(1)) + 1) runs.at(-1)!.push(one);
    else runs.push([one]);
  }
  return runs;
}

/** `a.ts:1-40 (#12)`, `a.ts, b.ts (#12–#13)` */
function runText(run: WorkLedger['files']): string {
  const [first, last] = [run[0]!.ref, run.at(-1)!.ref];
  const paths = run.map(({ path, range }) => `${path}${range === null ? '' : `:${range}`}`).join(', ');
  return `${paths} (${first === last ? first : `${first}–${last}`})`;
}

/** Names as the usual runners print them: go, pytest, TAP, jest, mocha's numbered list, and marks in front of a name. */
const failures = [
  /^\s*--- FAIL: (\S+)/,
  /^FAILED (\S+)/,
  /^not ok \d+ - (.+)$/,
  /^\s*FAIL\s+(\S.*)$/,
  /^\s*[✗✖✕×] (.+)$/,
  /^\s+\d+\) (.+)$/,
];

function failingTests({ output, ref, command }: ToolFact): WorkLedger['failing'] {
  const names = new Set<string>();
  for (const line of output.slice(-200_000).split('\n')) {
    const name = failures.map((pattern) => pattern.exec(line)?.[1]?.trim()).find((one) => one !== undefined);
    if (name) names.add(name.slice(0, 120));
  }
  return [...names].slice(0, mostFailing).map((text) => ({ text, ref, command: command ?? '' }));
}

function errorLine(output: string): string {
  const lines = output
    .slice(0, 200_000)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const telling = [/(?:error|exception)\b|\bpanic/i, /\b(?:failed|cannot|not found|denied|no such)\b/i];
  return (
    telling.map((pattern) => lines.find((line) => pattern.test(line))).find((line) => line !== undefined) ??
    lines.at(-1) ??
    'no output'
  ).slice(0, 240);
}

/** What one call did, read from its name, its input and its result alone: it works for tools nobody has heard of. */
interface ToolFact {
  readonly ref: string;
  readonly tool: string;
  readonly failed: boolean;
  readonly files: readonly { readonly path: string; readonly action: FileAction; readonly range: string | null }[];
  readonly command: string | null;
  /** Open items, when the call wrote a list of them. */
  readonly todos: readonly string[] | null;
  readonly output: string;
}

const notWork: ReadonlySet<string> = new Set([memoryToolName, recallToolName, todoToolName]);

type FileAction = 'read' | 'created' | 'edited' | 'deleted';

/**
 * The calls of a range with their results, in order. Notes and recall are the conversation's own business and no work; the to-do list
 * stands beside this.
 */
function toolFacts(entries: readonly StoredEntry[]): ToolFact[] {
  const results = new Map<string, ContentOf<'tool_result'>>();
  for (const { content } of entries) if (content.type === 'tool_result') results.set(content.callId, content);
  return entries.flatMap((entry) => {
    const { content } = entry;
    if (content.type !== 'tool_call' || notWork.has(content.name)) return [];
    return [factOf(entryRef(entry), content, results.get(content.callId))];
  });
}

function factOf(ref: string, call: ContentOf<'tool_call'>, result: ContentOf<'tool_result'> | undefined): ToolFact {
  const input = isObject(call.input) ? call.input : {};
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
    .map((value) => (isObject(value) ? value['path'] : value))
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
      if (!isObject(item)) return [];
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
