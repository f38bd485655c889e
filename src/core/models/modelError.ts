import type { ModelFailure } from './modelEvent';

/** A model call that failed where there is no event stream to say so. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  constructor(readonly failure: ModelFailure) {
    super(failure.detail);
  }
  static is(error: unknown): error is ModelError {
    return error instanceof ModelError;
  }
}
