import { crc32 } from 'node:zlib';
import type { Row, SqlValue } from '../database/connection';
import { bodyChecksum } from '../rows/entryCodec';

/** What `bodies.content_json` says in place of content that was lost or does not add up; such entries are shown as damaged. */
export interface DamagedContent {
  readonly type: 'damaged';
  /** The content as it was found, and its stored checksum; absent when the row could not be read. */
  readonly was?: string;
  readonly crc32?: number;
}

/** Whether a row of `bodies`, with its entry's `tool_args_json`, is what was written. */
export function isSoundBody(row: Row, toolArgs: SqlValue | undefined): boolean {
  const { content_json: content, text } = row;
  if (typeof content !== 'string' || typeof text === 'number') return false;
  return (
    bodyChecksum({ contentJson: content, text: text ?? null, toolArgsJson: typeof toolArgs === 'string' ? toolArgs : null }) ===
    row['crc32']
  );
}

/** The row's columns for an entry that is kept as damaged. */
export function damagedBody(
  row: Row | undefined,
  toolArgs: string | null,
): readonly [content: string, text: string | Uint8Array | null, sum: number] {
  const was = row?.['content_json'];
  const text = row?.['text'];
  const content: DamagedContent = {
    type: 'damaged',
    ...(typeof was === 'string' ? { was } : {}),
    ...(typeof row?.['crc32'] === 'number' ? { crc32: row['crc32'] } : {}),
  };
  const kept = typeof text === 'string' || text instanceof Uint8Array ? text : null;
  const json = JSON.stringify(content);
  return [json, kept, crc32(toolArgs ?? '', crc32(kept ?? '', crc32(json)))];
}
