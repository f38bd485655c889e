import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beginningOfFile } from '../../core/context/projection/excerpt';
import { readInside } from './workspaceTexts';

/** What a file of the workspace wants assistants to heed. */
export interface InstructionFile {
  /** As the user knows it: relative to its folder, in a workspace of several folders with the folder's name in front. */
  readonly path: string;
  readonly file: string;
  readonly text: string;
  /** Patterns of the files that it is about; null: everything. */
  readonly appliesTo: string | null;
}

/** Where projects say what assistants are to heed. */
const rootFiles = ['AGENTS.md', 'CLAUDE.md', '.github/copilot-instructions.md'] as const;
const patternFolder = '.github/instructions';
const patternEnding = '.instructions.md';
/** Files with patterns of one folder. */
const mostPatternFiles = 20;
/** Characters of one file, in every prompt of the session; the setting for the user's own instructions takes as many. */
const mostCharacters = 20_000;
/** Characters of all files together; what comes after them is named only. */
const mostTogether = 60_000;

/** Reads them; the same text stands in one of them only, be it by a link or by copying. Never rejects. */
export async function readInstructionFiles(folders: readonly string[]): Promise<readonly InstructionFile[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const paths = [...rootFiles, ...(await patternFiles(folder))];
      return Promise.all(
        paths.map(async (path) => {
          const whole = (await readInside(folder, path).catch(() => undefined)) ?? '';
          const { text, appliesTo } = path.endsWith(patternEnding) ? withPatterns(whole) : { text: whole.trim(), appliesTo: null };
          return { path: folders.length > 1 ? `${basename(folder)}/${path}` : path, file: join(folder, path), text, appliesTo };
        }),
      );
    }),
  );
  const seen = new Set<string>();
  return found.flat().filter(({ text, appliesTo }) => {
    const key = `${appliesTo ?? ''}\0${text}`;
    const isNew = text !== '' && !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/**
 * What they say, for the standing instructions; empty without any. Files of folders further below (`nested`) are named only, for the
 * model to read before it works there: the text is the same whatever it works on, and so the prompt is.
 */
export function instructionsText(files: readonly InstructionFile[], nested: readonly string[] = []): string {
  const parts: string[] = [];
  const named: string[] = [];
  let room = mostTogether;
  for (const { path, text, appliesTo } of files) {
    const part = beginningOfFile(text, mostCharacters);
    if (part.length > room) named.push(appliesTo === null ? path : `${path} (for files that match ${appliesTo})`);
    else parts.push(`From the workspace's ${path}${appliesTo === null ? '' : `, for files that match ${appliesTo}`}:\n${part}`);
    room -= Math.min(room, part.length);
  }
  named.push(...nested.map((path) => `${path} (for files in ${path.slice(0, path.lastIndexOf('/') + 1)})`));
  if (named.length > 0)
    parts.push(
      `More instructions of the workspace; read those that concern your task first:\n${named.map((path) => `- ${path}`).join('\n')}`,
    );
  return parts.join('\n\n');
}

async function patternFiles(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, patternFolder)).catch(() => []);
  return names
    .filter((name) => name.endsWith(patternEnding))
    .sort()
    .slice(0, mostPatternFiles)
    .map((name) => `${patternFolder}/${name}`);
}

/** `applyTo` of the front matter; without it the file is about everything, as its like in the root. */
function withPatterns(whole: string): { readonly text: string; readonly appliesTo: string | null } {
  const [all = '', head = ''] = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(whole) ?? [];
  const line = /^applyTo:(.*)$/m.exec(head)?.[1]?.trim() ?? '';
  const patterns = line.replace(/^(['"])(.*)\1$/, '$2').trim();
  return { text: whole.slice(all.length).trim(), appliesTo: patterns === '' || patterns === '**' ? null : patterns };
}
