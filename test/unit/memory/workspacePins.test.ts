import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkspaceFolder } from '../../../src/core/tools/guard/workspacePath';
import { WorkspacePins } from '../../../src/node/memory/workspaceTexts';

describe('pinned files of a workspace', () => {
  it('are text inside of a folder of it, and known by their content', async () => {
    const root = await mkdtemp(join(tmpdir(), 'threadkeeper-pins-'));
    const folder = join(root, 'work');
    await mkdir(folder);
    await writeFile(join(folder, 'rules.md'), 'tabs');
    await writeFile(join(folder, 'image.bin'), Buffer.from([0, 1, 2]));
    await writeFile(join(folder, 'large.txt'), 'x'.repeat(300_000));
    await writeFile(join(root, 'secret.txt'), 'no');
    await symlink(join(root, 'secret.txt'), join(folder, 'link.txt'));
    await writeFile(join(folder, '.env'), 'KEY=1');
    await symlink('.env', join(folder, 'AGENTS.md'));
    await symlink('rules.md', join(folder, 'alias.md'));
    const pins = new WorkspacePins(() => ['gone', 'work'].map((name) => ({ name, root: join(root, name) })));
    const first = await pins.read('rules.md');
    assert.equal(first?.text, 'tabs');
    assert.equal((await pins.read('alias.md'))?.text, 'tabs');
    assert.equal((await pins.read('.env'))?.text, 'KEY=1', 'it was named');
    await writeFile(join(folder, 'rules.md'), 'spaces');
    assert.notEqual((await pins.read('rules.md'))?.hash, first.hash);
    for (const path of ['missing.md', 'AGENTS.md', '../secret.txt', 'link.txt', join(root, 'secret.txt'), 'image.bin', 'large.txt', '.'])
      assert.equal(await pins.read(path), undefined, path);
    await rm(root, { recursive: true });
  });

  it('are those of the folder that a path begins with, where several have one of the name', async () => {
    const root = await mkdtemp(join(tmpdir(), 'threadkeeper-pins-'));
    const folders = ['api', 'web'].map((name) => ({ name, root: join(root, name) }));
    for (const { name, root: folder } of folders) {
      await mkdir(folder);
      await writeFile(join(folder, 'README.md'), `of ${name}`);
    }
    await mkdir(join(root, 'api', 'web'));
    await writeFile(join(root, 'api', 'web', 'only.md'), 'a folder of that name within');
    const read = async (path: string, open: readonly WorkspaceFolder[] = folders) => (await new WorkspacePins(() => open).read(path))?.text;
    assert.deepEqual(
      [await read('web/README.md'), await read('api/README.md'), await read('README.md'), await read('web/only.md')],
      ['of web', 'of api', 'of api', 'a folder of that name within'],
    );
    assert.equal(await read('web/README.md', folders.slice(0, 1)), undefined);
    assert.equal(await read('README.md', [{ ...folders[0]!, isOffDisk: true }]), undefined, 'of this disk, which is not meant');
    await rm(root, { recursive: true });
  });
});
