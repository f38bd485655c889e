import * as z from 'zod/mini';
import { indented } from '../../frames/frames';
import type { StoredEntry } from '../../session/entry';
import { toolFacts, type ToolFact } from './toolFacts';

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
    const paths = files
      .filter((one) => one.action === action)
      .map(({ path, range, ref }) => `${path}${range === null ? '' : `:${range}`} (${ref})`);
    return paths.length === 0 ? [] : [`- ${title}: ${paths.join(', ')}`];
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
