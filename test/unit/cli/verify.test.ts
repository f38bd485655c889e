import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { VerifyReport } from '../../../src/core/maintenance/reports';
import { loadSqlite } from '../../../src/node/store/wasm/sqlite';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { alteredSample, layStoreSample, makeStoreSample, type StoreSample } from '../../support/store/storeSample';
import { openTestStore, tempFolder, wasmFile, type TempFolder } from '../../support/store/storeTemp';

describe('threadkeeper verify', () => {
  let sample: StoreSample;
  let damaged: Buffer;
  let temp: TempFolder;

  before(async () => {
    const sqlite = await loadSqlite(wasmFile);
    sample = makeStoreSample(sqlite, 'close');
    damaged = alteredSample(
      sqlite,
      sample,
      "UPDATE bodies SET text = 'changed' WHERE entry = 5; UPDATE sessions SET title = 'Ports\u001b[31m' WHERE title LIKE 'Ports%'",
    );
  });
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(() => temp.remove());

  const run = (...args: string[]) => runCliToEnd(['verify', ...args]);
  const json = async (...args: string[]) => {
    const { out, code } = await run('--store', temp.path, '--json', ...args);
    return { code, report: JSON.parse(out) as VerifyReport & { repaired?: string } };
  };

  it('says that a sound store is sound, and changes nothing with --repair', async () => {
    layStoreSample(temp.path, sample);
    const names = readdirSync(temp.path);
    assert.deepEqual(await run('--store', temp.path, '--repair'), {
      code: 0,
      out: '63 entries in 2 sessions checked, no damage found.\n',
      err: '',
    });
    assert.deepEqual(readdirSync(temp.path), names);
  });

  it('lists what is damaged for people and as JSON', async () => {
    layStoreSample(temp.path, sample, { main: damaged });
    const { code, out } = await run('--store', temp.path);
    assert.equal(code, 1);
    assert.match(
      out,
      /^63 entries in 2 sessions checked, 1 problem found:\n- entry #5 of session \d{8}_001 “Ports \[31m”: What it says is not what was written/,
    );
    const { code: again, report } = await json();
    assert.equal(again, 1);
    assert.deepEqual(
      { problems: report.problems.map(({ kind }) => kind), entries: report.checked.entries, repaired: report.repaired },
      { problems: ['content'], entries: 63, repaired: undefined },
    );
  });

  it('repairs on request, says what could not be read, and keeps the damaged file', async () => {
    layStoreSample(temp.path, sample, { main: damaged });
    const { code, report } = await json('--repair');
    assert.equal(code, 0);
    assert.match(
      report.repaired ?? '',
      /2 sessions with 63 entries were brought over; not readable: the content of 1 entry.*kept as .*damaged-/s,
    );
    assert.equal(readdirSync(temp.path).filter((name) => name.includes('.db.damaged-')).length, 1);
    assert.equal((await json()).code, 0);
  });

  it('looks at a store that is in use, and leaves it to its owner', async () => {
    layStoreSample(temp.path, sample, { main: damaged });
    const owner = await openTestStore(temp.path);
    try {
      assert.equal((await json()).code, 1);
      const { code, err } = await run('--store', temp.path, '--repair');
      assert.equal(code, 1);
      assert.match(err, /Not repaired: Another window owns this store.*Close what uses the history/);
      assert.equal((await owner.listSessions()).length, 2);
    } finally {
      await owner.close();
    }
  });

  it('tells by its exit code what else is wrong', async () => {
    assert.equal((await run('--help')).code, 0);
    assert.equal((await run()).code, 2);
    const { code, err } = await run('--store', join(temp.path, 'nowhere'));
    assert.equal(code, 3);
    assert.match(err, /does not exist/);
  });
});
