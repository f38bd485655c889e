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

/** The first `end` characters of `path`: cut out only of what is returned, since a deep path has as many folders as slashes. */
interface Found {
  readonly path: string;
  readonly end: number;
  readonly kind: PathMatch['kind'];
  readonly rank: number;
}

/**
 * Files and the folders they lie in, the best first: names that begin with the query, names that contain it, then paths that do. Takes
 * time with the length of the paths, however deep they are.
 */
export function rankPaths(paths: readonly string[], query: string, limit: number): PathMatch[] {
  const wanted = query.toLowerCase();
  const found: Found[] = [];
  const known = new Map<string, number>();
  for (const path of paths) {
    const lower = path.toLowerCase();
    const rank = fileRank(lower, wanted);
    if (rank !== null) found.push({ path, end: path.length, kind: 'file', rank });
    // One by one: a path can be deeper than a call takes arguments (some 120,000).
    if (wanted !== '') for (const folder of foundFolders(path, lower, wanted, known)) found.push(folder);
  }
  // Two of the same length differ before they end, if at all: what stands behind in `path` is not reached.
  found.sort((a, b) => a.rank - b.rank || a.end - b.end || (a.path < b.path ? -1 : 1));
  return found.slice(0, limit).map(({ path, end, kind }) => ({ path: path.slice(0, end), kind }));
}

/** Finds the folders of one path that match and come up for the first time; `known` numbers folders by their parent's number and name. */
function* foundFolders(path: string, lower: string, wanted: string, known: Map<string, number>): Generator<Found, void, void> {
  let parent = 0;
  // Lower case may be longer than what it is of, but has the same slashes.
  for (let from = 0, lowerFrom = 0, end: number; (end = path.indexOf('/', from)) !== -1; from = end + 1) {
    const lowerEnd = lower.indexOf('/', lowerFrom);
    const key = `${parent}/${path.slice(from, end)}`;
    const number = known.get(key);
    parent = number ?? known.size + 1;
    if (number === undefined) {
      known.set(key, parent);
      // A folder only for its own name: everything in it would bring it along.
      const isEnd = lowerEnd >= wanted.length && lower.startsWith(wanted, lowerEnd - wanted.length);
      const rank = nameRank(lower.slice(lowerFrom, lowerEnd), wanted) ?? (isEnd ? 3 : null);
      if (end > 0 && rank !== null) yield { path, end, kind: 'folder', rank };
    }
    lowerFrom = lowerEnd + 1;
  }
}

function fileRank(lower: string, wanted: string): number | null {
  if (wanted === '') return 0;
  return nameRank(lower.slice(lower.lastIndexOf('/') + 1), wanted) ?? (inOrder(lower, wanted) ? 4 : null);
}

function nameRank(name: string, wanted: string): number | null {
  if (name === wanted) return 0;
  if (name.startsWith(wanted)) return 1;
  return name.includes(wanted) ? 2 : null;
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
