import { english, t, wholeNumber } from '../l10n';

type ProblemKind =
  /** The file as a whole: its header, its length, its log. */
  | 'file'
  /** Pages, indices and the list of free pages, as SQLite checks them. */
  | 'page'
  /** A row names another that is not there. */
  | 'reference'
  /** The content of an entry is not what was written. */
  | 'content'
  /** An attachment or a long text that is kept beside the database. */
  | 'blob'
  /** Parents, leaves, circles. */
  | 'tree'
  | 'search_index'
  | 'counter'
  /** The file is older than the marker beside it says. */
  | 'generation';

export interface VerifyProblem {
  readonly kind: ProblemKind;
  /** Session and entry where they are known, else what SQLite says. */
  readonly where: string;
  /** What it means to the user. */
  readonly meaning: string;
  /** Whether building the store anew takes the problem away; what was lost stays lost and is marked. */
  readonly repairHelps: boolean;
}

/** Contents of files before and after calls; `bytes`: of those that are kept, compressed. */
export interface ContentsCount {
  readonly kept: number;
  readonly bytes: number;
  readonly letGo: number;
}

export interface VerifyReport {
  readonly file: string;
  readonly checked: {
    readonly pages: number;
    readonly sessions: number;
    readonly entries: number;
    readonly blobs: number;
    readonly contents: ContentsCount;
  };
  /** The first of them; empty when the store is sound. */
  readonly problems: readonly VerifyProblem[];
  /** How many more there are. */
  readonly more: number;
}

/** What contents of files are kept for restores. */
export interface FileContentLimits {
  /** Contents that nothing has named since are let go, in milliseconds; null: age is no reason. */
  readonly before: number | null;
  /** Compressed; the oldest go until it fits. Null: it may take what it takes. */
  readonly mostBytes: number | null;
  readonly now: number;
}

export interface LetGo {
  readonly contents: number;
  readonly bytes: number;
  /** Bytes that are kept still. */
  readonly left: number;
}

/** `1,204 contents of changed files in 3.4 MB.`; null when there are none. */
export function contentsText({ checked: { contents } }: VerifyReport): string | null {
  const { kept, bytes, letGo } = contents;
  if (kept + letGo === 0) return null;
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`;
  const all = t(kept === 1 ? '{0} content of changed files in {1}.' : '{0} contents of changed files in {1}.', wholeNumber(kept), size);
  return letGo === 0 ? all : `${all} ${t('{0} more were let go and cannot be restored.', wholeNumber(letGo))}`;
}

/** How far a long piece of work has come, within one of its phases. */
export interface TaskProgress {
  /** The user reads it: "Checking texts". */
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

/** `12,482 entries in 31 sessions`. */
export function checkedText({
  checked: { entries, sessions },
}: {
  readonly checked: Pick<VerifyReport['checked'], 'entries' | 'sessions'>;
}): string {
  const all = t(entries === 1 ? '{0} entry' : '{0} entries', wholeNumber(entries));
  return t(sessions === 1 ? '{0} in {1} session' : '{0} in {1} sessions', all, wholeNumber(sessions));
}

export function problemCount({ problems, more }: VerifyReport): number {
  return problems.length + more;
}

/** Attachments are gone, which no repair brings back, and nothing else is wrong. */
export function lacksOnlyAttachments({ problems, more }: VerifyReport): boolean {
  return problems.length > 0 && more === 0 && problems.every(({ kind, repairHelps }) => kind === 'blob' && !repairHelps);
}

/** Whether the file could not even be opened: then nothing in it can be used as it is. */
export function isUnusable({ checked, problems }: VerifyReport): boolean {
  return problems.length > 0 && checked.pages === 0;
}

export function counted(n: number, one: string, many: string): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

/** What a recovery brought over, and what it could not read. */
export interface Salvage {
  readonly sessions: number;
  readonly entries: number;
  /** Entries that are there, but whose content was lost or does not add up. */
  readonly damaged: number;
  /** Sessions that those entries belong to, as the user knows them: the first few. */
  readonly damagedIn: readonly string[];
  /** Sentences for the user; empty when nothing was lost. */
  readonly lost: readonly string[];
}

/** What could not be read: phrases for the user; empty when nothing was lost. */
export function salvageProblems({ damaged, damagedIn, lost }: Salvage): string[] {
  const content = english(damaged === 1 ? 'the content of {0} entry' : 'the content of {0} entries', damaged);
  return [...(damaged > 0 ? [damagedIn.length === 0 ? content : `${content} (in ${damagedIn.join(', ')})`] : []), ...lost];
}

/** What deleting sessions for good takes away. */
export interface PurgePreview {
  /** UUIDs of those that are there. */
  readonly sessions: readonly string[];
  readonly entries: number;
  /** Entries that stay because another session shares them or has pinned them; they belong to that session from then on. */
  readonly keptEntries: number;
  /** The entries that go, and the files that nobody else needs, take so many. The database file does not shrink, it is filled again. */
  readonly bytes: number;
}

/** A compaction whose summary is to be made again by a model. */
export interface SummaryRetry {
  /** UUID of the compaction's entry. */
  readonly compaction: string;
  readonly session: string;
  readonly nextAt: number;
  readonly attempts: number;
}
