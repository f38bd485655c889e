import { createHmac, randomBytes } from 'node:crypto';
import { sealOf } from '../../../core/frames/frames';
import type { Connection } from './connection';
import type { SessionRows } from '../rows/sessionRows';

const secretKey = 'seal_secret';
/** Nobody forks a fork of a fork more often. */
const deepest = 1_000;

/**
 * The seal of each session (core/frames/frames.ts), made from a secret of the store. Derived and not kept with the session: so an export
 * gives none away, an import brings none along, and two windows that open a session for the first time cannot disagree. It goes
 * where the file goes, to another window, folder or machine. A fork has that of the session it comes from, whose prompt is the beginning
 * of its own.
 */
export class Seals {
  private secret: Buffer | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly sessions: Pick<SessionRows, 'find'>,
  ) {}

  of(session: string): string {
    return sealOf(createHmac('sha256', this.key()).update(this.root(session)).digest());
  }

  private root(session: string): string {
    let root = session;
    for (let i = 0; i < deepest; i++) {
      const parent = this.sessions.find(root)?.parentSession;
      if (!parent) break;
      root = parent;
    }
    return root;
  }

  /** Made when it is first needed, as in a store of an earlier version. Where it cannot be written, it holds while the store is open. */
  private key(): Buffer {
    const read = () => this.connection.get('SELECT value FROM meta WHERE key = ?', [secretKey])?.['value'];
    let stored = this.secret === undefined ? read() : undefined;
    if (this.secret === undefined && typeof stored !== 'string') {
      const made = randomBytes(32).toString('hex');
      try {
        this.connection.transaction(() => this.connection.run('INSERT OR IGNORE INTO meta(key, value) VALUES (?, ?)', [secretKey, made]));
        stored = read();
      } catch {
        stored = made;
      }
    }
    return (this.secret ??= Buffer.from(String(stored), 'hex'));
  }
}
