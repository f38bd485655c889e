import { fold, substringsOf } from './tokenizeTerms';

/** One line of a passage around its first match, cut from the original; what was cut off shows as `…`. */
export function snippet(text: string, terms: readonly string[], maxCharacters = 160): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= maxCharacters) return line;
  // A fold of the whole line may be longer than the line: the match is looked for word by word.
  const parts = substringsOf(terms);
  const match = [...line.matchAll(/\S+/g)].find(({ 0: word }) => parts.some((part) => fold(word.normalize('NFKC')).includes(part)));
  const found = match ? match.index + offsetIn(match[0], parts) : 0;
  let start = Math.max(0, Math.min(found - Math.floor(maxCharacters / 3), line.length - maxCharacters));
  const space = start === 0 ? -1 : line.indexOf(' ', start);
  if (space !== -1 && space < found) start = space + 1;
  let end = Math.min(line.length, start + maxCharacters);
  if (isInsidePair(line, start)) start++;
  if (isInsidePair(line, end)) end--;
  return `${start > 0 ? '…' : ''}${line.slice(start, end).trim()}${end < line.length ? '…' : ''}`;
}

/** Runs without spaces (CJK, paths) are words of any length. */
function offsetIn(word: string, parts: readonly string[]): number {
  const lower = word.toLowerCase();
  const offsets = parts.map((part) => lower.indexOf(part)).filter((offset) => offset !== -1);
  return offsets.length === 0 ? 0 : Math.min(...offsets);
}

function isInsidePair(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
