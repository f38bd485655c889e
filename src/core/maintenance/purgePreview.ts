/** What deleting sessions for good takes away. */
export interface PurgePreview {
  /** UUIDs of those that are there. */
  readonly sessions: readonly string[];
  readonly entries: number;
  /** Entries that stay because another session shares them or has pinned them; they belong to that session from then on. */
  readonly keptEntries: number;
  /** Of the entries that go and of the files that nobody else needs. The database file does not shrink, it is filled again. */
  readonly bytes: number;
}
