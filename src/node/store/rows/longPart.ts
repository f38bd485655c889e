import type { EntryType } from '../../../core/session/entry';
import { sha256, type BlobFiles, type BlobReader } from './blobFiles';
import type { Row } from '../database/connection';
import type { EncodedBody } from './entryCodec';
import { unpackText } from '../database/text';

/**
 * Bytes from which the one part of an entry that can get long is a file and its row keeps head and tail. With pages of 1 KB, the
 * smallest measured there, SQLite reads 20 KB as fast from a row as from a file (1.02 times), 50 KB slower (0.61 times:
 * https://www.sqlite.org/intern-v-extern-blob.html); ours are smaller, but read several at a time (fileBuffer.ts). A file also costs two
 * more syncs per entry, but what is in it is not written to the log and again at the checkpoint.
 */
export const longPartBytes = 64 * 1024;
/** Characters of each end that the row keeps: what a list, another SQLite tool, or a reader whose file is lost can show. */
const endLength = 4096;

/** An entry has its text, or the arguments of a call, or nothing but `content_json`: of the three that part alone can get long. */
function partOf(toolArgs: unknown, text: unknown): 'toolArgsJson' | 'text' | 'contentJson' {
  if (toolArgs !== null) return 'toolArgsJson';
  return text === null ? 'contentJson' : 'text';
}

/** The body as its row keeps it, and the bytes that go to a file; null when all of it fits. */
export function splitBody(type: EntryType, body: EncodedBody): { readonly row: EncodedBody; readonly long: Uint8Array | null } {
  const part = partOf(body.toolArgsJson, body.text);
  const value = body[part] ?? '';
  // A string has at most three bytes a character; a short one need not be encoded to be measured.
  if (value.length * 3 < longPartBytes) return { row: body, long: null };
  const long = typeof value === 'string' ? Buffer.from(value) : value;
  if (long.length < longPartBytes) return { row: body, long: null };
  const excerpt = ends(typeof value === 'string' ? value : unpackText(value), sha256(long));
  if (part === 'contentJson') return { row: { ...body, contentJson: JSON.stringify({ type, excerpt }) }, long };
  return { row: { ...body, [part]: typeof value === 'string' ? excerpt : Buffer.from(excerpt, 'utf16le') }, long };
}

/** The row's columns with the part that is in a file put back; undefined when the file is missing or has changed. */
export function joinRow(row: Row, blobs: BlobReader): Row | undefined {
  const hash = row['blob_hash'];
  if (typeof hash !== 'string') return row;
  const bytes = blobs.read(hash);
  if (!bytes) return undefined;
  switch (partOf(row['tool_args_json'], row['text'])) {
    case 'toolArgsJson':
      return { ...row, tool_args_json: utf8(bytes) };
    case 'contentJson':
      return { ...row, content_json: utf8(bytes) };
    case 'text':
      // The row's excerpt is packed as the whole was.
      return { ...row, text: typeof row['text'] === 'string' ? utf8(bytes) : bytes };
  }
}

/** Writes what is long to its file; the hash is null when nothing is. */
export function storeBody(
  type: EntryType,
  body: EncodedBody,
  blobs: BlobFiles,
): { readonly row: EncodedBody; readonly hash: string | null; readonly bytes: number } {
  const { row, long } = splitBody(type, body);
  return { row, hash: long && blobs.write(long), bytes: long?.length ?? 0 };
}

function ends(text: string, hash: string): string {
  const head = text.slice(0, endLength).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(-endLength).replace(/^[\udc00-\udfff]/, '');
  const left = text.length - head.length - tail.length;
  return `${head}\n[… ${left} characters; the whole is in blobs/${hash.slice(0, 2)}/${hash} …]\n${tail}`;
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
