/** Ids that are remembered, so that a repeated request does nothing twice. */
const remembered = 100;

/** Does what is asked for under an id once; asked again, gives the same promise. What was rejected may be asked for again. */
export class OnceById<T> {
  private readonly known = new Map<string, Promise<T>>();

  run(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.known.get(id);
    if (before) return before;
    const running = work();
    this.known.set(id, running);
    running.catch(() => this.known.delete(id));
    for (const oldest of this.known.keys()) if (this.known.size > remembered) this.known.delete(oldest);
    return running;
  }
}
