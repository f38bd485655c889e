import type { NewEntry } from './entry';
import type { UsageRecord } from '../cost/usage';
import type { AnalyticsQuery, AnalyticsRows } from '../analytics/rows';
import type { Session } from './session';

export interface AppendBatch {
  readonly entries: readonly NewEntry[];
  readonly usage?: readonly UsageRecord[];
  /** What the entries of this batch did to the notes. */
  readonly memoryWrites?: readonly MemoryWrite[];
  /**
   * The session's leaf as the caller knows it: where it is another one by now, or another window has claimed the session, the call
   * rejects with `conflict`, so that two windows cannot fork a session unawares. Omitted: entries may go anywhere (imports).
   */
  readonly after?: string | null;
  /** Numbers that the entries had in another store, one for each: kept as long as they are above all of this one's. */
  readonly seqs?: readonly number[];
  /** The queued message that stands in these entries: it leaves the queue with them, as in both places it would be sent twice. */
  readonly queued?: string;
}

/** A change of the model's notes, and the entry that made it. */
export interface MemoryWrite {
  readonly entry: string;
  readonly path: string;
  readonly op: string;
  readonly bytes: number;
  readonly at: number;
}

/** A piece of an answer that is still streaming. The chunks of an entry are dropped when the entry itself is appended. */
export interface PartialChunk {
  /** UUID that the finished entry will have. */
  readonly entry: string;
  readonly session: string;
  readonly parent: string | null;
  readonly kind: 'message' | 'thinking';
  readonly provider: string;
  readonly model: string;
  readonly createdAt: number;
  /** It holds only what was added since the last chunk. */
  readonly text: string;
  /** Length of the entry's text before this chunk, in UTF-16 units. A chunk that is sent again is recognised by it. */
  readonly offset?: number;
}

/** What another window has changed; the one that did it is not told. */
export type StoreChange =
  /** Appended. Too many to name are told as `branch`. */
  | { readonly kind: 'entries'; readonly session: string; readonly entries: readonly string[] }
  | { readonly kind: 'partial'; readonly session: string; readonly chunk: PartialChunk }
  /** `session`: its title, model, marks or place in lists. Null: of more than one session. */
  | { readonly kind: 'session' | 'branch' | 'draft'; readonly session: string | null }
  /** A window has ended whose messages in the queue wait for another (`SessionStore.queue`). */
  | { readonly kind: 'queue'; readonly session: null }
  /** Another window has begun (`holder`: how it is called) or ended an operation in the session. */
  | { readonly kind: 'claim'; readonly session: string; readonly holder: string | null }
  /** Another window asks for the operation in this session, which this window runs, to be stopped. */
  | { readonly kind: 'stop'; readonly session: string }
  /** The owner was another one for a moment: anything may have changed unseen. */
  | { readonly kind: 'all' };

export type ClaimOutcome =
  /** `leaf`: where the session stands, for a caller that has it in memory. */
  { readonly granted: true; readonly leaf: string | null } | { readonly granted: false; readonly holder: string };

/** What another window is doing in a session. */
export interface Activity {
  /** How the other window is called; null: none is doing anything. */
  readonly holder: string | null;
  /** Its blocks that are streaming, with all of their text so far, oldest first. */
  readonly streaming: readonly PartialChunk[];
}

/** Something that compaction never folds. */
export interface Pin {
  readonly session: string;
  readonly kind: 'entry' | 'file' | 'text';
  /** Entry uuid, path, or the text itself. */
  readonly target: string;
  /** The content had this hash when it was pinned; null where there is none. */
  readonly contentHash: string | null;
  readonly at: number;
}

/** A session as it is carried from one store to another. What a store derives from the entries is not in it. */
export type SessionRecord = Omit<Session, 'leaf' | 'totalTokens' | 'messageCount'>;

/** What a store offers beside the work on one conversation: whole sessions in and out, and sums over all of them. */
export interface SessionTransfer {
  /** Numbers of all entries that belong to the session: its own on every branch, those a fork shares, and the marks on these. */
  entrySeqs(session: string): Promise<number[]>;
  /** Resolves with those of the session and of the entries that it shares, in an order that is always the same. */
  usageRecords(session: string): Promise<UsageRecord[]>;
  /**
   * Get-or-create by uuid, with the leaf nowhere yet. The human id and the key are kept where they are free; elsewhere the id is
   * the next one of its day, and the key is made from the uuid.
   */
  restoreSession(session: SessionRecord): Promise<{ readonly session: Session; readonly created: boolean }>;
  /** Tells which of these (`NewEntry.sourceId`) are stored, and as what. */
  knownSources(sourceIds: readonly string[]): Promise<{ readonly sourceId: string; readonly entry: string }[]>;
  /** Tells which of these operations of compactions are recorded. */
  knownOperations(operationIds: readonly string[]): Promise<string[]>;
  /**
   * Does what `SessionStore.append` does, for thousands of entries: they do not come back, only the uuids under which they are stored now.
   */
  importEntries(session: string, batch: AppendBatch): Promise<string[]>;
  analyticsRows(query: AnalyticsQuery): Promise<AnalyticsRows>;
}
