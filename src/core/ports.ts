import type { Disposable } from './base/disposable';
import type { Event } from './base/event';
import type { ExtractiveItem, ExtractiveLine } from './compaction/measure/extractive';
import type { FoldedIdentifier } from './compaction/measure/identifiers';
import type { CalibrationRow } from './context/measure/estimateTokens';
import type { ModelEvent, TokenUsage } from './models/modelEvent';
import type { CacheRules, ModelInfo } from './models/modelInfo';
import type { ModelRequest } from './models/modelRequest';
import type { AppendBatch, MemoryWrite, PartialChunk, Pin, SessionTransfer, Activity, ClaimOutcome, StoreChange } from './session/storage';
import type { BranchReach, BranchStep, BranchTip, LiveBranch, TranscriptPage } from './branches/branch';
import type { Draft, QueuedMessage } from './session/userMessage';
import type { StoredEntry } from './session/entry';
import type { FileContentLimits, LetGo, PurgePreview, SummaryRetry } from './maintenance/reports';
import type { FileMark } from './rewind/fileHistory';
import type { ExchangeAround, FoundEdits } from './attribution/editRecord';
import type { PassageVector, Unembedded, VectorStatus } from './embeddings/embeddings';
import type { SearchQuery, SearchResult } from './session/searchQuery';
import type { NewSession, Session, SessionPatch, SessionQuery } from './session/session';
import type { ReturnRow } from './cost/returns';
import type { PastRequest, UsageQuery, UsageTotal } from './cost/usage';
import type { SyncStore } from './sync/syncStore';

// ---------------------------------------------------------------------------------------------------------------- store

export interface StoreStatus {
  /**
   * `owner`: this process writes the file. `shared`: another process does, and carries out what this one asks, with the same
   * guarantees. `readonly`: a copy; nothing can be written.
   */
  readonly access: 'owner' | 'shared' | 'readonly';
  /** `file`: a resolved write is on disk before it resolves. `export`: stock sql.js in memory, exported after every batch. */
  readonly durability: 'file' | 'export';
  /**
   * Why access is read-only or durability is reduced, or `recovered`: the file was damaged when it was opened, and `detail` says
   * what could not be read and where the damaged file is. `damage_found`: content that does not add up was found
   * while the store is in use. Null when all is well.
   */
  readonly note: {
    readonly reason: 'other_owner' | 'newer_schema' | 'self_test_failed' | 'folder_readonly' | 'disk_full' | 'recovered' | 'damage_found';
    readonly detail: string;
  } | null;
  readonly file: string;
}

/**
 * The database. Every promise rejects with a `StoreError` (whose `reason` says what kind) and then nothing of the call has been
 * written; a resolved write is durable as `status.durability` says. Writes on a read-only store reject with `readonly`.
 *
 * Several windows share one store. When the one that owns it ends, another takes over and what was asked meanwhile is asked again;
 * so every write here may be carried out twice with the effect of once: it sets values, or names what it adds by uuid (entries,
 * sessions, claims), by all of its content (usage) or by its place (`PartialChunk.offset`).
 */
export interface SessionStore extends SessionTransfer, SyncStore {
  readonly status: StoreStatus;
  readonly onDidChange: Event<StoreChange>;
  /** Fires when access changes or, on a read-only copy, when the owner has written something new. */
  readonly onDidChangeStatus: Event<StoreStatus>;
  /** Get-or-create by key. */
  createSession(session: NewSession): Promise<Session>;
  session(uuid: string): Promise<Session | undefined>;
  /** Newest first by `updatedAt`, unless the query says otherwise. */
  listSessions(query?: SessionQuery): Promise<Session[]>;
  /** Sessions in the archive count, those in the trash do not. */
  countSessions(): Promise<number>;
  updateSession(uuid: string, patch: SessionPatch): Promise<Session>;
  /** What `purge` would do. */
  purgePreview(sessions: readonly string[]): Promise<PurgePreview>;
  /**
   * Deletes for good the sessions, and their entries that no other session reaches; every other session stays as it is. Sessions
   * that are not there count as done. Rejects with `invalid` when one is not in the trash (`deletedAt`).
   */
  purge(sessions: readonly string[]): Promise<PurgePreview>;
  /**
   * Appends in one transaction and moves the session's leaf to the last entry that is not a side entry. An entry whose uuid is
   * already stored is skipped. Rejects with `invalid` when a parent or the session does not exist, with `conflict` as said at
   * `AppendBatch.after`.
   */
  append(session: string, batch: AppendBatch): Promise<StoredEntry[]>;
  moveLeaf(session: string, leaf: string | null): Promise<void>;
  /**
   * Get-or-create a session that goes on from `entry` and shares what came before it. Whatever `session` leaves out is as in the
   * session of the entry, its pins included; a title is derived from that one's. Rejects with `invalid` when nothing can follow
   * the entry.
   */
  forkSession(entry: string, session: NewSession): Promise<Session>;
  /** Every branch of the session's tree, the most recent leaf first. */
  branches(session: string): Promise<BranchTip[]>;
  /** The last entry that both branches share, which may be one of the two; null when they share none. */
  commonAncestor(a: string, b: string): Promise<string | null>;
  liveBranch(session: string, reach?: BranchReach): Promise<LiveBranch>;
  /** The newest `limit` displayed entries of the active branch, or those older than entry `before`. */
  page(session: string, query: { readonly before?: string; readonly limit: number }): Promise<TranscriptPage>;
  /** Every entry of the active branch, root first, with its checkpoints; reads no texts. */
  branchSteps(session: string): Promise<BranchStep[]>;
  /**
   * Up to `most` entries behind one, the nearest first, without marks: those of the active branch of `session` where the entry is on it,
   * else of the active branch of the entry's own session. Behind an entry on a branch that was left, it is the newest that the entry's
   * session has there. Empty when there is no such entry.
   */
  following(entry: string, session: string | null, most: number): Promise<string[]>;
  /** What calls and restores have done to files, of the session and of what it shares with others, in the order in which it was done. */
  fileMarks(session: string): Promise<FileMark[]>;
  /**
   * Calls and answers that name a file of this name (without its folders) and may have changed it, and what is recorded of calls that have,
   * the newest `limit` of each; none that failed, none of sessions in the trash. A commit costs nothing for it: they are searched for.
   */
  editsNaming(name: string, limit: number): Promise<FoundEdits>;
  exchangeAround(entry: string): Promise<ExchangeAround>;
  entries(uuids: readonly string[]): Promise<StoredEntry[]>;
  /** Resolves with those of the entries that a search finds: of sessions that are not in the trash, or shared by one. */
  untrashed(entries: readonly string[]): Promise<string[]>;
  /**
   * A `seq` is the short id (`#123`) that summaries and recall show to models. Where a file of an entry cannot be read now it comes back as
   * damaged; `toTell`, for others to keep, rejects with `StoreError` instead.
   */
  entriesBySeq(seqs: readonly number[], toTell?: boolean): Promise<StoredEntry[]>;
  /** Fills in `tokenEstimate` of entries that were stored before they could be counted; the content stays untouched. */
  saveTokenCounts(counts: readonly { readonly entry: string; readonly tokens: number }[]): Promise<void>;
  /**
   * Full-text search over every branch, undone and compacted entries and archived sessions included, trashed ones left out. Sees
   * every entry that was stored before the call; a read-only store searches what it last read. Rejects with `invalid` when there
   * is no such session, never because of what the text contains.
   */
  search(query: SearchQuery): Promise<SearchResult>;
  /**
   * Passages that have no vector of this model yet, at most `most`, those said last first. A call does a bounded piece of the work of
   * finding them. Vectors of another model leave.
   */
  unembedded(space: string, most: number): Promise<Unembedded>;
  /** Keeps vectors of passages, quantised. What is there stays; without effect where another model has been asked for since. */
  saveVectors(space: string, vectors: readonly PassageVector[]): Promise<void>;
  vectorStatus(): Promise<VectorStatus>;
  writePartial(chunk: PartialChunk): Promise<void>;
  /**
   * Turns chunks that no entry has replaced into entries marked `interrupted: crashed`, at the end of the branch they belong to;
   * returns those. Only for a session in which this window is streaming nothing; what another window streams is left to it.
   */
  recoverPartials(session: string): Promise<StoredEntry[]>;
  draft(session: string): Promise<Draft | undefined>;
  saveDraft(session: string, draft: Draft | null): Promise<void>;
  /**
   * Messages that wait for the running turn, oldest first: those of this window, and those of windows that have ended, which are
   * this window's from now on.
   */
  queue(session: string): Promise<QueuedMessage[]>;
  /** Replaces this window's part of the queue. */
  saveQueue(session: string, queue: readonly QueuedMessage[]): Promise<void>;
  /** Keeps the bytes once, whoever else has put the same; their sha256, in hexadecimal digits. Rejects with `disk_full` as any write. */
  putBlob(bytes: Uint8Array, mime: string): Promise<string>;
  /** Lets contents of files go that are too old or too much, and those that nothing names. What is left says so (core/rewind). */
  trimFileContents(limits: FileContentLimits): Promise<LetGo>;
  /**
   * Undefined when it is missing or no longer what was put, or cannot be read now; of that it rejects with `StoreError` where others are to
   * keep it (`toTell`).
   */
  blob(hash: string, toTell?: boolean): Promise<Uint8Array | undefined>;
  /** Oldest first. */
  pins(session: string): Promise<Pin[]>;
  /** Replaces the pin of the same kind and target. */
  savePin(pin: Pin): Promise<void>;
  removePin(session: string, kind: Pin['kind'], target: string): Promise<void>;
  /** Next first. Without a session: of all that are not in the trash. */
  summaryRetries(session?: string): Promise<SummaryRetry[]>;
  /** Rejects with `invalid` when the entry is no compaction. */
  saveSummaryRetry(retry: Omit<SummaryRetry, 'session'>): Promise<void>;
  removeSummaryRetry(compaction: string): Promise<void>;
  /** Newest first. */
  memoryWrites(session: string, query: { readonly limit: number }): Promise<MemoryWrite[]>;
  /** There is one for each provider and model, the dearest first. */
  usageTotals(query: UsageQuery): Promise<UsageTotal[]>;
  /** The newest `limit` requests of turns in any session, oldest first. */
  pastRequests(limit: number): Promise<PastRequest[]>;
  /** The first requests of a session after pauses in which its prompt cache had expired, oldest first. */
  returns(session: string): Promise<ReturnRow[]>;
  /**
   * Reserves a session for one operation (a turn, a compaction) of one window; `claim` is a uuid of the caller's making. Asking
   * again with the same one is granted again. It outlives a change of owner and ends with `release` or with its window.
   */
  claim(session: string, claim: string): Promise<ClaimOutcome>;
  release(session: string, claim: string): Promise<void>;
  activity(session: string): Promise<Activity>;
  /** Asks the window that works in the session to stop. */
  requestStop(session: string): Promise<void>;
  calibration(model: string): Promise<CalibrationRow[]>;
  saveCalibration(row: CalibrationRow): Promise<void>;
  /**
   * Makes this window the owner, for what only the owner can do: the one that is it lets the store go, and goes on over this one.
   * Rejects with `conflict` when the owner's place has not been reserved for this window, with `readonly` when it cannot be reached.
   */
  takeOver(): Promise<void>;
  /** A read-only copy re-reads what the owner has written since; others do nothing. */
  refresh(): Promise<void>;
  /** Checkpoints, releases the lease and ends the worker. Nothing durable depends on it having been called. */
  close(): Promise<void>;
}

// ---------------------------------------------------------------------------------------------------------------- models

/**
 * One provider. `stream` never throws and never retries by itself: whatever goes wrong arrives as a last `failed` event, and
 * every stream ends with exactly one `stopped` or `failed`. An aborted signal ends it with reason `cancelled`.
 */
export interface ModelClient {
  readonly provider: string;
  /** False for clients that only search (offline mode). */
  readonly generates: boolean;
  /** Its provider can compact a conversation by itself (`ModelRequest.compact`). */
  readonly compacts?: boolean;
  /** How its provider keeps prompts; absent where that is not known: then nothing is done on its account. */
  readonly cacheRules?: CacheRules;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** Rejects with `ModelError` when the provider cannot be asked. */
  listModels(signal?: AbortSignal): Promise<ModelInfo[]>;
  /**
   * Falls back to the dated table, where that knows the model, when the provider cannot be asked. Rejects with `ModelError`: nobody knows
   * the model, or only a provider that cannot be asked at the moment.
   */
  describe(model: string, signal?: AbortSignal): Promise<ModelInfo>;
  /** Tokens of the prompt as the provider estimates them, free of charge; absent where it cannot. Rejects with `ModelError`. */
  countTokens?(request: ModelRequest, signal?: AbortSignal): Promise<number>;
}

// ------------------------------------------------------------------------------------------------------- everything else

/**
 * Counts tokens of plain text. `count` runs elsewhere and rejects only with `CancelledError`, when the counter has been closed.
 * Until a count has arrived, sizes come from `estimateTokens`.
 */
export interface TokenCounter {
  count(texts: readonly string[]): Promise<number[]>;
}

export interface SummaryRequest {
  readonly system: string;
  readonly prompt: string;
  readonly maxTokens: number;
  /** JSON Schema of what is to be written, for a provider that can hold a model to it. */
  readonly schema?: ModelRequest['answerSchema'];
  /**
   * The conversation's own prompt, which the provider has cached: it is sent as it stands, `prompt` behind it as one more block of the
   * user's side, and `system` not at all. Only for a summariser whose `continuesFrom` is that conversation's model.
   */
  readonly continues?: ModelRequest;
  /** Nobody waits who could be asked anything. */
  readonly background?: boolean;
  /**
   * A sign of life: what the request has used so far as far as that is known, and what has been written (or thought) since the last one.
   * Also of one that fails later.
   */
  readonly onProgress?: (usage: TokenUsage | null, text: string) => void;
}

export interface Summarizer {
  readonly provider: string;
  readonly model: string;
  readonly contextTokens: number;
  /** The provider's own compaction writes, with its model. */
  readonly serverSide?: boolean;
  /** The user has to be asked before it is used: it is left out where nobody is waiting. */
  readonly needsConsent?: boolean;
  /** `provider/model` of the conversations that it may go on from; none: it is always given a transcript. */
  readonly continuesFrom?: string;
  /** It made nothing usable of a request that went on from a conversation: none of this process is to do that again with this model. */
  readonly declineContinuing?: () => void;
  /**
   * Rejects with `ModelError`, after its own time limit at the latest, or `CancelledError` when aborted. An answer that was cut off or
   * empty is a rejection.
   */
  summarize(request: SummaryRequest, signal: AbortSignal): Promise<{ text: string; usage: TokenUsage }>;
}

export interface Clock {
  now(): number;
  /** Resolves after `ms`, or rejects with `CancelledError` at once when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after `ms`, unless disposed of before; holds no process open. */
  after(ms: number, run: () => void): Disposable;
}

/** Passages of a folded range, and what must not be lost of it: all that takes more than a look at every entry. */
export interface TextAnalysis {
  readonly lines: readonly ExtractiveLine[];
  readonly identifiers: readonly FoldedIdentifier[];
  /** The user's messages say what is meant to hold on (`orders`), and give names, numbers and paths (`values`). */
  readonly sentences: readonly { readonly entryId: string; readonly orders: readonly string[]; readonly values: readonly string[] }[];
  /** They come from the assistant's messages. */
  readonly decisions: readonly ExtractiveLine[];
}

/** Something that can be lost. */
export interface KeyFact {
  readonly text: string;
  readonly kind: 'request' | 'decision' | 'identifier' | 'detail';
  /** Entries of the range that have it. */
  readonly entryId: string;
}

/** Reads long texts for compaction, elsewhere than on the thread that the user waits for. */
export interface TextAnalyst {
  /** Passages within a budget of estimated tokens (0: none), identifiers and telling sentences. Never rejects. */
  analyse(items: readonly ExtractiveItem[], budgetTokens: number): Promise<TextAnalysis>;
  /** How much of it stands in a text: 0–100, by weight. Never rejects. */
  inContext(elements: readonly KeyFact[], leftBehind: string): Promise<number>;
}

/** Files of the workspace that are pinned. */
export interface PinnedFiles {
  /** Undefined when it cannot be read, is no text, or lies outside of the workspace. `hash` tells versions apart. */
  read(path: string): Promise<{ readonly text: string; readonly hash: string } | undefined>;
}

export interface IdSource {
  /** UUID v7: sorts by time. */
  next(): string;
}

export interface Logger {
  debug(event: string, data?: Readonly<Record<string, unknown>>): void;
  info(event: string, data?: Readonly<Record<string, unknown>>): void;
  warn(event: string, data?: Readonly<Record<string, unknown>>): void;
  error(event: string, data?: Readonly<Record<string, unknown>>): void;
}

/** The model's notebook: small text files that outlive compaction. Paths are relative, `/`-separated. */
export interface MemoryNotes {
  list(): Promise<{ path: string; bytes: number; modifiedAt: number }[]>;
  read(path: string): Promise<string | undefined>;
  /**
   * Atomic. With `was`, only while the note still has that text (null: while there is none), for the user and other sessions write notes
   * as well: rejects with `NoteChangedError` otherwise. Rejects with an `Error` whose message can be shown to the model.
   */
  write(path: string, text: string, was?: string | null): Promise<void>;
  /** With `was`, only while the note still has that text, as `write`. */
  delete(path: string, was?: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
}

/** A passage that answers a query, from history, notes or workspace files. */
export interface Passage {
  readonly source: 'history' | 'note' | 'file';
  /** Entry uuid, note path or workspace-relative file path. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly at: number | null;
}

/** Text of the workspace that offline answers may search. Unreadable files are left out. */
export interface WorkspaceText {
  /** Resolves with at most `limit` passages whose text contains any of the terms. */
  candidates(terms: readonly string[], limit: number, signal: AbortSignal): Promise<Passage[]>;
}

export type { Disposable };
