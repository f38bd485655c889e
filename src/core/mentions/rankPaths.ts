export interface PathMatch {
  readonly path: string;
  readonly kind: 'file' | 'folder';
}

/**
 * A glob that finds what a query may mean, in any case of letters: VS Code's search compares them exactly. `src/ti` looks for `ti` below
 * a folder with `src` in its name. What has a meaning in a glob matches any character: `rankPaths` looks at it again.
 */
export function mentionGlob(query: string): string {
  const parts = query.split('/').filter((part) => part !== '');
  if (parts.length === 0) return '**/*';
  const within = parts.map((part) => `*${[...part].map(eitherCase).join('')}*`).join('/**/');
  return `{**/${within},**/${within}/**}`;
}

/** Files and the folders they lie in, the best first: names that begin with the query, names that contain it, then paths that do. */
export function rankPaths(paths: readonly string[], query: string, limit: number): PathMatch[] {
  const wanted = query.toLowerCase();
  const folders = new Set<string>();
  for (const path of paths)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) folders.add(path.slice(0, end));
  const found = [
    ...paths.map((path) => ({ path, kind: 'file' as const })),
    ...[...folders].map((path) => ({ path, kind: 'folder' as const })),
  ]
    .map((match) => ({ match, rank: rankOf(match, wanted) }))
    .filter(({ rank }) => rank !== null) as { match: PathMatch; rank: number }[];
  found.sort((a, b) => a.rank - b.rank || a.match.path.length - b.match.path.length || (a.match.path < b.match.path ? -1 : 1));
  return found.slice(0, limit).map(({ match }) => match);
}

function rankOf({ path, kind }: PathMatch, wanted: string): number | null {
  if (wanted === '') return kind === 'file' ? 0 : null;
  const whole = path.toLowerCase();
  const name = whole.slice(whole.lastIndexOf('/') + 1);
  if (name === wanted) return 0;
  if (name.startsWith(wanted)) return 1;
  if (name.includes(wanted)) return 2;
  // A folder only for its own name: everything in it would bring it along.
  if (kind === 'folder') return whole.endsWith(wanted) ? 3 : null;
  return inOrder(whole, wanted) ? 4 : null;
}

/** Every part of a query with slashes, one behind the other. */
function inOrder(path: string, wanted: string): boolean {
  let at = 0;
  for (const part of wanted.split('/')) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return true;
}

function eitherCase(letter: string): string {
  const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
  if (/[^\p{L}\p{N}._ @+#-]/u.test(letter) || lower.length !== upper.length) return '?';
  return lower === upper ? letter : `[${lower}${upper}]`;
}
