import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileChangeMarks } from '../../../src/core/rewind/fileChanges';
import { fileRecorder } from '../../../src/node/rewind/fileRecorder';
import { CommandRunner } from '../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../src/node/tools/diskWorkspace';
import { silentLog } from '../../support/chat/conversationRig';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { openTestStore, tempFolder, userMessage, type TempFolder } from '../../support/store/storeTemp';

describe('files of a session on the command line', function () {
  this.timeout(60_000);
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());

  it('are listed by message, restored, left where somebody has changed them, and put back', async () => {
    const root = join(temp.path, 'project');
    const folder = join(temp.path, 'store');
    mkdirSync(root);
    const store = await openTestStore(folder);
    const { uuid, id } = await store.createSession({ uuid: 's', channel: 'cli', title: 'One', createdAt: 1 });
    const recorder = fileRecorder({ store, workspace: new DiskWorkspace([root], new CommandRunner()), log: silentLog });
    let parent: string | null = null;
    for (const [said, path, before, after] of [
      ['Make a', 'a.txt', null, 'a1\n'],
      ['Make b', 'b.txt', null, 'b1\n'],
      ['Change a', 'a.txt', 'a1\n', 'a2\n'],
    ] as const) {
      const message = userMessage(uuid, parent, said);
      await store.append(uuid, { entries: [message] });
      await recorder.workspace.replace({ folder: 0, path }, before, after);
      for (const content of fileChangeMarks(recorder.take()))
        await store.append(uuid, { entries: [userMessage(uuid, message.uuid, '', { content, modelFacing: false })] });
      parent = message.uuid;
    }
    await store.close();
    const text = (path: string) => readFileSync(join(root, path), 'utf8');
    const shown = await runCliToEnd(['show', id, '--store', folder, '--files']);
    assert.match(
      shown.out,
      /^#\d+ Make a\n- `a\.txt`: created \(\+1 −0\)\n\n#(\d+) Make b\n- `b\.txt`: created .*\n\n#\d+ Change a\n- `a\.txt`: changed \(\+1 −1\)\n/,
    );
    const second = /#(\d+) Make b/.exec(shown.out)![1]!;
    const restore = (...args: string[]) => runCliToEnd(['restore-files', id, '--store', folder, '--workspace', root, ...args]);
    const dry = await restore('--before', `#${second}`, '--dry-run', '--json');
    assert.deepEqual([dry.code, (JSON.parse(dry.out) as { restored: boolean }).restored, text('b.txt')], [0, false, 'b1\n']);
    writeFileSync(join(root, 'b.txt'), 'mine\n');
    const left = await restore('--before', second);
    assert.deepEqual([left.code, left.err], [3, '']);
    assert.match(left.out, /left {6}b\.txt: changed since/);
    assert.deepEqual([text('a.txt'), text('b.txt')], ['a1\n', 'mine\n']);
    assert.equal((await restore('--undo')).code, 0);
    assert.deepEqual([text('a.txt'), text('b.txt')], ['a2\n', 'mine\n']);
    assert.equal((await restore('--before', 'nothing')).code, 1);
    assert.equal((await restore()).code, 2);
  });
});
