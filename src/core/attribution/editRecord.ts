import type { FileChanges } from '../rewind/fileChanges';
import type { StoredEntry } from '../session/entry';

/** A passage of a file and what a call has made of it. */
export interface TextEdit {
  readonly path: string;
  /** What stood in its place; null: the file was written as a whole, and what was there before is not known. */
  readonly before: string | null;
  readonly after: string;
}

/** An edit of the file that is asked about. */
export interface CandidateEdit extends TextEdit {
  /** UUID of the entry that did it. */
  readonly entry: string;
  readonly at: number;
  /** It holds all of the file, before and after. */
  readonly isWhole?: boolean;
}

/** A call that may have changed a file, or an answer that may hold blocks of changes. */
export interface FileEditRecord {
  readonly entry: StoredEntry;
  /** The folder in which its session is at home. */
  readonly cwd: string | null;
  /** What it has done to files, as it was recorded; null: only what the call says is known. */
  readonly changes: FileChanges | null;
}

export interface FoundEdits {
  readonly records: readonly FileEditRecord[];
  /** There are older ones, which are left out. */
  readonly isCut: boolean;
}

/** What was said around an entry, on its branch. */
export interface ExchangeAround {
  /** The message of the user that it answers. */
  readonly asked: StoredEntry | null;
  /** What the model said or thought last before it. */
  readonly before: StoredEntry | null;
  /** What it said last before the user went on. */
  readonly answer: StoredEntry | null;
}
