import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { english } from '../../core/l10n';

/** What an archive of OpenClaw is called: sessions that were reset or deleted there. */
const archived = /\.jsonl\.(?:reset|deleted|bak)\b/;
/** Names by which the programs keep their sessions; whatever a file really is, its content says. */
const wanted = /(?:\.jsonl|^sessions\.db|^librecode\.db|\.sqlite|^api_conversation_history\.json|\.json)$/;
/** Beside sessions, in the folders of the same programs: lists, settings, the half that repeats what another file has. */
const unwanted = /^(?:sessions|settings|config|package|package-lock|tsconfig|ui_messages|task_metadata|state|manifest)\.json$/;
/** Deeper than any of the programs goes. */
const deepest = 8;

export interface Source {
  readonly file: string;
  /** The file, or the folder that it was found in, as the user named it. */
  readonly path: string;
  /** Named by the user: that nothing can be made of it is then worth a word. */
  readonly named: boolean;
}

/** The files that are meant: those that are named, and in a folder those that may be sessions, by name. Rejects, with words, when one is not there. */
export async function findSources(paths: readonly string[]): Promise<Source[]> {
  const sources: Source[] = [];
  for (const path of paths) {
    const found = await stat(path).catch((error: unknown) => {
      throw isMissing(error) ? new Error(english('There is no file or folder {0}.', path)) : error;
    });
    if (!found.isDirectory()) sources.push({ file: path, path, named: true });
    else sources.push(...(await within(path, 0)).map((file) => ({ file, path, named: false })));
  }
  return sources;
}

async function within(folder: string, depth: number): Promise<string[]> {
  if (depth > deepest) return [];
  const files: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    // No link is followed: a folder could contain itself.
    if (entry.isDirectory() && entry.name !== 'node_modules' && entry.name !== '.git') files.push(...(await within(path, depth + 1)));
    else if (entry.isFile() && wanted.test(entry.name) && !unwanted.test(entry.name) && !archived.test(entry.name)) files.push(path);
  }
  return files;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
