import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addLines, linesRun, linesUntouched, type Lines } from '../source/lineCoverage';
import { artifacts, builtTests, projectRoot } from '../paths';

/**
 * `npm run coverage [-- unit webview vscode …]`: which lines of each layer are run, by what V8 counts in every process, thread and page
 * of a suite. Fails when a suite does, and when the whole unit suite runs less of core or node than it should.
 * A process that a test kills reports nothing that counts.
 */
interface Layer {
  readonly name: string;
  /** Folders, and files by their names. */
  readonly sources: readonly string[];
  /** Its lines are those that this suite or the unit tests run; without a run of it nothing is said. */
  readonly suite: Suite;
  /** Percent of its lines. */
  readonly atLeast?: number;
}

const suites = ['unit', 'webview', 'vscode'] as const;
type Suite = (typeof suites)[number];

const layers: readonly Layer[] = [
  { name: 'core', sources: ['src/core'], suite: 'unit', atLeast: 97 },
  { name: 'node', sources: ['src/node'], suite: 'unit', atLeast: 97 },
  { name: 'protocol', sources: ['src/protocol'], suite: 'webview' },
  { name: 'webview-ui', sources: ['webview-ui'], suite: 'webview' },
  { name: 'vscode', sources: ['src/vscode', 'src/composition', 'src/extension.ts'], suite: 'vscode' },
];

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const named = suites.filter((suite) => args.includes(suite));
  const chosen: readonly Suite[] = named.length > 0 ? named : ['unit'];
  const narrowed = args.filter((arg) => !named.some((suite) => suite === arg));
  const reports = mkdtempSync(join(tmpdir(), 'tk-coverage-'));
  try {
    const lines = new Map<Suite, Lines>();
    let isFailed = false;
    for (const suite of chosen) {
      const folder = join(reports, suite);
      mkdirSync(folder);
      isFailed = !(await runSuite(suite, narrowed, folder)) || isFailed;
      lines.set(suite, linesRun(folder));
      rmSync(folder, { recursive: true });
    }
    const missed: string[] = [];
    for (const layer of layers.filter(({ suite }) => lines.has(suite))) {
      const of = await linesOf(layer, lines);
      const share = print(layer, of);
      missed.push(...missedLines(of));
      if (layer.atLeast === undefined || narrowed.length > 0 || share >= layer.atLeast / 100) continue;
      isFailed = true;
      console.log(`\n${layer.name}: at least ${layer.atLeast} % of the lines should be run.`);
    }
    mkdirSync(artifacts, { recursive: true });
    const list = join(artifacts, 'coverage.txt');
    writeFileSync(list, missed.join(''));
    console.log(`\nThe lines that are not run: ${list}`);
    process.exitCode = isFailed ? 1 : 0;
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
}

/** False when a test failed. */
async function runSuite(suite: Suite, narrowed: readonly string[], reports: string): Promise<boolean> {
  const child = spawn(process.execPath, [join(builtTests, 'support', 'run', 'runSuites.js'), suite, ...narrowed], {
    stdio: 'inherit',
    env: { ...process.env, NODE_V8_COVERAGE: reports },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

async function linesOf({ sources, suite }: Layer, run: ReadonlyMap<Suite, Lines>): Promise<Lines> {
  const all: Lines = new Map();
  for (const by of new Set<Suite>(['unit', suite])) addLines(all, run.get(by) ?? new Map());
  const lines: Lines = new Map();
  for (const source of sources.flatMap(filesOf)) lines.set(source, all.get(source) ?? (await linesUntouched(source)));
  return lines;
}

function filesOf(source: string): string[] {
  if (source.endsWith('.ts')) return [source];
  const names = readdirSync(join(projectRoot, source), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${source}/${name.replaceAll('\\', '/')}`)
    .sort();
}

/** Prints the layer, its folders and the files of most lines that are not run; returns the share of those that are. */
function print(layer: Layer, lines: Lines): number {
  const counts = [...lines].map(([source, of]) => ({ source, run: [...of.values()].filter(Boolean).length, all: of.size }));
  const total = sumOf(counts);
  console.log(`\n${layer.name.padEnd(30)} ${figures(total)}`);
  const folders = new Set(
    counts.map(({ source }) =>
      source
        .split('/')
        .slice(0, layer.name === 'webview-ui' ? 2 : 3)
        .join('/'),
    ),
  );
  for (const folder of folders) {
    const sum = sumOf(counts.filter(({ source }) => source.startsWith(`${folder}/`)));
    if (sum.all > 0) console.log(`  ${folder.padEnd(28)} ${figures(sum)}`);
  }
  const holes = counts
    .filter(({ run, all }) => run < all)
    .sort((a, b) => b.all - b.run - (a.all - a.run))
    .slice(0, 10);
  console.log('  Most lines that are not run:');
  for (const hole of holes) console.log(`  ${String(hole.all - hole.run).padStart(4)}  ${hole.source}, ${percent(hole)}`);
  return total.run / total.all;
}

interface Count {
  readonly run: number;
  readonly all: number;
}

function sumOf(counts: readonly Count[]): Count {
  return { run: counts.reduce((sum, { run }) => sum + run, 0), all: counts.reduce((sum, { all }) => sum + all, 0) };
}

function figures(count: Count): string {
  return `${percent(count).padStart(7)}  ${count.run} of ${count.all}`;
}

function percent({ run, all }: Count): string {
  return `${((100 * run) / all).toFixed(1)} %`;
}

function missedLines(lines: Lines): string[] {
  return [...lines].flatMap(([source, of]) => {
    const text = readFileSync(join(projectRoot, source), 'utf8').split('\n');
    const missed = [...of].flatMap(([line, isRun]) => (isRun ? [] : [line])).sort((a, b) => a - b);
    return missed.map((line) => `${source}:${line}  ${text[line - 1]?.trim()}\n`);
  });
}

void main();
