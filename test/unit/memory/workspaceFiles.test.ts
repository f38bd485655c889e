import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CancelledError } from '../../../src/core/errors';
import { WorkspaceFiles } from '../../../src/node/memory/workspaceFiles';

const never = new AbortController().signal;

describe('text of a folder', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'files-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const put = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };

  it('has the passages with any of the terms, with path and line', async () => {
    put('readme.md', '# Lighthouse\n\nKeeps watch.\n');
    put('src/deep/port.ts', `${'// filler line\n'.repeat(90)}export const PORT = 54329;\n`);
    put('src/other.ts', 'nothing here');
    const [first, second, ...rest] = await new WorkspaceFiles(folder).candidates(['port', 'LIGHTHOUSE', ''], 10, never);
    deepEqual(first, { source: 'file', id: 'readme.md', title: 'readme.md:1', text: '# Lighthouse\n\nKeeps watch.\n', at: null });
    deepEqual([second?.id, second?.title, rest], ['src/deep/port.ts', 'src/deep/port.ts:81', []]);
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
    deepEqual((await new WorkspaceFiles(folder).candidates(['lighthouse', 'root'], 10, never)).map(({ id }) => id), ['a.txt']);
  });

  it('keeps the best of many within its limits, near the root first', async () => {
    for (let i = 0; i < 30; i++) put(`f${String(i).padStart(2, '0')}.txt`, i === 20 ? 'beacon and lamp' : 'beacon');
    put('deep/er/z.txt', 'beacon lamp');
    deepEqual((await new WorkspaceFiles(folder).candidates(['beacon', 'lamp'], 2, never)).map(({ id }) => id), ['f20.txt', 'deep/er/z.txt']);
    deepEqual((await new WorkspaceFiles(folder, { files: 20, bytesPerFile: 100 }).candidates(['lamp'], 5, never)).map(({ id }) => id), []);
  });

  it('is empty without a folder or terms, and rejects when aborted', async () => {
    deepEqual(await new WorkspaceFiles(join(folder, 'gone')).candidates(['a'], 5, never), []);
    put('a.txt', 'a');
    deepEqual(await new WorkspaceFiles(folder).candidates([], 5, never), []);
    equal((await new WorkspaceFiles(folder).candidates(['a'], 0, never)).length, 0);
    await rejects(new WorkspaceFiles(folder).candidates(['a'], 5, AbortSignal.abort()), CancelledError);
  });
});
