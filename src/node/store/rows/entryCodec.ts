import { crc32 } from 'node:zlib';
import { damagedType, kindOf, type EntryContent, type EntryType, type NewEntry, type StoredEntry } from '../../../core/session/entry';
import { sha256, type BlobReader, type BlobFiles } from './blobFiles';
import { packText, plainText, unpackText, type Row, type SqlValue } from '../database/connection';

/** A row of `bodies`, and the arguments of a tool call, which are kept in `entries.tool_args_json`. */
export interface EncodedBody {
  readonly contentJson: string;
  readonly text: string | Uint8Array | null;
  readonly toolArgsJson: string | null;
}

export function encodeBody(content: EntryContent): EncodedBody {
  if (content.type === 'tool_call') {
    const { input, ...rest } = content;
    return { contentJson: JSON.stringify(rest), text: null, toolArgsJson: input === undefined ? null : JSON.stringify(input) };
  }
  const property = kindOf(content).text;
  if (property === null) return { contentJson: JSON.stringify(content), text: null, toolArgsJson: null };
  const { [property]: text, ...rest } = content as Readonly<Record<string, unknown>>;
  return { contentJson: JSON.stringify(rest), text: packText(String(text)), toolArgsJson: null };
}

export function bodyChecksum(body: EncodedBody): number {
  return crc32(body.toolArgsJson ?? '', crc32(body.text ?? '', crc32(body.contentJson)));
}

/** The columns by which SQL finds and counts entries; the content itself never comes from them. */
export function entryColumns(content: EntryContent): Readonly<Record<string, SqlValue>> {
  const field = (name: string): string | null => {
    const value = (content as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'string' ? plainText(value) : null;
  };
  const isTool = content.type === 'tool_call' || content.type === 'tool_result';
  return {
    entry_type: content.type,
    role: field('role'),
    tool_name: isTool ? field('name') : null,
    tool_call_id: field('callId'),
    tool_status: field('status'),
    is_error: content.type === 'tool_result' && content.status !== 'ok' ? 1 : 0,
    custom_type: field('customType'),
    provider: field('provider'),
    model: field('model'),
    branch_from: field('branchLeaf'),
  };
}

/** What `decodeEntry` needs, from `entries e` joined with `bodies b`. */
export const entrySelection = `e.seq, e.uuid, e.session, e.parent, e.entry_type, e.token_estimate, e.model_facing, e.display,
  e.source_id, e.created_at, b.content_json, b.text, b.blob_hash, e.tool_args_json`;

/** Kinds of which there are many and whose texts are long: an outline leaves those out. What shapes a prompt is in none of them. */
const longKinds: ReadonlySet<EntryType> = new Set(['message', 'thinking', 'tool_call', 'tool_result']);
const isLong = `e.entry_type IN (${[...longKinds].map((type) => `'${type}'`).join(', ')})`;

/** A text of so many bytes stands beside what is read anyway; it may be blank, which an outline has to know. */
const shortOctets = 256;

/** The columns of `entrySelection`; the long texts as their size in bytes, which SQLite knows without reading them. */
export const outlineSelection = `e.seq, e.uuid, e.session, e.parent, e.entry_type, e.token_estimate, e.model_facing, e.display,
  e.source_id, e.created_at, b.content_json, b.blob_hash,
  CASE WHEN ${isLong} AND octet_length(b.text) > ${shortOctets} THEN NULL ELSE b.text END AS text, CASE WHEN ${isLong} THEN NULL ELSE e.tool_args_json END AS tool_args_json,
  CASE WHEN NOT ${isLong} THEN NULL WHEN b.blob_hash IS NOT NULL THEN (SELECT bytes FROM blobs WHERE hash = b.blob_hash)
    ELSE coalesce(octet_length(b.text), octet_length(e.tool_args_json), 0) END AS octets`;

export interface OutlinedEntry {
  readonly entry: StoredEntry;
  /** Its tokens have not been counted: what it says of them is a guess from its size. */
  readonly isGuess: boolean;
}

/** Stands for a text that has not been read, where there is one. */
const unreadText = '…';

/** `whole`: for a row that is not as it should be, which `decodeEntry` then has its own word for. */
export function decodeOutline(
  row: Row,
  decode: (row: Row) => StoredEntry,
  whole: (uuid: string) => StoredEntry | undefined,
): OutlinedEntry {
  if (!longKinds.has(row['entry_type'] as EntryType)) return { entry: decode(row), isGuess: false };
  const octets = Number(row['octets'] ?? 0);
  const text = octets === 0 ? '' : (row['text'] ?? unreadText);
  const content = decodeContent({ ...row, text, tool_args_json: row['entry_type'] === 'tool_call' ? '{}' : null });
  if (!content) return { entry: whole(String(row['uuid']))!, isGuess: false };
  const isGuess = row['token_estimate'] === null && octets > 0;
  const entry = { ...rowOf(row), modelFacing: row['model_facing'] === 1, display: row['display'] === 1, content };
  return { entry: isGuess ? { ...entry, tokenEstimate: Math.ceil(octets / 4) } : entry, isGuess };
}

/**
 * One damaged record must not make a session unopenable: content that cannot be parsed, or whose file is missing or has changed,
 * comes back as a `custom` entry of type `damaged` with what the row has, shown but never sent to a model, and the row stays as it is.
 */
export function decodeEntry(row: Row, blobs: BlobReader): StoredEntry {
  const whole = joinRow(row, blobs);
  const content = whole && decodeContent(whole);
  return {
    ...rowOf(row),
    modelFacing: row['model_facing'] === 1 && content !== undefined,
    display: row['display'] === 1 || content === undefined,
    content: content ?? {
      type: 'custom',
      customType: damagedType,
      data: { entryType: row['entry_type'], text: unpackText((whole ?? row)['text']) },
    },
  };
}

function rowOf(row: Row): Omit<StoredEntry, 'modelFacing' | 'display' | 'content'> {
  return {
    seq: Number(row['seq']),
    uuid: String(row['uuid']),
    session: String(row['session']),
    parent: textOrNull(row['parent']),
    createdAt: Number(row['created_at']),
    tokenEstimate: row['token_estimate'] === null ? null : Number(row['token_estimate']),
    ...(row['source_id'] === null ? {} : { sourceId: String(row['source_id']) }),
  };
}

/** Whether `entry` is what the row already says. Estimates may differ, they are not content. */
export function isSameEntry(row: Row, entry: NewEntry): boolean {
  const { row: body, long } = splitBody(entry.content.type, encodeBody(entry.content));
  return (
    row['blob_hash'] === (long && sha256(long)) &&
    row['session'] === entry.session &&
    row['parent'] === entry.parent &&
    row['content_json'] === body.contentJson &&
    row['tool_args_json'] === body.toolArgsJson &&
    (body.text === null ? row['text'] === null : unpackText(row['text']) === unpackText(body.text))
  );
}

function decodeContent(row: Row): EntryContent | undefined {
  const type = row['entry_type'] as EntryType;
  try {
    const content = JSON.parse(String(row['content_json'])) as Record<string, unknown>;
    if (content['type'] !== type) return undefined;
    if (type === 'tool_call' && row['tool_args_json'] !== null) content['input'] = JSON.parse(String(row['tool_args_json']));
    // A kind that a newer version has added calls its text `text`.
    const property = kindOf({ type }).text ?? (row['text'] === null ? null : 'text');
    if (property !== null) content[property] = unpackText(row['text']);
    return content as EntryContent;
  } catch {
    return undefined;
  }
}

function textOrNull(value: SqlValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

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
function splitBody(type: EntryType, body: EncodedBody): { readonly row: EncodedBody; readonly long: Uint8Array | null } {
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
function joinRow(row: Row, blobs: BlobReader): Row | undefined {
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
