import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';

/**
 * Messages between windows: four bytes of length, big end first, then JSON. Not `v8.serialize`, which would save a little time: its
 * format differs between versions of Node, and its reader is no parser for what a stranger sends.
 */
export const mostFrameBytes = 64 * 1024 * 1024;
/** Until the peer has proven that it belongs here. */
export const mostHelloBytes = 1024;

const headerBytes = 4;

/** Throws `invalid` for a message that the other side would refuse. */
export function toFrame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message), 'utf8');
  if (body.length > mostFrameBytes) throw tooLarge(body.length);
  const frame = Buffer.allocUnsafe(headerBytes + body.length);
  frame.writeUInt32BE(body.length, 0);
  body.copy(frame, headerBytes);
  return frame;
}

function tooLarge(bytes: number): StoreError {
  const megabytes = (size: number) => Math.ceil(size / 1024 / 1024);
  return new StoreError(
    'invalid',
    english(
      'This is too large to pass from one window to another: {0} MB, where {1} MB are possible. Close the other windows on this folder, then try again.',
      megabytes(bytes),
      megabytes(mostFrameBytes),
    ),
  );
}

/** Where bytes stand in a value: keys from the outside in. */
export type BytesPath = readonly (string | number)[];

/** JSON has no bytes: they go as base64, and where they stand goes beside them. */
export function packBytes<T>(value: T): { readonly value: T; readonly bytes?: readonly BytesPath[] } {
  const found: BytesPath[] = [];
  const packed = pack(value, [], found) as T;
  return found.length === 0 ? { value } : { value: packed, bytes: found };
}

function pack(value: unknown, path: BytesPath, found: BytesPath[]): unknown {
  if (value instanceof Uint8Array) {
    found.push(path);
    return base64(value);
  }
  if (typeof value !== 'object' || value === null) return value;
  const before = found.length;
  const packed = Object.entries(value).map(([key, one]) => [key, pack(one, [...path, key], found)] as const);
  if (found.length === before) return value;
  return Array.isArray(value) ? packed.map(([, one]) => one) : Object.fromEntries(packed);
}

/** Puts the bytes back in their places, in the value itself. */
export function unpackBytes(value: unknown, bytes: readonly BytesPath[] = []): unknown {
  const whole = { value };
  for (const path of bytes) {
    let holder: Record<string, unknown> = whole;
    let place = 'value';
    for (const key of path) {
      const inner = Object.hasOwn(holder, place) ? holder[place] : undefined;
      if (typeof inner !== 'object' || inner === null)
        throw new StoreError('invalid', english('A message does not hold the bytes that it names'));
      holder = inner as Record<string, unknown>;
      place = String(key);
    }
    if (!Object.hasOwn(holder, place)) throw new StoreError('invalid', english('A message does not hold the bytes that it names'));
    holder[place] = fromBase64(holder[place]);
  }
  return whole.value;
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function fromBase64(text: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(String(text), 'base64'));
}

/** Cuts a stream into messages. Throws for a frame that is too long or no JSON; the stream is then of no use any more. */
export class FrameReader {
  private chunks: Buffer[] = [];
  private bytes = 0;

  constructor(public limit: number) {}

  *push(chunk: Buffer): Generator<unknown> {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    for (;;) {
      const length = this.nextLength();
      if (length === undefined || this.bytes < headerBytes + length) return;
      const all = this.take(headerBytes + length);
      const message: unknown = JSON.parse(all.toString('utf8', headerBytes));
      yield message;
    }
  }

  /** Known before the frame is complete: what is too long is never gathered. */
  private nextLength(): number | undefined {
    if (this.bytes < headerBytes) return undefined;
    if (this.chunks[0]!.length < headerBytes) this.chunks = [Buffer.concat(this.chunks)];
    const length = this.chunks[0]!.readUInt32BE(0);
    if (length > this.limit) throw new StoreError('invalid', english('A message of {0} bytes, where {1} are allowed', length, this.limit));
    return length;
  }

  private take(length: number): Buffer {
    const all = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    this.chunks = all.length > length ? [all.subarray(length)] : [];
    this.bytes -= length;
    return all.subarray(0, length);
  }
}

/*
 * Both sides prove that they know the secret of the lease without saying it:
 *
 *   owner ── challenge ──▶ peer
 *   owner ◀── proof, challenge ── peer        a wrong proof ends the connection
 *   owner ── proof ──▶ peer                   a wrong proof ends the connection
 */
const hex = z.string().check(z.regex(/^[0-9a-f]{64}$/));
export const Challenge = z.object({ challenge: hex });
export const Proof = z.object({ proof: hex });
export const ProofAndChallenge = z.object({ proof: hex, challenge: hex });

export function newChallenge(): string {
  return randomBytes(32).toString('hex');
}

/** The role keeps one side's proof from being sent back as the other's. */
export function proofOf(secret: string, role: 'owner' | 'peer', challenges: { readonly owner: string; readonly peer: string }): string {
  return createHmac('sha256', secret).update(`${role}:${challenges.owner}:${challenges.peer}`).digest('hex');
}

export function isProof(given: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(given, 'hex'), Buffer.from(expected, 'hex'));
}
