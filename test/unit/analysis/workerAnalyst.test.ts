import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { nothingFound, inProcessAnalyst } from '../../../src/core/compaction/measure/textAnalysis';
import type { Logger } from '../../../src/core/ports';
import { WorkerAnalyst } from '../../../src/node/analysis/workerAnalyst';
import { projectRoot } from '../../support/paths';

const items = Array.from({ length: 400 }, (_, i) => ({
  entryId: `e${i}`,
  role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
  text: `Message ${i} talks about src/part${i}/file${i}.ts and port ${10_000 + i}. ${'Nothing of interest is said here. '.repeat(5)}`,
  at: i,
}));

describe('WorkerAnalyst', () => {
  let folder: string;
  let warned: string[];
  const log: Logger = { debug: () => undefined, info: () => undefined, warn: (event) => warned.push(event), error: () => undefined };
  const shipped = join(projectRoot, 'dist', 'analystWorker.js');

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'threadkeeper-analyst-'));
    warned = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('answers as the same work in this thread does, several requests at once', async () => {
    const analyst = new WorkerAnalyst(shipped, log);
    const expected = await inProcessAnalyst.analyse(items, 500);
    assert.ok(expected.lines.length > 0 && expected.identifiers.length > 400 && expected.sentences.length === 200);
    assert.deepEqual(await Promise.all([analyst.analyse(items, 500), analyst.analyse(items, 500)]), [expected, expected]);
    assert.deepEqual(await analyst.analyse([], 500), nothingFound);
    const elements = items.map(({ entryId, text }, i) => ({
      entryId,
      kind: i % 2 === 0 ? ('request' as const) : ('identifier' as const),
      text,
    }));
    const half = items
      .slice(0, 200)
      .map(({ text }) => text)
      .join('\n');
    assert.deepEqual(
      await Promise.all([analyst.inContext(elements, half), analyst.inContext([], ''), inProcessAnalyst.inContext(elements, half)]),
      [80, 100, 80],
    );
    assert.deepEqual(warned, []);
    analyst.dispose();
  });

  it('has no worker while nothing is to be done, and another one afterwards', async () => {
    const began: Worker[] = [];
    const onWorker = (worker: Worker) => began.push(worker);
    process.on('worker', onWorker);
    const analyst = new WorkerAnalyst(shipped, log, 1);
    try {
      const expected = await inProcessAnalyst.analyse(items, 500);
      for (const count of [1, 2]) {
        assert.deepEqual(await analyst.analyse(items, 500), expected);
        assert.equal(began.length, count);
        await once(began.at(-1)!, 'exit');
      }
      assert.deepEqual(warned, []);
    } finally {
      process.off('worker', onWorker);
      analyst.dispose();
    }
  });

  it('does the work itself when the worker cannot start, dies, or has been closed', async () => {
    const expected = await inProcessAnalyst.analyse(items, 300);
    const dying = join(folder, 'dying.js');
    await writeFile(dying, "require('node:worker_threads').parentPort.on('message', () => process.exit(3));");
    for (const file of [join(folder, 'missing.js'), dying]) {
      const analyst = new WorkerAnalyst(file, log);
      assert.deepEqual(await analyst.analyse(items, 300), expected);
      assert.deepEqual(await analyst.analyse(items, 300), expected, 'and from then on');
      analyst.dispose();
    }
    assert.deepEqual(warned, ['analysis_worker_failed', 'analysis_worker_failed']);
    const closed = new WorkerAnalyst(shipped, log);
    const pending = closed.analyse(items, 300);
    closed.dispose();
    assert.deepEqual(await pending, expected);
  });
});
