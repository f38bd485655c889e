import { diffArrays } from 'diff';

/** Texts that differ in more lines are not compared: the time of a comparison grows with the square of it (2,000: some 50 ms). */
const mostDifferentLines = 2_000;

/** Lines of the base that one side has replaced, and by what. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/**
 * The text with the changes of both sides, or null when they meet: in the same line, or in neighbouring ones. Null as well for what is no
 * UTF-8 text. Where all three have one kind of line end throughout, a change of the kind is a change of its own and meets no other.
 */
export function mergeText(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array): Uint8Array | null {
  const texts = [base, ours, theirs].map(textOf);
  const [baseText, ourText, theirText] = texts;
  if (typeof baseText !== 'string' || typeof ourText !== 'string' || typeof theirText !== 'string') return null;
  const ends = texts.map((text) => lineEndOf(text!));
  const [baseEnd, ourEnd, theirEnd] = ends;
  const isUniform = ends.every((end) => end !== null) && new Set(ends).size > 1;
  const plain = (text: string) => (isUniform ? text.replaceAll('\r\n', '\n') : text);
  const merged = mergeLines(linesOf(plain(baseText)), linesOf(plain(ourText)), linesOf(plain(theirText)));
  if (merged === null) return null;
  const end = isUniform ? (ourEnd === baseEnd ? theirEnd : ourEnd) : null;
  return new TextEncoder().encode(end === '\r\n' ? merged.replaceAll('\n', '\r\n') : merged);
}

/** How many lines came and went; null where that cannot be said. */
export function countLines(
  before: Uint8Array | null,
  after: Uint8Array | null,
): { readonly added: number; readonly removed: number } | null {
  const [old, now] = [before, after].map((bytes) => (bytes === null ? '' : textOf(bytes)));
  if (typeof old !== 'string' || typeof now !== 'string') return null;
  const hunks = hunksOf(linesOf(old), linesOf(now));
  if (!hunks) return null;
  return {
    added: hunks.reduce((sum, { lines }) => sum + lines.length, 0),
    removed: hunks.reduce((sum, { start, end }) => sum + end - start, 0),
  };
}

function mergeLines(base: readonly string[], ours: readonly string[], theirs: readonly string[]): string | null {
  const left = hunksOf(base, ours);
  const right = hunksOf(base, theirs);
  if (!left || !right) return null;
  // In parts: a file can have more lines than a call takes arguments (some 120,000).
  const parts: (readonly string[])[] = [];
  let at = 0;
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const a = left[l];
    const b = right[r];
    if (a && b && a.start <= b.end && b.start <= a.end) {
      // Both have made the same of it.
      if (a.start !== b.start || a.end !== b.end || a.lines.join('') !== b.lines.join('')) return null;
      r++;
    }
    const next = a && (!b || a.start <= b.start) ? a : b!;
    if (next === a) l++;
    else r++;
    parts.push(base.slice(at, next.start), next.lines);
    at = next.end;
  }
  return [...parts, base.slice(at)].flat().join('');
}

export function hunksOf(from: readonly string[], to: readonly string[]): Hunk[] | null {
  const changes = diffArrays([...from], [...to], { maxEditLength: mostDifferentLines });
  if (!changes) return null;
  const hunks: { start: number; end: number; lines: string[] }[] = [];
  let at = 0;
  let open: { start: number; end: number; lines: string[] } | null = null;
  for (const { added, removed, value } of changes) {
    if (!added && !removed) {
      at += value.length;
      open = null;
      continue;
    }
    if (!open) hunks.push((open = { start: at, end: at, lines: [] }));
    if (added) open.lines.push(...value);
    else open.end = at += value.length;
  }
  return hunks;
}

/** Each line with its end. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  const rest = lines.pop()!;
  return [...lines.map((line) => `${line}\n`), ...(rest === '' ? [] : [rest])];
}

export function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The one kind of line end that a text has; null when it has both. A text of one line has none and goes with any. */
function lineEndOf(text: string): '\n' | '\r\n' | null {
  const all = text.split('\n').length - 1;
  const long = text.split('\r\n').length - 1;
  return long === 0 ? '\n' : long === all ? '\r\n' : null;
}
