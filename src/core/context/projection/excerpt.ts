import type { Frames, Sealed } from '../../frames/frames';
import type { StoredEntry } from '../../session/entry';

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

/**
 * All results of one step together may take so many times the bound on a single entry. They go in one message, and none can be sent later.
 */
const stepShare = 1.5;

/**
 * Results that have to be shorter than any entry may be, because the calls of one step (eight files read at once) have returned more
 * together than a message can hold: by entry, in tokens. The short ones stay whole, the long ones share what is left. Depends on the
 * step alone, so that the prompt of the next turn keeps it as its prefix.
 */
export function stepBounds(
  entries: readonly StoredEntry[],
  tokensOf: (entry: StoredEntry) => number,
  oversized: number,
): ReadonlyMap<string, number> {
  const bounds = new Map<string, number>();
  let step: StoredEntry[] = [];
  const close = () => {
    const bound = fairBound(
      step.map((entry) => Math.min(tokensOf(entry), oversized, shownOf(entry))),
      stepShare * oversized,
    );
    if (bound !== null) for (const { uuid } of step) bounds.set(uuid, bound);
    step = [];
  };
  for (const entry of entries) {
    if (!entry.modelFacing) continue;
    if (entry.content.type === 'tool_result') step.push(entry);
    else if (step.length > 0) close();
  }
  close();
  return bounds;
}

function shownOf({ content }: StoredEntry): number {
  return content.type === 'tool_result' ? (content.shownTokens ?? Infinity) : Infinity;
}

/** Under which all of them together fit; null when they do anyway. */
function fairBound(sizes: readonly number[], room: number): number | null {
  let left = room;
  for (const [index, size] of [...sizes].sort((a, b) => a - b).entries()) {
    const share = left / (sizes.length - index);
    if (size > share) return Math.floor(share);
    left -= size;
  }
  return null;
}
