import type { MemoryNotes } from '../ports';

/** Notes in which changes are tried: what is written here reaches nobody. */
export class DraftNotes implements MemoryNotes {
  /** Null: deleted. */
  private readonly changes = new Map<string, string | null>();

  constructor(private readonly notes: MemoryNotes) {}

  async list(): Promise<{ path: string; bytes: number; modifiedAt: number }[]> {
    const kept = (await this.notes.list()).filter(({ path }) => !this.changes.has(path));
    return [...kept, ...[...this.changes].flatMap(([path, text]) => (text === null ? [] : [{ path, bytes: text.length, modifiedAt: 0 }]))];
  }

  async read(path: string): Promise<string | undefined> {
    const changed = this.changes.get(path);
    return changed === undefined ? this.notes.read(path) : (changed ?? undefined);
  }

  async write(path: string, text: string): Promise<void> {
    this.changes.set(path, text);
  }

  async delete(path: string): Promise<void> {
    this.changes.set(path, null);
  }

  async rename(from: string, to: string): Promise<void> {
    const text = await this.read(from);
    if (text === undefined) throw new Error(`${from} does not exist.`);
    this.changes.set(to, text);
    this.changes.set(from, null);
  }
}
