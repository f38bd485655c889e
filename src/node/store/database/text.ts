/**
 * SQLite strings are UTF-8 and sql.js reads them as C strings: a NUL ends them, half a surrogate pair becomes U+FFFD and a byte order
 * mark at the beginning is left out. Such strings (a streamed chunk may end between two halves, a file that is pasted begin with the
 * mark) are stored as a blob of UTF-16 instead, so that nothing is lost.
 */
export function packText(text: string): string | Uint8Array {
  return /^\ufeff|[\0\p{Cs}]/u.test(text) ? Buffer.from(text, 'utf16le') : text;
}

export function unpackText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf16le') : '';
}

/** Columns that are only searched or shown hold it: it is close enough to the original, and valid everywhere. */
export function plainText(text: string): string {
  return text.replace(/[\0\p{Cs}]/gu, '\ufffd');
}
