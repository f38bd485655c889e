import assert from 'node:assert/strict';
import { liveAWeek, type WeekReport } from '../../support/week/week';

/** Days of one profile in seconds; `npm run bench:week` takes the long way. */
describe('a week of one profile', function () {
  this.timeout(120_000);

  const check = (report: WeekReport) => {
    assert.deepEqual(report.refusals, []);
    assert.ok(report.sent > 40 && report.answered > 20 && report.imported > 10, JSON.stringify(report));
    for (const what of ['handles', 'files'] as const) {
      const held = report.samples.map((sample) => sample[what]);
      assert.ok(held.at(-1)! <= held[1]! + 3, `${what}: ${held.join()}`);
    }
  };

  it('loses nothing with two windows, three programs, another device, faults and a clock that jumps', async () => {
    check(await liveAWeek({ seed: 7, hours: 72, actionsPerHour: 2, tabs: 1, sessions: 0 }));
  });

  it('loses nothing with 40 sessions in eight tabs', async () => {
    check(await liveAWeek({ seed: 11, hours: 72, actionsPerHour: 2, tabs: 8, sessions: 40 }));
  });
});
