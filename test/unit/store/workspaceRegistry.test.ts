import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listKnownWorkspaces, normalizeRemote, noteSessionCount, resolveStoreFolder } from '../../../src/node/store/workspaceRegistry';
import { tempFolder } from '../../support/storeTemp';
import type { TempFolder } from '../../support/storeTemp';

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
    assert.deepEqual([first.folder, first.found, first.related], [storage('1'), 'new', []]);
    const again = await resolve(storage('1-1'), [`${uris[1]}/`, uris[0]!, uris[0]!]);
    assert.deepEqual([again.folder, again.found, again.knownSince], [storage('1'), 'workspace', first.knownSince]);
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
    assert.deepEqual(clone.related.map((other) => other.folder), [storage('1')]);

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
    assert.deepEqual([(await resolve(storage('2'), uris)).folder, (await resolve(storage('3'), uris)).folder], [storage('2'), storage('2')]);
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
    assert.deepEqual((await listKnownWorkspaces(globalDir())).map((entry) => [entry.folder, entry.sessionCount]), [
      [storage('1'), 7],
      [storage('2'), null],
    ]);
    assert.ok(existsSync(storage('2')));
  });

  it('writes a remote in one way and without credentials', () => {
    for (const remote of ['git@GitHub.com:a/b.git', 'https://github.com/a/b', 'ssh://git@github.com/a/b.git', 'https://u:p@github.com/a/b.git/?x=1']) {
      assert.equal(normalizeRemote(remote), 'github.com/a/b');
    }
    assert.equal(normalizeRemote('C:\\repos\\b'), 'C:\\repos\\b');
    assert.equal(normalizeRemote('/srv/git/b.git'), '/srv/git/b');
  });
});
