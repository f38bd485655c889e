/** A page has at most so many characters, about 10,000 tokens, and of one line at most so many. */
const pageCharacters = 40_000;
export const lineCharacters = 2_000;

export interface TextPage {
  /** `number TAB line`. */
  readonly text: string;
  /** Both from 1; `last` is 0 for an empty text. */
  readonly first: number;
  readonly last: number;
  readonly total: number;
  readonly cutLines: readonly number[];
}

/** Numbered lines from `start` on, as many as fit and are wanted. Undefined when there is no such line. */
export function pageText(text: string, start = 1, count = Infinity): TextPage | undefined {
  const lines = linesOf(text);
  if (start < 1 || start > Math.max(1, lines.length)) return undefined;
  const shown: string[] = [];
  const cutLines: number[] = [];
  let characters = 0;
  for (let i = start - 1; i < lines.length && shown.length < count; i++) {
    const line = lines[i]!;
    const cut = line.length > lineCharacters;
    const numbered = `${String(i + 1).padStart(5)}\t${cut ? `${line.slice(0, lineCharacters)}…` : line}`;
    characters += numbered.length + 1;
    if (characters > pageCharacters && shown.length > 0) break;
    if (cut) cutLines.push(i + 1);
    shown.push(numbered);
  }
  return { text: shown.join('\n'), first: start, last: start - 1 + shown.length, total: lines.length, cutLines };
}

/** Lines come without their ends; a final line break begins no further line. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
