import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CancelledError } from '../../../src/core/errors';
import { WorkspacePassages } from '../../../src/core/recall/workspacePassages';
import { systemClock } from '../../../src/node/runtime/systemClock';
import { CommandRunner } from '../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../src/node/tools/diskWorkspace';

const never = new AbortController().signal;

describe('text of a folder', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'files-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const passages = (bounds = {}, root = folder) =>
    new WorkspacePassages(
      { workspace: new DiskWorkspace([root], new CommandRunner()), clock: systemClock, mayRead: () => true },
      { milliseconds: 600_000, ...bounds },
    );
  const put = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };

  it('has the passages with any of the terms, with path and line', async () => {
    put('readme.md', '# Lighthouse\n\nKeeps watch.\n');
    put('src/deep/port.ts', `${'// filler line\n'.repeat(90)}export const PORT = 54329;\n`);
    put('src/other.ts', 'nothing here');
    const [first, second, ...rest] = await passages().candidates(['port', 'LIGHTHOUSE', ''], 10, never);
    deepEqual(
      { ...first, at: null },
      { source: 'file', id: 'readme.md', title: 'readme.md:1', text: '# Lighthouse\n\nKeeps watch.\n', at: null },
    );
    deepEqual({ id: second?.id, title: second?.title, rest }, { id: 'src/deep/port.ts', title: 'src/deep/port.ts:81', rest: [] });
    ok(second?.text.endsWith('export const PORT = 54329;\n'));
  });

  it('leaves out version control, dependencies, builds, binary and large files, and links', async function () {
    if (process.platform === 'win32') return this.skip();
    for (const path of ['.git/config', 'node_modules/a/index.js', 'dist/main.js', 'sub/node_modules/b.js']) put(path, 'lighthouse');
    put('image.png', Buffer.from('lighthouse\0'));
    put('large.txt', `lighthouse${'x'.repeat(512 * 1024)}`);
    symlinkSync('/etc', join(folder, 'etc'));
    symlinkSync(join(folder, 'a.txt'), join(folder, 'link.txt'));
    put('a.txt', 'lighthouse');
    deepEqual(
      (await passages().candidates(['lighthouse', 'root'], 10, never)).map(({ id }) => id),
      ['a.txt'],
    );
  });

  it('sees what the search tool sees: neither what Git ignores nor what looks like a secret', async function () {
    if (process.platform === 'win32') return this.skip();
    put('.gitignore', 'private/\n*.local\n');
    for (const path of ['.env', 'passwords.txt', 'deploy/id_rsa', '.aws/config', 'private/plan.md', 'notes.local', 'sub/.gitignore'])
      put(path, 'lighthouse = 54329');
    symlinkSync('.env', join(folder, 'harmless.txt'));
    put('a.txt', 'lighthouse');
    deepEqual(
      (await passages().candidates(['lighthouse'], 10, never)).map(({ id }) => id),
      ['a.txt', 'sub/.gitignore'],
    );
  });

  it('reads nothing where it may not', async () => {
    put('a.txt', 'lighthouse');
    const untrusted = new WorkspacePassages({
      workspace: new DiskWorkspace([folder], new CommandRunner()),
      clock: systemClock,
      mayRead: () => false,
    });
    deepEqual(await untrusted.candidates(['lighthouse'], 10, never), []);
  });

  it('keeps the best of many within its limits, near the root first', async () => {
    for (let i = 0; i < 30; i++) put(`f${String(i).padStart(2, '0')}.txt`, i === 20 ? 'beacon and lamp' : 'beacon');
    put('deep/er/z.txt', 'beacon lamp');
    deepEqual(
      (await passages().candidates(['beacon', 'lamp'], 2, never)).map(({ id }) => id),
      ['f20.txt', 'deep/er/z.txt'],
    );
    deepEqual(
      (await passages({ files: 20, fileBytes: 100 }).candidates(['lamp'], 5, never)).map(({ id }) => id),
      [],
    );
  });

  it('is empty without a folder or terms, and rejects when aborted', async () => {
    deepEqual(await passages({}, join(folder, 'gone')).candidates(['a'], 5, never), []);
    put('a.txt', 'a');
    deepEqual(await passages().candidates([], 5, never), []);
    equal((await passages().candidates(['a'], 0, never)).length, 0);
    await rejects(passages().candidates(['a'], 5, AbortSignal.abort()), CancelledError);
  });
});
