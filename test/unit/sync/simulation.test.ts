import { Simulation } from '../../support/sync/simulation';

/** In the suite; `THREADKEEPER_ROUNDS=1000` is what is promised, with `THREADKEEPER_OPERATIONS=10000`. */
const seeds = Number(process.env['THREADKEEPER_ROUNDS'] ?? 50);
const operations = Number(process.env['THREADKEEPER_OPERATIONS'] ?? 300);

describe('three devices with one history', function () {
  this.timeout(seeds * operations * 20);

  it(`lose nothing, double nothing and agree, whatever breaks: ${seeds} seeds of ${operations} operations`, async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      try {
        await new Simulation(seed).run(operations);
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
    }
  });
});
