import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileRestorer } from '../../../src/node/rewind/fileRestorer';
import { RestoreFault } from '../../../src/node/rewind/restoreFiles';
import { isUserMessage } from '../../../src/core/session/entry';
import { calls, says } from '../../support/chat/scriptedModel';
import { FilesRig } from '../../support/rewind/filesRig';
import { waitFor } from '../../support/waitFor';
import { readTree, type Tree } from '../../support/rewind/sampleTree';

/** What commands do in places that are not as usual: taken back and put back, or named and not touched. */
describe('rewind in odd places', function () {
  this.timeout(30_000);
  if (process.platform === 'win32') return;
  let all: FilesRig;
  let restorer: FileRestorer;
  let outside: string;
  let mounted: string | null = null;
  beforeEach(async () => {
    all = await FilesRig.create();
    ({ restorer } = all);
    outside = join(all.rig.folder, 'outside');
    mkdirSync(outside);
  });
  afterEach(async () => {
    if (mounted !== null) execFileSync('umount', ['-l', mounted]);
    mounted = null;
    await all.rig.dispose();
  });

  const git = (folder: string, ...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.email=a@b.c', '-c', 'user.name=a', '-c', 'protocol.file.allow=always', ...args], {
      stdio: 'pipe',
    });
  const commit = (folder: string) => {
    git(folder, 'add', '-A');
    git(folder, 'commit', '-qm', 'all');
  };
  /** Without what Git keeps, and what lies behind a link to a folder. */
  const tree = (): Tree =>
    Object.fromEntries(Object.entries(readTree(all.root)).filter(([path]) => !/(^|\/)\.git(\/|$)|^folder\//.test(path)));
  let made = 0;
  /** A turn that runs a command; returns its message. */
  const run = async (command: string): Promise<string> => {
    all.rig.model.scripts.push(calls('run_command', { command }, `r${++made}`), says('done'));
    ok((await all.rig.conversation.send(command)).begun);
    return all.rig.conversation.entries.findLast(isUserMessage)!.uuid;
  };
  const uncovered = async () =>
    (await all.rig.store.fileMarks(all.rig.session)).flatMap(({ content }) =>
      (content.uncovered ?? []).map(({ path, reason }) => [path, reason]),
    );
  /** What the command does is taken back and put back, but for these paths, which stay as it has left them. */
  const comesAndGoes = async (command: string, untouched: readonly string[] = []) => {
    const before = tree();
    const message = await run(command);
    const after = tree();
    const back = { ...before };
    for (const path of untouched) {
      delete back[path];
      if (after[path] !== undefined) back[path] = after[path];
    }
    const marks = (await all.rig.store.fileMarks(all.rig.session)).length;
    ok(marks > 0, 'something was recorded');
    await all.apply(await restorer.planBefore(all.rig.session, message));
    deepStrictEqual(sorted(tree()), sorted(back));
    await all.apply((await restorer.planUndo(all.rig.session))!);
    deepStrictEqual(sorted(tree()), sorted(after));
  };

  it('a submodule and a repository within are named, and not touched', async () => {
    mkdirSync(join(all.root, 'own'));
    const source = join(outside, 'lib');
    mkdirSync(source);
    writeFileSync(join(source, 'x.txt'), 'x\n');
    git(source, 'init', '-q');
    commit(source);
    git(all.root, 'init', '-q');
    git(all.root, 'submodule', '--quiet', 'add', source, 'lib');
    git(join(all.root, 'own'), 'init', '-q');
    all.put('own/y.txt', 'y\n');
    all.put('a.txt', 'a\n');
    git(all.root, 'add', 'a.txt', 'lib');
    git(all.root, 'commit', '-qm', 'all');
    await comesAndGoes('echo A > a.txt; echo X > lib/x.txt; echo Y > own/y.txt', ['lib/x.txt', 'own/y.txt']);
    deepStrictEqual(await uncovered(), [
      ['lib/', 'nested_repository'],
      ['own/', 'nested_repository'],
    ]);
    await run('true');
    strictEqual((await uncovered()).length, 2, 'what a command leaves alone is not named');
  });

  it('a work tree beside the first, and a repository that is kept elsewhere', async () => {
    const first = join(outside, 'first');
    mkdirSync(first);
    git(first, 'init', '-q');
    writeFileSync(join(first, 'a.txt'), 'a\n');
    writeFileSync(join(first, 'b.txt'), 'b\n');
    commit(first);
    rmSync(all.root, { recursive: true });
    git(first, 'worktree', 'add', '-q', all.root);
    ok(statSync(join(all.root, '.git')).isFile());
    await comesAndGoes('echo A > a.txt; rm b.txt; echo c > c.txt');
    strictEqual(readFileSync(join(first, 'a.txt'), 'utf8'), 'a\n');
    rmSync(all.root, { recursive: true });
    mkdirSync(all.root);
    git(all.root, 'init', '-q', '--separate-git-dir', join(outside, 'kept.git'));
    all.put('a.txt', 'a\n');
    commit(all.root);
    await comesAndGoes('echo AA > a.txt; mkdir deep; echo d > deep/d.txt');
  });

  it('large files that Git keeps by a pointer, names that change in case only, and permissions', async () => {
    git(all.root, 'init', '-q');
    all.put('.gitattributes', '*.big filter=lfs diff=lfs merge=lfs -text\n');
    all.put('pointed.big', 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n');
    all.put('real.big', 'the real content\n');
    all.put('Name.txt', 'name\n');
    all.put('tool.sh', '#!/bin/sh\n');
    commit(all.root);
    await comesAndGoes(
      'echo other > pointed.big; echo more >> real.big; git mv Name.txt name.txt; chmod +x tool.sh; git mv tool.sh Tool.sh',
    );
  });

  it('a folder that is renamed, as a whole and into another one', async () => {
    git(all.root, 'init', '-q');
    for (const path of ['src/a.txt', 'src/deep/b.txt', 'docs/c.txt', 'here/d.txt']) all.put(path, `${path}\n`);
    symlinkSync('a.txt', join(all.root, 'src', 'link'));
    commit(all.root);
    all.put('src/never-committed.txt', 'mine\n');
    await comesAndGoes('mv src lib; git mv docs doc; mv here lib/deep');
    deepStrictEqual(await uncovered(), []);
  });

  it('an older file with the name and content of one that is removed, which Git sees only now', async () => {
    git(all.root, 'init', '-q');
    all.put('.gitignore', 'dist/\n');
    all.put('app/empty.txt', '');
    commit(all.root);
    await run('true');
    // Built by the user since; the times of files are told in steps.
    all.put('dist/app/empty.txt', '');
    await waitFor('a later time', () => Date.now() > statSync(join(all.root, 'dist', 'app', 'empty.txt')).ctimeMs + 50);
    await comesAndGoes('rm -r app .gitignore', ['dist/app/empty.txt']);
    deepStrictEqual(await uncovered(), [['dist/app/empty.txt', 'ignored']]);
  });

  it('a link that a command puts in the place of a folder', async () => {
    git(all.root, 'init', '-q');
    for (const path of ['config/a.txt', 'config/deep/b.txt', 'old/a.txt', 'old/same.txt']) all.put(path, `${path}\n`);
    all.put('other/a.txt', 'theirs\n');
    all.put('other/same.txt', 'old/same.txt\n');
    commit(all.root);
    await comesAndGoes('mv config config.real && ln -s config.real config');
    await comesAndGoes('rm -r old && ln -s other old');
    // Git has taken the links over.
    await comesAndGoes('echo more >> other/a.txt');
    deepStrictEqual(await uncovered(), []);
    // One that the user has led elsewhere since is not theirs who made it.
    const message = await run('rm -r other && ln -s config.real other');
    rmSync(join(all.root, 'other'));
    symlinkSync('old', join(all.root, 'other'));
    const { files } = await restorer.planBefore(all.rig.session, message);
    deepStrictEqual(files.map(({ path, action, reason }) => [path, action, reason]).sort(), [
      ['other', 'ask', 'changed_since'],
      ['other/a.txt', 'blocked', 'linked'],
      ['other/same.txt', 'blocked', 'linked'],
    ]);
  });

  it('links that lead within and out are links, and what they lead to is not touched', async () => {
    writeFileSync(join(outside, 'theirs.txt'), 'theirs\n');
    git(all.root, 'init', '-q');
    all.put('a.txt', 'a\n');
    symlinkSync('a.txt', join(all.root, 'within'));
    symlinkSync(join(outside, 'theirs.txt'), join(all.root, 'out'));
    symlinkSync(outside, join(all.root, 'folder'));
    commit(all.root);
    await comesAndGoes(
      'ln -sfn other within; rm out; ln -s a.txt new; echo more >> folder/theirs.txt; echo x > ../outside/fresh.txt; echo A > a.txt',
    );
    strictEqual(readFileSync(join(outside, 'theirs.txt'), 'utf8'), 'theirs\nmore\n');
    strictEqual(readFileSync(join(outside, 'fresh.txt'), 'utf8'), 'x\n');
    // A link that has come to be on the way of a file since.
    const message = await run('mkdir sub; echo s > sub/s.txt; echo B > a.txt');
    rmSync(join(all.root, 'sub'), { recursive: true });
    writeFileSync(join(outside, 's.txt'), 's\n');
    symlinkSync(outside, join(all.root, 'sub'));
    const plan = await restorer.planBefore(all.rig.session, message);
    deepStrictEqual(plan.files.map(({ path, action, reason }) => [path, action, reason]).sort(), [
      ['a.txt', 'write', null],
      ['sub/s.txt', 'blocked', 'linked'],
    ]);
    await all.apply(plan);
    deepStrictEqual([readFileSync(join(outside, 's.txt'), 'utf8'), readFileSync(join(all.root, 'a.txt'), 'utf8')], ['s\n', 'A\n']);
  });

  /** Nothing of the plan is done, and the reason is said. */
  const fails = async (message: string, path: string, problem: string) => {
    const before = tree();
    const plan = await restorer.planBefore(all.rig.session, message);
    await rejects(
      all.apply(plan),
      (error) => error instanceof RestoreFault && error.problem === problem && (path === '' || error.path === path),
    );
    deepStrictEqual(sorted(tree()), sorted(before));
    strictEqual((await restorer.planUndo(all.rig.session)) === null, true, 'nothing was recorded');
  };

  it('a file that is read-only keeps all others as they are', async () => {
    git(all.root, 'init', '-q');
    for (const name of ['a', 'b', 'c']) all.put(`${name}.txt`, `${name}\n`);
    const message = await run('for n in a b c; do echo changed > $n.txt; done');
    chmodSync(join(all.root, 'b.txt'), 0o444);
    await fails(message, 'b.txt', 'read_only');
  });

  it('a disk that is full keeps all files as they are', async function () {
    rmSync(all.root, { recursive: true });
    mkdirSync(all.root);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', all.root], { stdio: 'pipe' });
    } catch {
      console.log('      skipped: no small disk can be mounted here');
      return this.skip();
    }
    mounted = all.root;
    git(all.root, 'init', '-q');
    all.put('kept.txt', 'k'.repeat(300_000));
    all.put('a.txt', 'a'.repeat(600_000));
    const message = await run('rm a.txt; echo changed > kept.txt');
    const fill = () => writeFileSync(join(all.root, 'fill'), '', { flag: 'a' });
    fill();
    for (let size = 1_000_000; size >= 4_096; )
      try {
        writeFileSync(join(all.root, 'fill'), Buffer.alloc(size), { flag: 'a' });
      } catch {
        size = Math.floor(size / 2);
      }
    await fails(message, '', 'disk_full');
    rmSync(join(all.root, 'fill'));
    await all.apply(await restorer.planBefore(all.rig.session, message));
    deepStrictEqual(
      Object.entries(tree()).map(([path, { length }]) => [path, length]),
      [
        ['a.txt', 600_005],
        ['kept.txt', 300_005],
      ],
    );
  });
});

function sorted(tree: Tree): [string, string][] {
  return Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1));
}
