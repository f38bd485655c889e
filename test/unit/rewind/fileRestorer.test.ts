import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { workspaceTools } from '../../../src/core/tools/workspaceTools';
import { defaultEditRules } from '../../../src/core/tools/guard/guardedKinds';
import { FileRecorder } from '../../../src/node/rewind/fileRecorder';
import { KeptFiles } from '../../../src/node/rewind/keptFiles';
import { FileRestorer, type RestorePlan } from '../../../src/node/rewind/fileRestorer';
import { RestoreFault } from '../../../src/node/rewind/restoreFiles';
import { systemClock } from '../../../src/node/runtime/systemClock';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { CommandRunner } from '../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../src/node/tools/diskWorkspace';
import { isUserMessage } from '../../../src/core/session/entry';
import { ConversationRig, silentLog } from '../../support/chat/conversationRig';
import { calls, says } from '../../support/chat/scriptedModel';
import { readTree } from '../../support/rewind/sampleTree';

describe('rewind: files of a conversation', () => {
  let rig: ConversationRig;
  let root: string;
  let restorer: FileRestorer;
  const unsaved = new Set<string>();
  let made = 0;
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const files = () => Object.fromEntries(Object.entries(readTree(root)).map(([path, said]) => [path, said.replace('file ', '')]));

  beforeEach(async () => {
    rig = await ConversationRig.create();
    root = join(rig.folder, 'project');
    mkdirSync(root);
    unsaved.clear();
    await open();
  });
  afterEach(() => rig.dispose());

  async function open(): Promise<void> {
    const workspace = new DiskWorkspace([root], new CommandRunner());
    // The store is another one when the session is opened again.
    const kept = new KeptFiles({ putBlob: (...blob) => rig.store.putBlob(...blob), blob: (hash) => rig.store.blob(hash) });
    const recorder = new FileRecorder({ kept, workspace, storage: join(rig.folder, 'git'), log: silentLog });
    rig.recorder = recorder;
    rig.moreTools = workspaceTools(recorder.workspace, systemClock, () => defaultEditRules);
    await rig.reopen();
    restorer = new FileRestorer({
      store: rig.store,
      folders: () => workspace.folders,
      storage: join(rig.folder, 'rewind'),
      isUnsaved: (path) => unsaved.has(path),
      ids: new UuidV7(),
      now: Date.now,
    });
  }

  /** A turn in which the model creates a file, or replaces all of it; returns the user's message. */
  async function turn(said: string, path: string, content: string): Promise<string> {
    rig.model.scripts.push(calls('create_file', { path, content, overwrite: true }, `c${++made}`), says('done'));
    ok((await rig.conversation.send(said)).begun);
    return rig.conversation.entries.findLast(isUserMessage)!.uuid;
  }
  const apply = (plan: RestorePlan, alone = true) => restorer.apply(plan, { alone });

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

  it('takes the conversation along, and switches files with its branches', async () => {
    const first = await turn('one', 'a.txt', 'a1\n');
    const second = await turn('two', 'a.txt', 'a2\n');
    const left = (await rig.store.session(rig.session))!.leaf!;
    await apply(await restorer.planBefore(rig.session, second), false);
    strictEqual(await rig.conversation.branching.rewindTo(second), null);
    await turn('another', 'b.txt', 'b1\n');
    deepStrictEqual(files(), { 'a.txt': 'a1\n', 'b.txt': 'b1\n' });
    strictEqual((await rig.conversation.branching.list()).length, 2);
    const other = (await rig.store.session(rig.session))!.leaf!;
    await apply(await restorer.planEnd(rig.session, left), false);
    strictEqual(await rig.conversation.branching.switchTo(left), null);
    deepStrictEqual(files(), { 'a.txt': 'a2\n' });
    await apply(await restorer.planEnd(rig.session, other), false);
    strictEqual(await rig.conversation.branching.switchTo(other), null);
    deepStrictEqual(files(), { 'a.txt': 'a1\n', 'b.txt': 'b1\n' });
    await apply(await restorer.planBefore(rig.session, first), false);
    strictEqual(await rig.conversation.branching.rewindTo(first), null);
    deepStrictEqual(files(), {});
    deepStrictEqual(rig.conversation.entries, []);
    await turn('from the beginning', 'd.txt', 'd');
    deepStrictEqual(files(), { 'd.txt': 'd' });
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
    unsaved.add(join(root, 'c.txt'));
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
    await restorer.apply(plan, { alone: true, chosen: plan.files });
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

  it('is there in a later window, and purged with its session', async () => {
    const message = await turn('one', 'a.txt', 'a1\n');
    rmSync(join(root, 'a.txt'));
    await open();
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
});
