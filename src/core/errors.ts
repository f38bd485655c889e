export type StoreErrorReason =
  /** Another process owns the store; this one may only read. */
  | 'readonly'
  | 'disk_full'
  | 'permission'
  | 'corrupt'
  /** Written by a newer version of the program. */
  | 'newer_schema'
  /** The caller named something that is not there, or broke the port's contract. */
  | 'invalid'
  /** Another window has changed, or is working in, what the caller was about to change. */
  | 'conflict'
  /** The lease was lost: another process has taken over. */
  | 'lease_lost'
  | 'closed'
  | 'io';

/** What a `SessionStore` rejects with. `message` names the file and is meant for the log; surfaces word their own text. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  constructor(
    readonly reason: StoreErrorReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
  static is(error: unknown): error is StoreError {
    return error instanceof StoreError;
  }
}

/** Somebody else wrote a note between the look at it and the change that was made of what stood there. */
export class NoteChangedError extends Error {
  override readonly name = 'NoteChangedError';
  constructor(path: string) {
    super(`${path} has just been changed by somebody else. Look at it and try again.`);
  }
}

/** The caller asked for it to stop. Checked first wherever errors are handled; never shown as an error. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError';
  constructor() {
    super('Cancelled');
  }
  static is(error: unknown): error is CancelledError {
    return error instanceof CancelledError;
  }
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
