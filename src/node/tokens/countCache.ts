import { createHash } from 'node:crypto';

const shortText = 64;

/** Counts by content, least recently used out first. Long texts are known by their hash, so that none is kept alive here. */
export class CountCache {
  private readonly counts = new Map<string, number>();

  constructor(private readonly capacity: number) {}

  get(text: string): number | undefined {
    const key = keyOf(text);
    const count = this.counts.get(key);
    if (count === undefined) return undefined;
    this.counts.delete(key);
    this.counts.set(key, count);
    return count;
  }

  set(text: string, count: number): void {
    const key = keyOf(text);
    this.counts.delete(key);
    this.counts.set(key, count);
    if (this.counts.size <= this.capacity) return;
    for (const oldest of this.counts.keys()) {
      this.counts.delete(oldest);
      break;
    }
  }
}

/** No short text starts like the key of a long one: those are longer than `shortText`. */
function keyOf(text: string): string {
  return text.length <= shortText ? text : `${'#'.repeat(shortText)}${createHash('sha256').update(text).digest('base64')}`;
}
