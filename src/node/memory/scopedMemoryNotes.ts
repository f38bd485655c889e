import { userFolder } from '../../core/memory/notePath';
import type { MemoryNotes } from '../../core/ports';

/** The notes of a workspace, with those of the user under `user/`. */
export class ScopedMemoryNotes implements MemoryNotes {
  constructor(
    private readonly workspace: MemoryNotes,
    private readonly user: MemoryNotes,
  ) {}

  async list(): Promise<{ path: string; bytes: number; modifiedAt: number }[]> {
    const [own, everywhere] = await Promise.all([this.workspace.list(), this.user.list()]);
    return [
      ...own.filter(({ path }) => !path.startsWith(userFolder)),
      ...everywhere.map((note) => ({ ...note, path: userFolder + note.path })),
    ];
  }

  read(path: string): Promise<string | undefined> {
    const [notes, inner] = this.route(path);
    return notes.read(inner);
  }

  write(path: string, text: string): Promise<void> {
    const [notes, inner] = this.route(path);
    return notes.write(inner, text);
  }

  delete(path: string): Promise<void> {
    const [notes, inner] = this.route(path);
    return notes.delete(inner);
  }

  /** Between the two places it is a copy that is removed afterwards: a failure leaves the note in both, never in none. */
  async rename(from: string, to: string): Promise<void> {
    const [source, inner] = this.route(from);
    const [target, renamed] = this.route(to);
    if (source === target) return source.rename(inner, renamed);
    const text = await source.read(inner);
    if (text === undefined) throw new Error(`${from} does not exist.`);
    if ((await target.read(renamed)) !== undefined) throw new Error(`${to} already exists.`);
    await target.write(renamed, text);
    await source.delete(inner);
  }

  private route(path: string): [notes: MemoryNotes, inner: string] {
    return path.startsWith(userFolder) ? [this.user, path.slice(userFolder.length)] : [this.workspace, path];
  }
}
