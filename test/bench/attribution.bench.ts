import { statSync } from 'node:fs';
import { join } from 'node:path';
import { storeFiles } from '../../src/node/store/database/storeFiles';
import { attribute } from '../support/attribution/attributedLines';
import { AttributedRepository } from '../support/attribution/attributedRepository';
import { openTestStore, tempFolder, testUuid, userMessage } from '../support/store/storeTemp';
import { BenchStore } from './store/benchStore';
import { prose } from './store/prose';
import { writeYears } from './years/twoYears';

const seeds = (process.env['WHY_SEEDS'] ?? '1,2,3,4').split(',').map(Number);
const laterCommits = 50;
/** About 100 MB of text, of which a row asks besides. */
const entries = Number(process.env['WHY_ENTRIES'] ?? 12_000);
/** Edits of files that are called like those of the repository, in other folders. */
const namesakes = 2_000;

/** Lines of tools that are led back to their call after 50 later commits, lines that are led to a wrong one, and what asking takes. */
export async function run(): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const seed of seeds) rows.push(await measured(seed, null));
  if (entries > 0) rows.push(await measured(seeds[0]!, fill));
  return rows;
}

async function measured(seed: number, prepare: ((folder: string) => Promise<void>) | null): Promise<unknown> {
  const temp = tempFolder();
  const folder = join(temp.path, 'store');
  await prepare?.(folder);
  const store = await openTestStore(folder);
  try {
    const repository = new AttributedRepository(join(temp.path, 'work'), store, seed);
    await repository.build(laterCommits);
    const lines = repository.all().filter((_, i) => i % (prepare ? 5 : 2) === 0);
    const { written, right, wrong, missed, times } = await attribute(store, repository, lines);
    for (const text of [...wrong, ...missed]) console.log(text);
    return {
      seed,
      'later commits': laterCommits,
      written,
      attributed: right,
      share: right / written,
      wrong: wrong.length,
      'ms a line': median(times),
      'p95, ms': Math.round([...times].sort((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1]!),
      ...(prepare ? { 'beside, MB': Math.round(statSync(storeFiles(folder).main).size / 1e6) } : {}),
    };
  } finally {
    await store.close();
    temp.remove();
  }
}

/** Years of work, among it many edits of files of the same names. */
async function fill(folder: string): Promise<void> {
  const store = await BenchStore.open(folder);
  writeYears(store, entries);
  const { uuid } = store.core.createSession({ uuid: testUuid(), key: 'vscode:names', channel: 'vscode', cwd: '/elsewhere', createdAt: 1 });
  let parent: string | null = null;
  for (let i = 0; i < namesakes; i += 100) {
    const batch = Array.from({ length: 100 }, (_, k) => {
      const [path, callId] = [`src/${k % 2 === 0 ? 'first' : 'second'}.ts`, `n${i + k}`];
      const input = { path, old_text: prose(800), new_text: prose(1_200) };
      const edit = userMessage(uuid, parent, '', { content: { type: 'tool_call', callId, name: 'edit_file', input } });
      const content = { type: 'tool_result' as const, callId, name: 'edit_file', text: 'Done.', status: 'ok' as const };
      const result = userMessage(uuid, edit.uuid, '', { content });
      parent = result.uuid;
      return [edit, result];
    }).flat();
    store.core.append(uuid, { entries: batch });
  }
  store.index();
  store.close();
}

function median(values: readonly number[]): number {
  return Math.round([...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN);
}
