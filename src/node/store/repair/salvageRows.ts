import type { Connection, Row, SqlValue } from '../database/connection';

/** Numbers in a gap that are asked for one by one: a damaged page of the file hides a few dozen rows. */
const probeLimit = 500;

/**
 * Every row of a table that can be read, by the columns of a key that an index or the table itself is ordered by: upwards to the
 * first damaged page, downwards to the last, and what lies between by number where the key is one. `onDamage` is told once when
 * rows may be missing. Never throws.
 */
export function* readableRows(
  source: Connection,
  table: string,
  key: readonly string[],
  columns = '*',
  onDamage: () => void = () => undefined,
): Generator<Row, void, void> {
  const select = `SELECT ${key.map((column, i) => `${column} AS ${salvageKey(i)}`).join(', ')}, ${columns} FROM ${table}`;
  const up = new Walk(key.length, 1);
  yield* up.rows(source, `${select} ORDER BY ${key.join(', ')}`);
  if (up.complete) return;
  onDamage();
  const down = new Walk(key.length, -1, up.last);
  yield* down.rows(source, `${select} ORDER BY ${key.map((column) => `${column} DESC`).join(', ')}`);
  if (down.complete || key.length > 1 || !numericKeys.includes(key[0] ?? '')) return;
  if (!up.last && !down.last) return;
  const low = Number(up.last?.[0] ?? 0);
  const high = Number(down.last?.[0] ?? low + probeLimit);
  const first = Math.max(low + 1, up.last ? low + 1 : high - probeLimit);
  for (let number = first; number < Math.min(high, first + probeLimit); number++) {
    try {
      const row = source.get(`${select} WHERE ${key[0]} = ?`, [number]);
      if (row) yield row;
    } catch {
      // This one is lost.
    }
  }
}

const numericKeys: readonly string[] = ['seq', 'entry', 'rowid'];

type Key = readonly SqlValue[];

/** One pass in key order; ends at damage, at a key out of order (a damaged page may lead in circles), or where another pass began. */
class Walk {
  last: Key | undefined;
  complete = false;

  constructor(
    private readonly keyLength: number,
    private readonly direction: 1 | -1,
    private readonly stopAt?: Key,
  ) {}

  *rows(source: Connection, sql: string): Generator<Row, void, void> {
    const rows = source.iterate(sql);
    for (;;) {
      let next: IteratorResult<Row, void>;
      try {
        next = rows.next();
      } catch {
        return;
      }
      if (next.done) break;
      const row = next.value;
      const key = Array.from({ length: this.keyLength }, (_, i) => row[salvageKey(i)] ?? null);
      if (this.stopAt && compare(key, this.stopAt) <= 0) break;
      if (this.last && compare(key, this.last) * this.direction <= 0) return;
      this.last = key;
      yield row;
    }
    this.complete = true;
  }
}

/** Under this name each column of a row's key is told beside the row. */
export function salvageKey(i: number): string {
  return `salvage_key_${i}`;
}

/** SQLite orders them so: nothing, numbers, text by its bytes. */
function compare(a: Key, b: Key): number {
  for (const [i, left] of a.entries()) {
    const right = b[i] ?? null;
    const order =
      rank(left) - rank(right) ||
      (typeof left === 'number' && typeof right === 'number' ? left - right : bytes(left).compare(bytes(right)));
    if (order !== 0) return order;
  }
  return 0;
}

function rank(value: SqlValue): number {
  return value === null ? 0 : typeof value === 'number' ? 1 : typeof value === 'string' ? 2 : 3;
}

function bytes(value: SqlValue): Buffer {
  return value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(String(value));
}
