import type { Disposable } from '../../core/base/disposable';

export interface SearchView<T> {
  busy(isBusy: boolean): void;
  /** Null for no words: there is nothing to show. */
  found(result: T | null): void;
  failed(error: unknown): void;
}

/** Long enough for a word to be typed to its end, short enough to feel immediate. */
const pauseMs = 150;

/** Searches when typing pauses, one search at a time; only what answers the newest text is shown. */
export class SearchAsTyped<T> implements Disposable {
  private timer: NodeJS.Timeout | undefined;
  private wanted = '';
  private running = false;
  private disposed = false;

  constructor(
    private readonly search: (text: string) => Promise<T>,
    private readonly view: SearchView<T>,
    private readonly delayMs = pauseMs,
  ) {}

  type(text: string): void {
    clearTimeout(this.timer);
    this.wanted = text.trim();
    this.view.busy(this.wanted !== '');
    if (this.wanted === '') this.view.found(null);
    else this.timer = setTimeout(() => void this.run(), this.delayMs);
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    for (let text = ''; text !== this.wanted && !this.disposed; ) {
      text = this.wanted;
      if (text === '') break;
      try {
        const result = await this.search(text);
        if (this.isNewest(text)) this.view.found(result);
      } catch (error) {
        if (this.isNewest(text)) this.view.failed(error);
      }
      if (this.isNewest(text)) this.view.busy(false);
    }
    this.running = false;
  }

  private isNewest(text: string): boolean {
    return text === this.wanted && !this.disposed;
  }
}
