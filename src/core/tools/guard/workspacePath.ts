import { ToolFault } from '../tool';
import { trimmedEnd } from '../../base/text';

/** One of the workspace's folders. */
export interface WorkspaceFolder {
  readonly name: string;
  /** Absolute, with `/`: `/home/me/project`, `C:/work/project`, or the path of a folder that is on no disk. */
  readonly root: string;
  /** It is on no disk: `root` is no path on this machine, even where something stands there. */
  readonly isOffDisk?: true;
  /** A name that no path can begin with, such as `apps/web`: older records name the folder so. */
  readonly was?: string;
}

/** Something in a folder of the workspace: `path` has `/` between names, none of which is `.`, `..` or empty; '' is the folder. */
export interface Place {
  readonly folder: number;
  readonly path: string;
}

/**
 * Folders by names that differ, and that a path can begin with: a path, and a record, names one of them. Folders of the same name get that
 * of the folder above behind theirs, and where that does not tell them apart, those of so many folders above as it takes.
 */
export function distinctNames(folders: readonly WorkspaceFolder[]): WorkspaceFolder[] {
  const isOnly = (name: string | undefined, all: readonly (string | undefined)[]) => all.filter((other) => other === name).length === 1;
  const given = folders.map(({ name }) => name);
  const usual = folders.map((folder, at) => (isOnly(folder.name, given) ? folder.name : nameWith(folder, 1, at)));
  // Records name folders: a name that is one of a kind stays.
  const names = usual.map((name) => (isOnly(name, usual) && name === pathName(name) ? name : undefined));
  for (let above = 0; names.includes(undefined); above++) {
    const next = folders.map((folder, at) =>
      names[at] !== undefined || (above === 0 && !isOnly(folder.name, given)) ? undefined : nameWith(folder, above, at),
    );
    const isFree = next.map((name) => name !== undefined && isOnly(name, next) && !names.includes(name));
    for (const [at, name] of next.entries()) if (isFree[at]) names[at] = name;
  }
  return folders.map(({ name, ...folder }, at) => ({
    ...folder,
    name: names[at]!,
    ...(name !== pathName(name) && isOnly(name, given) ? { was: name } : {}),
  }));
}

/** A folder's name as one part of a path: some are named `apps/web`. */
function pathName(name: string): string {
  const part = name
    .replace(/[\\/]/g, '-')
    .trim()
    .replace(/^([a-z]):/i, '$1-');
  return /^\.{0,2}$/.test(part) ? `(${part})` : part;
}

/** The name with those of so many folders above behind it; with a number where there are not so many. */
function nameWith({ name, root }: WorkspaceFolder, above: number, at: number): string {
  const parents = root
    .replaceAll('\\', '-')
    .split('/')
    .filter((part) => part !== '')
    .slice(0, -1);
  const behind = above === 0 ? '' : parents.slice(-above).join('-');
  const longer = pathName(name) + (behind === '' ? '' : ` (${behind})`);
  return above <= parents.length ? longer : `${longer} ${above + at}`;
}

/** What systems take, at most. */
const mostCharacters = 4_096;

/**
 * From what a model calls a path to a place in the workspace; throws `ToolFault` for everything else. Decides by the text alone:
 * where links lead is for `ToolWorkspace.real` to say. With several folders a path begins with the name of one.
 */
export function toPlace(given: string, folders: readonly WorkspaceFolder[]): Place {
  if (folders.length === 0) throw new ToolFault('No folder is open: there are no files to work with.');
  if (given.includes('\0')) throw new ToolFault('A path has no zero characters.');
  if (given.length > mostCharacters) throw new ToolFault(`A path has at most ${mostCharacters} characters.`);
  const text = given.trim().replaceAll('\\', '/');
  const absolute = text.startsWith('/') || /^[a-z]:/i.test(text);
  return absolute ? fromAbsolute(given, text, folders) : fromRelative(given, text, folders);
}

/** What the user and the model call a place. */
export function placeName({ folder, path }: Place, folders: readonly WorkspaceFolder[]): string {
  const name = folders[folder]?.name ?? '';
  if (folders.length === 1) return path === '' ? '.' : path;
  return path === '' ? name : `${name}/${path}`;
}

function fromAbsolute(given: string, text: string, folders: readonly WorkspaceFolder[]): Place {
  const names = segments(given, text.replace(/^[a-z]:/i, ''));
  const drive = /^[a-z]:/i.exec(text)?.[0].toLowerCase() ?? '';
  // The innermost folder counts where one lies in another.
  const order = folders.map(({ root }, folder) => ({ folder, root, length: root.length })).sort((a, b) => b.length - a.length);
  for (const { folder, root } of order) {
    const rootDrive = /^[a-z]:/i.exec(root)?.[0].toLowerCase() ?? '';
    const rootNames = root
      .replace(/^[a-z]:/i, '')
      .split('/')
      .filter((name) => name !== '');
    const same = (a: string, b: string | undefined) => (rootDrive === '' ? a === b : a.toLowerCase() === b?.toLowerCase());
    if (drive === rootDrive && rootNames.every((name, i) => same(name, names[i])))
      return checked(given, { folder, path: names.slice(rootNames.length).join('/') }, root);
  }
  throw outside(given);
}

function fromRelative(given: string, text: string, folders: readonly WorkspaceFolder[]): Place {
  const names = segments(given, text);
  if (folders.length === 1) return checked(given, { folder: 0, path: names.join('/') }, folders[0]!.root);
  const folder = folders.findIndex(({ name }) => name === names[0]);
  if (folder < 0)
    throw new ToolFault(
      `Several folders are open, so a path begins with the name of one: ${folders.map(({ name }) => name).join(', ')}. ${JSON.stringify(given)} does not.`,
    );
  return checked(given, { folder, path: names.slice(1).join('/') }, folders[folder]!.root);
}

function segments(given: string, text: string): string[] {
  const names: string[] = [];
  for (const name of text.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) throw outside(given);
  }
  return names;
}

/** Windows drops dots and blanks at the end of a name, gives devices names of their own and opens streams behind a colon. */
function checked(given: string, place: Place, root: string): Place {
  for (const name of place.path.split('/')) {
    if (/^[. ]{2,}$/.test(name)) throw new ToolFault(`${JSON.stringify(given)} is no path: it has a name of dots and blanks only.`);
    if (!/^[a-z]:/i.test(root)) continue;
    const isDevice = /^(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\.|$)/i.test(name.trimEnd());
    if (isDevice || /[<>:"|?*]|[. ]$/.test(name))
      throw new ToolFault(`${JSON.stringify(given)} is no path that Windows can use as it stands.`);
  }
  return place;
}

function outside(given: string): ToolFault {
  return new ToolFault(`${JSON.stringify(given)} is outside of the workspace. Only files in its folders can be used.`);
}

/**
 * A path as the most forgiving file system compares it: in one case of letters, without characters that are not seen (macOS passes over
 * some of them), composed. What guards a file compares paths like this everywhere: a name too many costs a question.
 */
export function foldPath(path: string): string {
  return path
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
}

/** The same for the names in a path: Windows, and what is formatted for it elsewhere, pass over dots and blanks at the end of one. */
export function foldNames(path: string): string {
  return foldPath(path)
    .split('/')
    .map((name) => trimmedEnd(name, /[. ]/))
    .join('/');
}
