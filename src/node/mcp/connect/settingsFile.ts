import { randomUUID } from 'node:crypto';
import { mkdir, readFile, readlink, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { patientRename } from '../../runtime/patientRename';

/** Larger files are none that a person or program keeps settings in. */
const mostBytes = 32 * 1024 * 1024;

/** Null when there is none. Rejects with the file system's error, or when it is no text. */
export async function readSettings(file: string): Promise<string | null> {
  try {
    if ((await stat(file)).size > mostBytes) throw new Error(`${file} is too large for a settings file.`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Puts a text in place of the one that was shown, in one step; null takes the file away. A link stays one: what it leads to is written or
 * taken away.
 * Rejects with the file system's error, or when somebody has changed the file since; then nothing has changed.
 */
export async function replaceSettings(file: string, shown: string | null, text: string | null): Promise<void> {
  if ((await readSettings(file)) !== shown) throw new Error(`${file} was changed meanwhile. Nothing was written.`);
  const target = await behindLinks(file);
  if (text === null) return rm(target, { force: true });
  await mkdir(dirname(target), { recursive: true });
  // Keys may stand in it: nobody gets to read more than before.
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const draft = `${target}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, text, { mode, flag: 'wx' });
    await patientRename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Also where the last of the links leads to nothing yet. Rejects with `ELOOP` for links that lead to each other. */
async function behindLinks(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') throw error;
  }
  const next = await readlink(file).catch(() => null);
  if (next === null) return file;
  // A link leads on from where its folder really is.
  const folder = await realpath(dirname(file)).catch(() => dirname(file));
  return behindLinks(resolve(folder, next));
}
