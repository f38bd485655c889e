import type { IgnoresAbove } from '../toolWorkspace';
import { globMatcher, nameMatcher, type MatchSteps, type PathMatcher } from './glob';

interface Rule {
  readonly negated: boolean;
  readonly onlyFolders: boolean;
  readonly matches: PathMatcher;
}

/** Larger files are not read: whatever lies below them counts as ignored. */
export const mostIgnoreBytes = 1024 * 1024;

/** What one question may cost, some 10 ms; beyond it the path counts as ignored. A thousand ordinary rules take a hundredth. */
const mostSteps = 2_000_000;

/** The rules of one `.gitignore`: what is asked is relative to its folder. Null: it says nothing about this path. */
type Rules = (names: readonly string[], isFolder: boolean, steps: MatchSteps) => boolean | null;

function ignoreRules(text: string): Rules {
  const rules = text.split(/\r?\n/).flatMap((line): Rule[] => {
    const trimmed = withoutBlanks(line);
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    const negated = trimmed.startsWith('!');
    const body = negated ? trimmed.slice(1) : trimmed;
    const onlyFolders = body.endsWith('/');
    let end = body.length;
    while (body[end - 1] === '/') end--;
    // A slash within makes it relative to this folder; without one it matches at any depth. Braces mean themselves here.
    const pattern = body.slice(0, end);
    const rooted = pattern.includes('/');
    const plain = (pattern.startsWith('/') ? pattern.slice(1) : pattern).replace(/[{}]/g, '?');
    if (plain === '') return [];
    const matches = rooted ? globMatcher(plain) : nameMatcher(plain === '**' ? '*' : plain);
    // What lies below a folder that matches is never asked about: the folder was.
    return [{ negated, onlyFolders, matches: rooted ? matches : (path, steps) => matches(path.slice(path.lastIndexOf('/') + 1), steps) }];
  });
  return (names, isFolder, steps) => {
    const path = names.join('/');
    const rule = rules.findLast((one) => (isFolder || !one.onlyFolders) && one.matches(path, steps));
    return rule ? !rule.negated : null;
  };
}

/** What ends in a backslash keeps the blank behind it. */
function withoutBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && /\s/.test(line[end - 1]!) && line[end - 2] !== '\\') end--;
  return line.slice(0, end);
}

interface Outside {
  readonly prefix: readonly string[];
  readonly rules: readonly { readonly depth: number; readonly says: Rules }[];
}

/**
 * Nothing outside counts where it ignores the folder itself: the user has opened it all the same. A home folder that is a repository of its
 * own often ignores everything.
 */
function outsideOf(above: IgnoresAbove | null): Outside {
  const { prefix, files } = above ?? { prefix: [], files: [] };
  const rules = files.map(({ depth, text }) => ({ depth, says: rulesOf(text) }));
  const steps = { left: mostSteps };
  const isIgnored = prefix.some((_, at) => saysLast(rules, prefix.slice(0, at + 1), true, steps));
  return { prefix, rules: isIgnored || steps.left <= 0 ? [] : rules };
}

/** What the rules outside say of a path from the top of the repository. */
function saysLast(rules: Outside['rules'], names: readonly string[], isFolder: boolean, steps: MatchSteps): boolean {
  for (const { depth, says } of rules.toReversed()) {
    const said = depth < names.length ? says(names.slice(depth), isFolder, steps) : null;
    if (steps.left <= 0) return true;
    if (said !== null) return said;
  }
  return false;
}

function rulesOf(text: string | null): Rules {
  return text === null ? () => true : ignoreRules(text);
}

/**
 * Whether Git would ignore a path, by the `.gitignore`s from the root of its folder down, and by what stands above that. What lies in an
 * ignored folder is ignored whatever a rule says about it, but not the folder that the user has opened. `read` gives the text of a file,
 * undefined where there is none, null for one that is too large; it is asked once for each. Takes bounded time over hostile files: what
 * cannot be decided within it counts as ignored. Not the library `ignore`: it makes regular expressions of the rules; 80 KB of blanks take
 * it 13 s, `*a` five times and `b` against 100 letters 0.7 s.
 */
export class GitIgnore {
  private readonly files = new Map<string, Promise<Rules | null>>();
  private outside: Promise<Outside> | undefined;

  constructor(
    private readonly read: (path: string) => Promise<string | null | undefined>,
    private readonly above: () => Promise<IgnoresAbove | null> = () => Promise.resolve(null),
  ) {}

  async ignores(path: string, isFolder: boolean): Promise<boolean> {
    const names = path.split('/').filter((name) => name !== '');
    const steps = { left: mostSteps };
    for (let depth = 1; depth <= names.length; depth++) {
      if (await this.ignoresOne(names.slice(0, depth), isFolder || depth < names.length, steps)) return true;
    }
    return false;
  }

  /** Without looking at the folders above it: for whoever has walked down through them. */
  async ignoresOne(names: readonly string[], isFolder: boolean, steps: MatchSteps = { left: mostSteps }): Promise<boolean> {
    // The innermost file that has something to say decides.
    for (let depth = names.length - 1; depth >= 0; depth--) {
      const rules = await this.rulesIn(names.slice(0, depth).join('/'));
      const said = rules?.(names.slice(depth), isFolder, steps) ?? null;
      if (steps.left <= 0) return true;
      if (said !== null) return said;
    }
    const { prefix, rules } = await (this.outside ??= this.above().then(outsideOf));
    return saysLast(rules, [...prefix, ...names], isFolder, steps);
  }

  private rulesIn(folder: string): Promise<Rules | null> {
    let rules = this.files.get(folder);
    if (!rules) {
      rules = this.read(folder === '' ? '.gitignore' : `${folder}/.gitignore`).then((text) => (text === undefined ? null : rulesOf(text)));
      this.files.set(folder, rules);
    }
    return rules;
  }
}
