import { ToolFault } from '../tool';

export interface EditedText {
  readonly text: string;
  /** Lines, from 1, at which something was replaced. */
  readonly lines: readonly number[];
}

/** Line numbers that a message names at most. */
const mostNamed = 10;

/**
 * Replaces a passage that stands exactly once in the text, or each of them. Everything else stays byte for byte; where the file has
 * CRLF line ends and the model writes LF, the passage is found all the same and its replacement gets CRLF. Throws `ToolFault`.
 */
export function editText(text: string, before: string, after: string, all = false): EditedText {
  if (before === '') throw new ToolFault('old_text is empty. Give the passage that is to be replaced, or use create_file.');
  if (before === after) throw new ToolFault('old_text and new_text are the same: there is nothing to change.');
  const ends = lineEnds(text);
  const wanted = text.includes(before) ? before : withEnds(before, ends);
  const replacement = withEnds(after, ends);
  const at = positions(text, wanted);
  if (at.length === 0)
    throw new ToolFault(
      'old_text does not stand in the file. Read the file again, and copy the passage with its blanks and without the line numbers.',
    );
  const lines = at.map((position) => text.slice(0, position).split('\n').length);
  if (at.length > 1 && !all) {
    throw new ToolFault(
      `old_text stands ${at.length} times in the file (lines ${lines.slice(0, mostNamed).join(', ')}). Give more of what is around it, or replace_all.`,
    );
  }
  return { text: text.split(wanted).join(replacement), lines };
}

/** The text with the line ends that the file has; as it stands where the file has none, or both kinds. */
export function withEnds(text: string, ends: '\n' | '\r\n' | null): string {
  return ends === null ? text : text.replace(/\r?\n/g, ends);
}

/** Null: none, or mixed. */
export function lineEnds(text: string): '\n' | '\r\n' | null {
  const crlf = text.includes('\r\n');
  const lf = /(?<!\r)\n/.test(text);
  return crlf === lf ? null : crlf ? '\r\n' : '\n';
}

function positions(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found.push(at);
  return found;
}
