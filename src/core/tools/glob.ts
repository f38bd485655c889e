/** More alternatives than these are not tried. */
const mostAlternatives = 64;

/**
 * Whether a path matches a pattern: `*` and `?` within a name, `**` across names, `[a-z]`, `{a,b}`. Takes time in proportion to the
 * length of pattern and path, whatever they are: the pattern comes from a model or a file.
 */
export function globMatcher(pattern: string, options: { readonly ignoreCase?: boolean } = {}): (path: string) => boolean {
  const fold = (text: string) => (options.ignoreCase ? text.toLowerCase() : text);
  const all = alternatives(fold(pattern)).map((one) => one.split('/').filter((part) => part !== ''));
  return (path) => {
    const names = fold(path).split('/');
    return all.some((parts) => matchNames(parts, names));
  };
}

/** One name against one part of a pattern, without `**`. */
export function matchName(part: string, name: string): boolean {
  const tokens = tokensOf(part);
  let t = 0;
  let n = 0;
  let star = -1;
  let from = 0;
  while (n < name.length) {
    const token = tokens[t];
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

function matchNames(parts: readonly string[], names: readonly string[]): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let from = 0;
  while (n < names.length) {
    const part = parts[p];
    if (part === '**') {
      star = p++;
      from = n;
    } else if (part !== undefined && matchName(part, names[n]!)) {
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

/** `*`, `?`, a class such as `[a-z]`, or a single character behind `=`. */
function tokensOf(part: string): string[] {
  const tokens: string[] = [];
  for (let i = 0; i < part.length; i++) {
    const character = part[i]!;
    const end = character === '[' ? part.indexOf(']', i + 2) : -1;
    if (character === '\\' && i + 1 < part.length) tokens.push(`=${part[++i]!}`);
    else if (character === '*' || character === '?') tokens.push(character);
    else if (end > 0) {
      tokens.push(part.slice(i, end));
      i = end;
    } else tokens.push(`=${character}`);
  }
  return tokens;
}

function matchCharacter(token: string, character: string): boolean {
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
    // The innermost pair first, so that pairs within pairs come apart one by one.
    const pair = /\{([^{}]*)\}/.exec(one);
    if (pair) for (const choice of pair[1]!.split(',')) open.push(one.slice(0, pair.index) + choice + one.slice(pair.index + pair[0].length));
    else done.push(one);
  }
  return [...done, ...open];
}
