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

/** What tells the rows of one table from those of another. */
interface Shape {
  /** They stand here as in a record: the primary key comes first where the table has no rowid. */
  readonly columns: readonly { readonly name: string; readonly type: string; readonly notNull: boolean; readonly isRowid: boolean }[];
  readonly hasRowid: boolean;
}

/**
 * The rows of tables found page by page, for tables of which a page that leads to the others is lost. Rows are told apart by the
 * number and the types of their columns. Format: https://www.sqlite.org/fileformat2.html#b_tree_pages
 */
export class SalvageLeaves {
  private readonly view: DataView;
  private readonly unused: ReadonlySet<number>;

  constructor(
    private readonly image: Uint8Array,
    private readonly pageSize: number,
  ) {
    this.view = new DataView(image.buffer, image.byteOffset, image.byteLength);
    this.unused = this.freePages();
  }

  /** Every row of the table that is on some page in use, once by its key; of several versions of a session the newest. */
  rows(source: Connection, table: string, key: readonly string[]): Row[] {
    const shape = shapeOf(source, table);
    const found: Row[] = [];
    for (let page = 1; page * this.pageSize <= this.image.length; page++) {
      if (!this.unused.has(page)) found.push(...this.rowsOn(page, shape));
    }
    found.sort((x, y) => Number(y['updated_at'] ?? 0) - Number(x['updated_at'] ?? 0));
    const byKey = new Map<string, Row>();
    for (const row of found) {
      const keyed = { ...row, ...Object.fromEntries(key.map((column, i) => [salvageKey(i), row[column] ?? null])) };
      const id = JSON.stringify(key.map((column) => row[column]));
      if (!byKey.has(id)) byKey.set(id, keyed);
    }
    return [...byKey.values()];
  }

  private *rowsOn(page: number, shape: Shape): Generator<Row, void, void> {
    const start = (page - 1) * this.pageSize;
    const header = start + (page === 1 ? 100 : 0);
    const type = this.view.getUint8(header);
    // In a table without rowid the inner pages hold rows, too.
    const isInner = type === 0x02;
    if (shape.hasRowid ? type !== 0x0d : type !== 0x0a && !isInner) return;
    const cells = this.view.getUint16(header + 3);
    const pointers = header + (isInner ? 12 : 8);
    for (let i = 0; i < cells && pointers + 2 * i + 2 <= start + this.pageSize; i++) {
      const row = this.rowAt(start, start + this.view.getUint16(pointers + 2 * i) + (isInner ? 4 : 0), shape);
      if (row) yield row;
    }
  }

  private rowAt(start: number, at: number, shape: Shape): Row | undefined {
    try {
      const length = varint(this.image, at);
      const rowid = shape.hasRowid ? varint(this.image, length.end) : { value: 0, end: length.end };
      const payload = this.payload(start, rowid.end, length.value, shape.hasRowid);
      return payload && decode(payload, shape, rowid.value);
    } catch (error) {
      // A number that leads out of the file.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  private payload(start: number, at: number, length: number, hasRowid: boolean): Uint8Array | undefined {
    const usable = this.pageSize;
    if (length < 2 || length > this.image.length) return undefined;
    const most = hasRowid ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23;
    const least = Math.floor(((usable - 12) * 32) / 255) - 23;
    const spill = least + ((length - least) % (usable - 4));
    const local = length <= most ? length : spill <= most ? spill : least;
    if (at + local > start + usable) return undefined;
    const payload = new Uint8Array(length);
    payload.set(this.image.subarray(at, at + local));
    let next = local < length ? this.view.getUint32(at + local) : 0;
    for (let filled = local; filled < length; filled += usable - 4) {
      if (next < 2 || next * usable > this.image.length) return undefined;
      const page = (next - 1) * usable;
      payload.set(this.image.subarray(page + 4, page + 4 + Math.min(usable - 4, length - filled)), filled);
      next = this.view.getUint32(page);
    }
    return payload;
  }

  private freePages(): Set<number> {
    const free = new Set<number>();
    for (let trunk = this.view.getUint32(32); trunk > 1 && trunk * this.pageSize <= this.image.length && !free.has(trunk); ) {
      free.add(trunk);
      const at = (trunk - 1) * this.pageSize;
      const leaves = Math.min(this.view.getUint32(at + 4), this.pageSize / 4 - 2);
      for (let i = 0; i < leaves; i++) free.add(this.view.getUint32(at + 8 + 4 * i));
      trunk = this.view.getUint32(at);
    }
    return free;
  }
}

function shapeOf(source: Connection, table: string): Shape {
  const sql = String(source.get('SELECT sql FROM sqlite_master WHERE name = ?', [table])?.['sql'] ?? '');
  const hasRowid = !/WITHOUT ROWID\s*$/i.test(sql);
  const info = source.all(`PRAGMA table_info(${table})`);
  const keyLength = info.filter((row) => Number(row['pk']) > 0).length;
  const columns = info.map((row) => {
    const type = String(row['type']).toUpperCase();
    const pk = Number(row['pk']);
    return {
      name: String(row['name']),
      type,
      notNull: row['notnull'] === 1,
      isRowid: hasRowid && type === 'INTEGER' && pk === 1 && keyLength === 1,
      pk: pk || Infinity,
    };
  });
  return { columns: hasRowid ? columns : [...columns].sort((x, y) => (x.pk === y.pk ? 0 : x.pk - y.pk)), hasRowid };
}

/** Undefined when the record is not one of this shape. */
function decode(payload: Uint8Array, { columns, hasRowid }: Shape, rowid: number): Row | undefined {
  const header = varint(payload, 0);
  const view = new DataView(payload.buffer);
  const row: Record<string, SqlValue> = {};
  let at = header.value;
  let typeAt = header.end;
  for (const column of columns) {
    if (typeAt >= header.value) return undefined;
    const { value: serial, end } = varint(payload, typeAt);
    typeAt = end;
    const size = serialSize(serial);
    if (size === undefined || at + size > payload.length) return undefined;
    const value = serialValue(view, at, serial, size);
    at += size;
    if (column.isRowid ? value !== null : !fits(value, column.type, column.notNull)) return undefined;
    row[column.name] = column.isRowid ? rowid : value;
  }
  if (typeAt !== header.value || at !== payload.length) return undefined;
  return hasRowid ? { ...row, rowid } : row;
}

function fits(value: SqlValue, type: string, notNull: boolean): boolean {
  if (value === null) return !notNull;
  if (type === 'INTEGER' || type === 'REAL') return typeof value === 'number';
  return type !== 'TEXT' || typeof value !== 'number';
}

function serialSize(serial: number): number | undefined {
  if (serial >= 12) return Math.floor((serial - 12) / 2);
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0][serial];
}

function serialValue(view: DataView, at: number, serial: number, size: number): SqlValue {
  if (serial === 0) return null;
  if (serial === 7) return view.getFloat64(at);
  if (serial === 8 || serial === 9) return serial - 8;
  if (serial === 6) return Number(view.getBigInt64(at));
  const bytes = Buffer.from(view.buffer, view.byteOffset + at, size);
  if (serial < 12) return bytes.readIntBE(0, size);
  return serial % 2 === 0 ? new Uint8Array(bytes) : bytes.toString('utf8');
}

/** Big-endian groups of seven bits, the ninth byte whole. Throws `RangeError` beyond the end. */
function varint(bytes: Uint8Array, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let i = 0; i < 9; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) throw new RangeError('A number ends beyond the data');
    if (i === 8) return { value: value * 256 + byte, end: at + 9 };
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end: at + i + 1 };
  }
  throw new RangeError('No number');
}
