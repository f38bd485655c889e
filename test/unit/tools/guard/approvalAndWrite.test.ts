import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { link, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Approvals } from '../../../../src/core/chat/turn/approvals';
import { runTool, type ToolCallEntry } from '../../../../src/core/chat/turn/toolRun';
import { approvalRule } from '../../../../src/core/tools/approvalRule';
import { defaultEditRules } from '../../../../src/core/tools/guard/guardedKinds';
import type { ApprovalQuestion } from '../../../../src/core/tools/tool';
import type { Place } from '../../../../src/core/tools/guard/workspacePath';
import { workspaceTools } from '../../../../src/core/tools/workspaceTools';
import { systemClock } from '../../../../src/node/runtime/systemClock';
import { CommandRunner } from '../../../../src/node/tools/commandRunner';
import { DiskWorkspace } from '../../../../src/node/tools/diskWorkspace';
import { tempFolder } from '../../../support/store/storeTemp';

/** What an attacker does at one moment, once. */
type Attack = () => Promise<void>;

/** The points between question and write at which something else can come between. */
interface Moments {
  /** The user is looking at the question. */
  asked?: Attack;
  /** It was found where the path leads; nothing is open. */
  located?: Attack;
  /** The file is open; it is not yet checked where it is. */
  opened?: Attack;
}

describe('between the question and the write', function () {
  let temp: ReturnType<typeof tempFolder>;
  let root: string;
  let questions: ApprovalQuestion[];
  let moments: Moments;
  let isAnswered: boolean;

  const once = async (moment: keyof Moments) => {
    const attack = moments[moment];
    delete moments[moment];
    await attack?.();
  };

  class RacedWorkspace extends DiskWorkspace {
    private within = false;
    override async real(place: Place): Promise<Place | null> {
      if (this.within) await once('opened');
      return super.real(place);
    }
    override async read(place: Place): Promise<Uint8Array> {
      return this.guarded(() => super.read(place));
    }
    override async replace(place: Place, before: string | null, after: string): Promise<string> {
      return this.guarded(() => super.replace(place, before, after));
    }
    private async guarded<T>(use: () => Promise<T>): Promise<T> {
      if (isAnswered) await once('located');
      this.within = isAnswered;
      return use().finally(() => (this.within = false));
    }
  }

  const file = (path: string) => join(root, path);
  const outside = (path: string) => join(temp.path, 'outside', path);
  const call = async (name: string, input: unknown): Promise<string> => {
    isAnswered = false;
    const tools = workspaceTools(new RacedWorkspace([root], new CommandRunner()), systemClock, () => defaultEditRules).map((tool) => ({
      ...tool,
      needsApproval: async (value: unknown, signal: AbortSignal) => {
        const question = await tool.needsApproval!(value, signal);
        if (question) questions.push(question);
        await once('asked');
        isAnswered = true;
        return question;
      },
    }));
    const entry = { uuid: 'u', content: { type: 'tool_call', callId: 'c', name, input } } as unknown as ToolCallEntry;
    const { status, text } = await runTool(
      entry,
      {
        tools,
        approvals: new Approvals(
          () => 'allow',
          () => undefined,
        ),
        clock: systemClock,
        emit: () => undefined,
        tell: () => undefined,
        store: { putBlob: async () => '' },
      },
      new AbortController().signal,
    );
    return `${status}: ${text}`;
  };

  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(async () => {
    temp = tempFolder();
    root = join(temp.path, 'project');
    await mkdir(join(root, 'dir'), { recursive: true });
    await mkdir(join(root, '.vscode'));
    await mkdir(join(temp.path, 'outside'));
    await writeFile(file('dir/a.txt'), 'one');
    await writeFile(outside('a.txt'), 'one');
    questions = [];
    moments = {};
  });
  afterEach(() => rm(temp.path, { recursive: true, force: true }));

  const swapFolder = (target: string) => async () => {
    await rename(file('dir'), file('was'));
    await symlink(target, file('dir'));
  };
  const swapFile = (target: string) => async () => {
    await rm(file('dir/a.txt'));
    await symlink(target, file('dir/a.txt'));
  };
  const edit = () => call('edit_file', { path: 'dir/a.txt', old_text: 'one', new_text: 'two' });
  const create = () => call('create_file', { path: 'dir/tasks.json', content: 'x' });

  for (const moment of ['asked', 'located', 'opened'] as const) {
    it(`nothing is written outside of the workspace when a folder becomes a link (${moment})`, async () => {
      for (const write of [edit, create]) {
        moments = { [moment]: swapFolder(join(temp.path, 'outside')) };
        match(await write(), /^error: .*(outside of the workspace|has changed)/);
        deepStrictEqual(moments, {}, 'the attack was made');
        deepStrictEqual([await readdir(join(temp.path, 'outside')), await readFile(outside('a.txt'), 'utf8')], [['a.txt'], 'one']);
        await rm(file('dir'));
        await rename(file('was'), file('dir'));
      }
      strictEqual(await readFile(file('dir/a.txt'), 'utf8'), 'one');
    });

    it(`nothing is written through a file that becomes a link (${moment})`, async () => {
      await writeFile(file('.vscode/settings.json'), 'one');
      for (const target of [outside('a.txt'), file('.vscode/settings.json')]) {
        await rm(file('dir/a.txt'));
        await writeFile(file('dir/a.txt'), 'one');
        moments = { [moment]: swapFile(target) };
        match(await edit(), /^error: .*(outside of the workspace|has changed)/);
        deepStrictEqual([moments, await readFile(target, 'utf8')], [{}, 'one']);
      }
    });

    it(`nothing of a file outside is read (${moment})`, async () => {
      await writeFile(outside('a.txt'), 'not yours');
      moments = { [moment]: swapFile(outside('a.txt')) };
      const said = await call('read_file', { path: 'dir/a.txt' });
      ok(/^error: .*(outside of the workspace|has changed)/.test(said) && !said.includes('not yours'), said);
    });
  }

  it('nobody’s yes to a plain file is a yes to one that executes', async () => {
    moments = { asked: swapFolder(file('.vscode')) };
    match(await create(), /^error: Where this path leads has changed while the user was being asked/);
    deepStrictEqual([questions[0]!.everyTime, await readdir(file('.vscode'))], [false, []]);
  });

  it('nothing is written over what somebody else has written meanwhile', async () => {
    for (const moment of ['asked', 'located'] as const) {
      await writeFile(file('dir/a.txt'), 'one');
      moments = { [moment]: () => writeFile(file('dir/a.txt'), 'one more') };
      match(await edit(), /^error: .*(was|has been) changed/);
      strictEqual(await readFile(file('dir/a.txt'), 'utf8'), 'one more');
    }
    moments = { located: () => writeFile(file('dir/tasks.json'), 'mine') };
    match(await create(), /^error: .*exists already/);
    strictEqual(await readFile(file('dir/tasks.json'), 'utf8'), 'mine');
  });

  it('everything is written where nothing came between, shorter and longer, and in folders that are new', async () => {
    strictEqual(await edit(), 'ok: dir/a.txt: changed at line 1.');
    match(await call('edit_file', { path: 'dir/a.txt', old_text: 'two', new_text: 'é'.repeat(100_000) }), /^ok/);
    match(await call('edit_file', { path: 'dir/a.txt', old_text: 'é', new_text: '', replace_all: true }), /^ok/);
    match(await call('create_file', { path: 'new/deep/a.txt', content: 'x' }), /^ok/);
    deepStrictEqual([await readFile(file('dir/a.txt'), 'utf8'), await readFile(file('new/deep/a.txt'), 'utf8')], ['', 'x']);
    await link(file('dir/a.txt'), file('dir/b.txt'));
    match(await call('create_file', { path: 'dir/b.txt', content: 'both', overwrite: true }), /^ok/);
    strictEqual(await readFile(file('dir/a.txt'), 'utf8'), 'both', 'it stays the same file');
  });

  it('is asked about every time what executes or instructs, and what a link leads to, in every mode', async () => {
    await symlink('.vscode', file('harmless'));
    await symlink('dir/a.txt', file('alias.txt'));
    for (const path of ['.vscode/tasks.json', 'harmless/tasks.json', 'AGENTS.md', '.husky/pre-commit', 'Makefile', 'new/package.json'])
      await call('create_file', { path, content: 'x', overwrite: true });
    await call('edit_file', { path: 'alias.txt', old_text: 'one', new_text: 'two' });
    await call('read_file', { path: 'alias.txt' });
    await call('create_file', { path: 'src/a.ts', content: 'x' });
    for (const mode of ['ask', 'allowReads', 'session'] as const) {
      deepStrictEqual(
        questions.map((question) => approvalRule(question, 'edit_file', { mode, rules: [] }, true)),
        [...Array<string>(7).fill('ask'), mode === 'ask' ? 'ask' : 'allow', mode === 'session' ? 'ask_once' : 'ask'],
      );
    }
    deepStrictEqual(
      questions.map(({ title, detail }) => [title, detail]),
      [
        ['Create .vscode/tasks.json', 'VS Code runs tasks, debuggers and servers from this file.'],
        [
          'Replace all of harmless/tasks.json (a link leads to .vscode/tasks.json)',
          'VS Code runs tasks, debuggers and servers from this file.\nA link leads to another file than the path says.',
        ],
        ['Create AGENTS.md', 'Agents take instructions from this file.'],
        ['Create .husky/pre-commit', 'Git runs programs from this file.'],
        ['Create Makefile', 'Builds and tests run this file.'],
        ['Create new/package.json', 'Package managers run scripts from this file, or take packages from where it says.'],
        ['Edit alias.txt (a link leads to dir/a.txt)', 'A link leads to another file than the path says.'],
        ['Read alias.txt (a link leads to dir/a.txt)', null],
        ['Create src/a.ts', null],
      ],
    );
  });
});
