import { sourceIdOf, type SourceRecord } from '../../../core/transfer/sourceRecord';
import type { ImportStore } from './importStore';

/** How a part of a record is called, now and by earlier versions of this program. */
export interface SourceNames {
  readonly sourceId: string;
  readonly former: readonly string[];
}

export function namesOf(format: string, session: string, record: SourceRecord, part: number): SourceNames {
  const former = (record.former ?? []).map((one) => sourceIdOf(format, session, one, one.part + part));
  return { sourceId: sourceIdOf(format, session, record, part), former };
}

/** What earlier versions of this program have stored under another name; of the names of an entry the first that is there counts. */
export async function formerEntries(
  store: Pick<ImportStore, 'knownSources'>,
  ready: readonly SourceNames[],
  known: ReadonlyMap<string, string>,
): Promise<[sourceId: string, entry: string][]> {
  const unknown = ready.filter(({ sourceId, former }) => former.length > 0 && !known.has(sourceId));
  if (unknown.length === 0) return [];
  const found = await store.knownSources(unknown.flatMap(({ former }) => former));
  const entries = new Map(found.map(({ sourceId, entry }) => [sourceId, entry]));
  return unknown.flatMap(({ sourceId, former }): [string, string][] => {
    const entry = former.map((one) => entries.get(one)).find((one) => one !== undefined);
    return entry === undefined ? [] : [[sourceId, entry]];
  });
}
