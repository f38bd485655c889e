import { dirname } from 'node:path';

/** What a program did to files and folders, in order. */
export type DiskEvent =
  | { readonly type: 'create' | 'createFolder' | 'sync' | 'unlink'; readonly path: string }
  | { readonly type: 'write'; readonly path: string; readonly position: number; readonly bytes: Buffer }
  | { readonly type: 'truncate'; readonly path: string; readonly length: number }
  | { readonly type: 'rename'; readonly path: string; readonly to: string }
  /** Names created, changed and removed in this folder so far are on disk. */
  | { readonly type: 'syncFolder'; readonly path: string };

/** What a system's cache holds as one. */
const blockBytes = 4096;

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

/** A change of names in one folder that is not on disk yet. */
interface NameChange {
  readonly folder: string;
  readonly apply: () => void;
}

/**
 * What is on disk below `root` after the power fails behind these events: everything that was synced, and of the rest whatever
 * `random` says. Writes that were not synced arrive in any selection and may be torn between sectors; names of a folder arrive in order,
 * and a file whose folder's own name did not arrive is gone with it.
 */
export function powerCut(events: readonly DiskEvent[], root: string, random: () => number): Map<string, Buffer> {
  const onDisk = new Map<string, DiskFile>();
  const inMemory = new Map<string, DiskFile>();
  const folders = new Set([root]);
  let names: NameChange[] = [];
  const name = (path: string, apply: () => void) => names.push({ folder: dirname(path), apply });
  for (const event of events) {
    const file = inMemory.get(event.path);
    switch (event.type) {
      case 'create': {
        const created = new DiskFile();
        inMemory.set(event.path, created);
        name(event.path, () => onDisk.set(event.path, created));
        break;
      }
      case 'createFolder':
        name(event.path, () => folders.add(event.path));
        break;
      case 'unlink':
        inMemory.delete(event.path);
        name(event.path, () => onDisk.delete(event.path));
        break;
      case 'rename':
        if (!file) break;
        inMemory.delete(event.path);
        inMemory.set(event.to, file);
        // One step of the file system's own journal, named in the folder it leads to.
        name(event.to, () => {
          onDisk.delete(event.path);
          onDisk.set(event.to, file);
        });
        break;
      case 'write':
        file?.unsynced.push(...blocksOf(event));
        break;
      case 'truncate':
        file?.unsynced.push(event);
        break;
      case 'sync':
        file?.sync();
        break;
      case 'syncFolder':
        for (const { folder, apply } of names) if (folder === event.path) apply();
        names = names.filter(({ folder }) => folder !== event.path);
        break;
    }
  }
  for (const folder of new Set(names.map((change) => change.folder))) {
    const pending = names.filter((change) => change.folder === folder);
    for (const { apply } of pending.slice(0, Math.floor(random() * (pending.length + 1)))) apply();
  }
  for (const file of onDisk.values()) {
    for (const change of file.unsynced) {
      if (random() < 0.5) continue;
      const torn = change.type === 'write' && random() < 0.2;
      file.apply(torn ? { ...change, bytes: change.bytes.subarray(0, Math.floor((random() * change.bytes.length) / 512) * 512) } : change);
    }
  }
  return new Map([...onDisk].flatMap(([path, file]) => (isReached(dirname(path), root, folders) ? [[path, file.content]] : [])));
}

/** One call may write much; what of it arrives is up to the system's cache, which knows blocks. */
function* blocksOf(write: Extract<DiskEvent, { type: 'write' }>): Generator<Change> {
  for (let at = 0; at < write.bytes.length; ) {
    const end = Math.min(write.bytes.length, at + blockBytes - ((write.position + at) % blockBytes));
    yield { ...write, position: write.position + at, bytes: write.bytes.subarray(at, end) };
    at = end;
  }
}

function isReached(folder: string, root: string, folders: ReadonlySet<string>): boolean {
  return folder === root || (folders.has(folder) && dirname(folder) !== folder && isReached(dirname(folder), root, folders));
}
