import type { Pin } from '../../../core/session/pin';
import type { Connection } from '../database/connection';
import { packText, unpackText } from '../database/text';

/** The `pins` table. Writes expect to run inside a transaction. */
export class PinRows {
  constructor(private readonly connection: Connection) {}

  list(session: string): Pin[] {
    return this.connection.all('SELECT * FROM pins WHERE session = ? ORDER BY at, kind, target', [session]).map((row) => ({
      session,
      kind: row['kind'] as Pin['kind'],
      target: unpackText(row['target']),
      contentHash: row['content_hash'] === null ? null : String(row['content_hash']),
      at: Number(row['at']),
    }));
  }

  save(pin: Pin): void {
    this.connection.run('INSERT OR REPLACE INTO pins(session, kind, target, content_hash, at) VALUES (?, ?, ?, ?, ?)', [
      pin.session,
      pin.kind,
      packText(pin.target),
      pin.contentHash,
      pin.at,
    ]);
  }

  remove(session: string, kind: Pin['kind'], target: string): void {
    this.connection.run('DELETE FROM pins WHERE session = ? AND kind = ? AND target = ?', [session, kind, packText(target)]);
  }
}
