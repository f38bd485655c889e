/** A command line that cannot be run; the message says which word is wrong and what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface FlagSpec {
  readonly name: string;
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Said to whoever gives another value than the choices. */
  readonly hint?: string;
  readonly required?: boolean;
  /** May be given more than once: `valuesOf` has its values. */
  readonly repeats?: boolean;
  readonly help: string;
}

export type Flags = Readonly<Record<string, string | undefined>>;

/** Reads `--name value` and `--name=value`. Throws `UsageError` for anything that is not in `specs`. */
export function parseFlags(args: readonly string[], specs: readonly FlagSpec[]): Flags {
  const flags: Record<string, string> = {};
  for (let i = 0; i < args.length; i++) {
    const word = args[i]!;
    const [name, inline] = splitOnce(word.replace(/^--/, ''));
    const spec = word.startsWith('--') ? specs.find((one) => one.name === name) : undefined;
    if (!spec)
      throw new UsageError(
        `Unknown ${word.startsWith('-') ? 'flag' : 'argument'} "${word}". Known: ${specs.map((one) => `--${one.name}`).join(', ')}.`,
      );
    if (flags[name] !== undefined && !spec.repeats) throw new UsageError(`--${name} is given twice.`);
    if (spec.value === undefined && inline !== undefined) throw new UsageError(`--${name} takes no value; leave it out for "no".`);
    const value = spec.value === undefined ? 'true' : (inline ?? args[++i]);
    if (value === undefined || (inline === undefined && spec.value !== undefined && value.startsWith('--')))
      throw new UsageError(`--${name} needs a value (${spec.value}).`);
    if (spec.choices && !spec.choices.includes(value))
      throw new UsageError(
        `--${name} is one of ${spec.choices.join(', ')}; "${value}" is not.${spec.hint === undefined ? '' : ` ${spec.hint}`}`,
      );
    flags[name] = spec.repeats ? JSON.stringify([...valuesOf(flags, name), value]) : value;
  }
  const missing = specs.find((spec) => spec.required && flags[spec.name] === undefined);
  if (missing) throw new UsageError(`--${missing.name} is missing: ${missing.help}`);
  return flags;
}

/** Returns the values of a flag that repeats, in the order given. */
function valuesOf(flags: Flags, name: string): readonly string[] {
  return JSON.parse(flags[name] ?? '[]') as string[];
}

/** The values of a flag that repeats, each `NAME=VALUE`. */
export function pairsOf(flags: Flags, name: string, example: string): readonly (readonly [key: string, value: string])[] {
  return valuesOf(flags, name).map((pair) => {
    const [key, value] = splitOnce(pair);
    if (key.trim() === '' || value === undefined)
      throw new UsageError(`--${name} is NAME=VALUE, for example ${example}; "${pair}" is not.`);
    return [key.trim(), value];
  });
}

/** Parts the words of a command line from its flags and their values; after `--` everything is a word. */
export function splitWords(
  args: readonly string[],
  specs: readonly FlagSpec[],
): { readonly words: readonly string[]; readonly rest: readonly string[] } {
  const end = args.indexOf('--');
  const words = end === -1 ? [] : args.slice(end + 1);
  const before: string[] = [];
  const rest: string[] = [];
  const flagged = end === -1 ? args : args.slice(0, end);
  for (let i = 0; i < flagged.length; i++) {
    const word = flagged[i]!;
    if (!word.startsWith('--')) {
      before.push(word);
      continue;
    }
    rest.push(word);
    const takesValue = specs.some((spec) => spec.value !== undefined && word === `--${spec.name}`);
    const next = flagged[i + 1];
    if (takesValue && next !== undefined) {
      rest.push(next);
      i++;
    }
  }
  return { words: [...before, ...words], rest };
}

export function positiveInteger(flags: Flags, name: string): number | undefined {
  const value = flags[name];
  if (value === undefined) return undefined;
  if (!/^\d+$/.test(value) || Number(value) < 1) throw new UsageError(`--${name} is a whole number above 0; "${value}" is not.`);
  return Number(value);
}

/** Columns that names and values of flags may take beside their help. */
const widestFlag = 32;

export function flagHelp(specs: readonly FlagSpec[]): string {
  const rows = specs.map(
    (spec) =>
      [
        `  --${spec.name}${spec.value ? ` ${spec.choices ? spec.choices.join('|') : spec.value}` : ''}`,
        `${spec.help}${spec.required ? ' (required)' : ''}${spec.repeats ? '; may be repeated' : ''}`,
      ] as const,
  );
  // A long list of choices stands on a line of its own; else it pushes every help text off the screen.
  const width = Math.max(...rows.map(([left]) => left.length).filter((length) => length <= widestFlag)) + 2;
  return rows
    .map(([left, right]) => (left.length > widestFlag ? `${left}\n${' '.repeat(width)}${right}` : left.padEnd(width) + right))
    .join('\n');
}

function splitOnce(word: string): [string, string | undefined] {
  const at = word.indexOf('=');
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
