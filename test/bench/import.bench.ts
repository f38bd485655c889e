import { readFileSync, statSync } from 'node:fs';
import { ImportRig } from '../support/importRig';
import { openStore } from '../../src/node/store/openStore';
import { importFiles } from '../../src/node/transfer/importFiles';
import { UuidV7 } from '../../src/node/runtime/uuidV7';
import { tempFolder, wasmFile, workerFile } from '../support/storeTemp';

const messages = Number(process.env['IMPORT_MESSAGES'] ?? 10_000);
const rounds = 3;

export interface ImportBenchResult {
  readonly source: string;
  readonly megabytes: number;
  readonly readAndParseMs: number;
  readonly importMs: number;
  /** Target: at most 3. */
  readonly ratio: number;
}

/** Importing 10,000 messages into a store in its worker, against reading the same file and parsing its lines, best of three. */
export async function run(): Promise<ImportBenchResult[]> {
  const rig = await ImportRig.open();
  try {
    const results: ImportBenchResult[] = [];
    for (const [source, words] of [['short messages', 60], ['with tool output', 1_000]] as const) {
      const file = rig.source(`${words}.jsonl`, rows(words));
      const readAndParseMs = await best(async () => void readFileSync(file, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as unknown));
      const importMs = await best(async () => {
        const temp = tempFolder();
        const store = await openStore({ folder: temp.path, workerFile, label: 'bench' });
        const began = performance.now();
        const { sessions } = await importFiles([file], { store, ids: new UuidV7(), now: Date.now, wasmFile });
        const took = performance.now() - began;
        if (sessions[0]?.entriesAdded !== messages) throw new Error(JSON.stringify(sessions));
        await store.close();
        temp.remove();
        return took;
      });
      results.push({ source, megabytes: round(statSync(file).size / 1e6), readAndParseMs: round(readAndParseMs), importMs: round(importMs), ratio: round(importMs / readAndParseMs) });
    }
    return results;
  } finally {
    await rig.close();
  }
}

/** Milliseconds that `work` says it took, or that it took. */
async function best(work: () => Promise<number | void>): Promise<number> {
  let shortest = Infinity;
  for (let i = 0; i < rounds; i++) {
    const began = performance.now();
    const said = await work();
    shortest = Math.min(shortest, said ?? performance.now() - began);
  }
  return shortest;
}

function rows(words: number): unknown[] {
  const text = (i: number) => Array.from({ length: words }, (_, n) => `word${(i * 31 + n * 7) % 997}`).join(' ');
  return [
    { type: 'session', version: 3, id: 'bench', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' },
    ...Array.from({ length: messages }, (_, i) => ({
      type: 'message',
      id: `r${i}`,
      parentId: i === 0 ? null : `r${i - 1}`,
      timestamp: new Date(Date.UTC(2026, 8, 1) + i * 1000).toISOString(),
      message: i % 2 === 0 ? { role: 'user', content: text(i) } : { role: 'assistant', provider: 'anthropic', model: 'm', content: [{ type: 'text', text: text(i) }], usage: { input: 1, output: 1 } },
    })),
  ];
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
