import type { SqlValue } from 'sql.js';
import { english } from '../../../core/l10n';

/** What any database may take, whatever its size: a second or two. */
const freeRows = 1_000_000;
const freeBytes = 8 * 1024 * 1024;
/** A table without an index is gone through for each session. */
const rowsPerByte = 1;
const bytesPerByte = 4;
/** Rows between two looks at whether it is to stop. */
const heedEvery = 4096;

/**
 * How much is read of a foreign database in all. In one that is whole there are far fewer rows, and hardly more bytes, than the file is
 * long;
 * pages that lead back to each other, or a default of megabytes for a column that no row has, make as much as one likes of a few KB.
 */
export class ReadBounds {
  private rows: number;
  private bytes: number;
  private untilHeed = heedEvery;
  /** `visited` threw it. */
  thrown: unknown;

  /** `heed`: throws once it is stopped. */
  constructor(
    size: number,
    private readonly heed: () => void = () => undefined,
  ) {
    this.rows = freeRows + size * rowsPerByte;
    this.bytes = freeBytes + size * bytesPerByte;
  }

  /** Called from within SQLite, for every row that it comes to. Throws when there have been too many. */
  visited(): number {
    try {
      if (--this.rows < 0) throw tooMuch();
      if (--this.untilHeed <= 0) {
        this.untilHeed = heedEvery;
        this.heed();
      }
      return 1;
    } catch (error) {
      this.thrown = error;
      throw error;
    }
  }

  took(row: Readonly<Record<string, SqlValue>>): void {
    for (const value of Object.values(row)) if (typeof value === 'string' || value instanceof Uint8Array) this.bytes -= value.length;
    if (this.bytes < 0) throw tooMuch();
  }
}

function tooMuch(): Error {
  return new Error(
    english('There is more to read in the database than can be in a file of its size: it is damaged, or made so that it never ends.'),
  );
}

/** https://www.sqlite.org/fileformat2.html#b_tree_pages */
const interiorTable = 5;
const fileHeaderBytes = 100;

/**
 * Throws where the tree of the schema, which SQLite reads before anything can be asked of it, has a page twice: a few pages that lead to
 * each
 * other would keep it reading for ever. Whatever else is wrong SQLite says itself.
 */
export function checkSchemaTree(read: (into: Uint8Array, position: number) => void, size: number): void {
  const bytes = Buffer.alloc(2);
  if (size < fileHeaderBytes) return;
  read(bytes, 16);
  const stored = bytes.readUInt16BE(0);
  const pageSize = stored === 1 ? 65_536 : stored;
  if (pageSize < 512) return;
  const page = Buffer.alloc(pageSize);
  const seen = new Set<number>();
  const left = [1];
  for (let number = left.pop(); number !== undefined; number = left.pop()) {
    if (seen.has(number)) throw new Error(english('The schema of the database is damaged.'));
    seen.add(number);
    const position = (number - 1) * pageSize;
    if (number < 1 || position + pageSize > size) continue;
    read(page, position);
    const start = number === 1 ? fileHeaderBytes : 0;
    if (page[start] !== interiorTable) continue;
    left.push(page.readUInt32BE(start + 8));
    const cells = Math.min(page.readUInt16BE(start + 3), Math.floor((pageSize - start - 12) / 2));
    for (let i = 0; i < cells; i++) {
      const at = page.readUInt16BE(start + 12 + 2 * i);
      if (at + 4 <= pageSize) left.push(page.readUInt32BE(at));
    }
  }
}
