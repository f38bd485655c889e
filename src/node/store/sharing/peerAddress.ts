import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { newestVersion } from '../database/migrations';

/** Raised with every change of what windows say to each other that an older program would not understand. */
const protocolVersion = 4;

/** Where the owner of a store can be reached, in its lease (which only the user can read). */
export const PeerAddress = z.object({
  path: z.string(),
  secret: z.string(),
  /** A window of another version reads a copy instead. */
  version: z.string(),
});
export type PeerAddress = z.infer<typeof PeerAddress>;

export const sharingVersion = `${protocolVersion}.${newestVersion()}`;

/** Least of what systems allow for a socket's path, with its final zero (macOS: 104, Linux: 108). */
const mostPathBytes = 103;

/** An address for the store of a folder that nobody else has; null where none can be made. */
export function newPeerAddress(folder: string): PeerAddress | null {
  const secret = randomBytes(32).toString('hex');
  const name = `${storeHash(folder)}-${randomBytes(6).toString('hex')}`;
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\threadkeeper-${name}`, secret, version: sharingVersion };
  for (const parent of [tmpdir(), '/tmp']) {
    try {
      const path = join(privateFolder(parent), `${name}.sock`);
      if (Buffer.byteLength(path) <= mostPathBytes) return { path, secret, version: sharingVersion };
    } catch {
      // This one is not writable: the next is tried.
    }
  }
  return null;
}

/** Sockets that earlier owners of this store have left: whoever owns it now knows that they are dead. */
export function removeDeadSockets(folder: string, own: PeerAddress): void {
  if (process.platform === 'win32') return;
  const parent = dirname(own.path);
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    if (name.startsWith(`${storeHash(folder)}-`) && path !== own.path) rmSync(path, { force: true });
  }
}

/** In a folder for all temporary files others could replace a socket, or make the folder first. */
function privateFolder(parent: string): string {
  const folder = join(parent, `threadkeeper-${process.geteuid?.() ?? 'user'}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  const isOurs = found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
  return isOurs ? folder : mkdtempSync(join(parent, 'threadkeeper-'));
}

function storeHash(folder: string): string {
  return createHash('sha256').update(folder).digest('hex').slice(0, 12);
}
