import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FileRecorder } from '../../../src/node/rewind/fileRecorder';
import { FileRestorer, type RestorePlan } from '../../../src/node/rewind/fileRestorer';
import { KeptFiles } from '../../../src/node/rewind/keptFiles';
import { contentHash } from '../../../src/node/rewind/packedContent';
import { notesOf, TurnReviewer } from '../../../src/node/rewind/turnReviewer';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { blobFile } from '../../../src/node/store/rows/blobFiles';
import { CommandRunner } from '../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../src/node/tools/diskWorkspace';
import type { FilePlan } from '../../../src/core/rewind/planRestore';
import { isUserMessage } from '../../../src/core/session/entry';
import type { WorkspaceFolder } from '../../../src/core/tools/guard/workspacePath';
import { silentLog } from '../../support/chat/conversationRig';
import { calls, says } from '../../support/chat/scriptedModel';
import { FilesRig } from '../../support/rewind/filesRig';

const text = (changes: Readonly<Record<number, string>> = {}) => Array.from({ length: 12 }, (_, n) => changes[n] ?? `line ${n}\n`).join('');

describe('what a restore and a review leave to the user', function () {
  this.timeout(60_000);
  let all: FilesRig;
  beforeEach(async () => (all = await FilesRig.create()));
  afterEach(() => all.rig.dispose());

  it('keep what the user wrote between two calls of a turn', async () => {
    const { rig } = all;
    all.put('a.txt', text());
    // Between the two calls of one turn the user saves a line of their own (a command that runs in between stands for the time).
    rig.model.scripts.push(calls('edit_file', { path: 'a.txt', old_text: 'line 1\n', new_text: 'AGENT 1\n' }, 'c1'));
    rig.model.scripts.push(calls('read_file', { path: 'a.txt' }, 'c2'));
    rig.model.scripts.push(calls('edit_file', { path: 'a.txt', old_text: 'line 9\n', new_text: 'AGENT 9\n' }, 'c3'));
    rig.model.scripts.push(says('done'));
    let done = 0;
    rig.conversation.onDidEmit((event) => {
      if (event.type !== 'entry_appended' || event.entry.content.type !== 'tool_result' || ++done !== 1) return;
      all.put('a.txt', text({ 1: 'AGENT 1\n', 5: 'MINE 5\n' }));
    });
    ok((await rig.conversation.send('one')).begun);
    strictEqual(all.files()['a.txt'], text({ 1: 'AGENT 1\n', 5: 'MINE 5\n', 9: 'AGENT 9\n' }));
    const message = rig.conversation.entries.findLast(isUserMessage)!.uuid;
    // A restore knows what is the user's …
    const plan = await all.restorer.planBefore(rig.session, message);
    const { then } = await all.restorer.sides(plan.files[0]!);
    strictEqual(Buffer.from(then!).toString(), text({ 5: 'MINE 5\n' }), 'restore');
    // … a review does not.
    const reviewer = new TurnReviewer(rig.store, all.restorer);
    const review = (await reviewer.find(rig.session, null))!;
    const planned = await reviewer.undo(review, review.files);
    deepStrictEqual(
      planned.plan.files.map(({ action, reason }) => [action, reason]),
      [['write', null]],
    );
    await all.restorer.apply(planned.plan, { reviews: notesOf(planned, planned.plan.files) });
    strictEqual(all.files()['a.txt'], text({ 5: 'MINE 5\n' }), 'review');
  });

  it('have what the user wrote in many files, for an undo after a day', async () => {
    const { rig, restorer } = all;
    await all.turn('one', 'z.txt', 'z\n');
    const count = 300;
    const files: FilePlan[] = [];
    for (let i = 0; i < count; i++) {
      const mine = `what the user wrote in ${i}\n`;
      all.put(`f${i}.txt`, mine);
      const to = Buffer.from(`old ${i}\n`);
      files.push({
        folder: 'project',
        path: `f${i}.txt`,
        from: { hash: contentHash(Buffer.from(mine)), bytes: mine.length, kind: 'file' },
        action: 'write',
        to: { hash: contentHash(to), bytes: to.length, kind: 'file', content: { merged: to } },
        isMerged: false,
        reason: null,
      });
    }
    const { marks } = await restorer.apply({ session: rig.session, files, to: null, uncovered: [], isImported: false } as RestorePlan, {});
    const edits = marks.flatMap(({ content }) => (content.type === 'file_changes' ? content.files : []));
    strictEqual(edits.length, count);
    const folder = join(rig.store.status.file, '..');
    const old = Date.now() / 1000 - 2 * 86_400;
    for (const { before } of edits) utimesSync(blobFile(folder, before!.blob!), old, old);
    // What every start does.
    await rig.store.trimFileContents({ before: null, mostBytes: null, now: Date.now() });
    const undo = (await restorer.planUndo(rig.session))!;
    const lost = undo.files.filter(({ reason }) => reason === 'not_kept').length;
    strictEqual(lost, 0, `${lost} of ${count} files cannot be undone`);
  });
});

describe('restores where a workspace has several folders', function () {
  this.timeout(60_000);
  let all: FilesRig;
  beforeEach(async () => (all = await FilesRig.create()));
  afterEach(() => all.rig.dispose());

  const over = (roots: readonly string[]) => {
    const { rig } = all;
    const workspace = new DiskWorkspace(roots, new CommandRunner());
    const recorder = new FileRecorder({ kept: new KeptFiles(rig.store), workspace, storage: join(rig.folder, 'git2'), log: silentLog });
    return { workspace, recorder };
  };
  const restorerOf = (folders: readonly WorkspaceFolder[]) =>
    new FileRestorer({
      store: all.rig.store,
      folders: () => folders,
      storage: join(all.rig.folder, 'rewind'),
      ids: new UuidV7(),
      now: Date.now,
      log: silentLog,
    });
  /** Records what a command has done, as a call of the session. */
  const record = async (recorder: FileRecorder, work: () => void): Promise<string> => {
    const { rig } = all;
    rig.model.scripts.push(says('done'));
    ok((await rig.conversation.send('one')).begun);
    const message = rig.conversation.entries.findLast(isUserMessage)!.uuid;
    await recorder.around({ name: 'run_command', access: 'write' }, async () => work());
    const leaf = (await rig.store.session(rig.session))!.leaf!;
    const { files, uncovered } = recorder.take();
    await rig.store.append(rig.session, {
      entries: [
        {
          uuid: new UuidV7().next(),
          session: rig.session,
          parent: leaf,
          createdAt: Date.now(),
          modelFacing: false,
          display: true,
          tokenEstimate: null,
          content: { type: 'file_changes', source: 'tool', files: [...files], ...(uncovered?.length ? { uncovered: [...uncovered] } : {}) },
        },
      ],
    });
    return message;
  };

  it('work where one folder lies in another', async () => {
    const outer = join(all.rig.folder, 'mono');
    const inner = join(outer, 'packages', 'app');
    mkdirSync(inner, { recursive: true });
    execFileSync('git', ['init', '-q'], { cwd: outer });
    writeFileSync(join(inner, 'a.txt'), 'mine\n');
    const { workspace, recorder } = over([outer, inner]);
    const message = await record(recorder, () => writeFileSync(join(inner, 'a.txt'), 'command\n'));
    const restorer = restorerOf(workspace.folders);
    await restorer.apply(await restorer.planBefore(all.rig.session, message), {});
    strictEqual(readFileSync(join(inner, 'a.txt'), 'utf8'), 'mine\n');
  });

  it('put no file into another folder that happens to be the only one', async () => {
    const [api, web] = ['api', 'web'].map((name) => join(all.rig.folder, name)) as [string, string];
    for (const root of [api, web]) {
      mkdirSync(root);
      execFileSync('git', ['init', '-q'], { cwd: root });
      writeFileSync(join(root, 'README.md'), 'the same in both\n');
    }
    writeFileSync(join(api, 'old.ts'), 'of the api\n');
    const { recorder } = over([api, web]);
    const message = await record(recorder, () => {
      rmSync(join(api, 'old.ts'));
      writeFileSync(join(api, 'new.ts'), 'x\n');
      writeFileSync(join(web, 'web.ts'), 'y\n');
    });
    // As `threadkeeper restore-files --workspace web`, or a window over one of the two.
    const restorer = restorerOf([{ name: 'web', root: web }]);
    const plan = await restorer.planBefore(all.rig.session, message);
    deepStrictEqual(plan.files.map(({ folder, path, action }) => `${folder} ${path} ${action}`).sort(), [
      'api new.ts blocked',
      'api old.ts blocked',
      'web web.ts delete',
    ]);
    // Nor when another session's files are looked at before this plan is carried out.
    await restorer.planUndo('another session');
    strictEqual(restorer.place({ folder: 'api', path: 'new.ts' }), null);
  });

  it('do not take two folders of the same name for one', async () => {
    const [one, two] = ['one/lib/src', 'two/lib/src'].map((name) => join(all.rig.folder, name)) as [string, string];
    for (const root of [one, two]) {
      mkdirSync(root, { recursive: true });
      execFileSync('git', ['init', '-q'], { cwd: root });
      writeFileSync(join(root, 'version.txt'), '2\n');
    }
    writeFileSync(join(two, 'version.txt'), '1\n');
    const { workspace, recorder } = over([one, two]);
    const message = await record(recorder, () => writeFileSync(join(two, 'version.txt'), '2\n'));
    const restorer = restorerOf(workspace.folders);
    await restorer.apply(await restorer.planBefore(all.rig.session, message), {});
    deepStrictEqual(
      [one, two].map((root) => readFileSync(join(root, 'version.txt'), 'utf8')),
      ['2\n', '1\n'],
    );
  });

  it('know a folder by the name that it had before paths could begin with it', async () => {
    const [one, two] = ['one', 'two'].map((name) => join(all.rig.folder, name)) as [string, string];
    for (const root of [one, two]) {
      mkdirSync(root);
      execFileSync('git', ['init', '-q'], { cwd: root });
    }
    const { recorder } = over([one, two]);
    const message = await record(recorder, () => writeFileSync(join(two, 'new.txt'), 'x\n'));
    const restorer = restorerOf([
      { name: 'one', root: one },
      { name: 'apps-two', root: two, was: 'two' },
    ]);
    const { files } = await restorer.planBefore(all.rig.session, message);
    deepStrictEqual(
      files.map(({ folder, path, action }) => `${folder} ${path} ${action}`),
      ['two new.txt delete'],
    );
  });
});
