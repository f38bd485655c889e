import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileMemoryNotes } from '../../../../src/node/memory/fileMemoryNotes';
import { resolveStoreFolder } from '../../../../src/node/workspaces/workspaceRegistry';
import { openTestStore, tempFolder, type TempFolder } from '../../../support/store/storeTemp';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('what the program keeps', () => {
  let temp: TempFolder;
  let umask: number;

  before(function () {
    // Windows has no modes.
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(() => {
    temp = tempFolder();
    umask = process.umask(0o022);
  });
  afterEach(() => {
    process.umask(umask);
    temp.remove();
  });

  it('is in folders and files that only the user can open', async () => {
    const folder = join(temp.path, 'store');
    const store = await openTestStore(folder);
    const { uuid } = await store.createSession({
      uuid: '01930000-0000-7000-8000-00000000000a',
      channel: 'vscode',
      createdAt: 1_763_800_000_000,
    });
    assert.ok(await store.session(uuid));
    await store.putBlob(new Uint8Array(100_000), 'image/png');
    await store.close();
    const notes = new FileMemoryNotes(join(temp.path, 'notes'));
    await notes.write('a/b/note.md', 'text');
    for (const root of [folder, join(temp.path, 'notes')]) {
      assert.equal(modeOf(root), '700', root);
      for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        assert.equal(modeOf(path), entry.isDirectory() ? '700' : '600', path);
      }
    }
  });

  it('is closed to others where an older version left it open, and a folder of the user’s stays as it is', async () => {
    const [globalDir, candidateDir, named] = ['global', 'workspace', 'named'].map((name) => join(temp.path, name)) as [
      string,
      string,
      string,
    ];
    for (const folder of [candidateDir, named]) {
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, 0o755);
    }
    for (let time = 0; time < 2; time++) {
      const { folder } = await resolveStoreFolder({ globalDir, candidateDir, workspaceUris: ['file:///w'] });
      assert.deepEqual([folder, modeOf(folder)], [candidateDir, '700']);
      chmodSync(folder, 0o755);
    }
    await new FileMemoryNotes(named).write('note.md', 'text');
    await (await openTestStore(named)).close();
    assert.equal(modeOf(named), '755');
  });
});
