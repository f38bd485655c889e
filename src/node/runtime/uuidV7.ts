import { randomBytes } from 'node:crypto';
import type { IdSource } from '../../core/ports';

/**
 * UUID v7 (RFC 9562 §5.7): 48 bits of milliseconds, then 12 bits that count up within one millisecond (§6.2, method 1), then
 * random bits; so ids of one process sort in the order they were made.
 */
export class UuidV7 implements IdSource {
  private lastMs = 0;
  private counter = 0;

  constructor(private readonly now: () => number = Date.now) {}

  next(): string {
    const ms = Math.max(this.now(), this.lastMs);
    this.counter = ms === this.lastMs ? this.counter + 1 : randomBytes(1)[0]!;
    this.lastMs = ms;
    if (this.counter > 0xfff) {
      this.lastMs = ms + 1;
      this.counter = 0;
    }
    const bytes = randomBytes(16);
    bytes.writeUIntBE(this.lastMs, 0, 6);
    bytes[6] = 0x70 | (this.counter >> 8);
    bytes[7] = this.counter & 0xff;
    bytes[8] = 0x80 | (bytes[8]! & 0x3f);
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
}
