import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { EntryContent } from '../../../core/session/entry';
import type { Salvage } from '../../../core/maintenance/reports';
import type { Connection, Row, SqlValue } from '../database/connection';
import { damagedBody, isSoundBody } from './verifyContents';
import { entryColumns } from '../rows/entryCodec';
import { keepSync } from './keepSync';
import { noteStandIn } from '../sync/standIns';
import { mendTree, newestOf } from './mendTree';
import { readableRows, salvageKey, type SalvageLeaves } from './salvageRows';

/** Sessions that a recovery names; there is a command for all of them. */
const mostNamed = 5;

/** Tables beside sessions, entries and bodies, with a key that orders their rows. */
const otherTables: readonly (readonly [table: string, ...key: string[]])[] = [
  ['usage', 'rowid'],
  ['compactions', 'entry'],
  ['checkpoints', 'entry'],
  ['memory_writes', 'rowid'],
  ['partials', 'rowid'],
  ['partial_chunks', 'seq'],
  ['calibration', 'model', 'kind'],
  ['pins', 'session', 'kind', 'target'],
  ['drafts', 'session'],
  ['queue', 'session', 'position'],
  ['retry_queue', 'compaction'],
  ['blobs', 'hash'],
  ['id_counters', 'day'],
];

/**
 * Copies row by row what can be read of `source` into the empty store `target`; nothing is dropped without being told. `leaves`
 * has the rows that the tables no longer lead to.
 */
export function rebuildStore(source: Connection, target: Connection, leaves: SalvageLeaves | null = null): Salvage {
  target.exec('PRAGMA foreign_keys = OFF');
  return target.transaction(() => new Rebuild(source, leaves, target).run());
}

class Rebuild {
  private readonly damagedTables = new Set<string>();
  private readonly refused = new Map<string, number>();
  /** What the indices say of entries, by seq: their pages are others than those of the rows. */
  private readonly known = new Map<number, { uuid?: string; session?: string; parent?: string | null }>();

  constructor(
    private readonly source: Connection,
    private readonly leaves: SalvageLeaves | null,
    private readonly target: Connection,
  ) {}

  run(): Salvage {
    this.copy('sessions', ['rowid']);
    this.readIndices();
    const withoutRow = this.copyEntries();
    const fragments = this.copyBodies();
    for (const seq of withoutRow) if (!this.has('entries', 'seq', seq)) this.insertFromIndex(seq, undefined);
    for (const [table, ...key] of otherTables) this.copy(table, key);
    const mended = mendTree(this.source, this.target, fragments);
    keepSync(this.source, this.target);
    const count = (sql: string) => Number(this.target.get(sql)?.['n'] ?? 0);
    const lost = [
      ...mended,
      ...[...this.refused].map(([table, n]) => english(n === 1 ? '{0} unusable row of {1}' : '{0} unusable rows of {1}', n, table)),
      ...[...this.damagedTables].map((table) => english('parts of {0}', table)),
    ];
    return {
      sessions: count('SELECT count(*) AS n FROM sessions'),
      entries: count('SELECT count(*) AS n FROM entries'),
      damaged: count(`SELECT count(*) AS n FROM bodies WHERE content_json LIKE '{"type":"damaged"%'`),
      damagedIn: this.damagedSessions(),
      lost,
    };
  }

  private damagedSessions(): string[] {
    const rows =
      this.target.all(`SELECT s.id, s.title, count(*) AS n FROM bodies b JOIN entries e ON e.seq = b.entry JOIN sessions s ON s.uuid = e.session
      WHERE b.content_json LIKE '{"type":"damaged"%' GROUP BY s.uuid ORDER BY n DESC, s.id LIMIT ${mostNamed}`);
    return rows.map(({ id, title }) => `${String(id)}${title ? ` “${String(title)}”` : ''}`);
  }

  private copy(table: string, key: readonly string[]): void {
    for (const row of this.read(table, key)) this.insert(table, row);
  }

  private readIndices(): void {
    const indices = [
      ['uuid', 'entries', ['uuid']],
      ['session', 'entries INDEXED BY entries_by_session', ['session', 'seq']],
      ['parent', 'entries INDEXED BY entries_by_parent', ['parent', 'seq']],
    ] as const;
    for (const [column, index, key] of indices) {
      for (const row of readableRows(this.source, index, key, `seq, ${column}`)) {
        const [seq, value] = [row['seq'], row[column]];
        if (typeof seq !== 'number' || !(typeof value === 'string' || (value === null && column === 'parent'))) continue;
        this.known.set(seq, { ...this.known.get(seq), [column]: value });
      }
    }
  }

  /** Returns the numbers of entries that exist by the indices, and whose rows cannot be read. */
  private copyEntries(): number[] {
    const referenced = new Set([...this.known.values()].flatMap(({ parent }) => parent ?? []));
    for (const row of this.read('entries', ['seq'])) this.insertEntry(row, referenced);
    return [...this.known.keys()].filter((seq) => {
      if (this.has('entries', 'seq', seq)) return false;
      try {
        const row = this.source.get('SELECT * FROM entries WHERE seq = ?', [seq]);
        if (row) this.insertEntry(row, referenced);
      } catch {
        return true;
      }
      return !this.has('entries', 'seq', seq);
    });
  }

  /** A row whose identity is contradicted by the indices, which others refer to, goes by the indices. */
  private insertEntry(row: Row, referenced: ReadonlySet<string>): void {
    const known = this.known.get(Number(row['seq'])) ?? {};
    const uuid = known.uuid !== undefined && referenced.has(known.uuid) ? known.uuid : row['uuid'];
    const isSession = this.has('sessions', 'uuid', row['session'] ?? null);
    const session = (isSession ? undefined : known.session) ?? row['session'] ?? null;
    this.insert('entries', { ...row, uuid: uuid ?? null, session });
    if (typeof uuid === 'string' && (uuid !== row['uuid'] || session !== row['session'])) noteStandIn(this.target, uuid);
  }

  /** Returns the bodies that belong to no known entry. */
  private copyBodies(): Row[] {
    const fragments: Row[] = [];
    for (const row of this.read('bodies', ['entry'])) {
      const entry = this.target.get('SELECT tool_args_json FROM entries WHERE seq = ?', [row['entry'] ?? null]);
      if (entry) this.insertBody(row, entry['tool_args_json']);
      else if (!this.insertFromIndex(Number(row['entry']), row)) fragments.push(row);
    }
    for (const { seq, tool_args_json: toolArgs } of this.target.all(
      'SELECT seq, tool_args_json FROM entries WHERE seq NOT IN (SELECT entry FROM bodies)',
    )) {
      this.insertDamagedBody(Number(seq), undefined, toolArgs);
    }
    return fragments;
  }

  private insertBody(row: Row, toolArgs: SqlValue | undefined): void {
    if (!isSoundBody(row, toolArgs)) return this.insertDamagedBody(Number(row['entry']), row, toolArgs);
    this.goByBody(row);
    this.insert('bodies', row);
  }

  /** A body has a checksum and the row of its entry has none: of what both say, the body is right. */
  private goByBody({ entry: seq = null, content_json: json, text = null }: Row): void {
    const entry = this.target.get('SELECT * FROM entries WHERE seq = ?', [seq]);
    const content = JSON.parse(String(json)) as EntryContent;
    if (!entry || entry['entry_type'] === content.type || typeof content.type !== 'string' || (content.type as string) === 'damaged')
      return;
    const columns = { ...entry, ...entryColumns({ ...content, text } as EntryContent) };
    this.target.run("INSERT INTO meta(key, value) VALUES ('purging', 1)");
    this.target.run('DELETE FROM entries WHERE seq = ?', [seq]);
    this.target.run("DELETE FROM meta WHERE key = 'purging'");
    this.insert('entries', columns);
    // What else the row says of it may be as wrong as its kind.
    noteStandIn(this.target, String(entry['uuid']));
  }

  private insertDamagedBody(seq: number, row: Row | undefined, toolArgs: SqlValue | undefined): void {
    const [content, text, sum] = damagedBody(row, typeof toolArgs === 'string' ? toolArgs : null);
    // The file that belongs to it is sound or not by itself; without its name a purge would take it for nobody's.
    this.insert('bodies', { entry: seq, content_json: content, text, crc32: sum, blob_hash: row?.['blob_hash'] ?? null });
  }

  /** An entry whose own row is lost: identity and place from the indices, the rest from its content. */
  private insertFromIndex(seq: number, body: Row | undefined): boolean {
    const { uuid, session, parent } = this.known.get(seq) ?? {};
    if (uuid === undefined || session === undefined) return false;
    const isSound = body !== undefined && isSoundBody(body, null);
    const content = isSound ? (JSON.parse(String(body['content_json'])) as EntryContent) : undefined;
    const columns = content ? entryColumns(content) : { entry_type: 'custom', custom_type: 'damaged' };
    const before = this.target.get('SELECT created_at FROM entries WHERE seq < ? ORDER BY seq DESC LIMIT 1', [seq]);
    const isModelFacing = content !== undefined && ['message', 'tool_result'].includes(content.type);
    this.insert('entries', {
      seq,
      uuid,
      session,
      parent: parent === undefined ? newestOf(this.target, session, seq) : parent,
      ...columns,
      model_facing: isModelFacing ? 1 : 0,
      display: 1,
      created_at: before?.['created_at'] ?? 0,
    });
    if (!this.has('entries', 'seq', seq)) return false;
    noteStandIn(this.target, uuid);
    if (isSound && body) this.insert('bodies', body);
    else this.insertDamagedBody(seq, body, null);
    return true;
  }

  /** Reads in order as far as the table leads, then what lies on its pages all the same. */
  private *read(table: string, key: readonly string[]): Generator<Row, void, void> {
    const seen = new Set<string>();
    const id = (row: Row) => JSON.stringify(key.map((_, i) => row[salvageKey(i)]));
    for (const row of readableRows(this.source, table, key, '*', () => this.damagedTables.add(table))) {
      seen.add(id(row));
      yield row;
    }
    if (!this.leaves || !this.damagedTables.has(table)) return;
    for (const row of this.leaves.rows(this.source, table, key)) if (!seen.has(id(row))) yield row;
  }

  private insert(table: string, row: Row): void {
    const columns = columnsOf(this.target, table).filter((column) => row[column] !== undefined);
    const sql = `INSERT INTO ${table}(${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
    try {
      this.target.run(
        sql,
        columns.map((column) => row[column] ?? null),
      );
    } catch (error) {
      if (!StoreError.is(error) || (error.reason !== 'invalid' && !/datatype mismatch/.test(error.message))) throw error;
      this.refused.set(table, (this.refused.get(table) ?? 0) + 1);
    }
  }

  private has(table: string, key: string, value: SqlValue): boolean {
    return this.target.get(`SELECT 1 FROM ${table} WHERE ${key} = ?`, [value]) !== undefined;
  }
}

const columns = new WeakMap<Connection, Map<string, readonly string[]>>();

function columnsOf(connection: Connection, table: string): readonly string[] {
  const known = columns.get(connection) ?? new Map<string, readonly string[]>();
  columns.set(connection, known);
  const names = known.get(table) ?? connection.all(`PRAGMA table_info(${table})`).map((row) => String(row['name']));
  known.set(table, names);
  return names;
}
