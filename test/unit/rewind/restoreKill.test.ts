import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredEntry } from '../../../src/core/session/entry';
import { resumeRestores } from '../../../src/node/rewind/resumeRestores';
import { sampleRestore, readTree, writeTree } from '../../support/rewind/sampleTree';
import { silentLog } from '../../support/chat/conversationRig';
import { enduranceRounds, seededRandom } from '../../support/chat/endurance';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

const victim = join(__dirname, '..', '..', 'support', 'rewind', 'restoreVictim.js');
/** Points at which a restore dies: 24 in the suite, 500 and more when it is asked to endure. */
const points = enduranceRounds(24);

describe('rewind: a restore killed at a random point', function () {
  this.timeout(60_000);
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());

  it(`leaves the new tree after the next start where it was recorded, else the old one, ${points} times`, async function () {
    this.timeout(20_000 + points * 500);
    const random = seededRandom(7);
    const counts = { old: 0, new: 0, lived: 0 };
    const one = async (n: number) => {
      const root = join(temp.path, `tree-${n}`);
      const storage = join(temp.path, `storage-${n}`);
      const { before, after } = sampleRestore(root, n);
      writeTree(root, before);
      // A quarter of them when it is recorded, or in what little is left to do then.
      const dieAt = n % 4 === 0 ? -Math.floor(random() * 8) : 1 + Math.floor(random() * 130);
      const child = spawn(process.execPath, [victim, root, storage, String(n), String(dieAt)], { stdio: ['ignore', 'ignore', 'pipe'] });
      let complaint = '';
      child.stderr.on('data', (data: Buffer) => (complaint += data.toString()));
      const [code] = (await once(child, 'exit')) as [number | null];
      strictEqual(complaint, '');
      const isTold = existsSync(join(storage, 'told'));
      await resumeRestores(storage, { entries: async () => (isTold ? [{} as StoredEntry] : []) }, silentLog);
      deepStrictEqual(sorted(readTree(root)), sorted(isTold ? after : before), `seed ${n}, killed at ${dieAt}`);
      if (code === 0) strictEqual(isTold, true);
      counts[code === 0 ? 'lived' : isTold ? 'new' : 'old']++;
      deepStrictEqual(existsSync(join(storage, 'restores')) ? readdirSync(join(storage, 'restores')) : [], []);
    };
    for (let n = 0; n < points; n += 4) await Promise.all([n, n + 1, n + 2, n + 3].filter((m) => m < points).map(one));
    ok(counts.old > points / 10 && counts.new > points / 20, JSON.stringify(counts));
    console.log(`      ${JSON.stringify(counts)}`);
  });
});

function sorted(tree: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1));
}
