import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  findRelinkCandidates,
  listKnownWorkspaces,
  normalizeRemote,
  noteSessionCount,
  relinkWorkspace,
  resolveStoreFolder,
} from '../../../src/node/workspaces/workspaceRegistry';
import { tempFolder } from '../../support/store/storeTemp';
import type { TempFolder } from '../../support/store/storeTemp';

describe('store: where a workspace keeps its sessions', () => {
  let temp: TempFolder;
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(() => temp.remove());

  const globalDir = () => join(temp.path, 'global');
  const storage = (name: string) => join(temp.path, 'workspaceStorage', name);
  const workspace = (name: string) => {
    mkdirSync(join(temp.path, name), { recursive: true });
    return pathToFileURL(join(temp.path, name)).href;
  };
  let clock = 0;
  const resolve = (candidate: string | undefined, workspaceUris: string[], remote?: string) =>
    resolveStoreFolder({ globalDir: globalDir(), candidateDir: candidate, workspaceUris, remote, now: () => ++clock });

  it('is the first folder ever used, whatever VS Code offers later', async () => {
    const uris = [workspace('b'), workspace('a')];
    const first = await resolve(storage('1'), uris);
    assert.deepEqual(
      { folder: first.folder, found: first.found, related: first.related },
      { folder: storage('1'), found: 'new', related: [] },
    );
    const again = await resolve(storage('1-1'), [`${uris[1]}/`, uris[0]!, uris[0]!]);
    assert.deepEqual(
      { folder: again.folder, found: again.found, knownSince: again.knownSince },
      { folder: storage('1'), found: 'workspace', knownSince: first.knownSince },
    );
    assert.equal((await resolve(storage('2'), [uris[0]!])).folder, storage('2'), 'another set of folders is another workspace');
  });

  it('is under global storage when no folder is open', async () => {
    const first = await resolve(undefined, []);
    assert.equal(first.folder, join(globalDir(), 'store'));
    assert.deepEqual(await resolve(undefined, []), { ...first, found: 'workspace' });
    assert.ok((await resolve(undefined, ['vscode-vfs://github/a/b'])).folder.startsWith(join(globalDir(), 'store-')));
  });

  it('follows a renamed repository, but gives a second clone its own', async () => {
    const remote = 'git@github.com:someone/project.git';
    const original = workspace('project');
    await resolve(storage('1'), [original], remote);
    const clone = await resolve(storage('2'), [workspace('clone')], 'https://user:secret@github.com/someone/project');
    assert.deepEqual([clone.folder, clone.found], [storage('2'), 'new']);
    assert.deepEqual(
      clone.related.map((other) => other.folder),
      [storage('1')],
    );

    renameSync(join(temp.path, 'project'), join(temp.path, 'renamed'));
    const renamed = await resolve(storage('3'), [workspace('renamed')], remote);
    assert.deepEqual([renamed.folder, renamed.found], [storage('1'), 'moved']);
    assert.equal((await resolve(storage('4'), [workspace('renamed')])).folder, storage('1'), 'also when git is not asked');
    const kept = readdirSync(join(globalDir(), 'workspaces')).map((name) => readFileSync(join(globalDir(), 'workspaces', name), 'utf8'));
    assert.doesNotMatch(kept.join(), /secret|user/);
  });

  it('uses what is offered when the remembered folder is gone', async () => {
    const uris = [workspace('a')];
    await resolve(storage('1'), uris);
    rmSync(storage('1'), { recursive: true });
    assert.deepEqual(
      [(await resolve(storage('2'), uris)).folder, (await resolve(storage('3'), uris)).folder],
      [storage('2'), storage('2')],
    );
  });

  it('gives windows that start at once the same folder', async () => {
    const uris = [workspace('a')];
    const folders = await Promise.all(Array.from({ length: 8 }, (_, i) => resolve(storage(String(i)), uris)));
    assert.equal(new Set(folders.map((found) => found.folder)).size, 1);
    assert.equal(folders.filter((found) => found.found === 'new').length, 1);
    assert.deepEqual(readdirSync(join(globalDir(), 'workspaces')).length, 1);
  });

  it('renames an unreadable entry aside and does not mind it in lists', async () => {
    const uris = [workspace('a')];
    await resolve(storage('1'), uris);
    const folder = join(globalDir(), 'workspaces');
    const [name] = readdirSync(folder);
    writeFileSync(join(folder, name!), '{"version": 1, "folder"');
    assert.deepEqual(await listKnownWorkspaces(globalDir()), []);
    assert.equal((await resolve(storage('2'), uris)).folder, storage('2'));
    assert.equal(readdirSync(folder).filter((other) => other.includes('.unreadable-')).length, 1);
  });

  it('lists workspaces by last use with their session counts', async () => {
    const [a, b] = [workspace('a'), workspace('b')];
    await resolve(storage('1'), [a]);
    await resolve(storage('2'), [b]);
    await noteSessionCount(globalDir(), [a], 7);
    await noteSessionCount(globalDir(), ['file:///nowhere'], 9);
    await resolve(storage('1'), [a]);
    assert.deepEqual(
      (await listKnownWorkspaces(globalDir())).map((entry) => [entry.folder, entry.sessionCount]),
      [
        [storage('1'), 7],
        [storage('2'), null],
      ],
    );
    assert.ok(existsSync(storage('2')));
  });

  it('writes a remote in one way and without credentials', () => {
    for (const remote of [
      'git@GitHub.com:a/b.git',
      'https://github.com/a/b',
      'ssh://git@github.com/a/b.git',
      'https://u:p@github.com/a/b.git/?x=1',
    ]) {
      assert.equal(normalizeRemote(remote), 'github.com/a/b');
    }
    assert.equal(normalizeRemote('C:\\repos\\b'), 'C:\\repos\\b');
    assert.equal(normalizeRemote('/srv/git/b.git'), '/srv/git/b');
  });

  const rename = (from: string, to: string) => {
    renameSync(join(temp.path, from), join(temp.path, to));
    return workspace(to);
  };
  /** As `git clone` elsewhere, or a move to another disk: the same name and content, another folder. */
  const copy = (from: string, to: string) => {
    cpSync(join(temp.path, from), join(temp.path, to), { recursive: true });
    return workspace(to);
  };
  const remove = (name: string) => rmSync(join(temp.path, name), { recursive: true });
  const remote = 'git@github.com:someone/project.git';
  const found = async (candidate: string, uris: string[], ofRemote?: string) => {
    const { folder, found } = await resolve(storage(candidate), uris, ofRemote);
    return [basename(folder), found];
  };

  it('follows a folder that was renamed or moved, also without a repository', async () => {
    await resolve(storage('1'), [workspace('a')]);
    assert.deepEqual(await found('2', [rename('a', 'b')]), ['1', 'moved']);
    workspace('elsewhere');
    assert.deepEqual(await found('3', [rename('b', 'elsewhere/b')]), ['1', 'moved'], 'again, and to another place');
    assert.deepEqual(await found('4', [workspace('elsewhere/b')]), ['1', 'workspace']);
    assert.deepEqual(await found('5', [rename('elsewhere/b', 'a')]), ['1', 'workspace'], 'and back to the first');
  });

  it('follows one of several folders that was renamed', async () => {
    const [a, b] = [workspace('a'), workspace('b')];
    await resolve(storage('1'), [a, b]);
    assert.deepEqual(await found('2', [a, rename('b', 'c')]), ['1', 'moved']);
  });

  it('stays with a workspace that gets another folder, and with the one it was before', async () => {
    const [a, b] = [workspace('a'), workspace('b')];
    await resolve(storage('1'), [a]);
    await resolve(storage('2'), [b]);
    assert.deepEqual(await found('3', [a, b]), ['1', 'grown'], 'the first folder leads');
    assert.deepEqual(await found('4', [a, b, workspace('c')]), ['1', 'grown']);
    assert.deepEqual(await found('1', [a]), ['1', 'workspace']);
    assert.deepEqual(await found('2', [b]), ['2', 'workspace']);
    assert.deepEqual(await found('5', [workspace('d'), a]), ['5', 'new'], 'a folder that was put in front of it is another workspace');
  });

  it('never mixes clones of one repository', async () => {
    await resolve(storage('1'), [workspace('one')], remote);
    await resolve(storage('2'), [workspace('two')], remote);
    assert.deepEqual(await found('3', [copy('one', 'three')], remote), ['3', 'new'], 'both are still there');
    remove('one');
    remove('two');
    assert.deepEqual(await found('4', [workspace('four')], remote), ['4', 'new'], 'either could be meant');
  });

  it('gives the history of a clone that is gone to one other, and to no third', async () => {
    await resolve(storage('1'), [workspace('one')], remote);
    const two = copy('one', 'two');
    remove('one');
    assert.deepEqual(await found('2', [two], remote), ['1', 'moved']);
    assert.deepEqual(await found('3', [copy('two', 'three')], remote), ['3', 'new']);
    // VS Code offers the storage of the path, which is that of the first one.
    const again = await resolve(storage('1'), [copy('two', 'one')], remote);
    assert.deepEqual(
      [again.folder.startsWith(join(globalDir(), 'store-')), again.found],
      [true, 'new'],
      'nor to a new one at the old place',
    );
    assert.deepEqual(await found('1', [workspace('two')], remote), ['1', 'workspace']);
  });

  it('does not take a disk that is not mounted for a folder that is gone', async () => {
    await resolve(storage('1'), [workspace('disk/project')], remote);
    const other = copy('disk/project', 'project');
    remove('disk');
    assert.deepEqual(await found('2', [other], remote), ['2', 'new']);
  });

  describe('relinking', () => {
    const candidates = (uris: string[], ofRemote?: string) =>
      findRelinkCandidates({ globalDir: globalDir(), candidateDir: undefined, workspaceUris: uris, remote: ofRemote });
    const relink = async (uris: string[], index: number, ofRemote?: string) =>
      relinkWorkspace(
        { globalDir: globalDir(), candidateDir: undefined, workspaceUris: uris, remote: ofRemote },
        (await candidates(uris, ofRemote))[index]!,
      );
    const listed = async (uris: string[], ofRemote?: string) =>
      (await candidates(uris, ofRemote)).map(({ entry, reason }) => [basename(entry.folder), reason]);
    /** As after a first message. */
    const hasStore = (name: string) => writeFileSync(join(storage(name), 'threadkeeper.db'), 'a database');

    it('offers what is likely first, with the reason, and no store twice', async () => {
      for (const [i, [name, ofRemote]] of [
        ['x/tides'],
        ['beside'],
        ['old', remote],
        ['clone', remote],
        ['far/away'],
        ['still here'],
        ['never written'],
      ].entries()) {
        await resolve(storage(String(i)), [workspace(name!)], ofRemote);
        if (name !== 'never written') hasStore(String(i));
      }
      const tides = workspace('tides');
      for (const gone of ['x', 'beside', 'old', 'far']) remove(gone);
      await resolve(storage('mine'), [tides], `${remote}?`);
      hasStore('mine');
      const sharing = workspace('sharing');
      await resolve(storage('9'), [sharing]);
      await relink(
        [sharing],
        (await candidates([sharing])).findIndex(({ entry }) => entry.folder === storage('5')),
      );
      assert.deepEqual(await listed([tides], remote), [
        ['2', 'same_repository'],
        ['0', 'same_name'],
        ['1', 'beside'],
        ['3', 'clone'],
        ['4', 'gone'],
        ['5', 'other'],
      ]);
    });

    it('finds the history of a copied folder, and takes it back', async () => {
      const old = workspace('old');
      await resolve(storage('1'), [old]);
      await noteSessionCount(globalDir(), [old], 7);
      hasStore('1');
      const copied = copy('old', 'new');
      remove('old');
      assert.deepEqual(await found('2', [copied]), ['2', 'new']);
      hasStore('2');
      await relink([copied], 0);
      assert.deepEqual(await found('3', [copied]), ['1', 'workspace']);
      assert.deepEqual(await listed([copied]), [['2', 'previous']]);
      // The old path is a new workspace: its history went along.
      assert.notEqual((await resolve(storage('1'), [workspace('old')])).folder, storage('1'));
      await relink([copied], 0);
      assert.deepEqual(await found('3', [copied]), ['2', 'workspace']);
      assert.deepEqual((await listed([copied]))[0], ['1', 'previous']);
      await relink([copied], 0);
      assert.deepEqual(await found('3', [copied]), ['1', 'workspace'], 'and forth again');
      assert.ok(existsSync(join(storage('1'), 'threadkeeper.db')) && existsSync(join(storage('2'), 'threadkeeper.db')));
    });

    it('offers a history that went along to another place as that of this place', async () => {
      await resolve(storage('1'), [workspace('a')]);
      hasStore('1');
      const b = rename('a', 'b');
      await resolve(storage('2'), [b]);
      const c = workspace('c');
      await resolve(storage('3'), [c]);
      assert.deepEqual(
        (await candidates([c])).map(({ entry, reason }) => [entry.workspaceUris, reason]),
        [[[b], 'other']],
      );
    });

    it('finds what was said before a folder was opened', async () => {
      const { folder } = await resolve(undefined, []);
      writeFileSync(join(folder, 'threadkeeper.db'), 'a database');
      const a = workspace('a');
      await resolve(storage('1'), [a]);
      assert.deepEqual(
        (await candidates([a])).map(({ entry, reason, gone }) => [entry.workspaceUris, reason, gone]),
        [[[], 'other', false]],
      );
      await relink([a], 0);
      assert.deepEqual([(await resolve(storage('1'), [a])).folder, (await resolve(undefined, [])).folder], [folder, folder]);
    });

    it('shares with a workspace that is still there, and leaves it alone', async () => {
      const [a, b] = [workspace('a'), workspace('b')];
      await resolve(storage('1'), [a]);
      hasStore('1');
      await resolve(storage('2'), [b]);
      await relink([b], 0);
      assert.deepEqual(
        [await found('1', [a]), await found('2', [b])],
        [
          ['1', 'workspace'],
          ['1', 'workspace'],
        ],
      );
    });
  });
});
