import type { MessagePort } from 'node:worker_threads';
import { CancelledError, StoreError, errorText } from '../../../core/errors';
import type { StoreErrorReason } from '../../../core/errors';
import type { StoreStatus } from '../../../core/ports';
import type { StoreChange } from '../../../core/session/storage';
import type { StoredEntry } from '../../../core/session/entry';
import type { StoreCall } from './storeCalls';

export interface WorkerOptions {
  readonly folder: string;
  readonly wasmFile: string;
  /** How long to wait for an owner that may be about to end. */
  readonly waitForOwnerMs: number;
  /** Names this window to others, in the lease. */
  readonly label: string;
  readonly readonly: boolean | 'join';
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

/** Some entries on their way to another thread. */
export interface EntryPart {
  /** The entries come without their texts. */
  readonly entries: readonly StoredEntry[];
  /** Every text, one behind the other. */
  readonly text: string;
  /** How many characters of it each entry has; null for one without a text. */
  readonly lengths: readonly (number | null)[];
}

/** What a request leads to, in a thread of its own or another process. */
export type Answer =
  /** Some of the entries of an answer; `done` follows, in a thread once the next has been asked for with `nextPart`. */
  | { readonly type: 'part'; readonly id: number; readonly part: EntryPart }
  | { readonly type: 'done'; readonly id: number; readonly value: unknown; readonly parts: 'none' | 'value' | 'property' }
  | { readonly type: 'failed'; readonly id: number; readonly error: WireError };

export type Response =
  /** `calls`: what can be asked. `nonce` lets the client release the lease if the worker dies. */
  | { readonly type: 'opened'; readonly status: StoreStatus; readonly nonce: string | null; readonly calls: readonly StoreCall[] }
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
