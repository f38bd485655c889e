import { lstat, readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';

/** A change is looked for in so many folders and files below what Git ignores: packages that are installed have tens of thousands. */
const mostFolders = 500;
const mostFiles = 500;
/** A file system may tell the time in steps; what was written this long before the command counts as its doing. */
const stepMs = 10;

/**
 * Which of the paths that Git ignores have been written below since a time, or have gone; a folder ends with `/`. A folder tells what came
 * and went in it, so that large trees are read by their folders first; a file that is rewritten in place deep in one may not be seen.
 */
export async function touchedIgnored(top: string, before: readonly string[], after: readonly string[], since: number): Promise<string[]> {
  const there = new Set(after);
  const budget: Budget = { folders: mostFolders, files: mostFiles };
  const touched = before.filter((path) => !there.has(path));
  for (const path of after)
    if (
      path.endsWith('/') ? await isTouchedFolder(join(top, path), since - stepMs, budget) : await isTouched(join(top, path), since - stepMs)
    )
      touched.push(path);
  return touched;
}

/** Which of these folders, repositories of their own, have been written in since a time; what Git keeps there does not count. */
export function touchedRepositories(top: string, folders: readonly string[], since: number): Promise<string[]> {
  return touchedIgnored(top, [], folders, since);
}

/** Whether it stood there, as it is, before a time. A file that came by a rename has the time of that. */
export async function isOlder(path: string, than: number): Promise<boolean> {
  return !(await isTouched(path, than - stepMs)) && (await lstat(path).catch(() => null)) !== null;
}

/** Whether a folder on the way to a path below `top` has changed since a time: one that was renamed has, and nothing in it. */
export async function isInTouchedFolder(top: string, path: string, since: number): Promise<boolean> {
  for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder))
    if (await isTouched(join(top, folder), since - stepMs)) return true;
  return false;
}

interface Budget {
  folders: number;
  files: number;
}

async function isTouchedFolder(root: string, since: number, budget: Budget): Promise<boolean> {
  const folders = [root];
  const files: string[] = [];
  for (let at = 0; at < folders.length && budget.folders-- > 0; at++) {
    if (await isTouched(folders[at]!, since)) return true;
    for (const entry of await readdir(folders[at]!, { withFileTypes: true }).catch(() => [])) {
      const path = join(folders[at]!, entry.name);
      if (entry.name === '.git') continue;
      if (entry.isDirectory()) folders.push(path);
      else if (files.length < budget.files) files.push(path);
    }
  }
  budget.files -= files.length;
  for (let at = 0; at < files.length; at += 100)
    if ((await Promise.all(files.slice(at, at + 100).map((file) => isTouched(file, since)))).includes(true)) return true;
  return false;
}

/** Not by the time of its content, which programs set as they like. */
function isTouched(path: string, since: number): Promise<boolean> {
  return lstat(path).then(
    ({ ctimeMs }) => ctimeMs >= since,
    () => false,
  );
}
