import type { BenchRow } from './peers/driver';
import { deadSummariser, faults } from './peers/faults';
import { kills } from './peers/kills';
import { longChat } from './peers/longChat';
import { pathological } from './peers/pathological';
import { toolHeavy } from './peers/toolHeavy';

const scenarios = { pathological, faults, deadSummariser, kills, toolHeavy, longChat };

/**
 * The scenarios that four other products were measured with, over the command line and a Messages API as strict as the real one.
 * `PEERS=faults,kills` runs some of them.
 */
export async function run(): Promise<BenchRow[]> {
  const chosen = process.env['PEERS']?.split(',');
  const rows: BenchRow[] = [];
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (chosen && !chosen.includes(name)) continue;
    const started = performance.now();
    rows.push(...(await scenario()));
    console.log(`${name}: ${Math.round((performance.now() - started) / 1000)} s`);
  }
  return rows;
}
