import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { openTestStore, tempFolder, userMessage, type TempFolder } from '../../support/store/storeTemp';

describe('threadkeeper backup and restore', () => {
  let temp: TempFolder;
  let store: SessionStore;
  let folder: string;
  let file: string;

  before(async () => {
    temp = tempFolder();
    folder = join(temp.path, 'store');
    file = join(temp.path, 'my backup.db');
    store = await openTestStore(folder);
    await store.createSession({ uuid: 's', channel: 'cli', title: 'One', createdAt: 1 });
    await store.append('s', { entries: [userMessage('s', null, 'kept')] });
  });
  after(async () => {
    await store.close();
    temp.remove();
  });

  const run = (...args: string[]) => runCliToEnd(args);

  it('backs up what is in use, and restores it elsewhere', async () => {
    assert.deepEqual(await run('backup', file, '--store', folder), {
      code: 0,
      out: `1 entry in 1 session backed up to ${file}.\n`,
      err: '',
    });
    const elsewhere = join(temp.path, 'elsewhere');
    assert.deepEqual(await run('restore', file, '--store', elsewhere), { code: 0, out: '1 entry in 1 session restored.\n', err: '' });
    assert.match(
      (await run('restore', file, '--store', elsewhere)).out,
      /restored\. What was there is kept as .*threadkeeper\.db\.replaced-/,
    );
    const restored = await openTestStore(elsewhere);
    assert.deepEqual(
      (await restored.liveBranch('s')).entries.map(({ content }) => content),
      [{ type: 'message', role: 'user', text: 'kept' }],
    );
    await restored.close();
  });

  it('says why it does not', async () => {
    const damaged = join(temp.path, 'damaged.db');
    const content = Buffer.from(readFileSync(file));
    writeFileSync(damaged, content.subarray(0, content.length - 440));
    const cases: readonly (readonly [args: string[], code: number, said: RegExp])[] = [
      [['backup', file, '--store', folder], 1, /exists already.*--overwrite/],
      [['backup', join(folder, 'threadkeeper.db'), '--store', folder, '--overwrite'], 1, /folder of a history/],
      [['restore', '--damaged', __filename, '--store', join(temp.path, 'tried')], 1, /Nothing can be read of .*, so nothing was changed/],
      [['backup', '--store', folder], 2, /One FILE to write is wanted/],
      [['backup', join(temp.path, 'x'), '--store', join(temp.path, 'nowhere')], 1, /does not exist/],
      [['restore', file, '--store', folder], 1, /in use by test/],
      [['restore', damaged, '--store', join(temp.path, 'new')], 1, /The backup is damaged, so nothing was changed/],
      [['restore', join(temp.path, 'nothing.db'), '--store', join(temp.path, 'new')], 1, /does not exist/],
      [['restore', '--store', folder], 2, /One FILE to restore is wanted/],
    ];
    for (const [args, code, said] of cases) {
      const result = await run(...args);
      assert.deepEqual([result.code, said.test(result.err)], [code, true], `${args.join(' ')}: ${result.err}`);
    }
    assert.equal(existsSync(join(temp.path, 'new')), false);
    assert.deepEqual(readdirSync(temp.path).sort(), ['damaged.db', 'elsewhere', 'my backup.db', 'store']);
  });
});
