import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { writeFileAtomic } from '../store/database/atomicFile';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The keys of histories for programs that have no keyring: files that only this user can read, in the user's settings and not beside the
 * store, of which there are copies and backups.
 */
export class KeyFiles {
  readonly folder: string;

  constructor(environment: Environment) {
    const settings = environment['XDG_CONFIG_HOME'] ?? environment['APPDATA'] ?? join(homedir(), '.config');
    this.folder = join(settings, 'threadkeeper', 'sync');
  }

  save(history: string, entropy: Uint8Array): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    writeFileAtomic(this.fileOf(history), Buffer.from(`${Buffer.from(entropy).toString('hex')}\n`));
  }

  /** Undefined when there is none for this history. */
  read(history: string): Uint8Array | undefined {
    try {
      const text = readFileSync(this.fileOf(history), 'utf8').trim();
      return /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : undefined;
    } catch {
      return undefined;
    }
  }

  remove(history: string): void {
    rmSync(this.fileOf(history), { force: true });
  }

  fileOf(history: string): string {
    return join(this.folder, `${history}.key`);
  }
}
