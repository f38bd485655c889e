import { workspace } from 'vscode';
import type { Disposable } from '../../core/base/disposable';

/** As many saves are remembered; what runs for longer than those take is a command over which somebody works. */
const most = 2_000;

/** Which files have been saved in an editor, and when: what a user saves while a command runs is not the command's doing. */
export class SavedFiles implements Disposable {
  private readonly saved = new Map<string, number>();
  private readonly listening = workspace.onDidSaveTextDocument(({ uri }) => {
    this.saved.delete(uri.fsPath);
    this.saved.set(uri.fsPath, Date.now());
    if (this.saved.size > most) this.saved.delete(this.saved.keys().next().value!);
  });

  /** Paths, as the system writes them. */
  readonly since = (time: number): string[] => [...this.saved].flatMap(([path, at]) => (at >= time ? [path] : []));

  dispose(): void {
    this.listening.dispose();
  }
}
