import { commands, env, Range, window, workspace, WorkspaceEdit, type Terminal, type TextDocument, type Uri } from 'vscode';
import { visibleText } from '../../core/base/text';
import { t } from '../../core/l10n';
import { changedRange } from '../../core/tools/files/editTools';
import { editGuard, type EditRules } from '../../core/tools/guard/guardedKinds';
import { locate, writeQuestion } from '../../core/tools/guard/located';
import type { ChangeDocuments } from '../tools/changeDocuments';
import { placeOf } from '../tools/openFolders';
import type { VscodeWorkspace } from '../tools/vscodeWorkspace';
import { commandLines, isDiff, namedCode, withCode } from './codeTarget';
import { fileOf, urisOf } from './editorActions';
import { lastTextEditor } from '../lastTextEditor';

export interface CodeActionsDeps {
  readonly workspace: () => VscodeWorkspace;
  readonly changes: Pick<ChangeDocuments, 'show'>;
  readonly editRules: () => EditRules;
}

/** A shell that has not told of itself by then is given text all the same: VS Code asks before it pastes several lines into it. */
const shellMs = 5_000;

/** What the user does with code of an answer. Nothing is written before they have seen the change and said so. */
export class CodeActions {
  private terminal: Terminal | null = null;

  constructor(private readonly deps: CodeActionsDeps) {}

  async apply(code: string, info: string): Promise<void> {
    assertTrusted();
    const named = namedCode(info, code);
    // What is shown beside a file, as a change is, is no file.
    const editor = [lastTextEditor(), ...window.visibleTextEditors].find((one) => one && isFile(one.document));
    const found = named.path === null ? (editor?.document.uri ?? null) : await fileOf(named.path);
    const [folder] = workspace.workspaceFolders ?? [];
    if (found === null && (named.path === null || !folder))
      throw new Error(t('Open the file first that this code belongs to: the code does not name one.'));
    const uri = named.path === null ? found! : await this.inWorkspace(named.path, found ?? urisOf(named.path)[0]);
    const document = found ? await workspace.openTextDocument(found) : null;
    const before = document?.getText() ?? null;
    const isShown = editor && document && editor.document === document;
    const after = withCode(before ?? '', named.text, {
      isDiff: isDiff(info),
      isNamed: named.path !== null,
      from: isShown ? document.offsetAt(editor.selection.start) : 0,
      to: isShown ? document.offsetAt(editor.selection.end) : 0,
    });
    if (after === null) throw new Error(t('The diff does not fit the file as it is now.'));
    if (after === before) return void (await window.showTextDocument(document!));
    if (!(await this.isWanted(uri, before, after))) return;
    if (document) await change(document, before!, after);
    else await create(uri, after);
    await window.showTextDocument(await workspace.openTextDocument(uri));
  }

  /**
   * A single line is run; several, and one with a tab, are put in front of the user. Rejects in a workspace that is not trusted, and for
   * characters that cannot be seen.
   */
  async run(code: string, language: string): Promise<void> {
    assertTrusted();
    const command = commandLines(code, language);
    if (command === '') return;
    if (visibleText(command, 'lines') !== command)
      throw new Error(t('This command has characters that cannot be seen. It was not put into the terminal.'));
    const isNew = this.terminal === null || this.terminal.exitStatus !== undefined;
    const terminal = isNew ? window.createTerminal({ name: 'Threadkeeper' }) : this.terminal!;
    this.terminal = terminal;
    if (isNew) await shellOf(terminal);
    terminal.show();
    if (!/[\n\t]/.test(command)) return terminal.sendText(command, true);
    // As the user would paste it: only this way a shell takes lines without running them and a tab without completing what stands before
    // it, and VS Code asks where lines would be run.
    const kept = await env.clipboard.readText();
    await env.clipboard.writeText(command);
    try {
      await commands.executeCommand('workbench.action.terminal.paste');
    } finally {
      await env.clipboard.writeText(kept);
    }
  }

  /** An answer may name any path, and a link may lead anywhere: throws for what does not lie in a folder of the workspace. */
  private async inWorkspace(path: string, uri: Uri | undefined): Promise<Uri> {
    const files = this.deps.workspace();
    const place = uri && placeOf(uri);
    if (!place || !(await files.real(place)))
      throw new Error(t('“{0}” lies outside of this workspace. Nothing was written.', visibleText(path)));
    return uri;
  }

  /** Shows the change and asks; what is special about the file is said, as when a tool asks. */
  private async isWanted(uri: Uri, before: string | null, after: string): Promise<boolean> {
    const guard = editGuard(this.deps.editRules());
    let [name, detail] = [workspace.asRelativePath(uri), guard(uri.path)];
    if (workspace.getWorkspaceFolder(uri)) {
      const located = await locate(this.deps.workspace(), uri.scheme === 'file' ? uri.fsPath : uri.path);
      const change = { path: located.name, before, after };
      [name, detail] = [located.shown, writeQuestion(located.shown, { ...located, sensitive: null }, guard, change).detail];
    }
    const editor = await this.deps.changes.show({ path: name, before, after });
    const [apply, discard] = [t('Apply'), t('Discard')];
    const question = before === null ? t('Create {0} with this code?', visibleText(name)) : t('Apply this code to {0}?', visibleText(name));
    const answer = detail
      ? await window.showWarningMessage(`${question} ${detail}`, apply, discard)
      : await window.showInformationMessage(question, apply, discard);
    await editor.close();
    return answer === apply;
  }
}

function isFile({ isUntitled, uri }: TextDocument): boolean {
  return isUntitled || workspace.fs.isWritableFileSystem(uri.scheme) === true;
}

function assertTrusted(): void {
  if (!workspace.isTrusted) throw new Error(t('This workspace is not trusted: nothing in it is changed or run.'));
}

/** Into the editor, so that it can be taken back there; saved, where there was nothing unsaved. */
async function change(document: TextDocument, before: string, after: string): Promise<void> {
  if (document.isClosed || document.getText() !== before)
    throw new Error(t('The file has been changed in the meantime. Nothing was written.'));
  const wasSaved = !document.isDirty && !document.isUntitled;
  const { start, end } = changedRange(before, after);
  const edit = new WorkspaceEdit();
  const range = new Range(document.positionAt(start), document.positionAt(before.length - end));
  edit.replace(document.uri, range, after.slice(start, after.length - end));
  if (!(await workspace.applyEdit(edit))) throw new Error(t('The file cannot be edited.'));
  if (wasSaved) await document.save();
}

async function create(uri: Uri, text: string): Promise<void> {
  const edit = new WorkspaceEdit();
  // Not over a file that has come to be meanwhile.
  edit.createFile(uri, { overwrite: false, ignoreIfExists: false, contents: new TextEncoder().encode(text) });
  if (!(await workspace.applyEdit(edit))) throw new Error(t('The file has been changed in the meantime. Nothing was written.'));
}

function shellOf(terminal: Terminal): Promise<void> {
  return new Promise((resolve) => {
    const ends = [
      window.onDidChangeTerminalShellIntegration((event) => event.terminal === terminal && end()),
      window.onDidCloseTerminal((closed) => closed === terminal && end()),
    ];
    const timer = setTimeout(end, shellMs);
    terminal.show();
    function end(): void {
      clearTimeout(timer);
      for (const one of ends) one.dispose();
      resolve();
    }
  });
}
