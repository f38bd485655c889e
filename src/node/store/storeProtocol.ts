import { CancelledError, StoreError, errorText } from '../../core/errors';
import type { StoreErrorReason } from '../../core/errors';
import type { SessionStore, StoreStatus } from '../../core/ports';
import type { EntryPart } from './entryParts';

type Asynchronous = (...args: never[]) => Promise<unknown>;

/** The port's operations on the database, as opposed to those on the store itself. */
export type StoreCall = Exclude<
  { [K in keyof SessionStore]: SessionStore[K] extends Asynchronous ? K : never }[keyof SessionStore],
  'refresh' | 'close'
>;
export type CallArguments<K extends StoreCall> = Parameters<SessionStore[K]>;
export type CallResult<K extends StoreCall> = Awaited<ReturnType<SessionStore[K]>>;

/** What the worker implements: the same operations without the waiting. */
export type SyncStore = { [K in StoreCall]: (...args: CallArguments<K>) => CallResult<K> };

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
  /** A part has been read. */
  | { readonly type: 'nextPart'; readonly id: number }
  /** Stops waiting for the owner; the store then does not open. */
  | { readonly type: 'cancelOpen' };

export interface WireError {
  readonly reason: StoreErrorReason | 'cancelled';
  readonly message: string;
}

export type Response =
  /** `nonce` lets the client release the lease if the worker dies. */
  | { readonly type: 'opened'; readonly status: StoreStatus; readonly nonce: string | null }
  | { readonly type: 'openFailed'; readonly error: WireError }
  /** Some of the entries of an answer; the rest or `done` follows once it has been asked for with `nextPart`. */
  | { readonly type: 'part'; readonly id: number; readonly part: EntryPart }
  | { readonly type: 'done'; readonly id: number; readonly value: unknown; readonly parts: 'none' | 'value' | 'property' }
  | { readonly type: 'failed'; readonly id: number; readonly error: WireError }
  | { readonly type: 'status'; readonly status: StoreStatus; readonly nonce: string | null }
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
