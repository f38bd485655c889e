import { join } from 'node:path';
import { attribute } from '../support/attribution/attributedLines';
import { AttributedRepository } from '../support/attribution/attributedRepository';
import { openTestStore, tempFolder } from '../support/store/storeTemp';

const seeds = (process.env['WHY_SEEDS'] ?? '1,2,3,4').split(',').map(Number);
const laterCommits = 50;

/** Lines of tools that are led back to their call after 50 later commits, lines that are led to a wrong one, and what asking takes. */
export async function run(): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const seed of seeds) {
    const temp = tempFolder();
    const store = await openTestStore(join(temp.path, 'store'));
    try {
      const repository = new AttributedRepository(join(temp.path, 'work'), store, seed);
      await repository.build(laterCommits);
      const lines = repository.all().filter((_, i) => i % 2 === 0);
      const started = performance.now();
      const { written, right, wrong, missed } = await attribute(store, repository, lines);
      const each = Math.round((performance.now() - started) / lines.length);
      rows.push({
        seed,
        'later commits': laterCommits,
        written,
        attributed: right,
        share: right / written,
        wrong: wrong.length,
        'ms a line': each,
      });
      for (const text of [...wrong, ...missed]) console.log(text);
    } finally {
      await store.close();
      temp.remove();
    }
  }
  return rows;
}
