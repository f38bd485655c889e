import { StoreError } from '../../../core/errors';

/** What stands in the way passes by itself: another program has the file, or it is being written. */
const passing = new Set(['EBUSY', 'EAGAIN', 'EMFILE', 'ENFILE', 'ETXTBSY']);
/** Attempts after which what does not pass is left as it is until the source changes. */
const patience = 4;

export const ForeignError = {
  /** Whether the same source would fail the same way: it is then read when it has changed. */
  isLasting(error: unknown, failures: number): boolean {
    if (StoreError.is(error)) return error.reason === 'invalid' && failures >= patience;
    if (error instanceof Error && 'code' in error && passing.has(String(error.code))) return false;
    return failures >= patience;
  },
};
