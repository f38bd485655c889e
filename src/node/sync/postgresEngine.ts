import pg from 'pg';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { errorText } from '../../core/errors';
import { english } from '../../core/l10n';
import type { SealedRecord, WrappedKey } from '../../core/sync/sealedRecord';
import { EngineError, type EngineFailure, type EngineHead, type LogRange, type SyncEngine } from '../../core/sync/syncEngine';

/** The form of the tables. */
const version = 1;

/** Rows that one answer has at most; a row has up to 256 KB of text, sealed a third of it. */
const mostRows = 100;

/** Milliseconds. A server that is slower than that is not there. */
const usualLimits = { connect: 10_000, answer: 60_000 };

/**
 * Every row is added once and never changed, in the SQL that all databases of this wire protocol speak. The version is written last: where
 * it stands, all of them are there.
 */
const tables = [
  'CREATE TABLE IF NOT EXISTS threadkeeper_histories(history TEXT PRIMARY KEY)',
  'CREATE TABLE IF NOT EXISTS threadkeeper_devices(history TEXT NOT NULL, device TEXT NOT NULL, PRIMARY KEY (history, device))',
  `CREATE TABLE IF NOT EXISTS threadkeeper_records(
    history TEXT NOT NULL, device TEXT NOT NULL, place INT NOT NULL, id TEXT NOT NULL, version INT NOT NULL, mark BIGINT NOT NULL,
    sealed BYTEA NOT NULL, PRIMARY KEY (history, device, place))`,
  'CREATE TABLE IF NOT EXISTS threadkeeper_keys(history TEXT NOT NULL, id TEXT NOT NULL, wrapped BYTEA NOT NULL, PRIMARY KEY (history, id))',
  'CREATE TABLE IF NOT EXISTS threadkeeper_version(one INT PRIMARY KEY, version INT NOT NULL)',
  `INSERT INTO threadkeeper_version(one, version) VALUES (1, ${version}) ON CONFLICT DO NOTHING`,
];

type Row = Readonly<Record<string, unknown>>;

/** As much of a client as is asked for; a database that is embedded has it too. */
export interface SqlClient {
  query(sql: string, values?: unknown[]): Promise<{ rows: Row[] }>;
  /** Calls back for every notification. */
  onNotification(callback: (payload: string) => void): void;
  end(): Promise<void>;
}

/** Any database that speaks PostgreSQL's wire protocol. */
export class PostgresEngine implements SyncEngine {
  private constructor(
    private readonly client: SqlClient,
    private readonly history: string,
    private readonly notifies: boolean,
    private readonly channel = channelOf(history),
    /** What this connection says of itself, so that it does not hear its own news. */
    private readonly sender: string = randomUUID(),
    /** The history itself, where these are the logs beside it. */
    private readonly home = history,
  ) {}

  /** Rejects with `EngineError`: `no_history` when it is not there and is not to be made. */
  static async open(client: SqlClient, history: string, create: boolean): Promise<PostgresEngine> {
    return guarded(async () => {
      const found = await versionOf(client);
      if (found === null && !create) throw noHistory();
      if (found === null) await makeTables(client);
      if (found !== null && found > version)
        throw new EngineError('version', english('The tables of the database are of a newer version of Threadkeeper: update it'));
      if (!(await isThere(client, history))) {
        if (!create) throw noHistory();
        await client.query('INSERT INTO threadkeeper_histories(history) VALUES ($1) ON CONFLICT DO NOTHING', [history]);
      }
      // On a channel that nobody listens to.
      const notifies = await client.query('SELECT pg_notify($1, $2)', ['threadkeeper', '']).then(
        () => true,
        () => false,
      );
      return new PostgresEngine(client, history, notifies);
    });
  }

  heads(): Promise<readonly EngineHead[]> {
    return guarded(async () => {
      const { rows } = await this.client.query(
        `SELECT heads.device, heads.count, heads.last, r.mark FROM (
           SELECT d.device AS device, count(*) AS count, max(r.place) AS last FROM threadkeeper_devices d
           JOIN threadkeeper_records r ON r.history = d.history AND r.device = d.device WHERE d.history = $1 GROUP BY d.device
         ) heads JOIN threadkeeper_records r ON r.history = $1 AND r.device = heads.device AND r.place = heads.last ORDER BY heads.device`,
        [this.history],
      );
      // Somebody may have removed the history since it was opened: what it had is not to be given back to it.
      if (rows.length === 0 && !(await isThere(this.client, this.history))) throw noHistory();
      return rows.map((row) => ({
        device: String(row['device']),
        next: Number(row['last']) + 1,
        count: Number(row['count']),
        mark: Number(row['mark']),
      }));
    });
  }

  pull({ device, from, to }: LogRange): Promise<readonly SealedRecord[]> {
    return guarded(async () => {
      const { rows } = await this.client.query(
        `SELECT place, id, version, mark, sealed FROM threadkeeper_records
         WHERE history = $1 AND device = $2 AND place >= $3 AND place < $4 ORDER BY place LIMIT ${mostRows}`,
        [this.history, device, from, to],
      );
      return rows.map((row) => ({
        device,
        index: Number(row['place']),
        id: String(row['id']),
        version: Number(row['version']),
        mark: Number(row['mark']),
        sealed: bytes(row['sealed']),
      }));
    });
  }

  push(rows: readonly SealedRecord[], keys: readonly WrappedKey[]): Promise<void> {
    return guarded(async () => {
      if (keys.length + rows.length === 0) return;
      const values: unknown[] = [this.history, this.home];
      const place = (value: unknown) => `$${values.push(value)}`;
      // Somebody may have removed the history since it was opened: nothing is to be left of it that nobody could remove any more.
      const parts = ['h AS (SELECT $1::text AS history FROM threadkeeper_histories WHERE history = $2)'];
      const insert = (table: string, types: Readonly<Record<string, string>>, list: readonly (readonly unknown[])[]) => {
        if (list.length === 0) return;
        const casts = Object.values(types);
        const tuples = list.map((row) => `(${row.map((value, i) => `${place(value)}::${casts[i]}`).join(', ')})`);
        parts.push(`${table} AS (INSERT INTO threadkeeper_${table}(history, ${Object.keys(types).join(', ')})
          SELECT h.history, v.* FROM h CROSS JOIN (VALUES ${tuples.join(', ')}) AS v ON CONFLICT DO NOTHING)`);
      };
      const wrappedKeys = keys.map(({ id, wrapped }) => [id, Buffer.from(wrapped)]);
      const devices = [...new Set(rows.map(({ device }) => device))].map((device) => [device]);
      const records = rows.map((row) => [row.device, row.index, row.id, row.version, row.mark, Buffer.from(row.sealed)]);
      insert('keys', { id: 'text', wrapped: 'bytea' }, wrappedKeys);
      insert('devices', { device: 'text' }, devices);
      insert('records', { device: 'text', place: 'int', id: 'text', version: 'int', mark: 'bigint', sealed: 'bytea' }, records);
      const tell = this.notifies ? `pg_notify(${place(this.channel)}, ${place(this.sender)})` : '1';
      const { rows: told } = await this.client.query(`WITH ${parts.join(', ')} SELECT ${tell} FROM h`, values);
      if (told.length === 0) throw noHistory();
    });
  }

  counts(ranges: readonly LogRange[]): Promise<readonly number[]> {
    return guarded(async () => {
      const values: unknown[] = [this.history];
      const place = (value: unknown) => `$${values.push(value)}`;
      const counts = ranges.map(
        ({ device, from, to }, index) =>
          `SELECT ${index} AS n, count(*) AS count FROM threadkeeper_records
           WHERE history = $1 AND device = ${place(device)} AND place >= ${place(from)} AND place < ${place(to)}`,
      );
      const { rows } = await this.client.query(`${counts.join(' UNION ALL ')} ORDER BY n`, values);
      return rows.map((row) => Number(row['count']));
    });
  }

  keys(ids: readonly string[]): Promise<readonly WrappedKey[]> {
    return guarded(async () => {
      const list = ids.map((_, index) => `$${index + 2}`).join(', ');
      const { rows } = await this.client.query(`SELECT id, wrapped FROM threadkeeper_keys WHERE history = $1 AND id IN (${list})`, [
        this.history,
        ...ids,
      ]);
      return rows.map((row) => ({ id: String(row['id']), wrapped: bytes(row['wrapped']) }));
    });
  }

  dropKeys(ids: readonly string[]): Promise<void> {
    return guarded(async () => {
      const list = ids.map((_, index) => `$${index + 2}`).join(', ');
      await this.client.query(`DELETE FROM threadkeeper_keys WHERE history = $1 AND id IN (${list})`, [this.history, ...ids]);
    });
  }

  dropLog(device: string): Promise<void> {
    return guarded(async () => {
      await this.client.query(
        `WITH r AS (DELETE FROM threadkeeper_records WHERE history = $1 AND device = $2)
         DELETE FROM threadkeeper_devices WHERE history = $1 AND device = $2`,
        [this.history, device],
      );
    });
  }

  dropAll(): Promise<void> {
    return guarded(async () => {
      const both = [this.history, besideOf(this.history)];
      await this.client.query(
        `WITH r AS (DELETE FROM threadkeeper_records WHERE history IN ($1, $2)),
           d AS (DELETE FROM threadkeeper_devices WHERE history IN ($1, $2)),
           k AS (DELETE FROM threadkeeper_keys WHERE history = $1)
         DELETE FROM threadkeeper_histories WHERE history = $1`,
        both,
      );
    });
  }

  attachments(): SyncEngine {
    return new PostgresEngine(this.client, besideOf(this.history), this.notifies, this.channel, this.sender, this.home);
  }

  listen(onNews: () => void): Promise<boolean> {
    if (!this.notifies) return Promise.resolve(false);
    return guarded(async () => {
      this.client.onNotification((sender) => sender !== this.sender && onNews());
      await this.client.query(`LISTEN ${this.channel}`);
      return true;
    });
  }

  close(): Promise<void> {
    return this.client.end();
  }
}

/** Opens an address like postgres://user@host:5432/database. Rejects with `EngineError`. */
export async function openPostgres(
  address: string,
  history: string,
  create: boolean,
  password: string | undefined,
  limits = usualLimits,
): Promise<SyncEngine> {
  return guarded(async () => {
    const client = new pg.Client({
      connectionString: connectionString(address, password),
      ssl: tlsFor(address),
      connectionTimeoutMillis: limits.connect,
      query_timeout: limits.answer,
      application_name: 'Threadkeeper',
      keepAlive: true,
    });
    // A connection that breaks while nothing is asked is noticed by the next question.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await PostgresEngine.open(
        {
          query: (sql, values) => client.query<Row>(sql, values),
          onNotification: (callback) => void client.on('notification', ({ payload }) => callback(payload ?? '')),
          end: () => client.end(),
        },
        history,
        create,
      );
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  });
}

/** Encrypted, and to the server that the certificate names; not needed to reach this machine. Exported for its tests. */
export function tlsFor(address: string): false | { readonly ca?: string } {
  const { hostname, searchParams } = new URL(address);
  // As the client chooses it: otherwise a second or an empty `host` would pass for this machine, and another one be reached.
  const host = searchParams.getAll('host').at(-1) || decodeURIComponent(hostname) || process.env['PGHOST'] || 'localhost';
  if (host === 'localhost' || host === '127.0.0.1' || host === '[::1]' || host.startsWith('/')) return false;
  const root = searchParams.get('sslrootcert');
  return root === null ? {} : { ca: readFileSync(root, 'utf8') };
}

/**
 * What an address says of TLS may weaken it: only we decide that. The password is put into it because the client takes the address for the
 * whole truth: one that is given beside it is not used.
 */
function connectionString(address: string, password: string | undefined): string {
  const url = new URL(address);
  for (const name of [...url.searchParams.keys()]) if (/^(?:ssl|uselibpq)/.test(name)) url.searchParams.delete(name);
  if (password !== undefined) url.searchParams.set('password', password);
  return url.toString();
}

/** Null: there are no tables, or not all of them. */
async function versionOf(client: SqlClient): Promise<number | null> {
  try {
    const { rows } = await client.query('SELECT version FROM threadkeeper_version');
    return rows[0] ? Number(rows[0]['version']) : null;
  } catch (error) {
    if (codeOf(error) === '42P01') return null;
    throw error;
  }
}

/** Two devices that begin at once get in each other's way, which servers say in several ways: once more, and the tables are there. */
async function makeTables(client: SqlClient): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      for (const sql of tables) await client.query(sql);
      return;
    } catch (error) {
      if (attempt === 5 || !['23505', '42P07', '42710', '40001', 'XX000'].includes(codeOf(error))) throw error;
    }
  }
}

/** SQLSTATE, where it is known. */
function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

function channelOf(history: string): string {
  return `threadkeeper_${history.replaceAll(/[^0-9a-f]/g, '')}`;
}

function besideOf(history: string): string {
  return `${history}/attachments`;
}

async function isThere(client: SqlClient, history: string): Promise<boolean> {
  return (await client.query('SELECT 1 AS found FROM threadkeeper_histories WHERE history = $1', [history])).rows.length > 0;
}

function bytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}

function noHistory(): EngineError {
  return new EngineError('no_history', english('The database has no history of this recovery phrase and name'));
}

/** By the first characters of SQLSTATE. */
const failures: readonly (readonly [RegExp, EngineFailure])[] = [
  [/^(?:28|3D000|42501)/, 'refused'],
  [/^53[12]/, 'full'],
  [/^(?:53[34]|55P03|57014|57P03)/, 'slow'],
  [/^25006/, 'readonly'],
  // Somebody else's tables of our names, or ours as somebody has changed them.
  [/^42(?:P01|703|804)/, 'version'],
];

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineError) throw error;
    const reason = failures.find(([pattern]) => pattern.test(codeOf(error)))?.[1] ?? reasonOf(error);
    const detail = asksForPassword(error) ? english('it asks for a password') : errorText(error);
    throw new EngineError(reason, said(reason, detail), { cause: error });
  }
}

/** Where the client, not the server, says what is wrong. */
function reasonOf(error: unknown): EngineFailure {
  if (asksForPassword(error)) return 'refused';
  return /time-?out/i.test(errorText(error)) ? 'slow' : 'unreachable';
}

/** The client's words for a password that it was not given. */
function asksForPassword(error: unknown): boolean {
  return /client password must be/.test(errorText(error));
}

/** What is wrong, and what to do about it. */
function said(reason: EngineFailure, detail: string): string {
  switch (reason) {
    case 'refused':
      return english(
        'The database refuses it ({0}): check its name, user and password, and the rights to create tables and write them',
        detail,
      );
    case 'full':
      return english('The database has no room left ({0})', detail);
    case 'readonly':
      return english('The database can only be read ({0}): use the address of the one that is written to', detail);
    case 'slow':
      return english('The database does not answer in time ({0}): it may be busy. It is asked again later', detail);
    case 'version':
      return english('The tables of the database are not those of Threadkeeper ({0}): use another database, or restore them', detail);
    default:
      if (/certificate|SSL/i.test(detail))
        return english(
          'The connection to the database cannot be encrypted ({0}): give the server a certificate for its name, or name its authority in the address, with ?sslrootcert=FILE',
          detail,
        );
      return english('The database cannot be used: {0}', detail);
  }
}
