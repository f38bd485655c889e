import { UriDouble, windowDouble } from '../../../support/vscode/windowDouble';
import { deepStrictEqual, rejects } from 'node:assert';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CodeActions, type CodeActionsDeps } from '../../../../src/vscode/composer/codeActions';
import { existingFiles } from '../../../../src/vscode/composer/editorActions';
import { VscodeWorkspace } from '../../../../src/vscode/tools/vscodeWorkspace';

describe('a file that an answer names', () => {
  let base: string;
  /** Paths of files that were created, and the names that the user was shown. */
  let created: string[];
  let shown: string[];
  const actions = new CodeActions({
    workspace: () => new VscodeWorkspace({} as never, {} as never),
    changes: { show: async ({ path }: { path: string }) => ({ close: async () => void shown.push(path) }) },
    editRules: () => ({ allowed: [], guarded: [] }),
  } as unknown as CodeActionsDeps);

  function open(...names: readonly string[]): void {
    const folders = names.map((name, index) => ({ name: basename(name), index, uri: UriDouble.file(join(base, name)) }));
    const inFolder = ({ path }: UriDouble) => folders.find(({ uri }) => path === uri.path || path.startsWith(`${uri.path}/`));
    windowDouble.workspace = {
      isTrusted: true,
      workspaceFolders: folders,
      getWorkspaceFolder: inFolder,
      asRelativePath: ({ path }: UriDouble) => path,
      fs: { stat: async ({ path }: UriDouble) => ({ type: statSync(path).isFile() ? 1 : 2 }) },
      openTextDocument: async ({ path }: UriDouble) => ({ path, getText: () => '' }),
      applyEdit: async (edit: { readonly created: readonly UriDouble[] }) => {
        created.push(...edit.created.map(({ path }) => path.slice(base.length + 1)));
        return true;
      },
    };
  }

  const diffOf = (path: string) => `--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+a\n`;

  beforeEach(function () {
    // Paths of `/` only: those of Windows are for the editor's own tests.
    if (process.platform === 'win32') this.skip();
    base = realpathSync(mkdtempSync(join(tmpdir(), 'named-')));
    [created, shown] = [[], []];
    for (const name of ['app/src', 'lib/src', 'secret']) mkdirSync(join(base, name), { recursive: true });
    windowDouble.window = {
      visibleTextEditors: [],
      showInformationMessage: async (_: string, apply: string) => apply,
      showWarningMessage: async (_: string, apply: string) => apply,
      showTextDocument: async () => undefined,
    };
  });
  afterEach(() => base && rmSync(base, { recursive: true, force: true }));

  it('is created in the workspace only, wherever its path or a link leads', async () => {
    open('app');
    symlinkSync(join(base, 'secret'), join(base, 'app/out'));
    const outside = /lies outside of this workspace\. Nothing was written\./;
    await rejects(actions.apply('let a;\n', 'ts ../shared/util.ts'), outside);
    await rejects(actions.apply(diffOf('b/../../.config/autostart/x.desktop'), 'diff'), outside);
    await rejects(actions.apply(diffOf(join(base, 'secret/a.ts')), 'diff'), outside);
    await rejects(actions.apply('let a;\n', 'ts out/a.ts'), outside);
    deepStrictEqual([created, shown], [[], []]);
    await actions.apply('let a;\n', 'ts src/../src/a.ts');
    await actions.apply(diffOf(join(base, 'app/src/b.ts')), 'diff');
    deepStrictEqual(
      [created, shown],
      [
        ['app/src/a.ts', 'app/src/b.ts'],
        ['src/a.ts', 'src/b.ts'],
      ],
    );
  });

  it('is in the folder whose name its path begins with, where there are several', async () => {
    open('app', 'lib');
    mkdirSync(join(base, 'app/lib'));
    writeFileSync(join(base, 'lib/src/old.ts'), 'let old;\n');
    deepStrictEqual(await existingFiles(['lib/src/old.ts', 'src/old.ts', '../lib/src/old.ts', 'app/src/old.ts', '../secret/x']), [
      'lib/src/old.ts',
      'src/old.ts',
      '../lib/src/old.ts',
    ]);
    await actions.apply('let a;\n', 'ts lib/src/new.ts');
    await actions.apply('let a;\n', 'ts src/new.ts');
    await rejects(actions.apply('let a;\n', 'ts lib/../../new.ts'), /lies outside of this workspace/);
    deepStrictEqual(
      [created, shown],
      [
        ['lib/src/new.ts', 'app/src/new.ts'],
        ['lib/src/new.ts', 'app/src/new.ts'],
      ],
    );
  });
});

describe('a command of an answer', () => {
  it('is run where it is one line; several, and a tab that its shell would take for a key, are pasted and left to the user', async () => {
    const given: unknown[] = [];
    let clipboard = 'of the user';
    const terminal = { show: () => undefined, sendText: (text: string, isRun: boolean) => given.push({ text, isRun }) };
    const none = { dispose: () => undefined };
    windowDouble.workspace = { isTrusted: true };
    windowDouble.window = {
      createTerminal: () => terminal,
      onDidCloseTerminal: () => none,
      onDidChangeTerminalShellIntegration: (told: (event: unknown) => void) => (queueMicrotask(() => told({ terminal })), none),
    };
    windowDouble.env = { clipboard: { readText: async () => clipboard, writeText: async (text: string) => void (clipboard = text) } };
    windowDouble.commands = { executeCommand: async (command: string) => given.push({ command, clipboard }) };
    const actions = new CodeActions({} as CodeActionsDeps);
    for (const code of ['ls -l\n', 'cd src\nls', "grep 'a\tb' c"]) await actions.run(code, 'sh');
    deepStrictEqual(
      [given, clipboard],
      [
        [
          { text: 'ls -l', isRun: true },
          { command: 'workbench.action.terminal.paste', clipboard: 'cd src\nls' },
          { command: 'workbench.action.terminal.paste', clipboard: "grep 'a\tb' c" },
        ],
        'of the user',
      ],
    );
  });
});
