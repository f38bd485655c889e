import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { FileContentLimits, LetGo } from '../../../core/maintenance/reports';
import { fileContentMime, letGoMime } from '../../../core/rewind/fileChanges';
import type { Operations } from '../client/storeCalls';
import type { Connection, Row } from '../database/connection';
import { blobFile } from './blobFiles';

/** What nobody names may be about to be named: a call writes contents before it is recorded. */
const graceMs = 24 * 60 * 60 * 1000;

/** Contents of files before and after calls: the only blobs that are let go while an entry names them. */
export class FileContents {
  constructor(
    private readonly connection: Connection,
    private readonly folder: string,
  ) {}

  /** What is used by older entries goes first. What cannot be removed now is removed the next time. Throws `StoreError`. */
  trim({ before, mostBytes, now }: FileContentLimits): LetGo {
    const kept = new Map(
      this.connection
        .all('SELECT hash, bytes FROM blobs WHERE mime = ?', [fileContentMime])
        .map((row) => [String(row['hash']), Number(row['bytes'])]),
    );
    const lastUse = kept.size === 0 ? new Map<string, number>() : this.lastUses(kept);
    const orphans = [...kept.keys()].filter((hash) => !lastUse.has(hash) && this.age(hash, now) > graceMs);
    const oldestFirst = [...lastUse].sort((a, b) => a[1] - b[1]).map(([hash, at]) => ({ hash, at, bytes: kept.get(hash)! }));
    let left = oldestFirst.reduce((sum, { bytes }) => sum + bytes, 0);
    const gone: typeof oldestFirst = [];
    for (const one of oldestFirst) {
      if (!(before !== null && one.at < before) && !(mostBytes !== null && left > mostBytes)) break;
      left -= one.bytes;
      gone.push(one);
    }
    if (gone.length + orphans.length > 0)
      this.connection.transaction(() => {
        for (const { hash } of gone) this.connection.run('UPDATE blobs SET mime = ?, bytes = 0 WHERE hash = ?', [letGoMime, hash]);
        for (const hash of orphans) this.connection.run('DELETE FROM blobs WHERE hash = ?', [hash]);
      });
    this.removeFiles(orphans);
    return { contents: gone.length, bytes: gone.reduce((sum, { bytes }) => sum + bytes, 0), left };
  }

  /** When each was named last. */
  private lastUses(kept: ReadonlyMap<string, number>): Map<string, number> {
    const found = new Map<string, number>();
    const rows = this.connection.iterate(
      "SELECT e.created_at AS at, b.content_json AS content, b.blob_hash AS file FROM entries e CROSS JOIN bodies b ON b.entry = e.seq WHERE e.entry_type = 'file_changes'",
    );
    for (const row of rows)
      for (const [hash] of this.textOf(row).matchAll(/\b[0-9a-f]{64}\b/g))
        if (kept.has(hash)) found.set(hash, Math.max(found.get(hash) ?? 0, Number(row['at'])));
    return found;
  }

  /** A mark of very many files stands in a file of its own, and its row has only the ends of it. Throws when that cannot be read now. */
  private textOf({ content, file }: Row): string {
    const path = typeof file === 'string' ? blobFile(this.folder, file) : null;
    return path !== null && existsSync(path) ? readFileSync(path, 'utf8') : String(content);
  }

  private age(hash: string, now: number): number {
    return now - (statSync(blobFile(this.folder, hash), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  }

  /** Files that were let go before are removed as well: the process may have died between the row and the file. */
  private removeFiles(orphans: readonly string[]): void {
    const gone = this.connection.all('SELECT hash FROM blobs WHERE mime = ?', [letGoMime]).map((row) => String(row['hash']));
    for (const file of [...orphans, ...gone].map((hash) => blobFile(this.folder, hash)))
      if (existsSync(file)) rmSync(file, { force: true });
  }
}

export const fileContentOperations = { trimFileContents: ({ fileContents }, limits) => fileContents.trim(limits) } satisfies Partial<
  Operations<{ readonly fileContents: FileContents }>
>;
