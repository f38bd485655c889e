import type { MessagePort } from 'node:worker_threads';
import { CancelledError, StoreError, errorText } from '../../../core/errors';
import type { StoreErrorReason } from '../../../core/errors';
import type { SessionStore, StoreStatus } from '../../../core/ports';
import type { StoreChange } from '../../../core/session/storeChange';
import type { StoredEntry } from '../../../core/session/entry';
import type { Session } from '../../../core/session/session';
import type { EntryPart } from './entryParts';

type Asynchronous = (...args: never[]) => Promise<unknown>;

/** The port's operations on the database, as opposed to those on the store itself. */
export type StoreCall = Exclude<
  { [K in keyof SessionStore]: SessionStore[K] extends Asynchronous ? K : never }[keyof SessionStore],
  'refresh' | 'close'
>;
export type CallArguments<K extends StoreCall> = Parameters<SessionStore[K]>;
export type CallResult<K extends StoreCall> = Awaited<ReturnType<SessionStore[K]>>;

/** Operations that are about the windows, not about the database. */
const windowCalls = ['claim', 'release', 'activity', 'requestStop', 'takeOver'] as const satisfies readonly StoreCall[];
export type CoreCall = Exclude<StoreCall, (typeof windowCalls)[number]>;

export function isCoreCall(name: StoreCall): name is CoreCall {
  return !(windowCalls as readonly StoreCall[]).includes(name);
}

/** What is done on the database: the same operations without the waiting. */
export type CoreStore = { [K in CoreCall]: (...args: CallArguments<K>) => CallResult<K> };

/**
 * Every operation, and what other windows are told when one has been carried out; null: nothing. A method that the port gains is
 * entered here and is then forwarded wherever the store is served. Its first argument, if that is a string, names the session;
 * methods that change several sessions are told as `session` as well.
 */
const calls: { readonly [K in StoreCall]: Exclude<StoreChange['kind'], 'all'> | null } = {
  createSession: 'session',
  session: null,
  listSessions: null,
  countSessions: null,
  updateSession: 'session',
  append: 'entries',
  moveLeaf: 'branch',
  forkSession: 'session',
  branches: null,
  commonAncestor: null,
  liveBranch: null,
  page: null,
  branchSteps: null,
  entries: null,
  entriesBySeq: null,
  saveTokenCounts: null,
  search: null,
  purgePreview: null,
  purge: 'session',
  writePartial: 'partial',
  recoverPartials: 'entries',
  draft: null,
  saveDraft: 'draft',
  queue: null,
  saveQueue: null,
  pins: null,
  savePin: 'session',
  removePin: 'session',
  summaryRetries: null,
  saveSummaryRetry: null,
  removeSummaryRetry: null,
  memoryWrites: null,
  usageTotals: null,
  claim: 'claim',
  release: 'claim',
  activity: null,
  requestStop: 'stop',
  takeOver: null,
  putBlob: null,
  blob: null,
  entrySeqs: null,
  usageRecords: null,
  restoreSession: 'session',
  knownSources: null,
  importEntries: 'entries',
  analyticsRows: null,
  calibration: null,
  saveCalibration: null,
};

export function isStoreCall(name: string): name is StoreCall {
  return Object.hasOwn(calls, name);
}

/** More entries than this are not named one by one: they are an import. */
const mostNamed = 200;

/** What a call that was carried out has changed for other windows. `claim`, `release` and `requestStop` are told by their service. */
export function changeOf(method: CoreCall, args: readonly unknown[], result: unknown): StoreChange | null {
  const kind = calls[method];
  const session = typeof args[0] === 'string' ? args[0] : null;
  switch (kind) {
    case 'entries': {
      const entries =
        method === 'importEntries' ? (result as CallResult<typeof method>) : (result as readonly StoredEntry[]).map(({ uuid }) => uuid);
      if (session === null || entries.length === 0) return null;
      return entries.length > mostNamed ? { kind: 'branch', session } : { kind, session, entries };
    }
    case 'partial': {
      const chunk = args[0] as CallArguments<'writePartial'>[0];
      return { kind, session: chunk.session, chunk };
    }
    case 'session':
      if (method === 'restoreSession') return { kind, session: (result as CallResult<typeof method>).session.uuid };
      return { kind, session: method === 'createSession' || method === 'forkSession' ? (result as Session).uuid : session };
    case 'branch':
    case 'draft':
      return { kind, session };
    case 'claim':
    case 'queue':
    case 'stop':
    case null:
      return null;
  }
}

export interface WorkerOptions {
  readonly folder: string;
  readonly wasmFile: string;
  /** How long to wait for an owner that may be about to end. */
  readonly waitForOwnerMs: number;
  /** Names this window to others, in the lease. */
  readonly label: string;
  readonly readonly: boolean;
  /** Builds the store anew from what can be read of it. */
  readonly repair: boolean;
}

export type Request =
  | { readonly type: 'call'; readonly id: number; readonly method: StoreCall; readonly args: readonly unknown[] }
  | { readonly type: 'refresh' | 'close'; readonly id: number }
  /** The store's worker is to answer this port as well. */
  | { readonly type: 'join'; readonly port: MessagePort }
  /** A part has been read. */
  | { readonly type: 'nextPart'; readonly id: number }
  /** Stops waiting for the owner; the store then does not open. */
  | { readonly type: 'cancelOpen' };

export interface WireError {
  readonly reason: StoreErrorReason | 'cancelled';
  readonly message: string;
}

/** What a request leads to, in a thread of its own or another process. */
export type Answer =
  /** Some of the entries of an answer; `done` follows, in a thread once the next has been asked for with `nextPart`. */
  | { readonly type: 'part'; readonly id: number; readonly part: EntryPart }
  | { readonly type: 'done'; readonly id: number; readonly value: unknown; readonly parts: 'none' | 'value' | 'property' }
  | { readonly type: 'failed'; readonly id: number; readonly error: WireError };

export type Response =
  /** `nonce` lets the client release the lease if the worker dies. */
  | { readonly type: 'opened'; readonly status: StoreStatus; readonly nonce: string | null }
  | { readonly type: 'openFailed'; readonly error: WireError }
  | Answer
  | { readonly type: 'status'; readonly status: StoreStatus; readonly nonce: string | null }
  | { readonly type: 'change'; readonly change: StoreChange }
  | { readonly type: 'log'; readonly level: 'info' | 'warn'; readonly event: string; readonly data: Readonly<Record<string, unknown>> };

/** Errors cross as plain data: a structured clone would lose the class and with it the reason. */
export function toWire(error: unknown): WireError {
  if (CancelledError.is(error)) return { reason: 'cancelled', message: error.message };
  if (StoreError.is(error)) return { reason: error.reason, message: error.message };
  return { reason: 'io', message: errorText(error) };
}

export function fromWire(error: WireError): StoreError | CancelledError {
  return error.reason === 'cancelled' ? new CancelledError() : new StoreError(error.reason, error.message);
}
