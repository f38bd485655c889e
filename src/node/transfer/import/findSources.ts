import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../../core/errors';
import { english } from '../../../core/l10n';

/** What an archive of OpenClaw is called: sessions that were reset or deleted there. */
const archived = /\.jsonl\.(?:reset|deleted|bak)\b/;
/** Names by which the programs keep their sessions; whatever a file really is, its content says. */
const wanted = /\.(?:jsonl|json|db|sqlite3?|vscdb|tksealed)$|^\.aider\.chat\.history\.md$/;
/** These stand beside sessions in the folders of the same programs: lists, settings, the half that repeats what another file has. */
const unwanted =
  /^(?:(?:sessions|settings|config|package|package-lock|tsconfig|ui_messages|task_metadata|state|manifest|workspace|logs|projects)\.json|(?:history|session_index)\.jsonl)$/;
/** Deeper than any of the programs goes. */
const deepest = 8;

export interface Source {
  readonly file: string;
  /** The file, or the folder that it was found in, as the user named it. */
  readonly path: string;
  /** Named by the user: that nothing can be made of it is then worth a word. */
  readonly named: boolean;
}

export interface Omitted {
  readonly source: string;
  readonly reason: string;
}

export interface FoundSources {
  readonly sources: readonly Source[];
  /** What cannot be read at all. */
  readonly failed: readonly Omitted[];
  /** What could be a session, by its name, and is not looked at. */
  readonly passedOver: readonly Omitted[];
}

/**
 * The files that are meant: those that are named, and in a folder those that may be sessions, by name. Rejects, with words, when one is not
 * there.
 */
export async function findSources(paths: readonly string[]): Promise<FoundSources> {
  const sources: Source[] = [];
  const [failed, passedOver]: [Omitted[], Omitted[]] = [[], []];
  const within = async (folder: string, path: string, depth: number): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      failed.push({ source: folder, reason: errorText(error) });
      return [];
    });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = join(folder, entry.name);
      const { name } = entry;
      if (entry.isDirectory()) {
        if (name === 'node_modules' || name === '.git') continue;
        if (depth < deepest) await within(file, path, depth + 1);
        else passedOver.push({ source: file, reason: english('It lies too deep in the folder. Name it to import what is in it.') });
      } else if (archived.test(name)) {
        passedOver.push({ source: file, reason: english('OpenClaw has put it away. Name it to import it.') });
      } else if (wanted.test(name) && !unwanted.test(name)) {
        // No link is followed: a folder could contain itself.
        if (entry.isFile()) sources.push({ file, path, named: false });
        else
          passedOver.push({
            source: file,
            reason: english(entry.isSymbolicLink() ? 'It is a link. Name it to import what it leads to.' : 'It is no file.'),
          });
      }
    }
  };
  for (const path of paths) {
    const found = await stat(path).catch((error: unknown) => {
      throw isMissing(error) ? new Error(english('There is no file or folder {0}.', path)) : error;
    });
    if (found.isDirectory()) await within(path, path, 0);
    else if (found.isFile()) sources.push({ file: path, path, named: true });
    // A pipe or a device need never come to an end.
    else failed.push({ source: path, reason: english('It is no file.') });
  }
  return { sources, failed, passedOver };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
