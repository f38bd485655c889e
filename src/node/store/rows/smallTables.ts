import type { UsageRecord } from '../../../core/cost/usage';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { SummaryRetry } from '../../../core/maintenance/reports';
import type { MemoryWrite, Pin } from '../../../core/session/storage';
import { markTypes } from '../../../core/session/entry';
import { packText, plainText, unpackText, type Connection } from '../database/connection';
import { decodeUsage } from './usageRows';
import type { Operations } from '../client/storeCalls';
import type { SessionRows } from './sessionRows';

/** The `pins` table. Writes expect to run inside a transaction. */
export class PinRows {
  constructor(private readonly connection: Connection) {}

  list(session: string): Pin[] {
    return this.connection
      .all('SELECT * FROM pins WHERE session = ? ORDER BY at, kind, target', [session])
      .map((row) => ({
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

/** The `memory_writes` table. Writes expect to run inside a transaction. */
export class MemoryWriteRows {
  constructor(private readonly connection: Connection) {}

  /** The same write twice is one: a batch may be sent again after a lost answer. Throws `invalid` when the entry does not exist. */
  add(write: MemoryWrite): void {
    if (!this.connection.get('SELECT 1 FROM entries WHERE uuid = ?', [write.entry])) {
      throw new StoreError('invalid', english('There is no entry {0}', write.entry));
    }
    const row = [write.entry, plainText(write.path), write.op, write.bytes, write.at];
    if (this.connection.get('SELECT 1 FROM memory_writes WHERE entry = ? AND path = ? AND op = ? AND bytes = ? AND at = ?', row)) return;
    this.connection.run('INSERT INTO memory_writes(entry, path, op, bytes, at) VALUES (?, ?, ?, ?, ?)', row);
  }

  list(session: string, limit: number): MemoryWrite[] {
    return this.connection
      .all(`SELECT w.* FROM memory_writes w CROSS JOIN entries e ON e.uuid = w.entry WHERE e.session = ? ORDER BY w.rowid DESC LIMIT ?`, [
        session,
        limit,
      ])
      .map((row) => ({
        entry: String(row['entry']),
        path: String(row['path']),
        op: String(row['op']),
        bytes: Number(row['bytes']),
        at: Number(row['at']),
      }));
  }
}

/** The `retry_queue` table. Writes expect to run inside a transaction. */
export class SummaryRetryRows {
  constructor(private readonly connection: Connection) {}

  /** A session in the trash costs nothing: its retries wait until it is restored. */
  list(session?: string): SummaryRetry[] {
    const where = session === undefined ? 's.deleted_at IS NULL' : 's.uuid = ?';
    return this.connection
      .all(
        `SELECT r.compaction, r.next_at, r.attempts, e.session FROM retry_queue r
         JOIN entries e ON e.uuid = r.compaction JOIN sessions s ON s.uuid = e.session WHERE ${where} ORDER BY r.next_at, e.seq`,
        session === undefined ? [] : [session],
      )
      .map((row) => ({
        compaction: String(row['compaction']),
        session: String(row['session']),
        nextAt: Number(row['next_at']),
        attempts: Number(row['attempts']),
      }));
  }

  save({ compaction, nextAt, attempts }: Omit<SummaryRetry, 'session'>): void {
    const entry = this.connection.get("SELECT 1 FROM entries WHERE uuid = ? AND entry_type = 'compaction'", [compaction]);
    if (!entry) throw new StoreError('invalid', english('There is no compaction {0}', compaction));
    this.connection.run('INSERT OR REPLACE INTO retry_queue(compaction, next_at, attempts) VALUES (?, ?, ?)', [
      compaction,
      nextAt,
      attempts,
    ]);
  }

  remove(compaction: string): void {
    this.connection.run('DELETE FROM retry_queue WHERE compaction = ?', [compaction]);
  }
}

const sideTypes = [...markTypes].map((type) => `'${type}'`).join(', ');

/** Own entries; where the session or one of its branches goes on from another session's, those up to the root and the marks on them. */
const reached = `
  WITH RECURSIVE shared(uuid) AS (
    SELECT p.uuid FROM entries e JOIN entries p ON p.uuid = e.parent WHERE e.session = ?1 AND p.session <> ?1
    UNION SELECT e.uuid FROM sessions s JOIN entries e ON e.uuid IN (s.leaf_entry, s.fork_entry) WHERE s.uuid = ?1 AND e.session <> ?1
    UNION SELECT e.parent FROM shared JOIN entries e ON e.uuid = shared.uuid WHERE e.parent IS NOT NULL
  ), reached(seq, uuid) AS (
    SELECT seq, uuid FROM entries WHERE session = ?1
    UNION SELECT e.seq, e.uuid FROM shared JOIN entries e ON e.uuid = shared.uuid
    UNION SELECT e.seq, e.uuid FROM shared JOIN entries e ON e.parent = shared.uuid WHERE e.entry_type IN (${sideTypes})
  )`;

/** All that a session consists of, wherever it is shared from. */
export class TransferRows {
  constructor(private readonly connection: Connection) {}

  seqs(session: string): number[] {
    return this.connection.all(`${reached} SELECT seq FROM reached ORDER BY seq`, [session]).map((row) => Number(row['seq']));
  }

  /** Numbers of the marks that say what was done to files. */
  fileMarks(session: string): number[] {
    return this.connection
      .all(
        `${reached} SELECT e.seq FROM reached CROSS JOIN entries e ON e.seq = reached.seq WHERE e.entry_type = 'file_changes' ORDER BY e.seq`,
        [session],
      )
      .map((row) => Number(row['seq']));
  }

  usage(session: string): UsageRecord[] {
    return this.connection
      .all(
        `${reached} SELECT u.* FROM usage u WHERE u.session = ?1 OR u.entry IN (SELECT uuid FROM reached) ORDER BY u.at, u.entry, u.kind, u.provider, u.model`,
        [session],
      )
      .map(decodeUsage);
  }

  knownSources(sourceIds: readonly string[]): { readonly sourceId: string; readonly entry: string }[] {
    return this.connection
      .all('SELECT e.source_id, e.uuid FROM json_each(?) wanted CROSS JOIN entries e ON e.source_id = wanted.value', [
        JSON.stringify(sourceIds),
      ])
      .map((row) => ({ sourceId: String(row['source_id']), entry: String(row['uuid']) }));
  }

  knownOperations(operationIds: readonly string[]): string[] {
    return this.connection
      .all('SELECT c.operation_id FROM json_each(?) wanted CROSS JOIN compactions c ON c.operation_id = wanted.value', [
        JSON.stringify(operationIds),
      ])
      .map((row) => String(row['operation_id']));
  }
}

export const pinOperations = {
  pins: ({ pins }, session) => pins.list(session),
  savePin: {
    run: ({ connection, sessions, pins }, pin) =>
      connection.transaction(() => {
        sessions.require(pin.session);
        pins.save(pin);
      }),
    tells: (_, { session }) => ({ kind: 'session', session }),
  },
  removePin: {
    run: ({ connection, pins }, session, kind, target) => connection.transaction(() => pins.remove(session, kind, target)),
    tells: (_, session) => ({ kind: 'session', session }),
  },
} satisfies Partial<Operations<{ readonly connection: Connection; readonly sessions: SessionRows; readonly pins: PinRows }>>;

export const summaryRetryOperations = {
  summaryRetries: ({ retries }, session) => retries.list(session),
  saveSummaryRetry: ({ connection, retries }, retry) => connection.transaction(() => retries.save(retry)),
  removeSummaryRetry: ({ connection, retries }, compaction) => connection.transaction(() => retries.remove(compaction)),
} satisfies Partial<Operations<{ readonly connection: Connection; readonly retries: SummaryRetryRows }>>;

export const transferOperations = {
  memoryWrites: ({ memory }, session, { limit }) => memory.list(session, limit),
  entrySeqs: ({ transfers }, session) => transfers.seqs(session),
  usageRecords: ({ transfers }, session) => transfers.usage(session),
  knownSources: ({ transfers }, sourceIds) => transfers.knownSources(sourceIds),
  knownOperations: ({ transfers }, operationIds) => transfers.knownOperations(operationIds),
} satisfies Partial<Operations<{ readonly memory: MemoryWriteRows; readonly transfers: TransferRows }>>;

export const calibrationOperations = {
  calibration: ({ connection }, model) =>
    connection
      .all('SELECT model, kind, factor, n FROM calibration WHERE model = ? ORDER BY kind', [model])
      .map((row) => ({ model, kind: String(row['kind']), factor: Number(row['factor']), n: Number(row['n']) })),
  saveCalibration: ({ connection }, { model, kind, factor, n }) =>
    connection.transaction(() =>
      connection.run('INSERT OR REPLACE INTO calibration(model, kind, factor, n, updated_at) VALUES (?, ?, ?, ?, ?)', [
        model,
        kind,
        factor,
        n,
        Date.now(),
      ]),
    ),
} satisfies Partial<Operations<{ readonly connection: Connection }>>;
