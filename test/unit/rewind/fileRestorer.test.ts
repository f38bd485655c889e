import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentHash, packContent } from '../../../src/node/rewind/packedContent';
import { isRestorable } from '../../../src/node/rewind/restorePath';
import { realDisk } from '../../../src/node/rewind/restoreDisk';
import { RestoreFault, restoreFiles } from '../../../src/node/rewind/restoreFiles';
import { resumeRestores } from '../../../src/node/rewind/resumeRestores';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { StoreError } from '../../../src/core/errors';
import { fileContentMime } from '../../../src/core/rewind/fileChanges';
import { isUserMessage } from '../../../src/core/session/entry';
import { silentLog, type ConversationRig } from '../../support/chat/conversationRig';
import { FilesRig } from '../../support/rewind/filesRig';
import { FileRestorer, type RestorePlan } from '../../../src/node/rewind/fileRestorer';

describe('rewind: files of a conversation', () => {
  let all: FilesRig;
  let rig: ConversationRig;
  let restorer: FileRestorer;
  beforeEach(async () => {
    all = await FilesRig.create();
    ({ rig, restorer } = all);
  });
  afterEach(() => rig.dispose());
  const put = (path: string, text: string) => all.put(path, text);
  const files = () => all.files();
  const turn = (said: string, path: string, content: string) => all.turn(said, path, content);
  const apply = (plan: RestorePlan, to?: string | null) => all.apply(plan, to);

  it('goes back to any message, and back again', async () => {
    put('mine.txt', 'mine');
    const first = await turn('one', 'a.txt', 'a1\n');
    const second = await turn('two', 'b/c.txt', 'c1\n');
    await turn('three', 'a.txt', 'a2\n');
    deepStrictEqual(files(), { 'a.txt': 'a2\n', 'b/c.txt': 'c1\n', 'mine.txt': 'mine' });
    await apply(await restorer.planBefore(rig.session, second));
    deepStrictEqual(files(), { 'a.txt': 'a1\n', 'mine.txt': 'mine' });
    await apply((await restorer.planUndo(rig.session))!);
    deepStrictEqual(files(), { 'a.txt': 'a2\n', 'b/c.txt': 'c1\n', 'mine.txt': 'mine' });
    await apply(await restorer.planBefore(rig.session, first));
    deepStrictEqual(files(), { 'mine.txt': 'mine' });
  });

  it('ends a restore that failed half way before it begins, and is not taken back with it later', async () => {
    put('a.txt', 'a0\n');
    const first = await turn('one', 'a.txt', 'a1\n');
    await turn('two', 'b.txt', 'b1\n');
    const plan = await restorer.planBefore(rig.session, first);
    const storage = join(rig.folder, 'rewind');
    const version = (text: string) => ({ hash: contentHash(Buffer.from(text)), bytes: text.length, kind: 'file' as const });
    const to = { kind: 'file' as const, content: Buffer.from('a0\n') };
    // `a.txt` is restored when `c.txt` fails, and cannot be put back.
    let renamed = 0;
    const rename = (...paths: [string, string]) =>
      ++renamed === 1 ? realDisk.rename(...paths) : Promise.reject(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }));
    await rejects(
      restoreFiles(
        [
          { root: all.root, path: 'a.txt', from: version('a1\n'), to },
          { root: all.root, path: 'c.txt', from: null, to },
        ],
        { storage, disk: { ...realDisk, rename } },
      ),
      { name: 'RestoreFault', path: 'a.txt', problem: 'not_put_back' },
    );
    deepStrictEqual([files()['a.txt'], files()['b.txt']], ['a0\n', 'b1\n']);
    // While that cannot be ended, nothing is restored, and its file is named.
    const stage = readdirSync(all.root).find((name) => name.startsWith('.threadkeeper-restore-'))!;
    renameSync(join(all.root, stage), join(rig.folder, 'stage'));
    await rejects(apply(plan), { name: 'RestoreFault', path: 'a.txt', problem: 'not_put_back' });
    deepStrictEqual(files(), { 'a.txt': 'a0\n', 'b.txt': 'b1\n' });
    renameSync(join(rig.folder, 'stage'), join(all.root, stage));
    await apply(plan);
    deepStrictEqual((await resumeRestores(storage, rig.store, silentLog)).ended, 0);
    deepStrictEqual(files(), { 'a.txt': 'a0\n' });
  });

  it('leaves the files as they were where it cannot be recorded', async () => {
    const first = await turn('one', 'a.txt', 'a1\n');
    await turn('two', 'b.txt', 'b1\n');
    const plan = await restorer.planBefore(rig.session, first);
    const { append } = rig.store;
    Object.assign(rig.store, { append: () => Promise.reject(new StoreError('disk_full', 'The disk is full.')) });
    await rejects(apply(plan), { name: 'StoreError', reason: 'disk_full' });
    Object.assign(rig.store, { append });
    deepStrictEqual([files(), await restorer.planUndo(rig.session)], [{ 'a.txt': 'a1\n', 'b.txt': 'b1\n' }, null]);
    await apply(plan);
    deepStrictEqual(files(), {});
  });

  it('touches nothing on this disk for a folder that is on none, whatever its path', async () => {
    const first = await turn('one', 'a.txt', 'a1\n');
    const elsewhere = new FileRestorer({
      store: rig.store,
      folders: () => [{ name: 'project', root: all.root, isOffDisk: true }],
      storage: join(rig.folder, 'rewind'),
      ids: new UuidV7(),
      now: Date.now,
      log: silentLog,
    });
    const plan = await elsewhere.planBefore(rig.session, first);
    deepStrictEqual(
      [plan.files, elsewhere.place({ folder: 'project', path: 'a.txt' })],
      [[{ folder: 'project', path: 'a.txt', from: null, isMerged: false, action: 'blocked', to: null, reason: 'no_folder' }], null],
    );
    deepStrictEqual([(await elsewhere.apply(plan, {})).files, files()], [[], { 'a.txt': 'a1\n' }]);
  });

  it('is not taken for the doing of a command that another session runs meanwhile', async () => {
    execFileSync('git', ['init', '-q', all.root]);
    const plan = await restorer.planBefore(rig.session, await turn('one', 'a.txt', 'a1\n'));
    const command = { name: 'run_command', access: 'write' } as const;
    await rig.recorder!.around(command, async () => {
      await apply(plan);
      put('b.txt', 'of the command');
    });
    const { files: changed, uncovered } = rig.recorder!.take();
    deepStrictEqual([changed.map(({ path }) => path), uncovered], [['b.txt'], [{ path: 'a.txt', reason: 'saved_by_user' }]]);
  });

  it('takes the conversation along, and switches files with its branches', async () => {
    const first = await turn('one', 'a.txt', 'a1\n');
    const second = await turn('two', 'a.txt', 'a2\n');
    const left = (await rig.store.session(rig.session))!.leaf!;
    await all.restoreBoth(second);
    await turn('another', 'b.txt', 'b1\n');
    deepStrictEqual(files(), { 'a.txt': 'a1\n', 'b.txt': 'b1\n' });
    strictEqual((await rig.conversation.branching.list()).length, 2);
    const other = (await rig.store.session(rig.session))!.leaf!;
    await apply(await restorer.planEnd(rig.session, left), left);
    strictEqual(await rig.conversation.branching.switchTo(left), null);
    deepStrictEqual(files(), { 'a.txt': 'a2\n' });
    await apply(await restorer.planEnd(rig.session, other), other);
    strictEqual(await rig.conversation.branching.switchTo(other), null);
    deepStrictEqual(files(), { 'a.txt': 'a1\n', 'b.txt': 'b1\n' });
    await all.restoreBoth(first);
    deepStrictEqual(files(), {});
    deepStrictEqual(rig.conversation.entries, []);
    await turn('from the beginning', 'd.txt', 'd');
    deepStrictEqual(files(), { 'd.txt': 'd' });
  });

  it('takes a restore of both back in one go, and that again', async () => {
    const first = await turn('one', 'a.txt', 'a1\n');
    await turn('two', 'a.txt', 'a2\n');
    const { branching } = rig.conversation;
    const leaf = branching.leaf;
    await all.restoreBoth(first);
    deepStrictEqual([files(), branching.leaf], [{}, null]);
    for (const [tree, at] of [
      [{ 'a.txt': 'a2\n' }, leaf],
      [{}, null],
      [{ 'a.txt': 'a2\n' }, leaf],
    ] as const) {
      const plan = (await restorer.planUndo(rig.session))!;
      const { moved } = plan.undoes!.content;
      deepStrictEqual([moved?.from, moved?.to], [at, branching.leaf]);
      await apply(plan, at);
      strictEqual(await branching.goTo(at), null);
      deepStrictEqual([files(), branching.leaf], [tree, at]);
    }
    strictEqual(rig.conversation.entries.filter(isUserMessage).length, 2);
  });

  it('merges what a person has changed since, asks where it cannot, and hears unsaved editors', async () => {
    put('a.txt', 'one\ntwo\nthree\nfour\n');
    put('b.txt', 'b\n');
    put('c.txt', 'c\n');
    const message = await turn('one', 'a.txt', 'ONE\ntwo\nthree\nfour\n');
    await turn('two', 'b.txt', 'B\n');
    await turn('three', 'c.txt', 'C\n');
    put('a.txt', 'ONE\ntwo\nthree\nFOUR\n');
    put('b.txt', 'mine\n');
    all.unsaved.add(join(all.root, 'c.txt'));
    const plan = await restorer.planBefore(rig.session, message);
    deepStrictEqual(
      plan.files.map(({ path, action, reason, isMerged }) => [path, action, reason, isMerged]),
      [
        ['c.txt', 'blocked', 'unsaved', false],
        ['b.txt', 'ask', 'changed_since', false],
        ['a.txt', 'write', null, true],
      ],
    );
    await apply(plan);
    deepStrictEqual(files(), { 'a.txt': 'one\ntwo\nthree\nFOUR\n', 'b.txt': 'mine\n', 'c.txt': 'C\n' });
    const again = await restorer.planBefore(rig.session, message);
    deepStrictEqual(again.files, [], 'what the user has kept is theirs from now on');
  });

  it('gives a person’s version back when it was replaced on their word', async () => {
    const message = await turn('one', 'a.txt', 'a1\n');
    put('a.txt', 'mine\n');
    const plan = await restorer.planBefore(rig.session, message);
    deepStrictEqual(
      plan.files.map(({ action, reason }) => [action, reason]),
      [['ask', 'changed_since']],
    );
    await restorer.apply(plan, { chosen: plan.files });
    deepStrictEqual(files(), {});
    await apply((await restorer.planUndo(rig.session))!);
    deepStrictEqual(files(), { 'a.txt': 'mine\n' });
  });

  it('touches nothing when a file changes between the preview and the restore', async () => {
    const message = await turn('one', 'a.txt', 'a1\n');
    await turn('two', 'b.txt', 'b1\n');
    const plan = await restorer.planBefore(rig.session, message);
    put('b.txt', 'typed just now\n');
    await rejects(apply(plan), (error) => error instanceof RestoreFault && error.path === 'b.txt');
    deepStrictEqual(files(), { 'a.txt': 'a1\n', 'b.txt': 'typed just now\n' });
  });

  it('reads and writes nothing outside of its folder, or of Git, whatever an imported history says, and tells that it is imported', async () => {
    const message = await turn('one', 'a.txt', 'a1\n');
    const outside = join(all.root, '..', 'outside.txt');
    writeFileSync(outside, 'mine');
    const [mine, theirs] = [await restorer.version(Buffer.from('mine'), { kind: 'file' }), null];
    const edits = ['../outside.txt', 'b/../../outside.txt', '.git/config', '.Git. /hooks/pre-commit', 'GIT~1/config', '/etc/passwd'].map(
      (path) => ({ folder: 'project', path, before: theirs, after: mine }),
    );
    const uuid = 'imported-mark';
    const mark = { uuid, session: rig.session, parent: message, createdAt: 1, modelFacing: false, display: true, tokenEstimate: null };
    strictEqual((await restorer.planBefore(rig.session, message)).isImported, false);
    await rig.store.append(rig.session, {
      entries: [{ ...mark, sourceId: 'import:x', content: { type: 'file_changes', source: 'tool', files: edits } }],
    });
    const plan = await restorer.planBefore(rig.session, message);
    deepStrictEqual(
      [plan.isImported, plan.files.map(({ path, action, from }) => [path, action, from])],
      [true, [...edits.map(({ path }) => [path, 'blocked', null]).reverse(), ['a.txt', 'delete', plan.files.at(-1)!.from]]],
    );
    await apply(plan);
    deepStrictEqual([files(), readFileSync(outside, 'utf8')], [{}, 'mine']);
  });

  it('gives up on a content that is longer than any that is kept', async () => {
    const version = await restorer.version(Buffer.alloc(1000), { kind: 'file' });
    deepStrictEqual((await restorer.content(version))?.length, 1000);
    const blob = await rig.store.putBlob(packContent(Buffer.alloc(20 * 1024 * 1024)), fileContentMime);
    const hash = contentHash(Buffer.alloc(20 * 1024 * 1024));
    strictEqual(await restorer.content({ hash, bytes: 20 * 1024 * 1024, kind: 'file', blob }), null);
  });

  it('knows names that lead elsewhere on Windows', () => {
    const names = ['a/b.txt', 'a\\b.txt', '..\\..\\b.txt', 'C:x', 'a.txt:stream', 'nul', 'a/aux.txt', 'a /b', 'console/b.c'];
    deepStrictEqual(
      names.map((name) => [name, isRestorable(name, 'linux'), isRestorable(name, 'win32')]),
      names.map((name) => [name, true, name === 'a/b.txt' || name === 'console/b.c']),
    );
  });

  it('is there in a later window, and purged with its session', async () => {
    const message = await turn('one', 'a.txt', 'a1\n');
    rmSync(join(all.root, 'a.txt'));
    await all.open();
    ({ restorer } = all);
    put('a.txt', 'a1\n');
    await apply(await restorer.planBefore(rig.session, message));
    deepStrictEqual(files(), {});
    const marks = await rig.store.fileMarks(rig.session);
    strictEqual(marks.length, 2);
    const { blob } = marks[0]!.content.files[0]!.after!;
    ok(await rig.store.blob(blob!));
    await rig.store.updateSession(rig.session, { deletedAt: 1 });
    await rig.store.purge([rig.session]);
    strictEqual(await rig.store.blob(blob!), undefined);
    ok(readFileSync(rig.store.status.file).length > 0);
  });

  it('leaves to the user what is being written in since it was planned', async () => {
    const first = await turn('one', 'a.txt', 'a1\n');
    await turn('two', 'a.txt', 'a2\n');
    await turn('three', 'b.txt', 'b1\n');
    const plan = await restorer.planBefore(rig.session, first);
    all.unsaved.add(join(all.root, 'a.txt'));
    await rejects(apply(plan), { name: 'RestoreFault', path: 'a.txt', problem: 'changed' });
    deepStrictEqual(files(), { 'a.txt': 'a2\n', 'b.txt': 'b1\n' });
  });
});
