import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../../support/paths';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { storedSession } from '../../support/agents/handedSessions';
import { openTestStore, tempFolder, type TempFolder } from '../../support/store/storeTemp';
import { waitFor } from '../../support/waitFor';

const cli = join(projectRoot, 'dist', 'cli.js');

describe('a secret that is typed on the command line', function () {
  this.timeout(60_000);
  let temp: TempFolder;
  let file: string;
  let id: string;

  before(async () => {
    temp = tempFolder();
    file = join(temp.path, 'sent.tksealed');
    const store = await openTestStore(join(temp.path, 'store'));
    ({ id } = await storedSession(store, [{ type: 'message', role: 'user', text: 'Which tide?' }], temp.path));
    await store.close();
    const env = { ...process.env, THREADKEEPER_PASSPHRASE: 'correct horse' };
    const seal = ['hand-over', id, '--store', join(temp.path, 'store'), '--to', 'colleague', '--out', file];
    assert.equal((await runCliToEnd(seal, env)).code, 0);
  });
  after(() => temp.remove());

  const { THREADKEEPER_PASSPHRASE: _, ...env } = process.env;

  it('is not shown in a terminal, and can be corrected while it is typed', async function () {
    // It gives a program a terminal of its own.
    if (process.platform !== 'linux' || spawnSync('script', ['--version']).error) return this.skip();
    const command = [process.execPath, cli, 'import', file, '--store', join(temp.path, 'typed')].map((word) => `'${word}'`).join(' ');
    const child = spawn('script', ['--quiet', '--return', '--command', command, join(temp.path, 'typescript')], { env });
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
    await waitFor('the question', () => shown.includes('Passphrase: '));
    child.stdin.write('correct horx\u007fse\r');
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.deepEqual([code, /corr|hors/.test(shown), shown.includes(id)], [0, false, true], shown);
  });

  it('comes from a pipe as well, as its first line', async () => {
    const child = spawn(process.execPath, [cli, 'import', file, '--store', join(temp.path, 'piped')], { env });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stdin.end('correct horse\r\nand more\n');
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.deepEqual([code, out], [0, `${id}\n`]);
  });

  it('is missed where standard input ends before', async () => {
    const { code, err } = await runCliToEnd(['import', file, '--store', join(temp.path, 'none')], env);
    assert.deepEqual([code, /A passphrase has \d+ characters at least\./.test(err)], [1, true], err);
  });
});
