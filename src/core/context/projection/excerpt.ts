import type { Frames, Sealed } from '../../frames/frames';

/**
 * Head and tail of a text that is too large to be sent whole, with a note between them that says how to read the rest. The
 * result depends on the text and the budget only, so that the prompt of the next turn keeps it as its prefix.
 */
export function excerpt(frames: Frames, text: string, tokens: number, budgetTokens: number, ref: string): Sealed {
  const charsPerToken = Math.max(0.25, text.length / Math.max(1, tokens));
  const room = Math.max(200, Math.floor(budgetTokens * charsPerToken) - 200);
  const head = wholeCharacters(text, 0, Math.floor(room * 0.7));
  const tail = wholeCharacters(text, text.length - Math.floor(room * 0.3), text.length);
  const left = text.length - head.length - tail.length;
  return frames.join(
    frames.plain(head),
    '\n\n',
    frames.mark('cut', { 'left-out': `${left} characters of ${ref}`, read: howToRead(ref) }),
    '\n\n',
    frames.plain(tail),
  );
}

/** The call that reads what is not shown. */
export function howToRead(ref: string): string {
  return `recall {"entryIds": ["${ref}"]}`;
}

/** A slice that does not cut a surrogate pair in two. */
export function wholeCharacters(text: string, from: number, to: number): string {
  const start = isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from;
  const end = isLowSurrogate(text.charCodeAt(to)) ? to - 1 : to;
  return text.slice(start, Math.max(start, end));
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** The beginning of what is kept in a file, with a word on the rest. */
export function beginningOfFile(text: string, characters: number): string {
  return text.length <= characters ? text : `${wholeCharacters(text, 0, characters)}\n[… the rest is in the file …]`;
}
