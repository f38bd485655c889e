import type { SealedRecord, WrappedKey } from './sealedRecord';

/** What an engine holds of one device's log. */
export interface EngineHead {
  readonly device: string;
  /** One more than the highest index. */
  readonly next: number;
  /** Rows that are there; fewer than `next` where the log has a hole. */
  readonly count: number;
  /** Mark of the highest row. */
  readonly mark: number;
}

/** A range of a log: `from` up to, and without, `to`. */
export interface LogRange {
  readonly device: string;
  readonly from: number;
  readonly to: number;
}

export const engineFailures = ['unreachable', 'slow', 'refused', 'full', 'readonly', 'version', 'no_history'] as const;
export type EngineFailure = (typeof engineFailures)[number];

/** Why an engine could not be used, and what to do about it, in words for the user. */
export class EngineError extends Error {
  override readonly name = 'EngineError';

  constructor(
    readonly reason: EngineFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** By its name: the client of databases is a bundle of its own, with a class of its own. */
  static is(error: unknown): error is EngineError {
    return error instanceof Error && error.name === 'EngineError';
  }
}

/**
 * The place in the middle: it stores rows that it cannot read, and is not trusted to give back what it was given. Each call is one round
 * trip and rejects with `EngineError`; then anything of the call may have been done or not. What is pushed twice is stored once.
 */
export interface SyncEngine {
  heads(): Promise<readonly EngineHead[]>;
  /** Rows of the range in order, from its start on, as many as fit into one answer; holes are left out. */
  pull(range: LogRange): Promise<readonly SealedRecord[]>;
  /** A row whose place is taken stays as it is. */
  push(rows: readonly SealedRecord[], keys: readonly WrappedKey[]): Promise<void>;
  /** So many rows of each range are there. */
  counts(ranges: readonly LogRange[]): Promise<readonly number[]>;
  keys(ids: readonly string[]): Promise<readonly WrappedKey[]>;
  /** Deletes the keys for good, as far as the engine lets go of anything. */
  dropKeys(ids: readonly string[]): Promise<void>;
  /** Lets go of all rows of the log. */
  dropLog(device: string): Promise<void>;
  /** Lets go of everything of the history: whoever asks for it from then on is told that there is none. */
  dropAll(): Promise<void>;
  /** Logs that stand beside those of the devices, one for each attachment: `heads` and `pull` of the history never bring them. */
  attachments(): SyncEngine;
  /** Calls back when somebody else has pushed, as long as the engine can tell; false where it cannot. */
  listen(onNews: () => void): Promise<boolean>;
  close(): Promise<void>;
}
