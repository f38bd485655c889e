/** The rows that are in the document, as a range of all loaded rows. */
export interface RowWindow {
  readonly start: number;
  readonly end: number;
}

/** Whatever the length of the conversation, no more rows than this are in the document. */
export const mostRows = 300;
/** At the end of a conversation, and when a place in it is looked up. */
const usualRows = 120;
const step = 60;

export function latest(count: number): RowWindow {
  return { start: Math.max(0, count - usualRows), end: count };
}

export function around(index: number, count: number): RowWindow {
  const start = Math.max(0, Math.min(index - usualRows / 2, count - usualRows));
  return { start, end: Math.min(count, start + usualRows) };
}

/** Rows were added at the end; whoever reads there sees them, and so does everyone while there is room. */
export function grown(window: RowWindow, count: number, wasAtEnd: boolean, follow: boolean): RowWindow {
  if (follow) return count - window.start > mostRows ? latest(count) : { start: window.start, end: count };
  if (!wasAtEnd) return { start: window.start, end: Math.min(window.end, count) };
  return { start: window.start, end: Math.min(count, window.start + mostRows) };
}

/** A window that has grown too large is made again around a row, or at the end. */
export function bounded(window: RowWindow, index: number, count: number): RowWindow {
  if (window.end - window.start <= mostRows) return window;
  return index < 0 ? latest(count) : around(index, count);
}

export function shifted(window: RowWindow, by: number): RowWindow {
  return { start: window.start + by, end: window.end + by };
}

export function extendedUp(window: RowWindow): RowWindow {
  const start = Math.max(0, window.start - step);
  return { start, end: Math.min(window.end, start + mostRows) };
}

export function extendedDown(window: RowWindow, count: number): RowWindow {
  const end = Math.min(count, window.end + step);
  return { start: Math.max(window.start, end - mostRows), end };
}
