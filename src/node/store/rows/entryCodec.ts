import { crc32 } from 'node:zlib';
import type { EntryContent, EntryType, NewEntry, StoredEntry } from '../../../core/session/entry';
import { kindOf } from '../../../core/session/entryKinds';
import { sha256, type BlobReader } from './blobFiles';
import type { Row, SqlValue } from '../database/connection';
import { joinRow, splitBody } from './longPart';
import { packText, plainText, unpackText } from '../database/text';

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

/**
 * One damaged record must not make a session unopenable: content that cannot be parsed, or whose file is missing or has changed,
 * comes back as a `custom` entry of type `damaged` with what the row has, shown but never sent to a model, and the row stays as it is.
 */
export function decodeEntry(row: Row, blobs: BlobReader): StoredEntry {
  const whole = joinRow(row, blobs);
  const content = whole && decodeContent(whole);
  return {
    seq: Number(row['seq']),
    uuid: String(row['uuid']),
    session: String(row['session']),
    parent: textOrNull(row['parent']),
    createdAt: Number(row['created_at']),
    modelFacing: row['model_facing'] === 1 && content !== undefined,
    display: row['display'] === 1 || content === undefined,
    tokenEstimate: row['token_estimate'] === null ? null : Number(row['token_estimate']),
    ...(row['source_id'] === null ? {} : { sourceId: String(row['source_id']) }),
    content: content ?? {
      type: 'custom',
      customType: 'damaged',
      data: { entryType: row['entry_type'], text: unpackText((whole ?? row)['text']) },
    },
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
    const property = kindOf({ type }).text;
    if (property !== null) content[property] = unpackText(row['text']);
    return content as EntryContent;
  } catch {
    return undefined;
  }
}

function textOrNull(value: SqlValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
