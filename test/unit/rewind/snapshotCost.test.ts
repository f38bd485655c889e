import { ok, strictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeSnapshot } from '../../../src/node/rewind/gitSnapshots';
import { enduranceRounds } from '../../support/chat/endurance';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

/** Files of the repository: 2,000 in the suite; THREADKEEPER_ROUNDS=50000 is what is promised. */
const count = enduranceRounds(2_000);

describe('what a snapshot costs', function () {
  this.timeout(600_000);
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());

  it(`is little beside git status, with ${count} files of which ten have changed`, async () => {
    const root = join(temp.path, 'project');
    const file = (n: number) => join(root, `src/d${Math.floor(n / 100)}/f${n}.ts`);
    for (let n = 0; n < count; n++) {
      if (n % 100 === 0) mkdirSync(join(file(n), '..'), { recursive: true });
      writeFileSync(file(n), `export const x${n} = ${n};\n`.repeat(20));
    }
    for (let n = 0; n < count / 5; n++) {
      if (n % 100 === 0) mkdirSync(join(root, 'node_modules', `p${n / 100}`), { recursive: true });
      writeFileSync(join(root, 'node_modules', `p${Math.floor(n / 100)}`, `${n}.js`), 'x\n');
    }
    writeFileSync(join(root, '.gitignore'), 'node_modules/\n');
    const git = (...args: string[]) => execFileSync('git', ['-C', root, '-c', 'user.email=a@b.c', '-c', 'user.name=a', ...args]);
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'all');
    const times = { status: [] as number[], before: [] as number[], after: [] as number[] };
    const timed = async <T>(what: keyof typeof times, work: () => Promise<T> | T): Promise<T> => {
      const began = performance.now();
      const result = await work();
      times[what].push(performance.now() - began);
      return result;
    };
    for (let round = 0; round < 9; round++) {
      await timed('status', () => git('status', '--porcelain'));
      const snapshot = (await timed('before', () => takeSnapshot(root, join(temp.path, 'storage'))))!;
      for (let n = 0; n < 10; n++) writeFileSync(file(n * 7), `changed ${round}\n`);
      strictEqual((await timed('after', () => snapshot.changes())).changed.length, 10);
      await snapshot.dispose();
      await timed('status', () => git('status', '--porcelain'));
    }
    const median = (all: readonly number[]) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)]!;
    const [status, before, after] = [times.status, times.before.slice(1), times.after].map(median) as [number, number, number];
    console.log(`      git status ${status.toFixed(0)} ms, before ${before.toFixed(0)} ms, after ${after.toFixed(0)} ms`);
    if (count >= 50_000) ok(Math.max(before, after) <= 1.5 * status, JSON.stringify(times));
  });
});
