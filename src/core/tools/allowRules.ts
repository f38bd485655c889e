import { visibleText } from '../base/text';
import { globMatcher } from './guard/glob';
import type { ApprovalQuestion } from './tool';

/**
 * What the user has allowed for good, one line each: `command npm test`, `command npm run *`, `edit docs/**`, `tool search_web`.
 * A command is allowed as it stands, or, with ` *` at the end, by how it begins; a path by a pattern; a tool by its name.
 */
export interface AllowRule {
  readonly kind: 'command' | 'edit' | 'tool';
  readonly pattern: string;
}

/** Null for a line that is no rule. */
export function parseAllowRule(line: string): AllowRule | null {
  const [, kind, pattern = ''] = /^(command|edit|tool)\s+(\S.*)$/.exec(line.trim()) ?? [];
  // `command *` would allow whatever a model thinks of.
  if (kind === undefined || (kind === 'command' && /^[\s*]+$/.test(pattern))) return null;
  return { kind: kind as AllowRule['kind'], pattern };
}

/** Whether a rule covers the call. A question that is asked every time is covered by none. */
export function isAllowed(rules: readonly string[], question: ApprovalQuestion, tool: string): boolean {
  if (question.everyTime) return false;
  return rules.some((line) => {
    const rule = parseAllowRule(line);
    return rule !== null && covers(rule, question, tool);
  });
}

/** Rules that would cover the call from now on, the narrowest first. Empty where none can be offered. */
export function offeredRules({ kind, everyTime, permission, change }: ApprovalQuestion, tool: string): readonly string[] {
  if (everyTime) return [];
  if (kind === 'command') return permission === undefined ? [] : commandRules(permission);
  if (kind === 'tool') return [`tool ${tool}`];
  if (kind !== 'write' || permission === undefined || !change) return [];
  // A pattern would read anything else in another way.
  if (/[*?[\]{}\\]/.test(permission) || visibleText(permission) !== permission || permission.trim() !== permission) return [];
  const folder = permission.slice(0, permission.lastIndexOf('/') + 1);
  return [`edit ${permission}`, ...(folder === '' ? [] : [`edit ${folder}**`])];
}

function covers({ kind, pattern }: AllowRule, question: ApprovalQuestion, tool: string): boolean {
  const { permission } = question;
  if (kind === 'tool') return question.kind === 'tool' && pattern === tool;
  if (permission === undefined) return false;
  if (kind === 'edit') return question.kind === 'write' && globMatcher(pattern)(permission);
  if (question.kind !== 'command') return false;
  const command = permission.trim();
  if (!pattern.endsWith(' *')) return command === pattern;
  const beginning = pattern.slice(0, -1);
  return (
    `${command} `.startsWith(beginning) && isPlainCommand(command) && !`${command} `.slice(beginning.length).split(' ').some(reachesFurther)
  );
}

/** Options by which ordinary programs write where they are told, run what they are told, or take another configuration. */
const furtherOptions =
  'output exec ext-diff textconv no-index open-files-in-pager upload-pack receive-pack script-shell shell node-options to-command use-compress-program pre toolexec vettool call require import loader config rcfile init-script eval prefix manifest-path directory makefile file'.split(
    ' ',
  );

/** Whether an argument is one of those; programs take the beginning of an option for it, and letters of several options in one word. */
function reachesFurther(word: string): boolean {
  const [, long = ''] = /^--([^=]+)/.exec(word) ?? [];
  return (
    (long !== '' && furtherOptions.some((option) => option.startsWith(long))) ||
    (/^-[A-Za-z]*[OfCox]/.test(word) && !/^-O(?:[0-3gsz]|fast)?$/.test(word)) ||
    /^-delete/.test(word) ||
    /^[\w.]+[:+]*=/.test(word) ||
    /^[\w+.-]+:\/\//.test(word)
  );
}

/**
 * One command with plain arguments: nothing that a shell would expand, join, redirect or substitute. A quote is refused as well, because
 * what it ends depends on the shell.
 */
function isPlainCommand(command: string): boolean {
  return /^[\p{L}\p{N} _@+=:,./-]+$/u.test(command);
}

/** Programs that run whatever follows, or reach other machines: only a whole command of them is offered. */
const runners = new Set(
  'nice ionice stdbuf setsid timeout watch command builtin busybox parallel find cat cp mv ln tee dd tar tsx ts-node osascript sudo doas su env xargs nohup time exec eval sh bash zsh fish dash ksh pwsh powershell cmd node deno bun npx bunx python python3 ruby perl php ssh scp curl wget rm docker kubectl'.split(
    ' ',
  ),
);
/** A word behind one of these names a script, and is part of what is allowed. */
const scriptWords = /^(?:run|run-script|exec|script|task)$/;

/** Words behind which a package that nobody has installed, another machine, or something to run may be named. */
const strangers =
  /^(?:dlx|x|push|fetch|pull|clone|remote|ls-remote|install|i|add|get|update|upgrade|link|create|init|config|submodule|bisect|rebase|difftool|mergetool)$/;

function commandRules(command: string): readonly string[] {
  const whole = command.trim();
  if (whole === '' || whole.includes('\n') || whole.endsWith(' *') || visibleText(whole) !== whole) return [];
  const words = whole.split(/ +/);
  const name = words[0]!.split('/').at(-1)!;
  const subcommand = (word: string | undefined) => word !== undefined && /^[\p{L}][\p{L}\p{N}:_-]*$/u.test(word);
  const rules = [`command ${whole}`];
  if (!isPlainCommand(whole) || runners.has(name) || !subcommand(words[1])) return rules;
  if (strangers.test(words[1]!) || (scriptWords.test(words[1]!) && runners.has(words[2] ?? ''))) return rules;
  const begins = scriptWords.test(words[1]!) ? (subcommand(words[2]) ? words.slice(0, 3) : null) : words.slice(0, 2);
  return begins === null ? rules : [...rules, `command ${begins.join(' ')} *`];
}
