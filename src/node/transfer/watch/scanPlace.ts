import { lstat, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { english } from '../../../core/l10n';
import type { Place } from './places';

/** No program keeps more than a part of it; whoever makes more, is told of what is left out. */
const mostSources = 20_000;
export const mostFolders = 5_000;

export interface FoundSource {
  readonly file: string;
  readonly size: number;
  /** The log of a database counts. */
  readonly mtimeMs: number;
  readonly stamp: Stamp;
}

/** Which file it is, and how it stands, in a word. */
export interface Stamp {
  readonly identity: string;
  readonly text: string;
  /** Whether it may be read, for one, has changed since. */
  readonly rights: string;
}

export interface Scanned {
  readonly sources: readonly FoundSource[];
  /** All that were looked into, the root among them; none where it is not there. */
  readonly folders: readonly string[];
  readonly problems: readonly { readonly source: string; readonly reason: string }[];
}

/**
 * The sources of a place, or of one folder in it (`from`, a path from the root). No link is followed, in whichever folder it lies; the root
 * itself may be one, since that is where the user has put it. Never rejects.
 */
export async function scanPlace({ root, enters, sources: isSource, way }: Place, from = ''): Promise<Scanned> {
  const sources: FoundSource[] = [];
  const folders: string[] = [];
  const problems: { source: string; reason: string }[] = [];
  const waiting = [from];
  for (let within = waiting.shift(); within !== undefined; within = waiting.shift()) {
    const folder = within === '' ? root : join(root, within);
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      if (!isGone(error)) problems.push({ source: folder, reason: textOf(error) });
      return null;
    });
    if (!entries) continue;
    if (folders.length === mostFolders) {
      problems.push({ source: root, reason: english('It has more than {0} folders. The others are not looked into.', mostFolders) });
      break;
    }
    folders.push(folder);
    for (const entry of entries) {
      const path = within === '' ? entry.name : `${within}/${entry.name}`;
      if (entry.isDirectory()) {
        if (enters?.test(path)) waiting.push(path);
      } else if (isSource.test(path)) {
        const file = join(root, path);
        if (!entry.isFile()) {
          if (entry.isSymbolicLink()) problems.push({ source: file, reason: english('It is a link, and links are not followed.') });
          continue;
        }
        if (sources.length === mostSources) {
          problems.push({ source: root, reason: english('It has more than {0} sessions. The others are not read.', mostSources) });
          return { sources, folders, problems };
        }
        const found = await sizeOf(file, way.type === 'database');
        if (found) sources.push({ file, ...found });
      }
    }
  }
  return { sources, folders, problems };
}

/** Null where it is no file, or not there. */
export async function sizeOf(file: string, isDatabase: boolean): Promise<Omit<FoundSource, 'file'> | null> {
  const found = await lstat(file).catch(() => null);
  if (!found?.isFile()) return null;
  const log = isDatabase ? await lstat(`${file}-wal`).catch(() => null) : null;
  const { dev, ino, size, mtimeMs, ctimeMs } = found;
  const text = [dev, ino, size, mtimeMs, log?.ino, log?.size, log?.mtimeMs].join(':');
  const stamp = { identity: `${dev}:${ino}`, text, rights: [ctimeMs, log?.ctimeMs].join(':') };
  return { size: size + (log?.size ?? 0), mtimeMs: Math.max(mtimeMs, log?.mtimeMs ?? 0), stamp };
}

/** Null where it is no file of the place's own, or not there. */
export async function stampOf({ root, way }: Place, file: string): Promise<Stamp | null> {
  // A folder on the way to it may have become a link meanwhile.
  const [real, base] = await Promise.all([realpath(file).catch(() => ''), realpath(root).catch(() => root)]);
  if (!real.startsWith(base.endsWith(sep) ? base : base + sep)) return null;
  return (await sizeOf(file, way.type === 'database'))?.stamp ?? null;
}

export function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
