import { deepStrictEqual } from 'node:assert';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitRemote } from '../../../../src/vscode/history/gitRemote';

describe('gitRemote', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'threadkeeper-git-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function config(place: string, text: string): Promise<void> {
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'config'), text);
  }

  it('is undefined outside a repository and without a remote', async () => {
    deepStrictEqual(await gitRemote(folder), undefined);
    await config(join(folder, '.git'), '[core]\n\tbare = false\n');
    deepStrictEqual(await gitRemote(folder), undefined);
  });

  it('prefers origin, else takes the first', async () => {
    await config(
      join(folder, '.git'),
      '[remote "fork"]\r\n\turl = git@example.com:me/x.git\r\n[remote "origin"]\r\n\turl = https://example.com/x.git\r\n\tfetch = +refs\r\n',
    );
    deepStrictEqual(await gitRemote(folder), 'https://example.com/x.git');
    await config(join(folder, '.git'), '[remote "fork"]\n\turl = git@example.com:me/x.git\n[branch "main"]\n\turl = no\n');
    deepStrictEqual(await gitRemote(folder), 'git@example.com:me/x.git');
  });

  it('follows a worktree to its repository', async () => {
    const repository = join(folder, 'main', '.git');
    await config(repository, '[remote "origin"]\n\turl = https://example.com/y.git\n');
    await mkdir(join(repository, 'worktrees', 'w'), { recursive: true });
    await writeFile(join(repository, 'worktrees', 'w', 'commondir'), '../..\n');
    await mkdir(join(folder, 'w'));
    await writeFile(join(folder, 'w', '.git'), `gitdir: ${join(repository, 'worktrees', 'w')}\n`);
    deepStrictEqual(await gitRemote(join(folder, 'w')), 'https://example.com/y.git');
  });
});
