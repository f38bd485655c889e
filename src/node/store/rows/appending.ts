import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { markTypes, type StoredEntry } from '../../../core/session/entry';
import type { AppendBatch, StoreChange } from '../../../core/session/storage';
import type { Connection } from '../database/connection';
import type { DraftRows } from './draftRows';
import type { EntryRows, InsertedBefore } from './entryRows';
import type { Operations } from '../client/storeCalls';
import type { PartialRows } from './partialRows';
import type { SessionRows } from './sessionRows';
import type { MemoryWriteRows } from './smallTables';
import type { TreeRows } from './treeRows';
import type { UsageRows } from './usageRows';

interface AppendNeeds {
  readonly connection: Connection;
  readonly sessions: SessionRows;
  readonly entries: EntryRows;
  readonly partials: PartialRows;
  readonly usage: UsageRows;
  readonly memory: MemoryWriteRows;
  readonly tree: TreeRows;
  readonly drafts: DraftRows;
}

/** What adds entries to a session, and moves its leaf and its sums with them. */
export const appendOperations = {
  append: { run: append, tells: (entries, session) => added(session, entries.map(uuidOf)) },

  importEntries: {
    run: (open, session, batch) => append(open, session, batch).map(uuidOf),
    tells: (entries, session) => added(session, entries),
  },

  recoverPartials: {
    run: ({ connection, sessions, entries, partials, tree }, session) => {
      if (partials.leftBehind(session).length === 0) return [];
      return connection.transaction(() => {
        const recovered: StoredEntry[] = [];
        for (const entry of partials.leftBehind(session)) {
          partials.drop([entry.uuid]);
          if (!('text' in entry.content) || entry.content.text === '') continue;
          const { leaf, updatedAt } = sessions.require(session);
          // Where the conversation stands, unless the text belongs to a branch that has been left: off the branch nobody would see
          // it. The parent may also have died unwritten with the same process.
          const isElsewhere = entry.parent !== null && entries.find(entry.parent) !== undefined && !tree.isOnBranch(entry.parent, leaf);
          const parent = isElsewhere ? entry.parent : leaf;
          const { entry: stored } = entries.insert({ ...entry, parent });
          recovered.push(stored);
          noteAppended(connection, session, [stored], isElsewhere ? leaf : stored.uuid, updatedAt);
        }
        return recovered;
      });
    },
    tells: (entries, session) => added(session, entries.map(uuidOf)),
  },
} satisfies Partial<Operations<AppendNeeds>>;

function append(open: AppendNeeds, session: string, batch: AppendBatch): StoredEntry[] {
  const { connection, entries, partials } = open;
  return connection.transaction(() => {
    const { leaf } = open.sessions.require(session);
    const uuids = batch.entries.map(uuidOf);
    const known = entries.known(uuids);
    const isNew = batch.entries.some(({ uuid, content }) => !markTypes.has(content.type) && !known.has(uuid));
    if (batch.after !== undefined && isNew && leaf !== batch.after) {
      throw new StoreError('conflict', english('Session {0} goes on from {1}, not from {2}', session, String(leaf), String(batch.after)));
    }
    if (uuids.length > 0) partials.drop(uuids);
    let before: InsertedBefore | undefined;
    const results = batch.entries.map((entry, index) => {
      if (entry.session !== session)
        throw new StoreError('invalid', english('Entry {0} belongs to session {1}', entry.uuid, entry.session));
      const result = entries.insert(entry, batch.seqs?.[index], before, known.has(entry.uuid));
      known.add(entry.uuid);
      if (result.added) before = { seq: result.entry.seq, parent: markTypes.has(entry.content.type) ? null : entry.uuid };
      return result;
    });
    const appended = results.filter((result) => result.added).map((result) => result.entry);
    for (const record of batch.usage ?? []) open.usage.add(session, record);
    for (const write of batch.memoryWrites ?? []) open.memory.add(write);
    if (batch.queued !== undefined) open.drafts.unqueue(session, batch.queued);
    if (appended.length > 0) noteAppended(connection, session, appended, lastMainEntry(appended), latest(appended));
    return results.map((result) => result.entry);
  });
}

function noteAppended(
  connection: Connection,
  session: string,
  appended: readonly StoredEntry[],
  leaf: string | null,
  updatedAt: number,
): void {
  connection.run(
    `UPDATE sessions SET leaf_entry = coalesce(?, leaf_entry), updated_at = max(updated_at, ?),
       total_tokens = total_tokens + ?, message_count = message_count + ? WHERE uuid = ?`,
    [
      leaf,
      updatedAt,
      appended.reduce((sum, entry) => sum + (entry.tokenEstimate ?? 0), 0),
      appended.filter((entry) => entry.content.type === 'message').length,
      session,
    ],
  );
}

/** Side entries never move the leaf. */
function lastMainEntry(appended: readonly StoredEntry[]): string | null {
  return appended.findLast((entry) => !markTypes.has(entry.content.type))?.uuid ?? null;
}

function latest(appended: readonly StoredEntry[]): number {
  return Math.max(...appended.map((entry) => entry.createdAt));
}

/** More entries than this are not named one by one: they are an import. */
const mostNamed = 200;

function added(session: string, entries: readonly string[]): StoreChange | null {
  if (entries.length === 0) return null;
  return entries.length > mostNamed ? { kind: 'branch', session } : { kind: 'entries', session, entries };
}

function uuidOf({ uuid }: { readonly uuid: string }): string {
  return uuid;
}
