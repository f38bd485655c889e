import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { MeantFile } from '../../../src/node/attribution/meantFile';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

describe('which file a session means', () => {
  let temp: TempFolder;
  let repo: string;

  beforeEach(() => {
    temp = tempFolder();
    repo = join(realpathSync(temp.path), 'repo');
    for (const folder of ['src', 'packages/b/src']) mkdirSync(join(repo, folder), { recursive: true });
    symlinkSync(repo, join(temp.path, 'linked'));
  });
  afterEach(() => temp.remove());

  const asked = async (said: string, cwd: string | null) => {
    const meant = new MeantFile(repo, repo);
    const paths = ['src/index.ts', 'packages/b/src/index.ts'];
    const found = await Promise.all(paths.map((path) => meant.isSaid(said, cwd, path)));
    return paths.filter((_, i) => found[i]);
  };

  it('is the one at its place, not one of the same name in a package beside it', async () => {
    const inner = join(repo, 'packages/b');
    assert.deepEqual(
      await Promise.all([
        asked(join(inner, 'src/index.ts'), inner),
        asked('src/index.ts', inner),
        asked('../../src/index.ts', inner),
        asked('src/index.ts', repo),
        asked('src/index.ts', null),
        asked('repo/src/index.ts', temp.path),
        asked(join(temp.path, 'linked/src/index.ts'), join(temp.path, 'linked')),
      ]),
      [
        ['packages/b/src/index.ts'],
        ['packages/b/src/index.ts'],
        ['src/index.ts'],
        ['src/index.ts'],
        ['src/index.ts'],
        ['src/index.ts'],
        ['src/index.ts'],
      ],
    );
  });

  it('is the one at the same place of where the folder was, when that is gone', async () => {
    const [gone, other] = [join(temp.path, 'before'), join(temp.path, 'other')];
    mkdirSync(other);
    assert.deepEqual(
      await Promise.all([
        asked(join(gone, 'src/index.ts'), gone),
        asked('src/index.ts', gone),
        asked('src/index.ts', 'C:\\work\\repo'),
        asked(join(other, 'src/index.ts'), other),
        asked('src/index.ts', other),
      ]),
      [['src/index.ts'], ['src/index.ts'], ['src/index.ts'], [], []],
    );
  });

  it('keeps to the folder of a workspace of several that was recorded', async () => {
    const [one, two] = ['one', 'two'].map((name) => join(repo, 'packages', name)) as [string, string];
    for (const folder of [one, two]) mkdirSync(folder);
    const meant = new MeantFile(repo, one);
    const isRecorded = (folder: string, cwd: string | null) => meant.isRecorded({ folder, path: 'a.ts' }, cwd, 'packages/one/a.ts');
    assert.deepEqual(
      await Promise.all([
        isRecorded('one', one),
        isRecorded('one', two),
        isRecorded('two', one),
        isRecorded('two', two),
        isRecorded('one', null),
      ]),
      [true, true, false, false, true],
    );
    // Two folders of the window are called `one`: records have that of the folder above behind it.
    const named = new MeantFile(repo, one, ['one (packages)']);
    assert.deepEqual(
      await Promise.all(
        ['one (packages)', 'one (elsewhere)'].map((folder) => named.isRecorded({ folder, path: 'a.ts' }, two, 'packages/one/a.ts')),
      ),
      [true, false],
    );
    assert.equal(await new MeantFile(repo, repo).isRecorded({ folder: 'src', path: 'a.ts' }, two, 'src/a.ts'), true);
  });
});
