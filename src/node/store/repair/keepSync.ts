import { randomUUID } from 'node:crypto';
import type { Connection, Row } from '../database/connection';
import { leafRegister } from '../../../core/sync/change';
import { columnRegisters, metadataPrefix, openOutbox, pinPrefix } from '../sync/outbox';
import { readableRows } from './salvageRows';

/**
 * A store that was synchronized goes on so after it was made anew, as another device: what it has is told once more, which changes nothing
 * where it is known, and what has been lost comes again from the logs of all devices. What was deleted here and told to nobody stays
 * deleted.
 */
export function keepSync(source: Connection, target: Connection): void {
  const read = (table: string, ...key: string[]) => [...readableRows(source, table, key)];
  for (const row of read('session_aliases', 'alias', 'session')) insert(target, 'session_aliases', row);
  for (const row of read('stand_ins', 'entry')) insert(target, 'stand_ins', row);
  target.run(
    `INSERT OR IGNORE INTO stand_ins(entry) SELECT e.uuid FROM entries e JOIN bodies b ON b.entry = e.seq
     WHERE b.content_json LIKE '{"type":"damaged"%' OR e.custom_type = 'damaged'`,
  );
  const state = read('sync_state', 'one')[0];
  const setup = state?.['setup_json'];
  if (typeof setup !== 'string' || !isSetup(setup)) return;
  for (const table of ['sync_notes', 'sync_note_files'] as const)
    for (const row of read(table, table === 'sync_notes' ? 'n' : 'path')) insert(target, table, row);
  const device = randomUUID();
  openOutbox(target, device, setup);
  target.run('UPDATE sync_state SET clock = ?', [Number(state?.['clock']) || 0]);
  // What others tell of titles and marks is better than what a repair has made of them; what was kept is told with its time below.
  target.run("UPDATE sync_outbox SET tick = 0 WHERE kind = 'session'");
  const tell = (
    kind: 'purge' | 'register',
    session: Row[string] | undefined,
    of: Row[string] | undefined,
    tick: Row[string] | undefined,
  ) => {
    if (typeof session !== 'string') return;
    const at = Number.isSafeInteger(tick) ? Number(tick) : 0;
    target.run('INSERT INTO sync_outbox(kind, session, target, tick) VALUES (?, ?, ?, ?)', [kind, session, of ?? null, at]);
  };
  const stamps = read('sync_stamps', 'session', 'name');
  forgetLeaves(source, target, new Set(stamps.flatMap(({ session, name }) => (name === leafRegister ? [session] : []))));
  for (const row of stamps) {
    if (!isKept(source, target, row['session'], row['name'])) continue;
    // What was set here may stand in records that no engine has got, and that are gone.
    const isOwn = row['device'] === state?.['device'];
    insert(target, 'sync_stamps', isOwn ? { ...row, device } : row);
    if (isOwn) tell('register', row['session'], row['name'], row['tick']);
  }
  const waiting = read('sync_outbox', 'n');
  for (const { kind, session, target: of, tick } of waiting)
    if (kind === 'register' && isKept(source, target, session, of)) tell('register', session, of, tick);
  // Either table may have lost what the other one says.
  const purged = [...read('sync_purged', 'session'), ...waiting.filter(({ kind }) => kind === 'purge')];
  for (const session of new Set(purged.map((row) => row['session']))) {
    insert(target, 'sync_purged', { session: session ?? null });
    tell('purge', session, null, 0);
  }
}

/** A place in a session that the repair has chosen is not where somebody stands; of the others it is known when they went there. */
function forgetLeaves(source: Connection, target: Connection, known: ReadonlySet<Row[string] | undefined>): void {
  for (const { uuid } of target.all('SELECT uuid FROM sessions WHERE leaf_entry IS NOT NULL'))
    if (known.has(uuid) || !isKept(source, target, uuid, leafRegister))
      target.run("DELETE FROM sync_outbox WHERE kind = 'register' AND target = ? AND session = ?", [leafRegister, uuid ?? null]);
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
