import { opendirSync, statSync, watch, type FSWatcher } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { Disposable } from '../../../core/base/disposable';
import type { Place } from './places';

/** Linux gives each folder a watch of its own out of some thousands for all programs. */
const mostWatched = 512;

/**
 * Notifications of the file system for one place: which source may have changed, and which folder has come. What it misses (network
 * drives, a system without free watches) the slow check behind it finds.
 */
export class FolderWatch implements Disposable {
  private readonly watchers = new Map<string, { readonly watcher: FSWatcher; readonly inode: number }>();
  private readonly isRecursive = process.platform === 'darwin' || process.platform === 'win32';
  /** Where the place is to appear: the last folder on the way to it that is there. */
  private above: FSWatcher | null = null;
  /** The system has no more watches to give. */
  isCut = false;

  constructor(
    private readonly place: Place,
    private readonly told: {
      readonly changed: (file: string) => void;
      /** A folder of the place, as a path from its root. */
      readonly appeared: (folder: string) => void;
    },
  ) {}

  /**
   * The place is not there: its program was never started, or is not installed. One watch says when it comes, or a folder on its way. A
   * root that is there and cannot be listed (no right to, or a file of its name) has come when it can be. Never throws.
   */
  waitForRoot(): void {
    if (this.above !== null) return;
    let [folder, next] = [dirname(this.place.root), this.place.root];
    while (folder !== dirname(folder) && !isThere(folder)) [folder, next] = [dirname(folder), folder];
    const hasCome = next === this.place.root ? canBeListed : isThere;
    const came = () => {
      this.above?.close();
      this.above = null;
      this.told.appeared('');
    };
    try {
      this.above = watch(folder, { persistent: false }, (_, name) => {
        if ((name === null || join(folder, name) === next) && hasCome(next)) came();
      });
      const above = this.above;
      above.on('error', () => {
        above.close();
        if (this.above === above) this.above = null;
      });
    } catch {
      return;
    }
    if (hasCome(next)) came();
  }

  /** Folders that are there; one that is watched already stays so. Returns whether another one is watched now. */
  follow(folders: readonly string[]): boolean {
    let hasNew = false;
    for (const folder of this.isRecursive ? folders.filter((one) => one === this.place.root) : folders) {
      const inode = inodeOf(folder);
      // One that was removed and made again has lost its watch without a word.
      if (this.watchers.get(folder)?.inode !== inode) this.drop(folder);
      if (inode === undefined || this.watchers.has(folder)) continue;
      if (this.watchers.size >= mostWatched) {
        this.isCut = true;
        return hasNew;
      }
      try {
        const watcher = watch(folder, { persistent: false, recursive: this.isRecursive }, (_, name) => this.heard(folder, name));
        watcher.on('error', () => this.drop(folder));
        this.watchers.set(folder, { watcher, inode });
        hasNew = true;
      } catch {
        // It has gone again, or there are no watches left.
        this.isCut = true;
      }
    }
    return hasNew;
  }

  dispose(): void {
    for (const { watcher } of this.watchers.values()) watcher.close();
    this.watchers.clear();
    this.above?.close();
  }

  private heard(folder: string, name: string | null): void {
    const { root, sources, enters } = this.place;
    if (name === null) return this.told.appeared(pathFrom(root, folder));
    const path = pathFrom(root, join(folder, name));
    const source = path.replace(/-(?:wal|shm)$/, '');
    if (sources.test(source)) this.told.changed(join(root, source));
    else if (enters?.test(path)) this.told.appeared(path);
  }

  private drop(folder: string): void {
    this.watchers.get(folder)?.watcher.close();
    this.watchers.delete(folder);
  }
}

function isThere(path: string): boolean {
  return inodeOf(path) !== undefined;
}

/** Undefined also where it cannot be asked for: in a folder that may not be entered, or behind links that lead nowhere. */
function inodeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino;
  } catch {
    return undefined;
  }
}

function canBeListed(folder: string): boolean {
  try {
    opendirSync(folder).closeSync();
    return true;
  } catch {
    return false;
  }
}

function pathFrom(root: string, file: string): string {
  return relative(root, file).split(sep).join('/');
}
