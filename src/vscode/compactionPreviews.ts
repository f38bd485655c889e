import { CodeLens, languages, Range, TabInputText, Uri, window, workspace, type CodeLensProvider, type TextDocumentContentProvider } from 'vscode';
import { DisposableStore, type Disposable } from '../core/base/disposable';
import { commandIds, previewScheme } from './contributions';

/** What a preview was made for: applying it means the same session and the same instructions. */
export interface PreviewedCompaction {
  readonly session: string;
  readonly instructions: string | null;
  /** Of a compaction that waits for an answer: called instead of making one. */
  readonly answer?: (apply: boolean) => void;
}

/** Documents that show what a compaction would do. They cannot be edited, and closing one changes nothing. */
export class CompactionPreviews implements TextDocumentContentProvider, CodeLensProvider, Disposable {
  private readonly disposables = new DisposableStore();
  private readonly shown = new Map<string, PreviewedCompaction & { readonly text: string }>();
  private made = 0;

  constructor() {
    this.disposables.add(workspace.registerTextDocumentContentProvider(previewScheme, this));
    this.disposables.add(languages.registerCodeLensProvider({ scheme: previewScheme }, this));
    this.disposables.add(workspace.onDidCloseTextDocument(({ uri }) => void this.shown.delete(uri.toString())));
  }

  /** Takes the focus only where the user has asked for it. */
  async show(previewed: PreviewedCompaction, text: string): Promise<void> {
    const uri = Uri.from({ scheme: previewScheme, path: '/Compaction Preview.md', query: String(++this.made) });
    this.shown.set(uri.toString(), { ...previewed, text });
    const document = await workspace.openTextDocument(uri);
    await languages.setTextDocumentLanguage(document, 'markdown');
    await window.showTextDocument(document, { preview: false, preserveFocus: previewed.answer !== undefined });
  }

  /** Of the document that is looked at; undefined when it is no preview, or one of an earlier run of VS Code. */
  get current(): PreviewedCompaction | undefined {
    const uri = window.activeTextEditor?.document.uri;
    return uri && this.shown.get(uri.toString());
  }

  async close(): Promise<void> {
    const tabs = window.tabGroups.all.flatMap((group) => group.tabs).filter(({ input, isActive }) => isActive && input instanceof TabInputText && input.uri.scheme === previewScheme);
    await window.tabGroups.close(tabs);
  }

  provideTextDocumentContent(uri: Uri): string {
    return this.shown.get(uri.toString())?.text ?? 'This preview is not valid any more: the window was reloaded. Nothing was compacted.\n';
  }

  provideCodeLenses(): CodeLens[] {
    const top = new Range(0, 0, 0, 0);
    return [
      new CodeLens(top, { title: '$(check) Apply', command: commandIds.applyPreview }),
      new CodeLens(top, { title: '$(close) Cancel', command: commandIds.closePreview }),
    ];
  }

  dispose(): void {
    this.disposables.dispose();
  }
}
