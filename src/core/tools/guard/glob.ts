/**
 * What one question may cost: characters and names that are compared. A pattern for which it runs out counts as no match; whoever
 * asks looks at `left`.
 */
export interface MatchSteps {
  left: number;
}

/** A path matches a pattern. Without `steps` there is no bound but the one that `globMatcher` promises. */
export type PathMatcher = (path: string, steps?: MatchSteps) => boolean;

/** More alternatives than these are not tried. */
const mostAlternatives = 256;

/**
 * Whether a path matches a pattern: `*` and `?` within a name, `**` across names, `[a-z]`, `{a,b}`. Takes at most as many steps as
 * pattern and path have characters, multiplied, whatever they are: the pattern comes from a model or a file. That is why no library
 * does it: they make regular expressions of patterns, and `*a` six times and `b` against 100 letters takes picomatch 13 s, and this no
 * measurable time.
 */
export function globMatcher(pattern: string, options: { readonly ignoreCase?: boolean } = {}): PathMatcher {
  const fold = (text: string) => (options.ignoreCase ? text.toLowerCase() : text);
  const all = alternatives(fold(pattern)).map((one) =>
    one.split('/').flatMap((part): Part[] => (part === '' ? [] : [part === '**' ? '**' : tokensOf(part)])),
  );
  return (path, steps) => {
    const names = fold(path).split('/');
    return all.some((parts) => matchNames(parts, names, steps));
  };
}

/** The same for one name and a pattern without `/` and `**`. */
export function nameMatcher(pattern: string): PathMatcher {
  const tokens = tokensOf(pattern);
  return (name, steps) => matchTokens(tokens, name, steps);
}

type Part = '**' | readonly Token[];

/** `*`, `?`, a class such as `[a-z]`, or a single character behind `=`. */
type Token = string;

function matchNames(parts: readonly Part[], names: readonly string[], steps?: MatchSteps): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let from = 0;
  while (n < names.length) {
    if (steps && steps.left-- <= 0) return false;
    const part = parts[p];
    if (part === '**') {
      star = p++;
      from = n;
    } else if (part !== undefined && matchTokens(part, names[n]!, steps)) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (parts[p] === '**') p++;
  return p === parts.length;
}

function matchTokens(tokens: readonly Token[], name: string, steps?: MatchSteps): boolean {
  let t = 0;
  let n = 0;
  let star = -1;
  let from = 0;
  while (n < name.length) {
    if (steps && steps.left-- <= 0) return false;
    const token = tokens[t];
    // A class may be as long as its pattern.
    if (steps && token !== undefined) steps.left -= token.length;
    if (token === '*') {
      star = t++;
      from = n;
    } else if (token !== undefined && matchCharacter(token, name[n]!)) {
      t++;
      n++;
    } else if (star >= 0) {
      t = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (tokens[t] === '*') t++;
  return t === tokens.length;
}

function tokensOf(part: string): Token[] {
  const tokens: Token[] = [];
  // Behind it no class ends: looking for an end again at each `[` would take quadratic time.
  const lastEnd = part.lastIndexOf(']');
  for (let i = 0; i < part.length; i++) {
    const character = part[i]!;
    const end = character === '[' && i + 2 <= lastEnd ? part.indexOf(']', i + 2) : -1;
    if (character === '\\' && i + 1 < part.length) tokens.push(`=${part[++i]!}`);
    else if (character === '*' || character === '?') tokens.push(character);
    else if (end > 0) {
      tokens.push(part.slice(i, end));
      i = end;
    } else tokens.push(`=${character}`);
  }
  return tokens;
}

function matchCharacter(token: Token, character: string): boolean {
  if (token === '?') return true;
  if (token.startsWith('=')) return token[1] === character;
  if (!token.startsWith('[')) return false;
  const negated = token[1] === '!' || token[1] === '^';
  let isIn = false;
  for (let i = negated ? 2 : 1; i < token.length; i++) {
    const low = token[i]!;
    const high = token[i + 1] === '-' && i + 2 < token.length ? token[(i += 2)]! : low;
    if (character >= low && character <= high) isIn = true;
  }
  return isIn !== negated;
}

function alternatives(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0 && done.length + open.length <= mostAlternatives) {
    const one = open.pop()!;
    const pair = innermostPair(one);
    if (pair)
      for (const choice of one.slice(pair.start + 1, pair.end).split(','))
        open.push(one.slice(0, pair.start) + choice + one.slice(pair.end + 1));
    else done.push(one);
  }
  return [...done, ...open];
}

/** So that pairs within pairs come apart one by one. */
function innermostPair(text: string): { readonly start: number; readonly end: number } | null {
  const end = text.indexOf('}', text.indexOf('{') + 1);
  const start = end < 0 ? -1 : text.lastIndexOf('{', end);
  return start < 0 ? null : { start, end };
}
