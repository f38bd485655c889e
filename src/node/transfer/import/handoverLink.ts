import { isEntryOf, type ContentOf, type EntryOf } from '../../../core/session/entry';
import type { Session } from '../../../core/session/session';
import { recordOfSource } from '../../../core/transfer/sourceRecord';
import type { ImportStore } from './importStore';

/** Names the mark of a session that was handed over (`NewEntry.sourceId`). */
export function handoverSource(program: string, id: string): string {
  return `handed-over:${program}:${id}`;
}

/**
 * A session of another program that was written from one of ours: what is said there goes on in ours, behind the entries that its first
 * records were made from.
 */
export class HandoverLink {
  private readonly records: ReadonlyMap<string, string>;

  private constructor(
    readonly session: Session,
    private readonly mark: ContentOf<'handed_over'>,
  ) {
    this.records = new Map(Object.entries(mark.records));
  }

  /** Null: the session was not written from here, or ours has gone. */
  static async find(
    store: Pick<ImportStore, 'knownSources' | 'entries' | 'session'>,
    program: string,
    id: string,
  ): Promise<HandoverLink | null> {
    const [known] = await store.knownSources([handoverSource(program, id)]);
    const [entry] = known ? await store.entries([known.entry]) : [];
    const session = entry && isEntryOf(entry, 'handed_over') ? await store.session(entry.session) : undefined;
    return session ? new HandoverLink(session, (entry as EntryOf<'handed_over'>).content) : null;
  }

  /** Finds which sources were written from entries of ours, and from which. The program may have written them again in other words. */
  async own(store: Pick<ImportStore, 'entries'>, sourceIds: readonly string[]): Promise<[sourceId: string, entry: string][]> {
    const { program, id } = this.mark;
    const own = sourceIds.flatMap((sourceId): [string, string][] => {
      const entry = this.records.get(recordOfSource(program, id, sourceId) ?? '');
      return entry === undefined ? [] : [[sourceId, entry]];
    });
    const there = new Set((await store.entries([...new Set(own.map(([, entry]) => entry))])).map(({ uuid }) => uuid));
    return own.filter(([, entry]) => there.has(entry));
  }

  /** Whether this source is one of the program's session. */
  isOf(sourceId: string | null | undefined): boolean {
    return recordOfSource(this.mark.program, this.mark.id, sourceId) !== undefined;
  }
}

/** What was written to a source from this session, and says so, is there already under another name. */
export async function ownEntries(
  store: Pick<ImportStore, 'entries'>,
  ready: readonly { readonly sourceId: string; readonly entry: string | undefined }[],
  session: string,
): Promise<[sourceId: string, entry: string][]> {
  const own = ready.flatMap(({ sourceId, entry }): [string, string][] => (entry === undefined ? [] : [[sourceId, entry]]));
  if (own.length === 0) return [];
  const found = (await store.entries(own.map(([, entry]) => entry))).filter((entry) => entry.session === session);
  const there = new Set(found.map(({ uuid }) => uuid));
  return own.filter(([, entry]) => there.has(entry));
}
