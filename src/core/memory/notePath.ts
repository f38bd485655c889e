/** Where notes seem to be for a model: Anthropic's memory tool has its files there. */
export const memoryRoot = '/memories';
/** Below it are the notes that hold in every workspace. */
export const userFolder = 'user/';

const maxSegments = 6;
/** It counts bytes of UTF-8: file systems allow 255, and the name of a draft or backup may be longer. */
const maxSegmentBytes = 200;
const maxLength = 200;
/** Device names of Windows, with whatever extension. */
const reserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(?:\.|$)/i;

/**
 * The relative path of a note, as `MemoryNotes` wants it, from what a model or user wrote (with or without `/memories/` in front).
 * Throws an Error for the model to read when the path leaves the notes or is not a valid file name on every system.
 * For 'file or folder' the folder of all notes is ''.
 */
export function checkNotePath(given: string, kind: 'file' | 'file or folder'): string {
  const path = given.trim().normalize('NFC');
  const refuse = (why: string) => new Error(`The path ${JSON.stringify(given.slice(0, 120))} is not allowed: ${why}`);
  if (path.includes('\\')) throw refuse('use "/" between folders.');
  const inside =
    path === memoryRoot
      ? ''
      : path.startsWith(`${memoryRoot}/`)
        ? path.slice(memoryRoot.length + 1)
        : path === '/' || path === '.'
          ? ''
          : path;
  if (inside.startsWith('/') || /^[A-Za-z]:/.test(inside) || inside.startsWith('~'))
    throw refuse(`notes are in ${memoryRoot}; nothing else can be reached.`);
  const relative = inside.replace(/\/$/, '');
  if (relative === '') {
    if (kind === 'file or folder') return '';
    throw refuse('name a note, for example /memories/decisions.md.');
  }
  const segments = relative.split('/');
  if (segments.length > maxSegments || relative.length > maxLength) throw refuse('it is too long.');
  for (const segment of segments) {
    const why = segmentProblem(segment);
    if (why !== null) throw refuse(why);
  }
  return relative;
}

/** Why a file or folder cannot have that name; null when it can. */
function segmentProblem(segment: string): string | null {
  if (segment === '') return 'a folder has no name.';
  if (segment === '..' || segment === '.') return 'it must not contain "." or ".." as a folder.';
  if (segment.startsWith('.')) return 'names must not begin with a dot.';
  if (/[.\s]$/.test(segment) || /^\s/.test(segment)) return 'names must not end with a dot or begin or end with a space.';
  if (/[<>:"|?*\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(segment))
    return 'it contains a character that file names cannot have on every system.';
  if (reserved.test(segment)) return `"${segment}" is a device name on Windows.`;
  if (new TextEncoder().encode(segment).length > maxSegmentBytes) return 'a name is too long.';
  return null;
}

/** The path as it is shown to people; also of one that is not allowed. */
export function noteName(given: string): string {
  return given.startsWith(`${memoryRoot}/`) ? given.slice(memoryRoot.length + 1) : given;
}

/** Whether a path lies somewhere below a folder. */
export function isInside(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}
