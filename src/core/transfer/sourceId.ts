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
