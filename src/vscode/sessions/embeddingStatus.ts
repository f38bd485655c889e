import { ProgressLocation, window } from 'vscode';
import type { Disposable } from '../../core/base/disposable';
import type { EmbeddingProgress } from '../../core/embeddings/embeddings';
import { embeddingText } from './searchAsTyped';

/** Tells in the status bar how far an embedding model has come with the history, while it reads. */
export class EmbeddingStatus implements Disposable {
  private running: { readonly report: (text: string) => void; readonly end: () => void } | null = null;

  show(progress: EmbeddingProgress): void {
    if (progress.state !== 'working') return this.dispose();
    this.running ??= begun();
    this.running.report(embeddingText(progress));
  }

  dispose(): void {
    this.running?.end();
    this.running = null;
  }
}

function begun(): { readonly report: (text: string) => void; readonly end: () => void } {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  let latest = '';
  let tell = (text: string): void => void (latest = text);
  void window.withProgress({ location: ProgressLocation.Window, title: 'Threadkeeper' }, (progress) => {
    tell = (message) => progress.report({ message });
    if (latest !== '') tell(latest);
    return ended;
  });
  return { report: (text) => tell(text), end };
}
