import { globMatcher } from './glob';

interface Rule {
  readonly negated: boolean;
  readonly onlyFolders: boolean;
  readonly matches: (path: string) => boolean;
}

/** The rules of one `.gitignore`: what is asked is relative to its folder. Null: it says nothing about this path. */
function ignoreRules(text: string): (path: string, isFolder: boolean) => boolean | null {
  const rules = text.split(/\r?\n/).flatMap((line): Rule[] => {
    const trimmed = line.replace(/(?<!\\)\s+$/, '');
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    const negated = trimmed.startsWith('!');
    const body = negated ? trimmed.slice(1) : trimmed;
    const onlyFolders = body.endsWith('/');
    const pattern = body.replace(/\/+$/, '');
    // A slash within makes it relative to this folder; without one it matches at any depth. Braces mean themselves here.
    const rooted = pattern.includes('/');
    const plain = pattern.replace(/^\//, '').replace(/[{}]/g, '?');
    return plain === '' ? [] : [{ negated, onlyFolders, matches: globMatcher(rooted ? plain : `**/${plain}`) }];
  });
  return (path, isFolder) => {
    const rule = rules.findLast((one) => (isFolder || !one.onlyFolders) && one.matches(path));
    return rule ? !rule.negated : null;
  };
}

/**
 * Whether Git would ignore a path, by the `.gitignore`s from the root of its folder down. What lies in an ignored folder is
 * ignored whatever a rule says about it. `read` gives the text of a file, or undefined where there is none; it is asked once for each.
 */
export class GitIgnore {
  private readonly files = new Map<string, Promise<ReturnType<typeof ignoreRules> | null>>();

  constructor(private readonly read: (path: string) => Promise<string | undefined>) {}

  async ignores(path: string, isFolder: boolean): Promise<boolean> {
    const names = path.split('/').filter((name) => name !== '');
    for (let depth = 1; depth <= names.length; depth++) {
      if (await this.ignoresOne(names.slice(0, depth), isFolder || depth < names.length)) return true;
    }
    return false;
  }

  /** Without looking at the folders above it: for whoever has walked down through them. */
  async ignoresOne(names: readonly string[], isFolder: boolean): Promise<boolean> {
    // The innermost file that has something to say decides.
    for (let depth = names.length - 1; depth >= 0; depth--) {
      const rules = await this.rulesIn(names.slice(0, depth).join('/'));
      const said = rules?.(names.slice(depth).join('/'), isFolder) ?? null;
      if (said !== null) return said;
    }
    return false;
  }

  private rulesIn(folder: string): Promise<ReturnType<typeof ignoreRules> | null> {
    let rules = this.files.get(folder);
    if (!rules) {
      rules = this.read(folder === '' ? '.gitignore' : `${folder}/.gitignore`).then((text) => (text === undefined ? null : ignoreRules(text)));
      this.files.set(folder, rules);
    }
    return rules;
  }
}
