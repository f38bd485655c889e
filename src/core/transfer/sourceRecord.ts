import type { UsageRecord } from '../cost/usage';
import type { EntryContent, ContentOf } from '../session/entry';

/** What a reader of a foreign format finds, in the order of the source. The same events come from a file and from one that grows. */
export type SourceEvent =
  /** Begins a session; what follows belongs to it. */
  | { readonly type: 'session'; readonly session: SourceSession }
  | { readonly type: 'record'; readonly record: SourceRecord }
  /** The last one of the highest rank is the title. */
  | { readonly type: 'title'; readonly title: string; readonly rank: number }
  | { readonly type: 'cwd'; readonly cwd: string }
  /** The record that the conversation goes on from, instead of the last one; null: from the root. */
  | { readonly type: 'leaf'; readonly record: string | null }
  | { readonly type: 'repaired'; readonly kind: string };

export type SessionEvent = Extract<SourceEvent, { type: 'session' }>;

export interface SourceSession {
  /** The source calls the session so; with the format it makes the session's key, by which it is found again. */
  readonly id: string;
  readonly cwd?: string | null;
  readonly createdAt?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The source says it when the session comes here; from then on it is the user's. */
  readonly archivedAt?: number;
  readonly pinnedAt?: number;
  /** The amount is in US dollars. */
  readonly costLimit?: number;
}

/** A record of the source, made into entries that follow each other. */
export interface SourceRecord {
  /** Unique within the session; records that have none are numbered. */
  readonly id: string;
  /** The record that it follows; null: a root; undefined: it becomes part of the one before it, whatever follows that one follows it. */
  readonly parent: string | null | undefined;
  /** Null: the time of the record before it. */
  readonly at: number | null;
  /** Tells versions of a record apart; of the source's own bytes. */
  readonly hash: string;
  readonly parts: readonly RecordPart[];
  /** Belongs to a branch that the conversation does not go on from (a sub-task). */
  readonly aside?: boolean;
  /** UUID of the entry that it was written from, when it comes back from where it was sent. */
  readonly entry?: string;
  /** Names under which earlier versions of this program have stored its first part, and so on from there. */
  readonly former?: readonly FormerName[];
}

export interface FormerName extends Pick<SourceRecord, 'id' | 'hash'> {
  readonly part: number;
}

/**
 * In `content`, what names entries (`firstKeptEntry`, `target`, `branchLeaf`) names records of the source; it is translated when the
 * entry is stored.
 */
export interface RecordPart {
  readonly content: EntryContent;
  readonly modelFacing: boolean;
  readonly display: boolean;
  readonly usage?: Omit<UsageRecord, 'entry' | 'at' | 'kind'>;
  /** `usage` is of all of the session so far: what is stored of it by then is taken off. */
  readonly usageIsTotal?: true;
  readonly pictures?: readonly Picture[];
  /** A mark of `file_changes` has these: what stood in files and came to stand there. */
  readonly edits?: readonly HeldEdit[];
}

/** What a source holds of an edit: a file before and after; null: there was none. */
export interface HeldEdit {
  readonly folder: string;
  /** Relative to it, with `/`. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Base64, as it stands in the source. */
export interface Picture {
  readonly mime: string;
  readonly data: string;
}

/** Said by somebody: shown, and sent to a model. */
export function said(content: EntryContent, more: Partial<RecordPart> = {}): RecordPart {
  return { content, modelFacing: true, display: true, ...more };
}

/** Kept, and neither shown nor sent. */
export function kept(content: EntryContent): RecordPart {
  return { content, modelFacing: false, display: false };
}

/** Shown, not sent. */
export function noted(content: EntryContent): RecordPart {
  return { content, modelFacing: false, display: true };
}

/** `custom` entries of an import begin with it. */
export const rawPrefix = 'import:';

/** A record that is not known, as it came: kept with the history, shown to nobody but those who look for it. */
export function unreadable(kind: string, data: unknown): ContentOf<'custom'> {
  return { type: 'custom', customType: `${rawPrefix}${kind}`, data: data ?? null };
}

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

/** Names the operation of a compaction, which is recorded once in a store, where another entry has recorded the same one. */
export function ownOperation(operation: string, entry: string): string {
  return `${operation}/${entry}`;
}

/** Whether it only says that the entry was imported, and not from where. */
export function isImportedId(sourceId: string): boolean {
  return sourceId.startsWith(ownImport);
}
