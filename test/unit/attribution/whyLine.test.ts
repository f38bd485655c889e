import assert from 'node:assert/strict';
import { join } from 'node:path';
import { attribute } from '../../support/attribution/attributedLines';
import { AttributedRepository } from '../../support/attribution/attributedRepository';
import { openTestStore, tempFolder } from '../../support/store/storeTemp';

describe('why a line is there', function () {
  this.timeout(120_000);

  // The figures are those of test/bench/attribution.bench.ts, over more commits and lines.
  it('is known of lines of tools after later commits, and never wrong', async () => {
    const temp = tempFolder();
    const store = await openTestStore(join(temp.path, 'store'));
    try {
      const repository = new AttributedRepository(join(temp.path, 'work'), store, 1);
      await repository.build(10);
      const lines = repository.all().filter(({ owner }, i) => i % (owner === null ? 8 : 3) === 0);
      const found = await attribute(store, repository, lines);
      assert.deepEqual([found.wrong, found.right / found.written >= 0.9, found.written > 5], [[], true, true], found.missed.join('\n'));
    } finally {
      await store.close();
      temp.remove();
    }
  });
});
