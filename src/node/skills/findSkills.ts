import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, resolve, sep, basename, dirname } from 'node:path';
import type { Logger } from '../../core/ports';
import { mostSkills, type Skill } from '../../core/skills/skill';
import { readInside } from '../memory/workspaceTexts';

export interface SkillPlaces {
  /** Absolute, below the home folder (`~/…`), or within every folder of the workspace. */
  readonly folders: readonly string[];
  /** The workspace has these folders, as far as it may give instructions. */
  readonly workspace: readonly string[];
  readonly home?: string;
}

interface Place {
  /** No file outside of it is read, by a link neither. */
  readonly root: string;
  readonly folder: string;
  readonly shown: (file: string) => string;
}

/** Folders are not searched beyond so many entries. */
const mostEntries = 500;

/**
 * The skills of these folders, by name: Markdown files, and `SKILL.md` in their sub-folders. The user's own go before those of a workspace,
 * which cannot take the place of one by its name. A folder that is not there is none; never rejects.
 */
export async function findSkills(places: SkillPlaces, log: Logger): Promise<Skill[]> {
  const found = new Map<string, Skill>();
  for (const place of placesOf(places)) {
    for (const file of await filesOf(place.folder)) {
      const skill = await skillOf(place, file, log);
      if (skill && !found.has(skill.name) && found.size < mostSkills) found.set(skill.name, skill);
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function placesOf({ folders, workspace, home = homedir() }: SkillPlaces): Place[] {
  const paths = folders.map((folder) => folder.trim()).filter((folder) => folder !== '');
  const own = paths.flatMap((path) => {
    const folder = /^~[\\/]/.test(path) ? join(home, path.slice(2)) : isAbsolute(path) ? path : undefined;
    return folder === undefined ? [] : [{ root: folder, folder, shown: (file: string) => join(path, relative(folder, file)) }];
  });
  const within = paths.filter((path) => !/^~[\\/]/.test(path) && !isAbsolute(path));
  const ofWorkspace = workspace.flatMap((root) =>
    within.map((path) => ({ root, folder: resolve(root, path), shown: (file: string) => relative(root, file).split(sep).join('/') })),
  );
  return [...own, ...ofWorkspace];
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, mostEntries);
  return names.flatMap((entry) => {
    if (/\.md$/i.test(entry.name)) return entry.isDirectory() ? [] : [join(folder, entry.name)];
    return entry.isDirectory() || entry.isSymbolicLink() ? [join(folder, entry.name, 'SKILL.md')] : [];
  });
}

async function skillOf({ root, shown }: Place, file: string, log: Logger): Promise<Skill | undefined> {
  const read = async () => readInside(root, file).catch(() => undefined);
  const source = await read();
  if (source === undefined) return undefined;
  const path = shown(file);
  const parsed = parseSkill(source, file);
  if (!parsed) {
    log.info('skill_without_description', { path });
    return undefined;
  }
  const text = async (): Promise<string | undefined> => {
    const now = await read();
    return now === undefined ? undefined : (parseSkill(now, file)?.text ?? now);
  };
  return { name: parsed.name, description: parsed.description, path, text };
}

interface ParsedSkill {
  readonly name: string;
  readonly description: string;
  /** The text comes without the front matter. */
  readonly text: string;
}

/** A name has at most so many characters. */
const longestName = 64;

/**
 * A skill's file: front matter with `name` and `description`, and the instructions behind it. Undefined without a description. Only these
 * two keys are read, line by line: descriptions in the wild hold colons and quotes as people write them, which no YAML parser takes.
 */
export function parseSkill(source: string, file: string): ParsedSkill | undefined {
  const [, head, text = ''] = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(source) ?? [];
  if (head === undefined) return undefined;
  const fields = fieldsOf(head.split(/\r?\n/));
  const description = oneLine(fields.get('description') ?? '');
  const stem = /^skill\.md$/i.test(basename(file)) ? basename(dirname(file)) : basename(file).replace(/\.md$/i, '');
  const name = oneLine(fields.get('name') ?? '').slice(0, longestName) || oneLine(stem).slice(0, longestName);
  return description === '' || name === '' ? undefined : { name, description, text };
}

/** The top keys with what stands behind them; indented lines go on with the one before. */
function fieldsOf(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  let key = '';
  for (const line of lines) {
    const [, found, value = ''] = /^([A-Za-z][\w-]*):(?:\s(.*))?$/.exec(line) ?? [];
    if (found !== undefined) {
      key = found.toLowerCase();
      // `>` and `|` say that the lines below are the value.
      fields.set(key, /^[>|][+-]?\d*$/.test(value.trim()) ? '' : value);
    } else if (/^\s/.test(line) && key !== '') fields.set(key, `${fields.get(key) ?? ''} ${line.trim()}`);
  }
  for (const [name, value] of fields) fields.set(name, unquoted(value.trim()));
  return fields;
}

function unquoted(value: string): string {
  const [, , inside] = /^(["'])([\s\S]*)\1$/.exec(value) ?? [];
  return inside === undefined ? value : inside.replace(/\\"/g, '"').replace(/''/g, "'");
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
