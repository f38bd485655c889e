import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import initSqlJs from 'sql.js';
import { storeFiles } from '../../../src/node/store/database/storeFiles';
import { wasmFile } from '../../support/store/storeTemp';
import { grown, message, messageCharacters } from './benchStore';

/**
 * The reference: stock sql.js, which has the whole database in memory. After every commit it is exported, written beside the
 * file, synced and renamed over it. The same rows and indices, by plain statements.
 */
export async function exportPerCommit({
  folder,
  commits,
}: {
  folder: string;
  commits: number;
}): Promise<{ median: number; resident: number }> {
  const { main } = storeFiles(folder);
  const sql = await initSqlJs({ locateFile: () => wasmFile });
  const database = new sql.Database(readFileSync(main));
  const entry =
    'INSERT INTO entries(uuid, session, parent, entry_type, role, model_facing, display, created_at) VALUES (?, ?, ?, ?, ?, 1, 1, ?)';
  const times: number[] = [];
  for (let i = 0; i < commits; i++) {
    const { uuid, createdAt, content } = message(grown, null, messageCharacters);
    const started = performance.now();
    database.run('BEGIN');
    database.run(entry, [uuid, grown, null, content.type, 'user', createdAt]);
    database.run("INSERT INTO bodies(entry, content_json, text, crc32) VALUES (last_insert_rowid(), '{}', ?, 0)", [
      'text' in content ? String(content.text) : '',
    ]);
    database.run('UPDATE sessions SET leaf_entry = ?, updated_at = ?, message_count = message_count + 1 WHERE uuid = ?', [
      uuid,
      createdAt,
      grown,
    ]);
    database.run('COMMIT');
    replaceFile(main, database.export());
    times.push(performance.now() - started);
  }
  const resident = process.memoryUsage.rss();
  database.close();
  return { median: times.sort((x, y) => x - y)[Math.floor(times.length / 2)] ?? NaN, resident };
}

function replaceFile(file: string, content: Uint8Array): void {
  const temporary = `${file}.export`;
  const fd = openSync(temporary, 'w');
  for (let at = 0; at < content.length; ) at += writeSync(fd, content, at);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(temporary, file);
  const folder = openSync(dirname(file), 'r');
  fsyncSync(folder);
  closeSync(folder);
}
