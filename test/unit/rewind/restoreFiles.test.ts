import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredEntry } from '../../../src/core/session/entry';
import { contentHash } from '../../../src/node/rewind/packedContent';
import { realDisk, type RestoreDisk } from '../../../src/node/rewind/restoreDisk';
import { RestoreFault, restoreFiles, restoreProblemText, type FileRestore } from '../../../src/node/rewind/restoreFiles';
import { journalFile, type Journal } from '../../../src/node/rewind/restoreJournal';
import { resumeRestores } from '../../../src/node/rewind/resumeRestores';
import { thisProcess } from '../../../src/node/store/sharing/processIdentity';
import { silentLog } from '../../support/chat/conversationRig';
import { readTree, sampleRestore, writeTree, type Tree } from '../../support/rewind/sampleTree';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

const seeds = 5;

/** The real one without waiting for the platters: nothing here loses power. */
const quickDisk: RestoreDisk = {
  ...realDisk,
  writeNew: async (path, content, mode) => {
    await writeFile(path, content, { flag: 'wx' });
    await chmod(path, mode);
  },
  saveJournal: async (file, text) => {
    await writeFile(`${file}.tmp`, text);
    await rename(`${file}.tmp`, file);
  },
  syncFolder: async () => undefined,
};

/** A history that tells of no restore. */
const untold = { entries: async () => [] };

describe('a restore of files', () => {
  let temp: TempFolder;
  let root: string;
  let storage: string;
  beforeEach(() => {
    temp = tempFolder();
    root = join(temp.path, 'project');
    storage = join(temp.path, 'storage');
    mkdirSync(root);
  });
  afterEach(() => temp.remove());

  const write = (path: string, from: string | null, to: string | null): FileRestore => ({
    root,
    path,
    from: from === null ? null : { hash: contentHash(Buffer.from(from)), bytes: from.length, kind: 'file' },
    to: to === null ? null : { kind: 'file', content: Buffer.from(to) },
  });
  /** It fails at this file with this problem, and nothing has changed anywhere. */
  async function refuses(files: readonly FileRestore[], path: string, problem: string, disk: RestoreDisk = realDisk): Promise<void> {
    const before = readTree(temp.path);
    const error: unknown = await restoreFiles(files, { storage, disk }).then(
      () => null,
      (fault: unknown) => fault,
    );
    ok(error instanceof RestoreFault, String(error));
    // People are told of the file, and that nothing has happened.
    const text = restoreProblemText(error);
    deepStrictEqual(
      [error.path, error.problem, /no file was/i.test(text), problem === 'disk_full' || text.includes(path)],
      [path, problem, true, true],
      text,
    );
    deepStrictEqual(readTree(temp.path), before);
  }
  /** A disk that does `fault` before its call with this number; numbers the calls. */
  function faultyDisk(at: number, fault: (name: string) => void): RestoreDisk & { readonly calls: () => number } {
    let calls = 0;
    const entry =
      (name: keyof RestoreDisk) =>
      async (...args: unknown[]) => {
        if (++calls >= at) fault(name);
        return (quickDisk[name] as (...all: unknown[]) => unknown)(...args);
      };
    const names = Object.keys(realDisk) as (keyof RestoreDisk)[];
    return { ...(Object.fromEntries(names.map((name) => [name, entry(name)])) as unknown as RestoreDisk), calls: () => calls };
  }

  it('creates, changes and deletes, with kinds, links, and files in the place of folders', async () => {
    for (let seed = 0; seed < 30; seed++) {
      const at = join(temp.path, `tree-${seed}`);
      const { before, after, restores } = sampleRestore(at, seed);
      writeTree(at, before);
      await restoreFiles(restores, { storage, disk: quickDisk });
      deepStrictEqual(sorted(readTree(at)), sorted(after), `seed ${seed}`);
    }
    deepStrictEqual(readdirSync(join(storage, 'restores')), []);
  });

  it('leaves the new tree where the history tells of it and the old one where not, wherever it is cut off', async function () {
    this.timeout(120_000);
    const counts = { old: 0, new: 0 };
    for (let seed = 0; seed < seeds; seed++) {
      for (let at = 1; ; at++) {
        const tree = join(temp.path, `tree-${seed}-${at}`);
        const { before, after, restores } = sampleRestore(tree, seed);
        writeTree(tree, before);
        // From then on nothing reaches the disk, as with a process that is no more.
        const disk = faultyDisk(at, () => {
          throw new Error('dead');
        });
        let isTold = false;
        const append = async () => {
          if (disk.calls() >= at) throw new Error('dead');
          isTold = true;
        };
        await restoreFiles(restores, { storage, disk, record: { mark: 'mark', append } }).catch(() => undefined);
        const store = { entries: async (uuids: readonly string[]) => uuids.flatMap(() => (isTold ? [{} as StoredEntry] : [])) };
        await resumeRestores(storage, store, silentLog, quickDisk);
        deepStrictEqual(sorted(readTree(tree)), sorted(isTold ? after : before), `seed ${seed}, call ${at}`);
        if (disk.calls() < at) break;
        counts[isTold ? 'new' : 'old']++;
        rmSync(tree, { recursive: true });
      }
    }
    ok(counts.old > 100 && counts.new > 10, JSON.stringify(counts));
  });

  it('takes everything back when the disk is full, or a file cannot be written, at any moment', async function () {
    this.timeout(120_000);
    for (const code of ['ENOSPC', 'EACCES', 'EIO']) {
      for (let at = 1; ; at += 3) {
        const tree = join(temp.path, `tree-${code}-${at}`);
        const { before, restores } = sampleRestore(tree, 3);
        writeTree(tree, before);
        let left = 1;
        const disk = faultyDisk(at, (name) => {
          // What is in the way of a folder's removal is no failure, and a link that cannot be made is copied.
          if (['rmdir', 'link', 'syncFolder', 'rmAll', 'removeJournal'].includes(name) || left-- <= 0) return;
          throw Object.assign(new Error(code), { code });
        });
        const isThrough = await restoreFiles(restores, { storage, disk }).then(
          () => true,
          () => false,
        );
        if (isThrough) break;
        deepStrictEqual(sorted(readTree(tree)), sorted(before), `${code} at call ${at}`);
        deepStrictEqual(existsSync(join(storage, 'restores')) ? readdirSync(join(storage, 'restores')) : [], []);
      }
    }
  });

  it('refuses what has changed, is read-only, or leads elsewhere, and touches nothing then', async () => {
    writeFileSync(join(root, 'a.txt'), 'a');
    writeFileSync(join(root, 'b.txt'), 'b');
    const good = write('a.txt', 'a', 'A');
    await refuses([good, write('b.txt', 'other', 'B')], 'b.txt', 'changed');
    await refuses([good, write('b.txt', null, 'B')], 'b.txt', 'changed');
    chmodSync(join(root, 'b.txt'), 0o444);
    await refuses([good, write('b.txt', 'b', 'B')], 'b.txt', 'read_only');
    mkdirSync(join(temp.path, 'outside'));
    writeFileSync(join(temp.path, 'outside', 'x.txt'), 'x');
    symlinkSync(join(temp.path, 'outside'), join(root, 'link'));
    await refuses([good, write('link/x.txt', 'x', 'X')], 'link/x.txt', 'linked');
    await refuses([good, write('link/new.txt', null, 'X')], 'link/new.txt', 'linked');
    mkdirSync(join(root, 'inner', '.git'), { recursive: true });
    writeFileSync(join(root, 'inner', 'y.txt'), 'y');
    await refuses([good, write('inner/y.txt', 'y', 'Y')], 'inner/y.txt', 'nested_repository');
    for (const path of ['../outside/x.txt', '.git/config', 'a/../../b', '.GIT/hooks/post-commit', ''])
      await refuses([good, write(path, null, 'x')], path, 'failed');
    mkdirSync(join(root, 'folder'));
    writeFileSync(join(root, 'folder', 'mine'), 'mine');
    await refuses([good, write('folder', null, 'x')], 'folder', 'in_the_way');
    await refuses([good, write('a.txt/below', null, 'x')], 'a.txt/below', 'in_the_way');
  });

  it('keeps permissions, replaces a link and not what it leads to, and parts a file from its second name', async () => {
    writeFileSync(join(root, 'private'), 'secret', { mode: 0o600 });
    writeFileSync(join(temp.path, 'target'), 'target');
    symlinkSync(join(temp.path, 'target'), join(root, 'link'));
    writeFileSync(join(root, 'one'), 'one');
    linkSync(join(root, 'one'), join(temp.path, 'two'));
    await restoreFiles(
      [
        write('private', 'secret', 'other'),
        { ...write('link', null, 'plain'), from: { hash: contentHash(Buffer.from(join(temp.path, 'target'))), bytes: 6, kind: 'link' } },
        write('one', 'one', 'ONE'),
      ],
      { storage },
    );
    strictEqual(statSync(join(root, 'private')).mode & 0o777, 0o600);
    strictEqual(readFileSync(join(temp.path, 'target'), 'utf8'), 'target');
    strictEqual(readFileSync(join(temp.path, 'two'), 'utf8'), 'one');
    deepStrictEqual(sorted(readTree(root)), sorted({ link: 'file plain', one: 'file ONE', private: 'file other' }));
  });

  it('brings back a file with the permissions of new files, and one that may hold secrets for its owner alone', async () => {
    const umask = process.umask(0o027);
    try {
      const script = { ...write('run.sh', null, 'true'), to: { content: Buffer.from('true'), kind: 'executable' as const } };
      await restoreFiles([write('notes.txt', null, 'notes'), script, write('.env', null, 'KEY=1')], { storage });
    } finally {
      process.umask(umask);
    }
    const modes = ['notes.txt', 'run.sh', '.env'].map((name) => (statSync(join(root, name)).mode & 0o777).toString(8));
    deepStrictEqual(modes, ['640', '750', '600']);
  });

  it('says why it failed, and names the file once', async () => {
    const disk = {
      ...quickDisk,
      writeNew: () => Promise.reject(Object.assign(new Error("EIO: i/o error, open '/x/a.txt'"), { code: 'EIO', syscall: 'open' })),
    };
    const error: unknown = await restoreFiles([write('a.txt', null, 'new')], { storage, disk }).catch((fault: unknown) => fault);
    deepStrictEqual(restoreProblemText(error), 'a.txt could not be restored, and so no file was: EIO: i/o error');
    const outside: unknown = await restoreFiles([write('../a.txt', null, 'new')], { storage }).catch((fault: unknown) => fault);
    deepStrictEqual(
      restoreProblemText(outside),
      '../a.txt could not be restored, and so no file was: it does not lead to a file of the workspace',
    );
  });

  it('is done where only what it needed cannot be removed, and no start does it again', async () => {
    writeFileSync(join(root, 'a.txt'), 'old');
    const stuck = { ...quickDisk, rmAll: () => Promise.reject(Object.assign(new Error('in use'), { code: 'EBUSY' })) };
    await restoreFiles([write('a.txt', 'old', 'new')], { storage, disk: stuck });
    deepStrictEqual(readFileSync(join(root, 'a.txt'), 'utf8'), 'new');
    // Taken back by its user, in a window that is restarted then.
    await restoreFiles([write('a.txt', 'new', 'old')], { storage, disk: quickDisk });
    strictEqual((await resumeRestores(storage, untold, silentLog, stuck)).ended, 0);
    strictEqual((await resumeRestores(storage, untold, silentLog, quickDisk)).ended, 1);
    deepStrictEqual([readdirSync(root), readFileSync(join(root, 'a.txt'), 'utf8')], [['a.txt'], 'old']);
    deepStrictEqual(readdirSync(join(storage, 'restores')), []);
  });

  it('says why nothing was restored, also where what it needed cannot be removed', async () => {
    writeFileSync(join(root, 'a.txt'), 'old');
    const stuck: RestoreDisk = {
      ...quickDisk,
      rmAll: () => Promise.reject(new Error('in use')),
      writeNew: () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' })),
    };
    await rejects(restoreFiles([write('a.txt', 'old', 'new')], { storage, disk: stuck }), { name: 'RestoreFault', problem: 'disk_full' });
    strictEqual((await resumeRestores(storage, untold, silentLog, quickDisk)).ended, 1);
    deepStrictEqual([readdirSync(root), readdirSync(join(storage, 'restores'))], [['a.txt'], []]);
  });

  it('that fails puts back all that it can, says what it cannot, and a later start does', async () => {
    const names = ['a.txt', 'b.txt', 'c.txt'];
    for (const name of names) writeFileSync(join(root, name), 'old');
    let renamed = 0;
    const failing: RestoreDisk = {
      ...quickDisk,
      rename: (from, to) => {
        // The third file fails, and then the second cannot go back; the first can.
        if (++renamed === 3 || renamed === 4) return Promise.reject(Object.assign(new Error('EIO: i/o error, rename'), { code: 'EIO' }));
        return quickDisk.rename(from, to);
      },
    };
    const error: unknown = await restoreFiles(
      names.map((name) => write(name, 'old', 'new')),
      { storage, disk: failing },
    ).catch((fault: unknown) => fault);
    deepStrictEqual(
      restoreProblemText(error),
      'The restore failed, and b.txt could not be put back: EIO: i/o error, rename. ' +
        'Threadkeeper tries that again at its next start, and before the next restore.',
    );
    const contents = () => names.map((name) => readFileSync(join(root, name), 'utf8'));
    deepStrictEqual(contents(), ['old', 'new', 'old']);
    strictEqual((await resumeRestores(storage, untold, silentLog, quickDisk)).ended, 1);
    deepStrictEqual([contents(), readdirSync(root)], [['old', 'old', 'old'], names]);
  });

  it('that fails keeps the old content of a file at which it cannot look', async () => {
    const names = ['a.txt', 'b.txt'];
    for (const name of names) writeFileSync(join(root, name), 'old');
    let isBusy = false;
    let renamed = 0;
    const busy = () => Promise.reject(Object.assign(new Error('EBUSY: resource busy or locked, open'), { code: 'EBUSY' }));
    const failing: RestoreDisk = {
      ...quickDisk,
      rename: (from, to) => (++renamed === 2 ? ((isBusy = true), busy()) : quickDisk.rename(from, to)),
      readFile: (path) => (isBusy && path.endsWith('a.txt') ? busy() : quickDisk.readFile(path)),
    };
    await rejects(
      restoreFiles(
        names.map((name) => write(name, 'old', 'new')),
        { storage, disk: failing },
      ),
      (fault: RestoreFault) => fault.path === 'a.txt' && fault.problem === 'not_put_back' && (fault.cause as RestoreFault).path === 'b.txt',
    );
    strictEqual((await resumeRestores(storage, untold, silentLog, quickDisk)).ended, 1);
    deepStrictEqual(
      names.map((name) => readFileSync(join(root, name), 'utf8')),
      ['old', 'old'],
    );
  });

  it('that fails takes new files away before it puts back what stood in their place', async () => {
    mkdirSync(join(root, 'a'));
    for (const name of ['a/b.txt', 'c.txt']) writeFileSync(join(root, name), 'old');
    const failing: RestoreDisk = {
      ...quickDisk,
      rename: (from, to) =>
        to.endsWith('c.txt') ? Promise.reject(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })) : quickDisk.rename(from, to),
    };
    const files = [write('a', null, 'a file'), write('a/b.txt', 'old', null), write('c.txt', 'old', 'new')];
    await rejects(restoreFiles(files, { storage, disk: failing }), { name: 'RestoreFault', path: 'c.txt', problem: 'failed' });
    deepStrictEqual(readTree(root), { 'a/b.txt': 'file old', 'c.txt': 'file old' });
    // And the folder of one that did not come.
    const deeper = [write('c.txt', 'old', null), write('c.txt/d/e.txt', null, 'new')];
    const stuck = {
      ...quickDisk,
      rename: (from: string, to: string) => (to.endsWith('e.txt') ? failing.rename(from, 'c.txt') : quickDisk.rename(from, to)),
    };
    await rejects(restoreFiles(deeper, { storage, disk: stuck }), { name: 'RestoreFault', path: 'c.txt/d/e.txt', problem: 'failed' });
    deepStrictEqual(readTree(root), { 'a/b.txt': 'file old', 'c.txt': 'file old' });
  });

  it('that cannot be recorded is taken back', async () => {
    writeFileSync(join(root, 'a.txt'), 'a');
    const files = [write('a.txt', 'a', 'A'), write('b/c.txt', null, 'c')];
    let then: Tree = {};
    const append = async () => {
      then = readTree(root);
      throw new Error('no space');
    };
    await rejects(restoreFiles(files, { storage, disk: quickDisk, record: { mark: 'mark', append } }), /^Error: no space$/);
    const [found, left] = [sorted(then).filter(([path]) => !path.startsWith('.threadkeeper')), readdirSync(join(storage, 'restores'))];
    deepStrictEqual([found, readTree(root), left], [sorted({ 'a.txt': 'file A', 'b/c.txt': 'file c' }), { 'a.txt': 'file a' }, []]);
    await rejects(restoreFiles([], { storage, disk: quickDisk, record: { mark: 'mark', append } }), /^Error: no space$/);
  });

  it('that fails touches nothing behind a link that was to go', async () => {
    mkdirSync(join(root, 'other'));
    writeFileSync(join(root, 'other', 'a.txt'), 'a');
    symlinkSync('other', join(root, 'config'));
    const link = { hash: contentHash(Buffer.from('other')), bytes: 5, kind: 'link' as const };
    const files = [{ ...write('config', null, null), from: link }, write('config/a.txt', null, 'a')];
    const failing = { ...quickDisk, unlink: () => Promise.reject(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })) };
    await refuses(files, 'config', 'failed', failing);
    await restoreFiles(files, { storage, disk: quickDisk });
    deepStrictEqual(sorted(readTree(root)), sorted({ 'config/a.txt': 'file a', 'other/a.txt': 'file a' }));
  });

  it('is left to the process that runs it, also where the system does not say since when that runs', async () => {
    const me = thisProcess();
    const { bootId, startTime } = me;
    // As on Windows.
    Object.assign(me, { bootId: null, startTime: null });
    try {
      const left = (id: string, pid: number) => {
        const stage = join(root, id);
        mkdirSync(stage);
        const journal: Journal = { id, owner: { ...me, pid }, phase: 'staging', files: [], stages: [stage] };
        const at = journalFile(storage, id);
        writeFileSync(at, JSON.stringify(journal));
        return at;
      };
      left('of-one-that-ended', 2 ** 22 + 1);
      utimesSync(left('of-one-before-the-last-start', process.ppid), 1, 1);
      const anHourAgo = Date.now() / 1000 - 3600;
      utimesSync(left('of-one-whose-number-another-has', process.ppid), anHourAgo, anHourAgo);
      left('of-another-window', process.ppid);
      const { ended } = await resumeRestores(storage, untold, silentLog, quickDisk);
      deepStrictEqual(
        [ended, readdirSync(root), readdirSync(join(storage, 'restores'))],
        [3, ['of-another-window'], ['of-another-window.json']],
      );
    } finally {
      Object.assign(me, { bootId, startTime });
    }
  });

  it('can be cancelled before anything is in its place', async () => {
    writeFileSync(join(root, 'a.txt'), 'a');
    const stop = new AbortController();
    await rejects(
      restoreFiles([write('a.txt', 'a', 'A'), write('b.txt', null, 'B')], { storage, signal: stop.signal, onProgress: () => stop.abort() }),
      { name: 'AbortError' },
    );
    deepStrictEqual(readTree(temp.path), { [join('project', 'a.txt')]: 'file a' });
  });
});

function sorted(tree: Tree): [string, string][] {
  return Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1));
}
