import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedChanges } from '../../../src/core/rewind/fileChanges';
import { FileRecorder } from '../../../src/node/rewind/fileRecorder';
import { FileWrites } from '../../../src/node/rewind/fileWrites';
import { KeptFiles } from '../../../src/node/rewind/keptFiles';
import { CommandRunner } from '../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../src/node/tools/diskWorkspace';
import { waitFor } from '../../support/waitFor';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';
import { memoryBlobs } from '../../support/rewind/memoryBlobs';

const command = { name: 'run_command', access: 'write' } as const;

describe('what a call does to files', () => {
  let temp: TempFolder;
  let root: string;
  let kept: KeptFiles;
  let recorder: FileRecorder;
  let writes: FileWrites;
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { stdio: 'pipe' }).toString();
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), content);
  };

  beforeEach(() => {
    temp = tempFolder();
    root = join(temp.path, 'project');
    mkdirSync(root);
    kept = new KeptFiles(memoryBlobs());
    writes = new FileWrites();
    recorder = new FileRecorder({
      kept,
      workspace: new DiskWorkspace([root], new CommandRunner()),
      storage: join(temp.path, 'storage'),
      log: { warn: (_event, data) => warnings.push(data) },
      writes,
    });
    warnings.length = 0;
  });
  afterEach(() => temp.remove());
  const warnings: unknown[] = [];

  /** Each file with what stood there and what does, as `before > after`. */
  async function told({ files, uncovered = [] }: RecordedChanges): Promise<string[]> {
    const text = async (version: RecordedChanges['files'][number]['after']) => {
      if (!version) return '-';
      const content = await kept.content(version);
      return `${version.kind === 'file' ? '' : `${version.kind} `}${content?.toString() ?? '?'}`;
    };
    const lines: string[] = [];
    for (const { path, before, after } of files) lines.push(`${path}: ${await text(before)} > ${await text(after)}`);
    return [...lines, ...uncovered.map(({ path, reason }) => `${path}: ${reason}`)].sort();
  }

  function repository(): void {
    git('init', '-q');
    git('config', 'user.email', 'a@b.c');
    git('config', 'user.name', 'a');
  }

  /** Everything below a folder, with what Git writes there. */
  function everything(folder: string): Map<string, string> {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile());
    return new Map(names.map((name) => [name, readFileSync(join(folder, name)).toString('latin1')]));
  }

  it('keeps what edits through the workspace change and create, with the kind of file', async () => {
    put('run.sh', 'one\n');
    chmodSync(join(root, 'run.sh'), 0o755);
    await recorder.around({ name: 'edit_file', access: 'write' }, async () => {
      await recorder.workspace.replace({ folder: 0, path: 'run.sh' }, 'one\n', 'one\ntwo\n');
      await recorder.workspace.replace({ folder: 0, path: 'new/file.txt' }, null, 'neu\r\n');
    });
    const changes = recorder.take();
    deepStrictEqual(await told(changes), ['new/file.txt: - > neu\r\n', 'run.sh: executable one\n > executable one\ntwo\n']);
    deepStrictEqual(
      changes.files.map(({ lines }) => lines),
      [
        { added: 1, removed: 0 },
        { added: 1, removed: 0 },
      ],
    );
    deepStrictEqual(recorder.take(), { files: [], uncovered: [] });
  });

  it('finds what a command creates, changes, moves, deletes and makes executable, and writes nothing into the repository', async () => {
    repository();
    put('changed.txt', 'old\n');
    put('gone.txt', 'gone\n');
    put('moved.txt', 'moved\n');
    put('tool.sh', 'tool\n');
    put('.gitignore', 'out/\n');
    git('add', '-A');
    git('commit', '-qm', 'first');
    put('dirty.txt', 'never committed\n');
    put('changed.txt', 'old, and changed by hand\n');
    const before = everything(join(root, '.git'));
    await recorder.around(command, async () => {
      put('changed.txt', 'new\n');
      rmSync(join(root, 'gone.txt'));
      rmSync(join(root, 'moved.txt'));
      put('there/moved.txt', 'moved\n');
      chmodSync(join(root, 'tool.sh'), 0o755);
      put('dirty.txt', 'changed\n');
      put('out/ignored.txt', 'x');
      symlinkSync('changed.txt', join(root, 'link'));
    });
    deepStrictEqual(await told(recorder.take()), [
      'changed.txt: old, and changed by hand\n > new\n',
      'dirty.txt: never committed\n > changed\n',
      'gone.txt: gone\n > -',
      'link: - > link changed.txt',
      'moved.txt: moved\n > -',
      'out/: ignored',
      'there/moved.txt: - > moved\n',
      'tool.sh: tool\n > executable tool\n',
    ]);
    deepStrictEqual(everything(join(root, '.git')), before);
    await recorder.around(command, async () => put('changed.txt', 'newer\n'));
    deepStrictEqual(await told(recorder.take()), ['changed.txt: new\n > newer\n']);
    deepStrictEqual(warnings, []);
  });

  it('names what a command does to ignored files, and nothing that it leaves alone', async () => {
    repository();
    put('.gitignore', 'dist/\nnode_modules/\n*.log\ngone/\n');
    for (const path of ['dist/deep/old.js', 'node_modules/a/lib/index.js', 'still.log', 'gone/x', 'a.txt']) put(path, 'x');
    // The clock of the file system is past them then.
    const began = Date.now();
    await waitFor('the clock', async () => Date.now() > began + 20);
    await recorder.around(command, async () => undefined);
    deepStrictEqual(await told(recorder.take()), []);
    await recorder.around(command, async () => {
      put('dist/deep/old.js', 'y');
      put('node_modules/a/lib/new.js', 'new');
      put('new.log', 'new');
      rmSync(join(root, 'gone'), { recursive: true });
    });
    deepStrictEqual(await told(recorder.take()), ['dist/: ignored', 'gone/: ignored', 'new.log: ignored', 'node_modules/: ignored']);
  });

  it('takes nothing for new that Git only did not look at before: ignored files, a repository within', async () => {
    repository();
    put('.gitignore', '.env\ndist/\n');
    put('.env', 'KEY=1');
    put('dist/old.js', 'x');
    mkdirSync(join(root, 'inner'));
    execFileSync('git', ['-C', join(root, 'inner'), 'init', '-q']);
    put('inner/x.txt', 'x');
    await recorder.around(command, async () => undefined);
    recorder.take();
    // Ignored as well, and in no list that an earlier command has left.
    put('later.env', 'KEY=2');
    put('.gitignore', '*.env\ndist/\n');
    const began = Date.now();
    await waitFor('the clock', async () => Date.now() > began + 20);
    await recorder.around(command, async () => {
      put('.gitignore', '');
      rmSync(join(root, 'inner', '.git'), { recursive: true });
      put('new.txt', 'new');
    });
    deepStrictEqual(await told(recorder.take()), [
      '.env: ignored',
      '.gitignore: *.env\ndist/\n > ',
      'dist/: ignored',
      'inner/: nested_repository',
      'later.env: ignored',
      'new.txt: - > new',
    ]);
  });

  it('keeps the bytes on disk where Git has others: line ends, filters', async () => {
    repository();
    put('.gitattributes', '* text=auto\n*.big filter=lfs\n');
    put('dos.txt', 'a\r\nb\r\n');
    put('pointer.big', 'the real content\n');
    git('add', '-A');
    git('commit', '-qm', 'first');
    await recorder.around(command, async () => {
      put('dos.txt', 'a\r\nc\r\n');
      put('pointer.big', 'other content\n');
    });
    deepStrictEqual(await told(recorder.take()), ['dos.txt: a\r\nb\r\n > a\r\nc\r\n', 'pointer.big: the real content\n > other content\n']);
  });

  it('runs nothing that a repository names: filters, monitors, hooks, other work trees', async () => {
    repository();
    put('a.txt', 'a\n');
    git('add', '-A');
    git('commit', '-qm', 'first');
    const trap = join(temp.path, 'sprung');
    const spring = `touch ${trap}; cat`;
    put('.gitattributes', '* filter=evil diff=evil\n');
    for (const [key, value] of [
      ['filter.evil.clean', spring],
      ['filter.evil.smudge', spring],
      ['filter.evil.process', spring],
      ['core.fsmonitor', spring],
      ['diff.external', spring],
      ['diff.evil.textconv', spring],
      ['core.worktree', temp.path],
      ['core.attributesFile', join(root, '.gitattributes')],
      ['core.hooksPath', join(root, 'hooks')],
    ] as const)
      execFileSync('git', ['config', '-f', join(root, '.git', 'config'), key, value]);
    for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout']) {
      put(`hooks/${hook}`, `#!/bin/sh\n${spring}\n`);
      chmodSync(join(root, 'hooks', hook), 0o755);
    }
    await recorder.around(command, async () => put('a.txt', 'b\n'));
    deepStrictEqual(await told(recorder.take()), ['a.txt: a\n > b\n']);
    strictEqual(existsSync(trap), false);
  });

  it('says what is not covered: large files, repositories within, no repository, what the user saves meanwhile', async () => {
    await recorder.around(command, async () => put('a.txt', 'a'));
    deepStrictEqual(await told(recorder.take()), [': no_git']);
    repository();
    put('big.bin', new Uint8Array(11 * 1024 * 1024));
    put('untouched.bin', new Uint8Array(11 * 1024 * 1024));
    mkdirSync(join(root, 'inner'));
    execFileSync('git', ['-C', join(root, 'inner'), 'init', '-q']);
    put('inner/x.txt', 'x');
    put('mine.txt', 'mine');
    await recorder.around(command, async () => {
      put('big.bin', new Uint8Array(12 * 1024 * 1024));
      put('other.bin', new Uint8Array(12 * 1024 * 1024));
      put('inner/x.txt', 'y');
      put('mine.txt', 'mine, and more');
      writes.note(join(root, 'mine.txt'), 'the editor');
    });
    deepStrictEqual(await told(recorder.take()), [
      'big.bin: too_large',
      'inner/: nested_repository',
      'mine.txt: saved_by_user',
      'other.bin: too_large',
    ]);
  });

  it('leaves to another session what that one edits, or its command changes, while a command runs', async () => {
    repository();
    put('a.txt', 'a');
    put('b.txt', 'b');
    const workspace = new DiskWorkspace([root], new CommandRunner());
    const other = new FileRecorder({ kept, workspace, storage: join(temp.path, 'storage'), log: { warn: () => undefined }, writes });
    await recorder.workspace.replace({ folder: 0, path: 'a.txt' }, 'a', 'own');
    deepStrictEqual(await told(recorder.take()), ['a.txt: a > own']);
    await recorder.around(command, async () => {
      put('a.txt', 'of the command');
      await other.workspace.replace({ folder: 0, path: 'b.txt' }, 'b', 'of the other');
    });
    deepStrictEqual(await told(recorder.take()), ['a.txt: own > of the command', 'b.txt: saved_by_user']);
    deepStrictEqual(await told(other.take()), ['b.txt: b > of the other']);
    await recorder.around(command, async () => {
      await other.around(command, async () => put('b.txt', 'of its command'));
      put('a.txt', 'of both');
    });
    deepStrictEqual(await told(recorder.take()), ['a.txt: of the command > of both', 'b.txt: saved_by_user']);
    deepStrictEqual(await told(other.take()), ['b.txt: of the other > of its command']);
  });

  it('works in a work tree beside the first, below the top of a repository, and before the first commit', async () => {
    repository();
    put('sub/a.txt', 'a\n');
    put('b.txt', 'b\n');
    const below = new FileRecorder({
      kept,
      workspace: new DiskWorkspace([join(root, 'sub')], new CommandRunner()),
      storage: join(temp.path, 'storage'),
      log: { warn: (_event, data) => warnings.push(data) },
    });
    await below.around(command, async () => {
      put('sub/a.txt', 'A\n');
      put('b.txt', 'B\n');
    });
    deepStrictEqual(await told(below.take()), ['a.txt: a\n > A\n']);
    git('add', '-A');
    git('commit', '-qm', 'first');
    const tree = join(temp.path, 'tree');
    git('worktree', 'add', '-q', tree);
    const beside = new FileRecorder({
      kept,
      workspace: new DiskWorkspace([tree], new CommandRunner()),
      storage: join(temp.path, 'storage'),
      log: { warn: (_event, data) => warnings.push(data) },
    });
    await beside.around(command, async () => writeFileSync(join(tree, 'b.txt'), 'BB\n'));
    deepStrictEqual(await told(beside.take()), ['b.txt: B\n > BB\n']);
    deepStrictEqual(warnings, []);
  });

  it('takes nothing of this disk for what lies in a folder that is on none, whatever its path', async () => {
    repository();
    put('run.sh', 'one\n');
    chmodSync(join(root, 'run.sh'), 0o755);
    const disk = new DiskWorkspace([root], new CommandRunner());
    const workspace = Object.assign(disk, { folders: disk.folders.map((folder) => ({ ...folder, isOffDisk: true })) });
    const elsewhere = new FileRecorder({ kept, workspace, storage: join(temp.path, 'storage'), log: { warn: () => undefined }, writes });
    await elsewhere.around(command, async () => put('a.txt', 'of this disk'));
    await elsewhere.workspace.replace({ folder: 0, path: 'run.sh' }, 'one\n', 'two\n');
    deepStrictEqual(await told(elsewhere.take()), [': no_git', 'run.sh: one\n > two\n']);
    deepStrictEqual([...writes.ofOthers(0, null)], []);
  });

  it('keeps no more than the changed bytes, compressed', async () => {
    const store = memoryBlobs();
    const sources = readdirSync(join(__dirname, '..', '..', '..', '..', 'src', 'core', 'context')).filter((name) => name.endsWith('.ts'));
    const measured = new FileRecorder({
      kept: new KeptFiles(store),
      workspace: new DiskWorkspace([root], new CommandRunner()),
      storage: join(temp.path, 'storage'),
      log: { warn: () => undefined },
    });
    let changed = 0;
    for (const name of sources) {
      let text = readFileSync(join(__dirname, '..', '..', '..', '..', 'src', 'core', 'context', name), 'utf8');
      put(name, text);
      for (let n = 0; n < 5; n++) {
        const after = text.replace('\n', `\n// change ${n}\n`);
        await measured.workspace.replace({ folder: 0, path: name }, text, after);
        changed += after.length;
        text = after;
      }
    }
    const rows = JSON.stringify(measured.take()).length;
    const ratio = (store.bytes + rows) / changed;
    ok(ratio <= 1.2, `${ratio.toFixed(2)} bytes stored for each that changed`);
    console.log(`      stored : changed = ${ratio.toFixed(2)} (with rows)`);
  });
});
