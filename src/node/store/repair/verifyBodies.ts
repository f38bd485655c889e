import type { Connection } from '../database/connection';
import { isSoundBody } from './damagedBody';

/** Rows between two looks at the clock. */
const batchRows = 20;

/**
 * Compares what every entry says with the checksum it was written with, newest first. Yields at least every `batchRows` rows how
 * many were looked at; `onDamage` gets the numbers of those that do not add up.
 */
export function* verifyBodies(connection: Connection, onDamage: (seq: number) => void): Generator<number, void, void> {
  let below = Number.MAX_SAFE_INTEGER;
  let read = 0;
  for (;;) {
    const rows = connection.all(
      `SELECT b.entry AS entry, b.content_json AS content_json, b.text AS text, b.crc32 AS crc32, e.tool_args_json AS tool_args_json
       FROM bodies b LEFT JOIN entries e ON e.seq = b.entry WHERE b.entry < ? ORDER BY b.entry DESC LIMIT ${batchRows}`,
      [below],
    );
    for (const row of rows) {
      below = Number(row['entry']);
      read++;
      if (!isSoundBody(row, row['tool_args_json'])) onDamage(below);
    }
    yield read;
    if (rows.length < batchRows) return;
  }
}
