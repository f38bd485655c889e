import { transform } from 'esbuild';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtTests, projectRoot } from '../paths';
import { lineStarts, mappedPlaces, placesOf, type MappedPlace } from './sourceLines';

/** What V8 says of a process, a thread or a page: how often each range of a script was run. */
export interface CoverageReport {
  readonly result: readonly { readonly url: string; readonly functions: readonly { readonly ranges: readonly Range[] }[] }[];
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** Whether each line was run, by number from 1, by source file. */
export type Lines = Map<string, Map<number, boolean>>;

const dist = join(builtTests, '..');
const isOurs = (source: string) => /^(src|webview-ui)\//.test(source);

/** The lines of all reports in a folder. A line counts as run when anything on it was; lines of types only are none. */
export function linesRun(reports: string): Lines {
  const lines: Lines = new Map();
  const places = new Map<string, readonly MappedPlace[]>();
  for (const name of readdirSync(reports)) {
    for (const { url, functions } of reportIn(join(reports, name)).result) {
      const file = builtFile(url);
      if (file === null || !existsSync(file)) continue;
      const known = places.get(file) ?? mappedPlaces(file, projectRoot, isOurs).sort((a, b) => a.offset - b.offset);
      places.set(file, known);
      const ranges = functions.flatMap((one) => one.ranges);
      addScript(lines, known, ranges);
    }
  }
  return lines;
}

/** The lines of a source that nothing has loaded, by number. */
export async function linesUntouched(source: string): Promise<Map<number, boolean>> {
  const { code, map } = await transform(readFileSync(join(projectRoot, source), 'utf8'), {
    loader: 'ts',
    sourcemap: 'external',
    sourcefile: source,
  });
  const { mappings } = JSON.parse(map) as { mappings: string };
  return new Map(placesOf(mappings, lineStarts(code), [source]).map(({ line }) => [line, false]));
}

/** Lines that were run in one or the other. */
export function addLines(lines: Lines, more: Lines): void {
  for (const [source, of] of more) for (const [line, isRun] of of) mark(lines, source, line, isRun);
}

/** A report that was cut off says nothing: its process was killed over it. */
function reportIn(file: string): CoverageReport {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as CoverageReport;
  } catch (error) {
    if (error instanceof SyntaxError) return { result: [] };
    throw error;
  }
}

/** The file in `dist` of a script; VS Code runs a copy of the extension that it has installed. */
function builtFile(url: string): string | null {
  if (!url.startsWith('file:')) return null;
  const file = fileURLToPath(url);
  if (file.startsWith(dist)) return file;
  return /[\\/]extensions[\\/]threadkeeper\.[^\\/]+[\\/]dist[\\/][^\\/]+$/.test(file) ? join(dist, basename(file)) : null;
}

/** Ranges lie within each other: the innermost one around a place says how often it was reached. */
function addScript(lines: Lines, places: readonly MappedPlace[], unsorted: readonly Range[]): void {
  const ranges = [...unsorted].sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const around: Range[] = [];
  let next = 0;
  for (const { offset, source, line } of places) {
    for (; next < ranges.length && ranges[next]!.startOffset <= offset; next++) {
      while (around.length > 0 && around.at(-1)!.endOffset <= ranges[next]!.startOffset) around.pop();
      around.push(ranges[next]!);
    }
    while (around.length > 0 && around.at(-1)!.endOffset <= offset) around.pop();
    mark(lines, source, line, (around.at(-1)?.count ?? 0) > 0);
  }
}

function mark(lines: Lines, source: string, line: number, isRun: boolean): void {
  const of = lines.get(source) ?? new Map<number, boolean>();
  lines.set(source, of);
  of.set(line, of.get(line) === true || isRun);
}
