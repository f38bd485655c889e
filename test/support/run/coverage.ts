import { transform } from 'esbuild';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { artifacts, builtTests, projectRoot } from '../paths';
import { lineStarts, mappedPlaces, placesOf, type MappedPlace } from '../source/sourceLines';

/**
 * `npm run coverage`: which lines of src/core and src/node the unit tests run, by what V8 counts in every process and thread of theirs.
 * A process that a test kills reports nothing that counts. A line counts as run when anything on it was; lines of types only are none.
 */
interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Report {
  readonly result: readonly { readonly url: string; readonly functions: readonly { readonly ranges: readonly Range[] }[] }[];
}

const folders = ['src/core', 'src/node'];
const isWanted = (source: string) => folders.some((folder) => source.startsWith(`${folder}/`));
/** Whether each line was run, by file. */
type Lines = Map<string, Map<number, boolean>>;

async function main(): Promise<void> {
  const reports = mkdtempSync(join(tmpdir(), 'tk-coverage-'));
  try {
    const child = spawn(process.execPath, [join(builtTests, 'support', 'run', 'runSuites.js'), 'unit', ...process.argv.slice(2)], {
      stdio: 'inherit',
      env: { ...process.env, NODE_V8_COVERAGE: reports },
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    const lines: Lines = new Map();
    const places = new Map<string, readonly MappedPlace[]>();
    for (const name of readdirSync(reports)) {
      const report = reportIn(join(reports, name));
      if (report) addReport(lines, places, report);
    }
    await addUntouched(lines);
    print(lines);
    process.exitCode = code ?? 1;
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
}

/** Null for one that was cut off: its process was killed over it. */
function reportIn(file: string): Report | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function addReport(lines: Lines, places: Map<string, readonly MappedPlace[]>, { result }: Report): void {
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue;
    const file = fileURLToPath(url);
    if (!file.startsWith(dirname(builtTests))) continue;
    const known = places.get(file) ?? mappedPlaces(file, projectRoot, isWanted).sort((a, b) => a.offset - b.offset);
    places.set(file, known);
    // Ranges lie within each other, the outer one first: the innermost one around a place says how often it was reached.
    const ranges = functions.flatMap((one) => one.ranges).sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
    const around: Range[] = [];
    let next = 0;
    for (const { offset, source, line } of known) {
      for (; next < ranges.length && ranges[next]!.startOffset <= offset; next++) {
        while (around.length > 0 && around.at(-1)!.endOffset <= ranges[next]!.startOffset) around.pop();
        around.push(ranges[next]!);
      }
      while (around.length > 0 && around.at(-1)!.endOffset <= offset) around.pop();
      mark(lines, source, line, (around.at(-1)?.count ?? 0) > 0);
    }
  }
}

/** Files that no test has loaded. */
async function addUntouched(lines: Lines): Promise<void> {
  for (const folder of folders) {
    for (const name of readdirSync(join(projectRoot, folder), { recursive: true }) as string[]) {
      const source = `${folder}/${name.replaceAll('\\', '/')}`;
      if (!source.endsWith('.ts') || lines.has(source)) continue;
      const { code, map } = await transform(readFileSync(join(projectRoot, source), 'utf8'), {
        loader: 'ts',
        sourcemap: 'external',
        sourcefile: source,
      });
      for (const { line } of placesOf((JSON.parse(map) as { mappings: string }).mappings, lineStarts(code), [source]))
        mark(lines, source, line, false);
    }
  }
}

function mark(lines: Lines, source: string, line: number, isRun: boolean): void {
  const of = lines.get(source) ?? new Map<number, boolean>();
  lines.set(source, of);
  of.set(line, of.get(line) === true || isRun);
}

function print(lines: Lines): void {
  const groups = new Map<string, { run: number; all: number; missed: string[] }>();
  for (const [source, of] of [...lines].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const run = [...of.values()].filter(Boolean).length;
    const parts = source.split('/');
    for (const group of [parts.slice(0, 2).join('/'), parts.length > 3 ? parts.slice(0, 3).join('/') : '']) {
      if (group === '') continue;
      const sum = groups.get(group) ?? { run: 0, all: 0, missed: [] };
      groups.set(group, sum);
      sum.run += run;
      sum.all += of.size;
      if (group.split('/').length === 2 && run < of.size * 0.8) sum.missed.push(`${source} ${percent(run, of.size)}`);
    }
  }
  console.log('\nLines run by the unit tests');
  for (const [group, { run, all }] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${group.padEnd(28)} ${percent(run, all).padStart(7)}  ${run} of ${all}`);
  const missed = [...groups.values()].flatMap((group) => group.missed);
  if (missed.length > 0) console.log(`\nFiles of which less than 80 % is run:\n  ${missed.join('\n  ')}`);
  const list = join(artifacts, 'coverage.txt');
  mkdirSync(artifacts, { recursive: true });
  writeFileSync(
    list,
    [...lines]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(missedLines)
      .join(''),
  );
  console.log(`\nThe lines that are not: ${list}`);
}

function missedLines([source, of]: [string, ReadonlyMap<number, boolean>]): string {
  const text = readFileSync(join(projectRoot, source), 'utf8').split('\n');
  const missed = [...of]
    .filter(([, isRun]) => !isRun)
    .map(([line]) => line)
    .sort((a, b) => a - b);
  return missed.map((line) => `${source}:${line}  ${text[line - 1]?.trim()}\n`).join('');
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}

void main();
