import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { Bpe } from '../../src/node/tokens/bpe';
import { projectRoot } from '../support/paths';

export interface TokenBenchResult {
  readonly name: string;
  readonly characters: number;
  readonly ours: number;
  /** Null where js-tiktoken would take minutes. */
  readonly theirs: number | null;
  readonly ratio: number | null;
}

/** Milliseconds of our encoder and of js-tiktoken's `encode` on the same text, and how many times faster ours is. */
export function run(): TokenBenchResult[] {
  const started = performance.now();
  const ours = new Bpe(o200k);
  const loadedOurs = performance.now();
  const theirs = new Tiktoken(o200k);
  const loadedTheirs = performance.now();
  const results: TokenBenchResult[] = [row('load', 0, loadedOurs - started, loadedTheirs - loadedOurs)];
  for (const [name, text, compare] of inputs()) {
    const own = time(() => ours.count(text));
    const other = compare ? time(() => theirs.encode(text, [], []).length) : null;
    if (other !== null && other.value !== own.value) throw new Error(`${name}: ${own.value} tokens, js-tiktoken has ${other.value}.`);
    results.push(row(name, text.length, own.ms, other?.ms ?? null));
  }
  return results;
}

function inputs(): [name: string, text: string, compare: boolean][] {
  const code = readFileSync(join(projectRoot, 'node_modules', 'typescript', 'lib', 'typescript.js'), 'utf8').slice(0, 1_000_000);
  const prose = 'The store lives in a worker behind an asynchronous port; a resolved write is durable, and nothing rewrites an entry. ';
  const cjk = '私はガラスを食べられます。それは私を傷つけません。我能吞下玻璃而不伤身体。나는 유리를 먹을 수 있어요. ';
  const letters = 'etaoinshrdlu';
  const unbroken = (n: number) => Array.from({ length: n }, (_, i) => letters[(i * i * 7 + i * 13) % letters.length]).join('');
  const bytes = Buffer.from(Array.from({ length: 75_000 }, (_, i) => ((i * 2654435761) >>> 13) & 255));
  return [
    ['code', code, true],
    ['prose', prose.repeat(4_000), true],
    ['CJK', cjk.repeat(500), true],
    ['base64', bytes.toString('base64'), true],
    ['1,000 identical letters', 'a'.repeat(1_000), true],
    ['2,000 newlines', '\n'.repeat(2_000), true],
    ['500 CJK without punctuation', '漢字仮名'.repeat(125), true],
    ['100,000 identical letters', 'a'.repeat(100_000), false],
    ['100,000 newlines', '\n'.repeat(100_000), false],
    ['100,000 CJK without punctuation', '漢字仮名'.repeat(25_000), false],
    ['100,000 letters without a space', unbroken(100_000), false],
    ['1,000,000 identical letters', 'a'.repeat(1_000_000), false],
  ];
}

function time(task: () => number): { ms: number; value: number } {
  let best = Infinity;
  let value = 0;
  for (let i = 0; i < 3; i++) {
    const started = performance.now();
    value = task();
    best = Math.min(best, performance.now() - started);
  }
  return { ms: best, value };
}

function row(name: string, characters: number, ours: number, theirs: number | null): TokenBenchResult {
  return {
    name,
    characters,
    ours: round(ours),
    theirs: theirs === null ? null : round(theirs),
    ratio: theirs === null ? null : round(theirs / ours),
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
