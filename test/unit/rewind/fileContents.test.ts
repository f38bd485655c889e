import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { contentsText, type FileContentLimits } from '../../../src/core/maintenance/reports';
import { fileContentMime, type FileVersion } from '../../../src/core/rewind/fileChanges';
import { packContent } from '../../../src/node/rewind/packedContent';
import { blobFile } from '../../../src/node/store/rows/blobFiles';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { FilesRig } from '../../support/rewind/filesRig';

const day = 86_400_000;

describe('the space that contents of files take', function () {
  this.timeout(60_000);
  let all: FilesRig;
  beforeEach(async () => (all = await FilesRig.create()));
  afterEach(() => all.rig.dispose());

  const trim = (limits: Partial<FileContentLimits>) =>
    all.rig.store.trimFileContents({ before: null, mostBytes: null, now: Date.now(), ...limits });
  const contents = async (): Promise<FileVersion[]> =>
    (await all.rig.store.fileMarks(all.rig.session)).flatMap(({ content }) => content.files.flatMap(({ after }) => after ?? []));
  const isKept = async (version: FileVersion) => (await all.rig.store.blob(version.blob!)) !== undefined;

  it('is bounded by what was used last, and a restore says what it does not have', async () => {
    const first = await all.turn('one', 'a.txt', 'a1\n');
    await all.turn('two', 'a.txt', 'a2\n');
    await all.turn('three', 'b.txt', 'b1\n');
    const [a1, a2, b1] = (await contents()) as [FileVersion, FileVersion, FileVersion];
    deepStrictEqual((await trim({})).contents, 0);
    const { left } = await trim({});
    // What stood there before the second call is used by that as well, and so as new as it.
    const gone = await trim({ mostBytes: left - 1 });
    deepStrictEqual([gone.contents, await isKept(a1), await isKept(a2), await isKept(b1)], [1, false, true, true]);
    strictEqual(existsSync(blobFile(join(all.rig.store.status.file, '..'), a1.blob!)), false);
    const plan = await all.restorer.planBefore(all.rig.session, first);
    deepStrictEqual(
      plan.files.map(({ path, action, reason }) => [path, action, reason]),
      [
        ['b.txt', 'delete', null],
        ['a.txt', 'delete', null],
      ],
    );
    await all.turn('four', 'd.txt', 'a1\n');
    strictEqual(await isKept(a1), true, 'what is put again is kept again');
    await all.turn('six', 'b.txt', 'b2\n');
    await trim({ before: Date.now() + day });
    const six = all.rig.conversation.entries.findLast(({ content }) => content.type === 'message' && content.role === 'user')!;
    deepStrictEqual(
      (await all.restorer.planBefore(all.rig.session, six.uuid)).files.map(({ path, action, reason }) => [path, action, reason]),
      [['b.txt', 'ask', 'not_kept']],
    );
  });

  it('forgets what nothing has named for a day', async () => {
    const { store } = all.rig;
    const hash = await store.putBlob(packContent(Buffer.from('never recorded')), fileContentMime);
    await trim({});
    ok(await store.blob(hash));
    const old = Date.now() / 1000 - 2 * 86_400;
    utimesSync(blobFile(join(store.status.file, '..'), hash), old, old);
    deepStrictEqual([(await trim({})).contents, await store.blob(hash)], [0, undefined]);
  });

  it('is counted by verify, which names what cannot be restored, and mended by a repair', async () => {
    await all.turn('one', 'a.txt', 'a1\n');
    await all.turn('two', 'b.txt', 'b1\n');
    const [a1] = (await contents()) as [FileVersion];
    const { store } = all.rig;
    const folder = join(store.status.file, '..');
    await store.close();
    const verify = async (...flags: string[]) => {
      const { code, out } = await runCliToEnd(['verify', '--store', folder, ...flags]);
      return { code, out };
    };
    match((await verify()).out, /no damage found\.\n2 contents of changed files in 0\.0 MB\.\n$/);
    rmSync(blobFile(folder, a1.blob!));
    const found = await verify('--json');
    const report = JSON.parse(found.out) as Parameters<typeof contentsText>[0];
    deepStrictEqual(
      report.problems.map(({ kind, meaning, repairHelps }) => [kind, meaning, repairHelps]),
      [['blob', 'What a.txt held is missing: it cannot be restored from here. A repair notes that; a backup can bring it back.', true]],
    );
    strictEqual((await verify('--repair')).code, 0);
    const after = JSON.parse((await verify('--json')).out) as Parameters<typeof contentsText>[0];
    deepStrictEqual([after.problems, after.checked.contents.kept, after.checked.contents.letGo], [[], 1, 1]);
    strictEqual(contentsText(after), '1 content of changed files in 0.0 MB. 1 more were let go and cannot be restored.');
  });

  it('is not let go by a repair where it only cannot be read at that time', async () => {
    await all.turn('one', 'a.txt', 'a1\n');
    await all.turn('two', 'b.txt', 'b1\n');
    const [a1, b1] = (await contents()) as [FileVersion, FileVersion];
    const { store } = all.rig;
    const folder = join(store.status.file, '..');
    await store.close();
    rmSync(blobFile(folder, a1.blob!));
    const [busy, aside] = [blobFile(folder, b1.blob!), join(all.rig.folder, 'aside')];
    renameSync(busy, aside);
    // No error but that of a missing file says that it is gone.
    mkdirSync(busy);
    await runCliToEnd(['verify', '--store', folder, '--repair']);
    const verify = async () => {
      const { out } = await runCliToEnd(['verify', '--store', folder, '--json']);
      const { problems, checked } = JSON.parse(out) as Parameters<typeof contentsText>[0];
      const { kept, letGo } = checked.contents;
      return [problems.map(({ kind, meaning, repairHelps }) => [kind, meaning, repairHelps]), kept, letGo];
    };
    const meaning = 'What a file held cannot be read now: another program may hold it, or you may not read it. It is kept.';
    deepStrictEqual(await verify(), [[['blob', meaning, false]], 1, 1]);
    rmdirSync(busy);
    renameSync(aside, busy);
    deepStrictEqual(await verify(), [[], 1, 1]);
  });
});
