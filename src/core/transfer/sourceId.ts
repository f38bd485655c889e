import type { SourceRecord } from './sourceRecord';

/** Names a part of a foreign record, unique per store (`NewEntry.sourceId`). */
export function sourceIdOf(format: string, session: string, { id, hash }: Pick<SourceRecord, 'id' | 'hash'>, part: number): string {
  return `${format}:${session}:${id}:${hash}/${part}`;
}

/** The record of `session` that an entry was made from; undefined: of none. */
export function recordOfSource(format: string, session: string, sourceId: string | null | undefined): string | undefined {
  const start = `${format}:${session}:`;
  return sourceId?.startsWith(start) ? /^(.*):[^:/]*\/\d+$/s.exec(sourceId.slice(start.length))?.[1] : undefined;
}

const ownImport = 'threadkeeper:';

/**
 * Names an entry that an export of this program has brought along and that no other source names. Whoever has one was not made here, and
 * says nothing in the program's name.
 */
export function importedId(entry: string): string {
  return ownImport + entry;
}

/** Whether it only says that the entry was imported, and not from where. */
export function isImportedId(sourceId: string): boolean {
  return sourceId.startsWith(ownImport);
}
