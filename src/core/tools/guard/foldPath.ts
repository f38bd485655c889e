import { trimmedEnd } from '../../base/trimmedEnd';

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
