import { deepStrictEqual } from 'node:assert';
import { patience, patienceAt, type Pace } from '../../support/run/patience';

describe('the time limits of tests', () => {
  const quiet: Pace = { load: 0.4, processors: 2, priority: 0, isCounted: false };

  it('are longer by what waits for each processor, for what gives way to others, and where lines are counted', () => {
    const paces: readonly Partial<Pace>[] = [
      {},
      { load: 2 },
      { load: 5 },
      { load: 5, processors: 16 },
      { load: 5, priority: 10 },
      { load: 80 },
      { isCounted: true },
      { load: 5, isCounted: true },
    ];
    deepStrictEqual(
      paces.map((pace) => patienceAt({ ...quiet, ...pace })),
      [1, 1, 2.5, 1, 7.5, 12, 6, 15],
    );
  });

  it('are never shorter than they say', () => {
    deepStrictEqual(patience() >= 1, true);
  });
});
