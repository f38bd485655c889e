import type { AppendBatch } from './appendBatch';
import type { AnalyticsQuery, AnalyticsRows } from '../analytics/rows';
import type { UsageRecord } from '../cost/usage';
import type { Session } from './session';

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
  /** Does what `SessionStore.append` does, for thousands of entries: they do not come back, only the uuids under which they are stored now. */
  importEntries(session: string, batch: AppendBatch): Promise<string[]>;
  analyticsRows(query: AnalyticsQuery): Promise<AnalyticsRows>;
}
