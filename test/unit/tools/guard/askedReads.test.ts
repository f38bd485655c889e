import { deepStrictEqual } from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultEditRules } from '../../../../src/core/tools/guard/guardedKinds';
import { looksSecret } from '../../../../src/core/tools/guard/secretFiles';
import type { Place } from '../../../../src/core/tools/guard/workspacePath';
import { workspaceTools } from '../../../../src/core/tools/workspaceTools';
import { systemClock } from '../../../../src/node/runtime/systemClock';
import { CommandRunner } from '../../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../../src/node/tools/diskWorkspace';
import { tempFolder, type TempFolder } from '../../../support/store/storeTemp';

describe('files that are read only after a question', () => {
  let temp: TempFolder;
  let root: string;
  beforeEach(() => {
    temp = tempFolder();
    root = join(temp.path, 'project');
    mkdirSync(root);
  });
  afterEach(() => temp.remove());
  const asks = async (workspace: DiskWorkspace, path: string) => {
    const read = workspaceTools(workspace, systemClock, () => defaultEditRules).find(({ name }) => name === 'read_file')!;
    const question = (await read.needsApproval!({ path }, new AbortController().signal))!;
    return question.everyTime;
  };

  it('are those in folders that are passed over as secret', () => {
    deepStrictEqual(
      ['secrets', 'credentials'].map((name) => looksSecret(name, true)),
      [true, true],
    );
    deepStrictEqual(
      ['secrets/prod.yml', 'config/secrets/db.rb', 'credentials/google.json', 'secret/value'].map((path) => looksSecret(path)),
      [true, true, true, true],
    );
  });

  it('are ignored ones under every name of theirs: a link that differs in case', async () => {
    mkdirSync(join(root, 'private'));
    writeFileSync(join(root, '.gitignore'), 'private/\n');
    writeFileSync(join(root, 'private', 'a.txt'), 'x');
    symlinkSync('private', join(root, 'Private'));
    const workspace = new DiskWorkspace([root], new CommandRunner());
    deepStrictEqual([await asks(workspace, 'private/a.txt'), await asks(workspace, 'Private/a.txt')], [true, true]);
  });

  it('are ignored ones in another case, where the disk makes no difference', async () => {
    writeFileSync(join(root, '.gitignore'), 'private.txt\n');
    writeFileSync(join(root, 'private.txt'), 'x');
    class CaseInsensitive extends DiskWorkspace {
      override real(place: Place): Promise<Place | null> {
        return super.real({ ...place, path: place.path.toLowerCase() });
      }
    }
    const workspace = new CaseInsensitive([root], new CommandRunner());
    deepStrictEqual([await asks(workspace, 'private.txt'), await asks(workspace, 'PRIVATE.txt')], [true, true]);
  });

  it('are those that Git ignores by rules above the folder, and by its repository', async () => {
    const app = join(root, 'packages', 'app');
    mkdirSync(join(app, 'conf'), { recursive: true });
    execFileSync('git', ['init', '-q'], { cwd: root });
    writeFileSync(join(root, '.gitignore'), 'conf/local.yml\n*.local\n/packages/app/only.txt\n');
    writeFileSync(join(root, 'packages', '.gitignore'), '!kept.local\n');
    writeFileSync(join(root, '.git', 'info', 'exclude'), 'mine.txt\n');
    const files = ['prod.local', 'kept.local', 'mine.txt', 'only.txt', 'conf/local.yml', 'plain.txt'];
    for (const name of files) writeFileSync(join(app, name), 'x');
    const isIgnored = (path: string) => spawnSync('git', ['check-ignore', '-q', path], { cwd: app }).status === 0;
    const workspace = new DiskWorkspace([app], new CommandRunner());
    const asked = [];
    for (const name of files) asked.push(await asks(workspace, name));
    deepStrictEqual([asked, files.map(isIgnored)], [files.map(isIgnored), [true, false, true, true, false, false]]);
  });

  it('are none in a folder that a repository above it ignores as a whole', async () => {
    const project = join(root, 'project');
    mkdirSync(project);
    execFileSync('git', ['init', '-q'], { cwd: root });
    writeFileSync(join(root, '.gitignore'), '*\n!/.bashrc\n');
    writeFileSync(join(project, 'a.txt'), 'x');
    deepStrictEqual(await asks(new DiskWorkspace([project], new CommandRunner()), 'a.txt'), false);
  });
});
