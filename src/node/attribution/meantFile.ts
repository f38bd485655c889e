import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, posix } from 'node:path';
import type { FileEdit } from '../../core/rewind/fileChanges';

/** Tells whether paths that sessions name mean a file of the asked repository or workspace folder. */
export class MeantFile {
  private readonly real = new Map<string, Promise<string | null>>();

  /** `top` of the repository, else the folder again; both as they are on disk. `names`: those of the folder in records, beside its own. */
  constructor(
    private readonly top: string,
    private readonly folder: string,
    private readonly names: readonly string[] = [],
  ) {}

  /**
   * `path` is relative to the top. What leads into the repository or the folder means exactly the file there: packages beside each other
   * have files of the same names. Only a session whose own folder is gone is taken to have run where this one stood before.
   */
  async isSaid(said: string, cwd: string | null, path: string): Promise<boolean> {
    const name = slashed(said);
    if (!same(posix.basename(name), posix.basename(path))) return false;
    const whole = slashed(join(this.top, path));
    const relative = [path, ...inside(slashed(this.folder), whole)];
    const isWhole = name.startsWith('/') || /^[A-Za-z]:\//.test(name);
    if (cwd === null && !isWhole) {
      const plain = posix.normalize(name);
      const named = `${posix.basename(slashed(this.folder))}/`;
      return relative.some((one) => same(one, plain) || same(`${named}${one}`, plain));
    }
    const place = await this.onDisk(isWhole ? posix.normalize(name) : posix.join(slashed(cwd!), name));
    if ([this.top, this.folder].some((root) => inside(slashed(root), place).length > 0)) return same(place, whole);
    if (cwd === null || (await this.realOf(cwd)) !== null) return false;
    return inside(await this.onDisk(slashed(cwd)), place).some((one) => relative.some((other) => same(one, other)));
  }

  /** What was recorded names its workspace folder, which in a workspace of several need not be the one that the session is at home in. */
  async isRecorded({ folder, path: recorded }: Pick<FileEdit, 'folder' | 'path'>, cwd: string | null, path: string): Promise<boolean> {
    if (cwd !== null && same(folder, posix.basename(slashed(cwd)))) return this.isSaid(recorded, cwd, path);
    if ([...this.names, basename(this.folder)].some((name) => same(folder, name)))
      return same(slashed(join(this.folder, recorded)), slashed(join(this.top, path)));
    return this.isSaid(`${folder}/${recorded}`, null, path);
  }

  /** The path without links, as far as it exists. */
  private async onDisk(path: string): Promise<string> {
    const above = dirname(path);
    if (!isAbsolute(path) || above === path) return path;
    const real = await this.realOf(above);
    return slashed(join(real ?? (await this.onDisk(above)), basename(path)));
  }

  /** Null where there is no such folder, as on another machine. */
  private realOf(folder: string): Promise<string | null> {
    const known = this.real.get(folder) ?? (isAbsolute(folder) ? realpath(folder).catch(() => null) : Promise.resolve(null));
    this.real.set(folder, known);
    return known;
  }
}

/** The path of what lies in a folder; none for what does not. */
function inside(folder: string, path: string): string[] {
  const root = folder.endsWith('/') ? folder : `${folder}/`;
  return same(path.slice(0, root.length), root) ? [path.slice(root.length)] : [];
}

function same(one: string, other: string): boolean {
  return process.platform === 'win32' || process.platform === 'darwin' ? one.toLowerCase() === other.toLowerCase() : one === other;
}

export function slashed(path: string): string {
  return path.replaceAll('\\', '/');
}
