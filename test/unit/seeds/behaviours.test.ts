import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { designs, namedTest, seedsReference, seedsReferenceFile } from '../../support/source/seedsReference';

/** What nothing drives yet, by design and number: a behaviour leaves this list with the test that drives it. */
const missing: readonly string[] = [];

describe('the behaviours of the five designs', () => {
  for (const { seed, behaviours } of designs) {
    for (const { number, says, tests, missing: why } of behaviours) {
      it(`seed ${seed} §${number}: ${says}`, async () => {
        assert.ok(tests.length > 0 || why !== undefined, 'Nothing drives it.');
        for (const test of tests) await namedTest(test);
      });
    }
  }

  it('are missing only where that is known', () => {
    assert.deepEqual(
      designs.flatMap(({ seed, behaviours }) =>
        behaviours.flatMap(({ number, missing: why }) => (why === undefined ? [] : [`${seed} §${number}`])),
      ),
      missing,
    );
  });

  it('are told in the documents with their tests (npm run docs writes it)', async () => {
    assert.equal(await readFile(seedsReferenceFile, 'utf8'), await seedsReference());
  });
});
