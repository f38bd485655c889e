import { randomBytes } from 'node:crypto';
import { sealOf } from '../../core/frames/frames';

/** A seal (core/frames/frames.ts) of its own. */
export function newSeal(): string {
  return sealOf(randomBytes(12));
}
