import { ok } from 'node:assert';
import { commitCost } from '../../../support/sync/commitCost';

/** Turns on each side. Only a thousand of them, on a machine that does nothing else, say whether 1.2 is kept. */
const turns = Number(process.env['THREADKEEPER_ROUNDS'] ?? 60);

describe('a turn that is committed', function () {
  this.timeout(120_000);

  it('costs about the same with synchronizing on as off', async () => {
    // The quicker ones: what else the machine does is in the others.
    const { quick } = await commitCost(turns);
    const ratio = quick.on / quick.off;
    console.log(`      on : off = ${ratio.toFixed(2)} (${quick.off.toFixed(2)} ms off)`);
    if (turns >= 1_000) ok(ratio <= 1.2, `${ratio}`);
  });
});
