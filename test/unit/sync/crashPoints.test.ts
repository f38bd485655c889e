import { deepStrictEqual, ok } from 'node:assert';
import { crashEverywhere } from '../../support/sync/crashPoints';
import { surviveKills } from '../../support/sync/killedServer';
import { PostgresServer } from '../../support/sync/postgresServer';

const seeds = Number(process.env['THREADKEEPER_ROUNDS'] ?? 1);

describe('devices that die while they synchronize', function () {
  this.timeout(120_000 + seeds * 60_000);

  it('leave holes, at 500 points, that are all refilled by the next time', async () => {
    const { holes, left } = await crashEverywhere(500);
    ok(holes > 0, 'some crashes make holes');
    deepStrictEqual(left, 0);
  });

  it(`and whose server is killed with -9 lose and double nothing: ${seeds} seeds`, async function () {
    if (!PostgresServer.isThere) return this.skip();
    const server = await PostgresServer.start();
    try {
      for (let seed = 1; seed <= seeds; seed++) await surviveKills(server, seed);
    } finally {
      await server.stop();
    }
  });
});
