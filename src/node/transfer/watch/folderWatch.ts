import { statSync, watch, type FSWatcher } from 'node:fs';
import { join, relative, sep } from 'node:path';
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

  /** Folders that are there; one that is watched already stays so. */
  follow(folders: readonly string[]): void {
    for (const folder of this.isRecursive ? folders.filter((one) => one === this.place.root) : folders) {
      const inode = statSync(folder, { throwIfNoEntry: false })?.ino;
      // One that was removed and made again has lost its watch without a word.
      if (this.watchers.get(folder)?.inode !== inode) this.drop(folder);
      if (inode === undefined || this.watchers.has(folder)) continue;
      if (this.watchers.size >= mostWatched) {
        this.isCut = true;
        return;
      }
      try {
        const watcher = watch(folder, { persistent: false, recursive: this.isRecursive }, (_, name) => this.heard(folder, name));
        watcher.on('error', () => this.drop(folder));
        this.watchers.set(folder, { watcher, inode });
      } catch {
        // It has gone again, or there are no watches left.
        this.isCut = true;
      }
    }
  }

  dispose(): void {
    for (const { watcher } of this.watchers.values()) watcher.close();
    this.watchers.clear();
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

function pathFrom(root: string, file: string): string {
  return relative(root, file).split(sep).join('/');
}
