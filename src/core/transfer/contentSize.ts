import type { EntryContent } from '../session/entry';

/** What no number, name of a constant or pair of brackets takes more than, with the comma behind it, in characters of JSON. */
const ofAnyOther = 26;

/**
 * Characters that a content has as JSON at most, before any of them is escaped: whatever its type, since what is kept raw, or a call is
 * given, may be the largest of all. Not by `JSON.stringify`, which would write all of it once more.
 */
export function contentSize(content: EntryContent): number {
  let size = 0;
  const left: unknown[] = [content];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') size += value.length + 3;
    else size += ofAnyOther;
    if (Array.isArray(value)) for (const one of value as unknown[]) left.push(one);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, one] of Object.entries(value)) {
        size += name.length + 4;
        left.push(one);
      }
    }
  }
  return size;
}
