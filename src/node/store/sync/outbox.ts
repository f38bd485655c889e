import type { Connection } from '../database/connection';

/** Registers that are columns of a session, by their names in `SessionPatch`. */
export const columnRegisters = {
  key: 'key',
  title: 'title',
  model: 'model',
  thinkingLevel: 'thinking_level',
  policy: 'policy_json',
  costLimit: 'cost_limit',
  pinnedAt: 'pinned_at',
  archivedAt: 'archived_at',
  deletedAt: 'deleted_at',
} as const;

export const metadataPrefix = 'metadata.';
export const pinPrefix = 'pin.';

/**
 * Milliseconds × 1024, or one more than the last: the hybrid clock of core/sync/change.ts. Rounded, because half of all times are a little
 * below their millisecond as days.
 */
const tick = `max((SELECT clock FROM sync_state), coalesce((SELECT tick FROM sync_outbox ORDER BY n DESC LIMIT 1), 0),
  CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1024) + 1`;
const queue = 'INSERT INTO sync_outbox(kind, session, target, tick)';
const isLocal = '(SELECT merging FROM sync_state) = 0';

/**
 * Whatever changes rows, these triggers note it in the transaction of the change. `merging` is 1 while the changes of another device are
 * merged, 2 while one of them is a purge: entries that it hands on are told again, as those of a purge here.
 */
const triggers: Readonly<Record<string, string>> = {
  sync_session: `AFTER INSERT ON sessions WHEN ${isLocal} BEGIN ${queue} VALUES ('session', new.uuid, NULL, ${tick}); END`,
  sync_entry: `AFTER INSERT ON entries WHEN ${isLocal} BEGIN ${queue} VALUES ('entry', new.session, new.seq, ${tick}); END`,
  sync_heir: `AFTER UPDATE OF session ON entries WHEN (SELECT merging FROM sync_state) <> 1
    BEGIN ${queue} VALUES ('entry', new.session, new.seq, ${tick}); END`,
  sync_usage: `AFTER INSERT ON usage WHEN ${isLocal} BEGIN ${queue} VALUES ('usage', new.session, new.rowid, ${tick}); END`,
  sync_leaf: `AFTER UPDATE OF leaf_entry ON sessions WHEN old.leaf_entry IS NOT new.leaf_entry AND ${isLocal}
    BEGIN ${queue} VALUES ('register', new.uuid, 'leaf', ${tick}); END`,
  sync_registers: `AFTER UPDATE OF ${Object.values(columnRegisters).join(', ')} ON sessions WHEN ${isLocal} BEGIN
    ${Object.entries(columnRegisters)
      .map(([name, column]) => `${queue} SELECT 'register', new.uuid, '${name}', ${tick} WHERE old.${column} IS NOT new.${column};`)
      .join('\n    ')} END`,
  sync_metadata: `AFTER UPDATE OF metadata ON sessions WHEN old.metadata IS NOT new.metadata AND json_valid(new.metadata) AND ${isLocal} BEGIN
    ${queue} SELECT 'register', new.uuid, '${metadataPrefix}' || k.key, ${tick} FROM (
      SELECT key FROM json_each(new.metadata) UNION
      SELECT key FROM json_each(CASE WHEN json_valid(old.metadata) THEN old.metadata ELSE '{}' END)
    ) k WHERE (SELECT value FROM json_each(new.metadata) n WHERE n.key = k.key) IS NOT
      (SELECT value FROM json_each(CASE WHEN json_valid(old.metadata) THEN old.metadata ELSE '{}' END) o WHERE o.key = k.key); END`,
  sync_pin: `AFTER INSERT ON pins WHEN ${isLocal} AND typeof(new.target) = 'text'
    BEGIN ${queue} VALUES ('register', new.session, '${pinPrefix}' || new.kind || '.' || new.target, ${tick}); END`,
  sync_unpin: `AFTER DELETE ON pins WHEN ${isLocal} AND typeof(old.target) = 'text'
    AND EXISTS (SELECT 1 FROM sessions WHERE uuid = old.session)
    BEGIN ${queue} VALUES ('register', old.session, '${pinPrefix}' || old.kind || '.' || old.target, ${tick}); END`,
  sync_purge: `AFTER DELETE ON sessions BEGIN
    INSERT OR IGNORE INTO sync_purged(session) VALUES (old.uuid);
    INSERT OR IGNORE INTO sync_dropped_keys(id, done) SELECT id, 0 FROM sync_keys WHERE session = old.uuid;
    DELETE FROM sync_keys WHERE session = old.uuid;
    DELETE FROM sync_waiting WHERE session = old.uuid;
    DELETE FROM sync_stamps WHERE session = old.uuid;
    DELETE FROM sync_outbox WHERE session = old.uuid;
    UPDATE sync_attachments SET state = 'gone' WHERE session = old.uuid;
    ${queue} SELECT 'purge', old.uuid, NULL, ${tick} WHERE ${isLocal}; END`,
};

const tables = ['state', 'outbox', 'log', 'stamps', 'waiting', 'keys', 'dropped_keys', 'purged', 'attachments', 'notes', 'note_files'];

/**
 * Switches the outbox on, in the caller's transaction, and puts in it what the store holds. What was set before has the time at which
 * something was last said there: of two stores of one history the one in use longer decides. The newest session stands first, what was
 * said last at the end, so that a new device has both soon however long the history is (core/sync/pullNewest.ts).
 */
export function openOutbox(connection: Connection, device: string, setup: string): void {
  connection.run('INSERT INTO sync_state(one, device, clock, setup_json) VALUES (1, ?, 0, ?)', [device, setup]);
  connection.exec(`
    ${queue} SELECT kind, uuid, target, updated_at * 1024 FROM (
      SELECT 'session' AS kind, uuid, NULL AS target, updated_at FROM sessions UNION ALL
      SELECT 'register', uuid, 'leaf', updated_at FROM sessions WHERE leaf_entry IS NOT NULL
    ) ORDER BY updated_at DESC, uuid, kind DESC;
    ${queue} SELECT 'note', '', revision, tick FROM sync_notes ORDER BY n;
    ${queue} SELECT 'register', session, '${pinPrefix}' || kind || '.' || target, at * 1024 FROM pins WHERE typeof(target) = 'text';
    ${queue} SELECT 'usage', session, rowid, at * 1024 FROM usage WHERE session <> '' ORDER BY rowid;
    ${queue} SELECT 'entry', session, seq, created_at * 1024 FROM entries ORDER BY seq;
  `);
  makeTriggers(connection);
}

/** A store in which synchronizing was switched on by an earlier version has the triggers of that time. */
export function renewTriggers(connection: Connection): void {
  if (!connection.get('SELECT 1 FROM sync_state')) return;
  const found = new Map(
    connection.all("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").map((row) => [String(row['name']), row['sql']]),
  );
  if (Object.entries(triggers).every(([name, body]) => found.get(name) === sqlOf(name, body))) return;
  connection.transaction(() => {
    dropTriggers(connection);
    makeTriggers(connection);
  });
}

function makeTriggers(connection: Connection): void {
  for (const [name, body] of Object.entries(triggers)) connection.exec(sqlOf(name, body));
}

function dropTriggers(connection: Connection): void {
  for (const name of Object.keys(triggers)) connection.exec(`DROP TRIGGER IF EXISTS ${name}`);
}

/** SQLite keeps it as it is written. */
function sqlOf(name: string, body: string): string {
  return `CREATE TRIGGER ${name} ${body}`;
}

/** What no trigger notes; in the caller's transaction. Returns its time. */
export function queueChange(connection: Connection, kind: 'note' | 'register', session: string, target: string): number {
  connection.run(`${queue} VALUES (?, ?, ?, ${tick})`, [kind, session, target]);
  return Number(connection.get('SELECT tick FROM sync_outbox ORDER BY n DESC LIMIT 1')?.['tick']);
}

/** Leaves no trace of it, in the caller's transaction; what was synchronised stays. */
export function closeOutbox(connection: Connection): void {
  dropTriggers(connection);
  for (const table of tables) connection.exec(`DELETE FROM sync_${table}`);
}
