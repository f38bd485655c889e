import type { PartialChunk } from '../../core/ports';

/** At most one commit per entry in this time: a commit writes whole pages, however short the text is. */
const intervalMs = 300;

interface Waiting {
  chunk: PartialChunk;
  readonly callers: { resolve(): void; reject(error: unknown): void }[];
  readonly timer: NodeJS.Timeout;
}

/**
 * Gathers streamed text so that any rhythm of deltas becomes a commit every 300 ms. The first chunk of an entry goes out at
 * once; nothing waits longer than the interval.
 */
export class PartialBuffer {
  private readonly waiting = new Map<string, Waiting>();
  private readonly lastWrite = new Map<string, number>();

  constructor(private readonly write: (chunk: PartialChunk) => Promise<void>) {}

  add(chunk: PartialChunk): Promise<void> {
    const waiting = this.waiting.get(chunk.entry);
    if (waiting) {
      waiting.chunk = { ...waiting.chunk, text: waiting.chunk.text + chunk.text };
      return new Promise((resolve, reject) => waiting.callers.push({ resolve, reject }));
    }
    const due = (this.lastWrite.get(chunk.entry) ?? -Infinity) + intervalMs - performance.now();
    if (due <= 0) return this.writeNow(chunk);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => void this.flushEntry(chunk.entry), due);
      this.waiting.set(chunk.entry, { chunk, callers: [{ resolve, reject }], timer });
    });
  }

  /**
   * The finished entries make their gathered text superfluous, unless appending them fails: then it is written after all.
   * Settles as `appended` does.
   */
  async replacedBy<T>(entries: readonly string[], appended: Promise<T>): Promise<T> {
    const held = entries.flatMap((entry) => this.take(entry) ?? []);
    try {
      const result = await appended;
      for (const { callers } of held) for (const caller of callers) caller.resolve();
      for (const entry of entries) this.lastWrite.delete(entry);
      return result;
    } catch (error) {
      for (const waiting of held) void this.writeFor(waiting);
      throw error;
    }
  }

  /** Writes what is gathered. Never rejects: the callers of `add` learn what went wrong. */
  async flush(): Promise<void> {
    await Promise.all([...this.waiting.keys()].map((entry) => this.flushEntry(entry)));
  }

  private async flushEntry(entry: string): Promise<void> {
    const waiting = this.take(entry);
    if (waiting) await this.writeFor(waiting);
  }

  private async writeFor({ chunk, callers }: Waiting): Promise<void> {
    try {
      await this.writeNow(chunk);
      for (const caller of callers) caller.resolve();
    } catch (error) {
      for (const caller of callers) caller.reject(error);
    }
  }

  private writeNow(chunk: PartialChunk): Promise<void> {
    this.lastWrite.set(chunk.entry, performance.now());
    return this.write(chunk);
  }

  private take(entry: string): Waiting | undefined {
    const waiting = this.waiting.get(entry);
    this.waiting.delete(entry);
    if (waiting) clearTimeout(waiting.timer);
    return waiting;
  }
}
