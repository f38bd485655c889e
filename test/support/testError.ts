/** A run that cannot be done for a reason the reader can act on: shown as its message, without a stack. */
export class TestError extends Error {
  override readonly name = 'TestError';

  static is(error: unknown): error is TestError {
    return error instanceof TestError;
  }
}
