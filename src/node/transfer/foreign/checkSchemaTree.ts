import { english } from '../../../core/l10n';

/** https://www.sqlite.org/fileformat2.html#b_tree_pages */
const interiorTable = 5;
const fileHeaderBytes = 100;

/**
 * Throws where the tree of the schema, which SQLite reads before anything can be asked of it, has a page twice: a few pages that lead to each
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
