import { commands, EventEmitter, Uri, window, workspace, type TextDocumentContentProvider } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { t } from '../../core/l10n';
import type { FileChange } from '../../core/tools/tool';
import { changeScheme } from '../manifest';
import { ShownEditor } from './shownEditor';

/** Shows what a tool would change, or has changed, beside each other. Neither side can be edited; closing it answers nothing. */
export class ChangeDocuments implements TextDocumentContentProvider, Disposable {
  private readonly disposables = new DisposableStore();
  private readonly texts = new Map<string, string>();
  private made = 0;
  private readonly changed = this.disposables.add(new EventEmitter<Uri>());
  readonly onDidChange = this.changed.event;

  constructor() {
    this.disposables.add(workspace.registerTextDocumentContentProvider(changeScheme, this));
    this.disposables.add(workspace.onDidCloseTextDocument(({ uri }) => void this.texts.delete(uri.toString())));
  }

  async show({ path, before, after }: FileChange): Promise<ShownEditor> {
    const name = path.split('/').at(-1) ?? path;
    const title = before === null ? t('{0} (new file)', name) : t('{0} (change)', name);
    return this.compare(title, path, before ?? '', after);
  }

  /** Two versions of one text. The ending of `name` makes the language. */
  async compare(title: string, name: string, before: string, after: string): Promise<ShownEditor> {
    const sides = [this.document(name, 'before', before), this.document(name, 'after', after)];
    await commands.executeCommand('vscode.diff', ...sides, title, { preview: true });
    return new ShownEditor(sides);
  }

  /** A text by itself, to be read. */
  async read(name: string, text: string): Promise<ShownEditor> {
    const uri = this.document(name, 'text', text);
    await window.showTextDocument(uri, { preview: true });
    return new ShownEditor([uri]);
  }

  /**
   * Several files in one editor. `file`: the one on disk stands beside what it was, and can be edited there. Returns the two sides of each.
   * Rejects when this VS Code cannot show several files in one.
   */
  async compareAll(
    title: string,
    files: readonly { readonly path: string; readonly before: string | null; readonly after: string | null; readonly file?: Uri }[],
  ): Promise<{ readonly sides: readonly { readonly left: Uri | null; readonly right: Uri | null }[]; readonly editor: ShownEditor }> {
    const sides = files.map(({ path, before, after, file }) => {
      // Under the same path, so that the editor does not take it for a move.
      const left = before === null ? null : this.document(path, 'before', before, file?.path);
      const right = file ?? (after === null ? null : this.document(path, 'after', after));
      return { name: file ?? Uri.from({ scheme: changeScheme, path: `/${path}` }), left, right };
    });
    await commands.executeCommand(
      'vscode.changes',
      title,
      sides.map(({ name, left, right }) => [name, left ?? undefined, right ?? undefined]),
    );
    const uris = sides.flatMap(({ left, right }) => [left, right]).filter((uri) => uri !== null);
    return { sides, editor: new ShownEditor(uris, title) };
  }

  /** Gives one of our documents another text; a file on disk has its own. */
  update(uri: Uri, text: string): void {
    if (!this.texts.has(uri.toString())) return;
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
  }

  provideTextDocumentContent(uri: Uri): string {
    return this.texts.get(uri.toString()) ?? `${t('This text is not there any more: the window was reloaded.')}\n`;
  }

  dispose(): void {
    this.disposables.dispose();
  }

  private document(path: string, side: string, text: string, at = `/${path}`): Uri {
    const uri = Uri.from({ scheme: changeScheme, path: at, query: `${side}-${++this.made}` });
    this.texts.set(uri.toString(), text);
    return uri;
  }
}
