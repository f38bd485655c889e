import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { mergeChange } from '../../../core/sync/merge';
import type { SealedRecord, SessionKey } from '../../../core/sync/sealedRecord';
import type { Held, PendingReceipt, ReceivedRow, WantedKeys } from '../../../core/sync/syncReplica';
import type { SyncSetup } from '../../../core/sync/syncStore';
import type { Operations } from '../client/storeCalls';
import type { Connection, Row } from '../database/connection';
import { elsewhere } from './elsewhere';
import { closeOutbox, openOutbox } from './outbox';
import { MergeRows, type MergeNeeds } from './mergeRows';
import { pendingChanges } from './pendingChanges';

/** Bytes and rows that one answer has. */
const mostBytes = 4 * 1024 * 1024;
const mostRows = 1_000;

/** The `sync_…` tables. Writes expect to run inside a transaction. */
export class SyncRows {
  constructor(private readonly connection: Connection) {}

  get setup(): SyncSetup | null {
    const row = this.connection.get('SELECT setup_json FROM sync_state');
    return row ? (JSON.parse(String(row['setup_json'])) as SyncSetup) : null;
  }

  /** Throws `invalid` where it is off. */
  get device(): string {
    const row = this.connection.get('SELECT device FROM sync_state');
    if (!row) throw new StoreError('invalid', english('This history is not synchronized'));
    return String(row['device']);
  }

  held(): Held {
    const { connection, device } = this;
    const dropped = connection.all('SELECT id, done FROM sync_dropped_keys ORDER BY id');
    const ids = (rows: readonly Row[]) => rows.map((row) => String(row['id']));
    return {
      device,
      logs: connection
        .all(
          // From one device to the next by the index: GROUP BY would read a row of it for every record that there is.
          `WITH RECURSIVE devices(device) AS (
             SELECT min(device) FROM sync_log UNION ALL
             SELECT (SELECT min(device) FROM sync_log WHERE device > devices.device) FROM devices WHERE device IS NOT NULL
           )
           SELECT l.device, l.place, l.mark FROM devices CROSS JOIN sync_log l
           ON l.device = devices.device AND l.place = (SELECT max(place) FROM sync_log WHERE device = devices.device)`,
        )
        .map((row) => ({ device: String(row['device']), next: Number(row['place']) + 1, mark: Number(row['mark']) })),
      keysToPush: connection.all('SELECT id, session, wrapped FROM sync_keys WHERE pushed = 0 ORDER BY id').map(decodeKey),
      droppedKeys: ids(dropped),
      keysToDrop: ids(dropped.filter((row) => row['done'] === 0)),
      waitsForTurn: connection.get("SELECT 1 FROM sync_waiting WHERE needs LIKE 'free %' LIMIT 1") !== undefined,
      unread: connection
        .all(
          // By the rows that are unread: the order alone would have every record read.
          `SELECT device, place, unread_key FROM sync_log INDEXED BY sync_log_unread WHERE unread_session IS NOT NULL
           AND unread_session NOT IN (SELECT session FROM sync_purged) ORDER BY device, place`,
        )
        .map((row) => ({ device: String(row['device']), index: Number(row['place']), keyId: String(row['unread_key']) })),
    };
  }

  keys(wanted: WantedKeys): SessionKey[] {
    const all = 'SELECT id, session, wrapped FROM sync_keys';
    if (wanted === 'all') return this.connection.all(`${all} ORDER BY id`).map(decodeKey);
    const [column, values] = 'ids' in wanted ? ['id', wanted.ids] : ['session', wanted.sessions];
    return this.connection
      .all(`${all} WHERE ${column} IN (SELECT value FROM json_each(?)) ORDER BY id`, [JSON.stringify(values)])
      .map(decodeKey);
  }

  rows({ device, from, to }: { readonly device: string; readonly from: number; readonly to: number }): SealedRecord[] {
    const found: SealedRecord[] = [];
    let bytes = 0;
    const rows = this.connection.iterate(
      'SELECT place, id, version, mark, sealed FROM sync_log WHERE device = ? AND place >= ? AND place < ? ORDER BY place',
      [device, from, to],
    );
    for (const row of rows) {
      const sealed = row['sealed'] instanceof Uint8Array ? row['sealed'] : new Uint8Array();
      if (found.length >= mostRows || (found.length > 0 && bytes + sealed.length > mostBytes)) break;
      bytes += sealed.length;
      const [version, mark] = [Number(row['version']), Number(row['mark'])];
      found.push({ device, index: Number(row['place']), id: String(row['id']), version, mark, sealed });
    }
    return found;
  }

  nextOf(device: string): number {
    return Number(this.connection.get('SELECT coalesce(max(place) + 1, 0) AS next FROM sync_log WHERE device = ?', [device])?.['next']);
  }

  /** Throws `conflict` unless the rows come at the end of the log. */
  hold({ device, index, id, version, mark, sealed }: SealedRecord, unread?: ReceivedRow['unread']): void {
    if (index !== this.nextOf(device)) throw new StoreError('conflict', english('Another window has synchronized this history meanwhile'));
    this.connection.run(
      'INSERT INTO sync_log(device, place, id, version, mark, sealed, unread_session, unread_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      [device, index, id, version, mark, sealed, unread?.session ?? null, unread?.keyId ?? null],
    );
  }

  markRead({ device, index }: SealedRecord): void {
    this.connection.run('UPDATE sync_log SET unread_session = NULL, unread_key = NULL WHERE device = ? AND place = ?', [device, index]);
  }

  /** The own rows from here on are told again, under another name. */
  cut(from: number): void {
    this.connection.run('DELETE FROM sync_log WHERE device = ? AND place >= ?', [this.device, from]);
  }

  addKeys(keys: readonly SessionKey[], isPushed: boolean): void {
    for (const { id, session, wrapped } of keys) {
      if (this.connection.get('SELECT 1 FROM sync_purged WHERE session = ?', [session])) continue;
      this.connection.run('INSERT OR IGNORE INTO sync_keys(id, session, wrapped, pushed) VALUES (?, ?, ?, ?)', [
        id,
        session,
        wrapped,
        isPushed ? 1 : 0,
      ]);
    }
  }

  settleKeys(pushed: readonly string[], dropped: readonly string[]): void {
    for (const id of pushed) this.connection.run('UPDATE sync_keys SET pushed = 1 WHERE id = ?', [id]);
    for (const id of dropped) this.connection.run('UPDATE sync_dropped_keys SET done = 1 WHERE id = ?', [id]);
  }

  /** What `pending` has told stands in the log now; so do the times of what was set. */
  settleOutbox({ through, stamps }: PendingReceipt): void {
    const { connection, device } = this;
    for (const { session, name, tick } of stamps) {
      connection.run(
        `INSERT INTO sync_stamps(session, name, tick, device) VALUES (?, ?, ?, ?)
         ON CONFLICT(session, name) DO UPDATE SET tick = excluded.tick, device = excluded.device WHERE excluded.tick > tick`,
        [session, name, tick, device],
      );
    }
    connection.run('UPDATE sync_state SET clock = max(clock, coalesce((SELECT max(tick) FROM sync_outbox WHERE n <= ?), 0))', [through]);
    connection.run('DELETE FROM sync_outbox WHERE n <= ?', [through]);
  }
}

function decodeKey(row: Row): SessionKey {
  return {
    id: String(row['id']),
    session: String(row['session']),
    wrapped: row['wrapped'] instanceof Uint8Array ? row['wrapped'] : new Uint8Array(),
  };
}

type SyncNeeds = MergeNeeds & { readonly sync: SyncRows };

function receive(open: SyncNeeds, rows: readonly ReceivedRow[], keys: readonly SessionKey[], held: readonly string[]): void {
  const { connection, sync, purges } = open;
  const purged = new Set(rows.flatMap(({ change }) => (change?.kind === 'purge' ? [change.session] : [])));
  const busy = held.find((session) => purged.has(session));
  if (busy !== undefined) throw new StoreError('conflict', english('Another window is working in session {0}', busy));
  const work = () =>
    connection.transaction(() => {
      connection.run('UPDATE sync_state SET merging = 1');
      sync.addKeys(keys, true);
      const target = new MergeRows(open, sync.device, new Set(held));
      for (const { change, device } of target.takeFree()) mergeChange(target, change, device);
      for (const { row, change, unread, early } of rows) {
        if (!early && row.index >= sync.nextOf(row.device)) sync.hold(row, unread);
        else if (!early && !unread) sync.markRead(row);
        if (change) mergeChange(target, change, row.device);
      }
      target.settleNotes();
      connection.run('UPDATE sync_state SET merging = 0, clock = max(clock, ?)', [target.clock]);
    });
  if (purged.size === 0) return work();
  purges.overwritingFreed(work);
  purges.removeLeftovers();
}

export const syncOperations = {
  syncSetup: ({ sync }) => sync.setup,
  startSync: {
    run: ({ connection, sync }, device, setup) =>
      connection.transaction(() => {
        if (sync.setup) connection.run('UPDATE sync_state SET setup_json = ?', [JSON.stringify(setup)]);
        else openOutbox(connection, device, JSON.stringify(setup));
      }),
    // Other windows on it take part from now on.
    tells: () => ({ kind: 'session', session: null }),
  },
  stopSync: {
    run: ({ connection }) => connection.transaction(() => closeOutbox(connection)),
    // A window that synchronizes it hears that it is off.
    tells: () => ({ kind: 'session', session: null }),
  },
  syncHeld: ({ sync }) => sync.held(),
  syncKeys: ({ sync }, wanted) => sync.keys(wanted),
  syncRows: ({ sync }, range) => sync.rows(range),
  syncPending: (open, most) => pendingChanges(open, most),
  syncWrite: ({ connection, sync, attachments }, rows, keys, receipt) =>
    connection.transaction(() => {
      for (const row of rows) sync.hold(row);
      sync.addKeys(keys, false);
      if (!receipt) return;
      attachments.add(receipt.attachments);
      sync.settleOutbox(receipt);
    }),
  syncReceive: { run: (open, rows, keys, held) => receive(open, rows, keys, held ?? []), tells: () => ({ kind: 'all' }) },
  syncSettleKeys: ({ connection, sync }, pushed, dropped) => connection.transaction(() => sync.settleKeys(pushed, dropped)),
  syncRenew: ({ connection, sync }, device, from, rows, keys) =>
    connection.transaction(() => {
      sync.cut(from);
      connection.run('UPDATE sync_state SET device = ?', [device]);
      for (const row of rows) sync.hold(row);
      sync.addKeys(keys, false);
    }),
  syncElsewhere: (open, session) => elsewhere(open, session),
  syncNotes: ({ notes }) => notes.list(),
  syncNoteText: ({ notes }, path) => notes.stateOf(path).text,
  syncNoteWritten: ({ connection, sync, notes }, path, text) =>
    connection.transaction(() => {
      if (sync.device) notes.write(path, text);
    }),
  syncNoteFile: ({ connection, notes }, path, digest, state) => connection.transaction(() => notes.fileHas(path, digest, state)),
} satisfies Partial<Operations<SyncNeeds>>;
