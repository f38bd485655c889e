/** What a program did to the files of one folder, in order. */
export type DiskEvent =
  | { readonly type: 'create' | 'sync' | 'unlink'; readonly path: string }
  | { readonly type: 'write'; readonly path: string; readonly position: number; readonly bytes: Buffer }
  | { readonly type: 'truncate'; readonly path: string; readonly length: number }
  /** Names created and removed so far are on disk. */
  | { readonly type: 'syncFolder' };

type Change = Extract<DiskEvent, { type: 'write' | 'truncate' }>;

class DiskFile {
  content = Buffer.alloc(0);
  unsynced: Change[] = [];

  sync(): void {
    for (const change of this.unsynced) this.apply(change);
    this.unsynced = [];
  }

  apply(change: Change): void {
    const end = change.type === 'write' ? change.position + change.bytes.length : change.length;
    const length = change.type === 'write' ? Math.max(this.content.length, end) : end;
    if (length !== this.content.length) {
      const resized = Buffer.alloc(length);
      this.content.copy(resized);
      this.content = resized;
    }
    if (change.type === 'write') change.bytes.copy(this.content, change.position);
  }
}

/**
 * What is on disk after the power fails behind these events: everything that was synced, and of the rest whatever `random`
 * says. Writes that were not synced arrive in any selection and may be torn between sectors; names arrive in order.
 */
export function powerCut(events: readonly DiskEvent[], random: () => number): Map<string, Buffer> {
  const onDisk = new Map<string, DiskFile>();
  const inMemory = new Map<string, DiskFile>();
  let names: (() => void)[] = [];
  for (const event of events) {
    const file = 'path' in event ? inMemory.get(event.path) : undefined;
    switch (event.type) {
      case 'create': {
        const created = new DiskFile();
        inMemory.set(event.path, created);
        names.push(() => onDisk.set(event.path, created));
        break;
      }
      case 'unlink':
        inMemory.delete(event.path);
        names.push(() => onDisk.delete(event.path));
        break;
      case 'write':
      case 'truncate':
        file?.unsynced.push(event);
        break;
      case 'sync':
        file?.sync();
        break;
      case 'syncFolder':
        for (const change of names) change();
        names = [];
        break;
    }
  }
  for (const change of names.slice(0, Math.floor(random() * (names.length + 1)))) change();
  for (const file of onDisk.values()) {
    for (const change of file.unsynced) {
      if (random() < 0.5) continue;
      const torn = change.type === 'write' && random() < 0.2;
      file.apply(torn ? { ...change, bytes: change.bytes.subarray(0, Math.floor((random() * change.bytes.length) / 512) * 512) } : change);
    }
  }
  return new Map([...onDisk].map(([path, file]) => [path, file.content]));
}
