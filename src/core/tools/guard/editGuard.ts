import { t } from '../../l10n';
import { foldNames, foldPath } from './foldPath';
import { globMatcher, type PathMatcher } from './glob';
import { guardedKinds } from './guardedKinds';

/** Why a file is asked about before every change, in words for the user; null when it is not. */
export type EditGuard = (path: string) => string | null;

/** Patterns of paths; false: asked about every time, true: `tools.approval` decides. The last one that matches counts. */
export type EditRules = Readonly<Record<string, boolean>>;

export const defaultEditRules: EditRules = Object.fromEntries(guardedKinds.flatMap(({ globs }) => globs.map((glob) => [glob, false])));

/** Entries of the user's go over the defaults, behind them: the last one that matches counts. */
export function editGuard(rules: EditRules): EditGuard {
  const own = Object.entries(rules).filter(([glob, asks]) => defaultEditRules[glob] !== asks);
  const kept = guardedKinds.flatMap(({ why, globs }) =>
    globs.filter((glob) => rules[glob] !== true).map((glob) => ({ matches: matcherOf(glob), why })),
  );
  const added = own.map(([glob, allowed]) => ({
    matches: matcherOf(glob),
    why: allowed ? null : () => t('Your settings want every change of this file to be asked about.'),
  }));
  return (path) => {
    const folded = foldNames(path);
    const rule = [...kept, ...added].findLast(({ matches }) => matches(folded));
    return rule?.why?.() ?? null;
  };
}

/** A pattern that begins at no folder holds at any depth, as in VS Code's own `chat.tools.edits.autoApprove`. */
function matcherOf(glob: string): PathMatcher {
  const folded = foldPath(glob);
  return globMatcher(folded.startsWith('/') || folded.startsWith('**/') ? folded : `**/${folded}`);
}
