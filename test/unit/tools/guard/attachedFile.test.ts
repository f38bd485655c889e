import { deepStrictEqual, strictEqual } from 'node:assert';
import { mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attachedFile, plainPath } from '../../../../src/node/tools/workspaceFiles';
import { CommandRunner } from '../../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../../src/node/tools/diskWorkspace';
import { tempFolder } from '../../../support/store/storeTemp';

describe('a file that is attached', () => {
  it('is where its path says, or the user is asked about what a link leads to', async function () {
    if (process.platform === 'win32') return this.skip();
    const temp = tempFolder();
    try {
      const root = join(temp.path, 'project');
      await mkdir(root);
      for (const [path, target] of [
        ['a.txt', null],
        ['.env', null],
        ['plain.txt', 'a.txt'],
        ['notes.txt', '.env'],
        ['out.txt', '../secret.txt'],
        ['up', '..'],
      ] as const) {
        await (target === null ? writeFile(join(root, path), 'x') : symlink(target, join(root, path)));
      }
      await writeFile(join(temp.path, 'secret.txt'), 'x');
      const found = async (path: string) => {
        const { place, target } = await attachedFile(new DiskWorkspace([root], new CommandRunner()), { folder: 0, path });
        return [place?.path ?? null, target];
      };
      const outside = await realpath(join(temp.path, 'secret.txt'));
      deepStrictEqual(await Promise.all(['a.txt', '.env', 'plain.txt', 'notes.txt', 'out.txt', 'up/secret.txt'].map(found)), [
        ['a.txt', null],
        ['.env', null],
        ['a.txt', null],
        ['.env', '.env'],
        [null, outside],
        [null, outside],
      ]);
    } finally {
      await rm(temp.path, { recursive: true, force: true });
    }
  });

  it('has a path without ways back, however it was written', () => {
    strictEqual(plainPath('/ws/../.ssh/id_rsa'), '/.ssh/id_rsa');
    strictEqual(plainPath('/ws/a/..\\..\\.ssh'), '/.ssh');
    strictEqual(plainPath('/ws/./a//b'), '/ws/a/b');
  });
});
