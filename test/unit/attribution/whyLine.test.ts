import assert from 'node:assert/strict';
import { join } from 'node:path';
import { attribute } from '../../support/attribution/attributedLines';
import { AttributedRepository } from '../../support/attribution/attributedRepository';
import { openTestStore, tempFolder } from '../../support/store/storeTemp';

describe('why a line is there', function () {
  this.timeout(process.env['WHY_SEEDS'] ? 1_200_000 : 120_000);

  const seeds = (process.env['WHY_SEEDS'] ?? '1').split(',').map(Number);
  const later = Number(process.env['WHY_COMMITS'] ?? 10);
  for (const seed of seeds)
    it(`is known of lines of tools after ${later} commits, and never wrong: seed ${seed}`, async () => {
      const temp = tempFolder();
      const store = await openTestStore(join(temp.path, 'store'));
      try {
        const repository = new AttributedRepository(join(temp.path, 'work'), store, seed);
        await repository.build(later);
        const all = repository.all();
        const found = await attribute(
          store,
          repository,
          process.env['WHY_SEEDS'] ? all.filter((_, i) => i % 2 === 0) : all.filter(({ owner }, i) => i % (owner === null ? 8 : 3) === 0),
        );
        if (process.env['WHY_SEEDS']) console.log(found);
        assert.deepEqual(
          [found.wrong, found.right / found.written >= 0.9, found.written > 5],
          [[], true, true],
          JSON.stringify(found, null, 1),
        );
      } finally {
        await store.close();
        temp.remove();
      }
    });
});
