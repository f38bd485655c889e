import { randomUUID } from 'node:crypto';
import type { Connection, Row } from '../database/connection';
import { leafRegister } from '../../../core/sync/change';
import { columnRegisters, metadataPrefix, openOutbox, pinPrefix } from '../sync/outbox';
import { readableRows } from './salvageRows';

/**
 * A store that was synchronized goes on so after it was made anew, as another device: what it has is told once more, which changes nothing
 * where it is known, and what has been lost of other devices' logs comes again. What was deleted here and told to nobody stays deleted.
 */
export function keepSync(source: Connection, target: Connection): void {
  const read = (table: string, ...key: string[]) => [...readableRows(source, table, key)];
  for (const row of read('session_aliases', 'alias', 'session')) insert(target, 'session_aliases', row);
  const state = read('sync_state', 'one')[0];
  const setup = state?.['setup_json'];
  if (typeof setup !== 'string' || !isSetup(setup)) return;
  for (const table of ['sync_notes', 'sync_note_files'] as const)
    for (const row of read(table, table === 'sync_notes' ? 'n' : 'path')) insert(target, table, row);
  for (const row of read('sync_purged', 'session')) insert(target, 'sync_purged', row);
  const device = randomUUID();
  openOutbox(target, device, setup);
  const tellAgain = (session: Row[string] | undefined, name: Row[string] | undefined, tick: Row[string] | undefined) =>
    target.run("INSERT INTO sync_outbox(kind, session, target, tick) VALUES ('register', ?, ?, ?)", [
      session ?? null,
      name ?? null,
      tick ?? null,
    ]);
  for (const row of read('sync_stamps', 'session', 'name')) {
    if (row['name'] === leafRegister || !isKept(source, target, row['session'], row['name'])) continue;
    // What was set here may stand in records that no engine has got, and that are gone.
    const isOwn = row['device'] === state?.['device'];
    insert(target, 'sync_stamps', isOwn ? { ...row, device } : row);
    if (isOwn) tellAgain(row['session'], row['name'], row['tick']);
  }
  const told = new Map<string, Set<unknown>>();
  for (const { kind, session, target: of, tick } of read('sync_outbox', 'n')) {
    const kept = told.get(String(kind)) ?? new Set();
    told.set(String(kind), kept.add(of));
    if (kind === 'purge')
      target.run("INSERT INTO sync_outbox(kind, session, target, tick) VALUES ('purge', ?, NULL, ?)", [session ?? null, tick ?? null]);
    else if (kind === 'register' && isKept(source, target, session, of)) tellAgain(session, of, tick);
  }
  // Others have these as they were written; a device that is new would take over what is left of them here.
  const damaged = target.all(
    `SELECT e.seq FROM entries e JOIN bodies b ON b.entry = e.seq WHERE b.content_json LIKE '{"type":"damaged"%' OR e.custom_type = 'damaged'`,
  );
  for (const { seq } of damaged)
    if (told.get('entry')?.has(seq) !== true) target.run("DELETE FROM sync_outbox WHERE kind = 'entry' AND target = ?", [seq ?? null]);
}

/** The register has the value that it had: one that was lost is not told, and comes from others. */
function isKept(source: Connection, target: Connection, session: Row[string] | undefined, name: Row[string] | undefined): boolean {
  if (typeof name !== 'string' || session === undefined) return false;
  const column = name === leafRegister ? 'leaf_entry' : name.startsWith(metadataPrefix) ? 'metadata' : columnOf(name);
  const [sql, values] = name.startsWith(pinPrefix)
    ? (["SELECT * FROM pins WHERE session = ? AND kind || '.' || target = ?", [session, name.slice(pinPrefix.length)]] as const)
    : ([`SELECT ${column} FROM sessions WHERE uuid = ?`, [session]] as const);
  try {
    if (!target.get('SELECT 1 FROM sessions WHERE uuid = ?', [session])) return false;
    return JSON.stringify(source.get(sql, values)) === JSON.stringify(target.get(sql, values));
  } catch {
    return false;
  }
}

function columnOf(name: string): string {
  return Object.hasOwn(columnRegisters, name) ? columnRegisters[name as keyof typeof columnRegisters] : 'NULL';
}

function isSetup(json: string): boolean {
  try {
    return typeof (JSON.parse(json) as { readonly history?: unknown }).history === 'string';
  } catch {
    return false;
  }
}

function insert(target: Connection, table: string, row: Row): void {
  const names = Object.keys(row).filter((name) => !/^salvage_key_/.test(name));
  try {
    target.run(
      `INSERT OR IGNORE INTO ${table}(${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      names.map((name) => row[name] ?? null),
    );
  } catch {
    // A row that the schema refuses says nothing.
  }
}
