/** As many are remembered; what runs for longer than those take is a command over which others work. */
const most = 2_000;

/**
 * Which files of the workspace were written in this window, when, and by whom: what the user saves, or another session edits, while a
 * command runs is not the command's doing.
 */
export class FileWrites {
  private readonly writes = new Map<string, { readonly at: number; readonly by: unknown }>();

  /** `path` as the system writes it; `by` is whoever will ask with itself. */
  note(path: string, by: unknown): void {
    this.writes.delete(path);
    this.writes.set(path, { at: Date.now(), by });
    if (this.writes.size > most) this.writes.delete(this.writes.keys().next().value!);
  }

  /** Paths that were last written at that time or later, and not by the one who asks. */
  ofOthers(since: number, me: unknown): Set<string> {
    return new Set([...this.writes].flatMap(([path, { at, by }]) => (at >= since && by !== me ? [path] : [])));
  }
}
