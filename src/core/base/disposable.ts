export interface Disposable {
  dispose(): void;
}

/** Owns disposables and disposes them in reverse order; adding to a disposed owner disposes at once. */
export class DisposableStore implements Disposable {
  private readonly items: Disposable[] = [];
  private disposed = false;

  add<T extends Disposable>(item: T): T {
    if (this.disposed) item.dispose();
    else this.items.push(item);
    return item;
  }

  /** Disposes an item before the others; what is not owned is left alone. */
  delete(item: Disposable): void {
    const at = this.items.indexOf(item);
    if (at === -1) return;
    this.items.splice(at, 1);
    item.dispose();
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    for (const item of this.items.reverse()) item.dispose();
    this.items.length = 0;
  }
}
