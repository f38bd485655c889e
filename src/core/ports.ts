import type { PartialChunk } from './session/partialChunk';
import type { Activity, ClaimOutcome, StoreChange } from './session/storeChange';
import type { BranchStep } from './session/branchStep';
import type { BranchTip } from './session/branchTip';
import type { Attachment, ImageType } from './session/attachment';
import type { Fork } from './session/fork';
import type { NewEntry, StoredEntry } from './session/entry';
import type { QueuedMessage } from './session/queuedMessage';
import type { PurgePreview } from './session/purgePreview';
import type { NewSession, Session, SessionPatch } from './session/session';
import type { SessionQuery } from './session/sessionQuery';
import type { UsageQuery, UsageTotal } from './session/usageTotal';
import type { Disposable } from './base/disposable';
import type { Event } from './base/event';
import type { SessionTransfer } from './session/sessionTransfer';
import type { ThinkingLevel } from './context/thinkingLevel';
import type { ExtractiveItem } from './compaction/extractive';
import type { TextAnalysis } from './compaction/textAnalysis';

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
  readonly note: { readonly reason: 'other_owner' | 'newer_schema' | 'self_test_failed' | 'folder_readonly' | 'disk_full' | 'recovered' | 'damage_found'; readonly detail: string } | null;
  readonly file: string;
}

export interface UsageRecord {
  /** The entry the request led to, the compaction it was made for, or, for `count`, the leaf of the branch that was counted. */
  readonly entry: string;
  readonly provider: string;
  readonly model: string;
  /** `failed`: a turn's request that was stopped or broke off; it measures no context. `imported`: another program's request, whose prompt was not ours. */
  readonly kind: 'turn' | 'compaction' | 'count' | 'failed' | 'imported';
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cost: number | null;
  readonly at: number;
}

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
}

/** A change of the model's notes, and the entry that made it. */
export interface MemoryWrite {
  readonly entry: string;
  readonly path: string;
  readonly op: string;
  readonly bytes: number;
  readonly at: number;
}

/** Something that compaction never folds. */
export interface Pin {
  readonly session: string;
  readonly kind: 'entry' | 'file' | 'text';
  /** Entry uuid, path, or the text itself. */
  readonly target: string;
  /** Of the content when it was pinned; null where there is none. */
  readonly contentHash: string | null;
  readonly at: number;
}

/** A compaction whose summary is to be made again by a model. */
export interface SummaryRetry {
  /** UUID of the compaction's entry. */
  readonly compaction: string;
  readonly session: string;
  readonly nextAt: number;
  readonly attempts: number;
}

/** The part of a branch that the projection can reach, root side first. */
export interface LiveBranch {
  readonly session: Session;
  /**
   * From the first kept entry of the newest compaction that is neither undone nor superseded (or from the root when there is
   * none) up to the leaf; the compaction entry itself stands among them where it was appended.
   */
  readonly entries: readonly StoredEntry[];
  /** Whether `entries` starts at the root. */
  readonly fromRoot: boolean;
  /** The newest usage of kind `turn` or `count` that was reported for one of `entries`. */
  readonly lastUsage: UsageRecord | null;
}

export interface TranscriptPage {
  /** Entries of the branch with `display`, oldest first, with the side entries (checkpoints, labels) that hang off them. */
  readonly entries: readonly StoredEntry[];
  readonly hasMore: boolean;
  /** Among the entries of the page, those without `display` included. */
  readonly forks: readonly Fork[];
  /** First entries of the branches that go on from the active leaf; only of the newest page. */
  readonly beyondLeaf: readonly string[];
}

export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly at: number;
  /** What else is stored as attachments cannot be understood; it stays stored. */
  readonly unreadable?: boolean;
}

export interface CalibrationRow {
  readonly model: string;
  /** Kind of text the factor was learned on. */
  readonly kind: string;
  readonly factor: number;
  readonly n: number;
}

export type SearchRole = 'user' | 'assistant' | 'tool';

export interface SearchQuery {
  /** Plain words, identifiers, paths; nothing in it is syntax. The more of them an entry has, the better; any one is enough. */
  readonly text: string;
  /** With the part of its ancestors that a fork shares. Omitted: every session that is not in the trash. */
  readonly session?: string;
  readonly limit: number;
  /** Milliseconds since the epoch, both included. */
  readonly from?: number;
  readonly to?: number;
  /** `tool`: calls and their results. */
  readonly role?: SearchRole;
  /** Answers, thoughts and calls of this model: `provider/model`, or the name of the model alone. */
  readonly model?: string;
  /** Only sessions with this among their `metadata.tags`. */
  readonly tag?: string;
  /** Only sessions with these top-level values in their metadata. */
  readonly metadata?: Readonly<Record<string, string | number | boolean>>;
}

export interface SearchHit {
  /** UUID of the entry. */
  readonly entry: string;
  readonly seq: number;
  /** UUID of the session; of one that shares the entry when the entry's own is in the trash. */
  readonly session: string;
  /** `YYYYMMDD_NNN`. */
  readonly sessionId: string;
  readonly sessionTitle: string;
  readonly role: SearchRole | 'note';
  /** Who said it, in words: `user`, `result of read_file`. */
  readonly speaker: string;
  readonly at: number;
  readonly score: number;
  /** A passage of the entry, verbatim: from `start` in its text, which has `length` characters. */
  readonly text: string;
  readonly start: number;
  readonly length: number;
}

export interface SearchResult {
  /** Best first. A passage next to one that matches may stand among them without a match of its own. */
  readonly hits: readonly SearchHit[];
  /** The terms that were searched for, as the ranking sees them; empty when the query has no words. */
  readonly terms: readonly string[];
  /** Entries that were counted and, in the order of `terms`, how many have each: for ranking other text beside the hits. */
  readonly statistics: { readonly count: number; readonly documentFrequency: readonly number[] };
  /** False when not all of the history that is not yet indexed could be read. */
  readonly complete: boolean;
}

/**
 * The database. Every promise rejects with a `StoreError` (whose `reason` says what kind) and then nothing of the call has been
 * written; a resolved write is durable as `status.durability` says. Writes on a read-only store reject with `readonly`.
 *
 * Several windows share one store. When the one that owns it ends, another takes over and what was asked meanwhile is asked again;
 * so every write here may be carried out twice with the effect of once: it sets values, or names what it adds by uuid (entries,
 * sessions, claims), by all of its content (usage) or by its place (`PartialChunk.offset`).
 */
export interface SessionStore extends SessionTransfer {
  readonly status: StoreStatus;
  readonly onDidChange: Event<StoreChange>;
  /** Fires when access changes or, on a read-only copy, when the owner has written something new. */
  readonly onDidChangeStatus: Event<StoreStatus>;
  /** Get-or-create by key. */
  createSession(session: NewSession): Promise<Session>;
  session(uuid: string): Promise<Session | undefined>;
  /** Newest first by `updatedAt`. */
  listSessions(query?: SessionQuery): Promise<Session[]>;
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
  liveBranch(session: string): Promise<LiveBranch>;
  /** The newest `limit` displayed entries of the active branch, or those older than entry `before`. */
  page(session: string, query: { readonly before?: string; readonly limit: number }): Promise<TranscriptPage>;
  /** Every entry of the active branch, root first, with its checkpoints; reads no texts. */
  branchSteps(session: string): Promise<BranchStep[]>;
  entries(uuids: readonly string[]): Promise<StoredEntry[]>;
  /** By `seq`: the short ids (`#123`) that summaries and recall show to models. */
  entriesBySeq(seqs: readonly number[]): Promise<StoredEntry[]>;
  /** Fills in `tokenEstimate` of entries that were stored before they could be counted; the content stays untouched. */
  saveTokenCounts(counts: readonly { readonly entry: string; readonly tokens: number }[]): Promise<void>;
  /**
   * Full-text search over every branch, undone and compacted entries and archived sessions included, trashed ones left out. Sees
   * every entry that was stored before the call; a read-only store searches what it last read. Rejects with `invalid` when there
   * is no such session, never because of what the text contains.
   */
  search(query: SearchQuery): Promise<SearchResult>;
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
  /** Undefined when it is missing or no longer what was put. */
  blob(hash: string): Promise<Uint8Array | undefined>;
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
  /** By provider and model, the dearest first. */
  usageTotals(query: UsageQuery): Promise<UsageTotal[]>;
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
  /** A read-only copy re-reads what the owner has written since; others do nothing. */
  refresh(): Promise<void>;
  /** Checkpoints, releases the lease and ends the worker. Nothing durable depends on it having been called. */
  close(): Promise<void>;
}

// ---------------------------------------------------------------------------------------------------------------- models

export type ModelBlock =
  | { readonly type: 'text'; readonly text: string }
  /** Of the user's. `data` in base64. A client whose model sees no images sends `imageInWords` instead. */
  | { readonly type: 'image'; readonly name: string; readonly mime: ImageType; readonly data: string }
  | { readonly type: 'thinking'; readonly text: string; readonly signature?: string; readonly redactedData?: string }
  | { readonly type: 'tool_use'; readonly callId: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'tool_result'; readonly callId: string; readonly text: string; readonly isError: boolean };

export interface ModelMessage {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly ModelBlock[];
  /** The provider may cache the prompt up to and including this message. */
  readonly cacheBreakpoint?: boolean;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  /** Stands behind the system text as a part of its own, which may be cached apart. */
  readonly systemSummary?: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly ModelMessage[];
  readonly maxOutputTokens: number;
  /** Omitted: as the model does by itself. `off` also where the thinking that its unfinished tool calls came from can no longer be sent along. */
  readonly thinking?: ThinkingLevel;
}

export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export type ModelFailureReason =
  | 'no_key'
  | 'bad_key'
  | 'network'
  | 'overloaded'
  | 'rate_limited'
  | 'server'
  | 'overflow'
  | 'unknown_model'
  | 'invalid_request'
  | 'refused'
  /** Used up at the provider, or the user's own limit (`detail` says it in full): waiting a little does not help. */
  | ('quota' | 'budget')
  | 'cancelled';

export interface ModelFailure {
  readonly reason: ModelFailureReason;
  /** The provider's own words, without secrets. */
  readonly detail: string;
  readonly status?: number;
  /** From `retry-after`, in milliseconds. */
  readonly retryAfterMs?: number;
  /** With `overflow`: the window that the provider names, in tokens. */
  readonly window?: number;
}

export type ModelEvent =
  | { readonly type: 'text_delta'; readonly index: number; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly index: number; readonly text: string }
  /** A block is complete, in order of `index`. */
  | { readonly type: 'block'; readonly index: number; readonly block: ModelBlock }
  /** Cumulative for the request: overwrite, never add. */
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'stopped'; readonly reason: string }
  | { readonly type: 'failed'; readonly failure: ModelFailure };

export interface ModelInfo {
  readonly provider: string;
  readonly id: string;
  readonly name: string;
  /** Input limit in tokens. */
  readonly window: number;
  readonly maxOutput: number;
  /** `provider`: it was asked. `table`: the dated fallback. */
  readonly source: 'provider' | 'table';
}

/**
 * One provider. `stream` never throws and never retries by itself: whatever goes wrong arrives as a last `failed` event, and
 * every stream ends with exactly one `stopped` or `failed`. An aborted signal ends it with reason `cancelled`.
 */
export interface ModelClient {
  readonly provider: string;
  /** False for clients that only search (offline mode). */
  readonly generates: boolean;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** Rejects with `ModelError` when the provider cannot be asked. */
  listModels(signal?: AbortSignal): Promise<ModelInfo[]>;
  /** Falls back to the dated table when the provider cannot be asked. Rejects only for a model nobody knows. */
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
  /**
   * The conversation's own prompt, which the provider has cached: it is sent as it stands, `prompt` behind it as one more block of the
   * user's side, and `system` not at all. Only for a summariser whose `continuesFrom` is that conversation's model.
   */
  readonly continues?: ModelRequest;
  /** A sign of life, with what the request has used so far as far as that is known: also of one that fails later. */
  readonly onProgress?: (usage: TokenUsage | null) => void;
}

export interface Summarizer {
  readonly provider: string;
  readonly model: string;
  readonly contextTokens: number;
  /** The user has to be asked before it is used: it is left out where nobody is waiting. */
  readonly needsConsent?: boolean;
  /** `provider/model` of the conversations that it may go on from; none: it is always given a transcript. */
  readonly continuesFrom?: string;
  /** It made nothing usable of a request that went on from a conversation: none of this process is to do that again with this model. */
  readonly declineContinuing?: () => void;
  /** Rejects with `ModelError`, after its own time limit at the latest, or `CancelledError` when aborted. An answer that was cut off or empty is a rejection. */
  summarize(request: SummaryRequest, signal: AbortSignal): Promise<{ text: string; usage: TokenUsage }>;
}

export interface Clock {
  now(): number;
  /** Resolves after `ms`, or rejects with `CancelledError` at once when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after `ms`, unless disposed of before; holds no process open. */
  after(ms: number, run: () => void): Disposable;
}

/** Reads long texts for compaction, elsewhere than on the thread that the user waits for. */
export interface TextAnalyst {
  /** Passages within a budget of estimated tokens, and identifiers. Never rejects. */
  analyse(items: readonly ExtractiveItem[], budgetTokens: number): Promise<TextAnalysis>;
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
  /** Atomic. Rejects with an `Error` whose message can be shown to the model. */
  write(path: string, text: string): Promise<void>;
  delete(path: string): Promise<void>;
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
  /** At most `limit` passages whose text contains any of the terms. */
  candidates(terms: readonly string[], limit: number, signal: AbortSignal): Promise<Passage[]>;
}

export type { Disposable };
