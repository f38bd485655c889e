import { StoreError, errorText } from '../../../core/errors';
import type { StoreErrorReason } from '../../../core/errors';

const byCode: Readonly<Record<string, StoreErrorReason>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EFBIG: 'disk_full',
  EACCES: 'permission',
  EPERM: 'permission',
  EROFS: 'permission',
};

const byMessage: readonly (readonly [RegExp, StoreErrorReason])[] = [
  [/database or disk is full/, 'disk_full'],
  [/malformed|not a database|unsupported file format/, 'corrupt'],
  [/readonly database|permission denied/, 'permission'],
  [/append-only|constraint failed/, 'invalid'],
];

/** What went wrong, in the port's terms. sql.js passes on SQLite's message only, so the file system's own error decides first. */
export function toStoreError(error: unknown, cause: NodeJS.ErrnoException | undefined, file: string): StoreError {
  if (StoreError.is(error)) return error;
  const system = cause ?? (error as NodeJS.ErrnoException);
  const text = errorText(error);
  const reason = byCode[system.code ?? ''] ?? byMessage.find(([pattern]) => pattern.test(text))?.[1] ?? 'io';
  const detail = cause && !text.includes(cause.message) ? `${text} (${cause.message})` : text;
  return new StoreError(reason, `${file}: ${detail}`, { cause: cause ?? error });
}
