/** "TKDB": tells our files from any other SQLite database. */
export const applicationId = 0x544b4442;

/**
 * Version 1. Entries are small rows, their text lives in `bodies`, so that walking a branch does not read it. `tool_args_json`
 * stands last for the same reason: SQLite reads a row's overflow pages only for columns that need them.
 *
 * A purge may delete entries: it says so in `meta` for the length of its transaction.
 *
 * Every index costs a page per append (8 pages in all). There is none on `model_facing`: the projection walks parents.
 */
export const schemaV1 = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE id_counters(day TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE sessions(
  uuid TEXT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  key TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL DEFAULT '',
  cwd TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_opened_at INTEGER NOT NULL,
  pinned_at INTEGER,
  archived_at INTEGER,
  deleted_at INTEGER,
  parent_session TEXT,
  fork_entry TEXT,
  leaf_entry TEXT,
  model TEXT,
  thinking_level TEXT,
  policy_json TEXT,
  metadata TEXT NOT NULL DEFAULT '{}',
  cost_limit REAL,
  total_tokens INTEGER NOT NULL DEFAULT 0,
  message_count INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX sessions_by_update ON sessions(updated_at);
CREATE INDEX sessions_by_creation ON sessions(created_at);

CREATE TABLE entries(
  seq INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL REFERENCES sessions(uuid),
  parent TEXT REFERENCES entries(uuid),
  entry_type TEXT NOT NULL,
  role TEXT,
  tool_name TEXT,
  tool_call_id TEXT,
  tool_status TEXT,
  is_error INTEGER NOT NULL DEFAULT 0,
  custom_type TEXT,
  provider TEXT,
  model TEXT,
  token_estimate INTEGER,
  tokens_exact INTEGER NOT NULL DEFAULT 0,
  model_facing INTEGER NOT NULL,
  display INTEGER NOT NULL,
  branch_from TEXT,
  source_id TEXT,
  created_at INTEGER NOT NULL,
  tool_args_json TEXT
);
CREATE INDEX entries_by_session ON entries(session, seq);
CREATE INDEX entries_by_parent ON entries(parent);
CREATE UNIQUE INDEX entries_by_source ON entries(source_id) WHERE source_id IS NOT NULL;

CREATE TABLE bodies(
  entry INTEGER PRIMARY KEY REFERENCES entries(seq),
  content_json TEXT NOT NULL,
  text TEXT,
  crc32 INTEGER NOT NULL,
  blob_hash TEXT
);

CREATE TRIGGER entries_keep_content BEFORE UPDATE OF
  seq, uuid, session, parent, entry_type, role, tool_name, tool_call_id, tool_status, is_error, custom_type, provider, model,
  model_facing, display, branch_from, source_id, created_at, tool_args_json ON entries
BEGIN SELECT RAISE(ABORT, 'append-only: an entry is never changed'); END;
CREATE TRIGGER entries_keep BEFORE DELETE ON entries WHEN NOT EXISTS (SELECT 1 FROM meta WHERE key = 'purging')
BEGIN SELECT RAISE(ABORT, 'append-only: an entry is never deleted'); END;
CREATE TRIGGER bodies_keep_content BEFORE UPDATE ON bodies
BEGIN SELECT RAISE(ABORT, 'append-only: an entry is never changed'); END;
CREATE TRIGGER bodies_keep BEFORE DELETE ON bodies WHEN NOT EXISTS (SELECT 1 FROM meta WHERE key = 'purging')
BEGIN SELECT RAISE(ABORT, 'append-only: an entry is never deleted'); END;

CREATE VIEW messages AS
  SELECT e.session AS session, e.seq AS seq, e.uuid AS uuid,
         CASE e.role WHEN 'user' THEN 'user' ELSE coalesce(e.model, 'assistant') END AS sender,
         e.role AS role, b.text AS content, e.model AS model, e.created_at AS time
  FROM entries e JOIN bodies b ON b.entry = e.seq
  WHERE e.entry_type = 'message';

CREATE TABLE compactions(
  entry INTEGER PRIMARY KEY REFERENCES entries(seq),
  summary_json TEXT,
  summary_text TEXT NOT NULL,
  first_kept_entry TEXT,
  covers_from TEXT,
  tokens_before INTEGER NOT NULL,
  tokens_after INTEGER NOT NULL,
  messages_before INTEGER NOT NULL,
  messages_after INTEGER NOT NULL,
  trigger TEXT NOT NULL,
  rung TEXT NOT NULL,
  model TEXT,
  cost REAL,
  duration_ms INTEGER NOT NULL,
  held_ms INTEGER NOT NULL,
  audit_json TEXT,
  continuity_json TEXT,
  needs_summary_retry INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  supersedes TEXT,
  operation_id TEXT NOT NULL UNIQUE
);

CREATE TABLE checkpoints(
  entry INTEGER PRIMARY KEY REFERENCES entries(seq),
  summary TEXT NOT NULL,
  tokens_at_checkpoint INTEGER NOT NULL,
  messages_at_checkpoint INTEGER NOT NULL,
  topics TEXT NOT NULL,
  key_decisions TEXT NOT NULL,
  open_questions TEXT NOT NULL,
  covers_through TEXT NOT NULL
);

CREATE TABLE usage(
  session TEXT NOT NULL,
  entry TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  kind TEXT NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cost REAL,
  at INTEGER NOT NULL
);
CREATE UNIQUE INDEX usage_once ON usage(entry, kind, at, provider, model);
CREATE INDEX usage_by_session ON usage(session, at);

CREATE TABLE calibration(
  model TEXT NOT NULL,
  kind TEXT NOT NULL,
  factor REAL NOT NULL,
  n INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (model, kind)
) WITHOUT ROWID;

CREATE TABLE pins(
  session TEXT NOT NULL,
  target TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('entry', 'file', 'text')),
  content_hash TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (session, kind, target)
) WITHOUT ROWID;

CREATE TABLE memory_writes(entry TEXT NOT NULL, path TEXT NOT NULL, op TEXT NOT NULL, bytes INTEGER NOT NULL, at INTEGER NOT NULL);
CREATE INDEX memory_writes_by_entry ON memory_writes(entry);

CREATE TABLE drafts(session TEXT PRIMARY KEY, text TEXT NOT NULL, attachments_json TEXT, at INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE queue(
  session TEXT NOT NULL,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  text TEXT NOT NULL,
  attachments_json TEXT,
  PRIMARY KEY (session, position)
) WITHOUT ROWID;

CREATE TABLE retry_queue(compaction TEXT PRIMARY KEY, next_at INTEGER NOT NULL, attempts INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE blobs(hash TEXT PRIMARY KEY, bytes INTEGER NOT NULL, mime TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE partials(
  entry TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  session TEXT NOT NULL,
  parent TEXT,
  kind TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE INDEX partials_by_session ON partials(session);
CREATE TABLE partial_chunks(seq INTEGER PRIMARY KEY, entry TEXT NOT NULL REFERENCES partials(entry) ON DELETE CASCADE, text TEXT NOT NULL);
CREATE INDEX partial_chunks_by_entry ON partial_chunks(entry);
`;

/**
 * Version 2. Keeps no text of its own: the rows are made by core/recall/indexTerms.ts, `docid` is an entry's `seq`, and
 * `meta.fts_indexed` is the highest `seq` that has been indexed (or needs not be). Such a table cannot delete: what a purge
 * takes away is no longer found, because entries are joined, but its terms go only when the table is dropped and made again.
 */
export const schemaV2 = `
CREATE VIRTUAL TABLE entries_fts USING fts4(content="", body, tokenize=simple);
INSERT INTO entries_fts(entries_fts) VALUES ('automerge=8');
`;

/**
 * Version 3. A purge may hand entries on: those that a fork shares, to the fork. It also counts in `id_counters`, under `entries`,
 * the highest `seq` that it has taken away: SQLite would hand that number out again. And from now on `bodies.blob_hash` is used:
 * it names the file that holds the one long part of an entry, of which the row keeps the ends (entryCodec.ts).
 */
export const schemaV3 = `
ALTER TABLE partials DROP COLUMN run;

DROP TRIGGER entries_keep_content;
CREATE TRIGGER entries_keep_content BEFORE UPDATE OF
  seq, uuid, parent, entry_type, role, tool_name, tool_call_id, tool_status, is_error, custom_type, provider, model,
  model_facing, display, branch_from, source_id, created_at, tool_args_json ON entries
BEGIN SELECT RAISE(ABORT, 'append-only: an entry is never changed'); END;
CREATE TRIGGER entries_keep_session BEFORE UPDATE OF session ON entries WHEN NOT EXISTS (SELECT 1 FROM meta WHERE key = 'purging')
BEGIN SELECT RAISE(ABORT, 'append-only: an entry is never changed'); END;
`;

/** Version 4: what of `cache_write` is kept for an hour, at another price than the rest. */
export const schemaV4 = `ALTER TABLE usage ADD COLUMN cache_write_hour INTEGER NOT NULL DEFAULT 0;`;

/**
 * Version 5. The index has a row for each passage instead of each entry, and a column for each of its fields
 * (core/recall/passageFields.ts), so that ranking has from it what it needs of a passage, its neighbours and its session without reading
 * any text. `docid` is `passages.id`; a passage's neighbours are one `position` apart in its session. Both tables grow with the index and
 * are part of it: whoever drops one drops all. `length` is that of core/recall/tokenizeTerms.ts. What was indexed before is indexed
 * again, in the background.
 */
export const schemaV5 = `
DROP TABLE entries_fts;
CREATE VIRTUAL TABLE entries_fts USING fts4(content="", said, asked, dated, named, tokenize=simple, matchinfo=fts3);
INSERT INTO entries_fts(entries_fts) VALUES ('automerge=8');
DELETE FROM meta WHERE key = 'fts_indexed';

CREATE TABLE passages(
  id INTEGER PRIMARY KEY,
  entry INTEGER NOT NULL,
  session INTEGER NOT NULL,
  position INTEGER NOT NULL,
  part INTEGER NOT NULL,
  parts INTEGER NOT NULL,
  length INTEGER NOT NULL
);
CREATE UNIQUE INDEX passages_by_place ON passages(session, position);
CREATE TABLE passage_sessions(number INTEGER PRIMARY KEY, session TEXT NOT NULL UNIQUE, passages INTEGER NOT NULL, length INTEGER NOT NULL);
`;

/**
 * Version 6. What an embedding model makes of passages, where the user has named one (core/recall/embeddings.ts): a byte for each number,
 * under the first half of the sha256 of the passage's text, so that an index that is made anew asks for nothing again. `meta.vector_space`
 * names the model; there are vectors of one only. An empty vector is that of a passage which the model cannot read. `passage_vectors` is
 * part of the index.
 */
export const schemaV6 = `
CREATE TABLE vectors(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, vector BLOB NOT NULL);
CREATE TABLE passage_vectors(passage INTEGER PRIMARY KEY, vector INTEGER NOT NULL);
`;

/**
 * Version 7. For the same history on several machines (core/sync): empty where that is off, and the triggers that fill `sync_outbox` are
 * made when it is switched on (store/sync/outbox.ts), so that a commit costs nothing without them. `sync_log` keeps the sealed records of
 * all devices, `sync_stamps` who has set a register last, `sync_waiting` what needs something that has not come yet.
 */
export const schemaV7 = `
CREATE TABLE sync_state(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  device TEXT NOT NULL,
  clock INTEGER NOT NULL,
  merging INTEGER NOT NULL DEFAULT 0,
  setup_json TEXT NOT NULL
);
CREATE TABLE sync_outbox(n INTEGER PRIMARY KEY, kind TEXT NOT NULL, session TEXT NOT NULL, target, tick INTEGER NOT NULL);
CREATE TABLE sync_log(
  n INTEGER PRIMARY KEY,
  device TEXT NOT NULL,
  place INTEGER NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  mark INTEGER NOT NULL,
  unread_session TEXT,
  unread_key TEXT,
  sealed BLOB NOT NULL
);
CREATE UNIQUE INDEX sync_log_by_place ON sync_log(device, place);
CREATE INDEX sync_log_unread ON sync_log(unread_session) WHERE unread_session IS NOT NULL;
CREATE TABLE sync_stamps(
  session TEXT NOT NULL, name TEXT NOT NULL, tick INTEGER NOT NULL, device TEXT NOT NULL, PRIMARY KEY (session, name)
) WITHOUT ROWID;
CREATE TABLE sync_waiting(n INTEGER PRIMARY KEY, needs TEXT NOT NULL, session TEXT NOT NULL, device TEXT NOT NULL, change_json TEXT NOT NULL);
CREATE INDEX sync_waiting_by_need ON sync_waiting(needs);
CREATE TABLE sync_keys(id TEXT PRIMARY KEY, session TEXT NOT NULL, wrapped BLOB NOT NULL, pushed INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sync_dropped_keys(id TEXT PRIMARY KEY, done INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sync_purged(session TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE sync_sent(hash TEXT PRIMARY KEY) WITHOUT ROWID;
`;

/**
 * Version 8. `session_aliases` has ids under which a session is known on other devices, where another one has its id here. `sync_notes` are
 * the revisions of notes (core/sync/noteRevisions.ts), `text` null for one that was deleted; `sync_note_files` has what they come to:
 * `digest` of the merged text ('' for none) and its `heads`, and the same of what the file had when it was last looked at or written, and
 * of what it is being given.
 */
export const schemaV8 = `
CREATE TABLE session_aliases(alias TEXT NOT NULL, session TEXT NOT NULL, PRIMARY KEY (alias, session)) WITHOUT ROWID;
CREATE INDEX session_aliases_by_session ON session_aliases(session);
CREATE TABLE sync_notes(
  n INTEGER PRIMARY KEY,
  revision TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  parents_json TEXT NOT NULL,
  text,
  tick INTEGER NOT NULL
);
CREATE INDEX sync_notes_by_path ON sync_notes(path);
CREATE TABLE sync_note_files(
  path TEXT PRIMARY KEY,
  heads_json TEXT NOT NULL,
  digest TEXT NOT NULL,
  file_heads_json TEXT NOT NULL DEFAULT '[]',
  file_digest TEXT NOT NULL DEFAULT '',
  next_heads_json TEXT,
  next_digest TEXT
) WITHOUT ROWID;
`;

/**
 * Version 9. The first page of a short session asks where its branches begin. Without an index of its own that read the first entry of
 * every session there is.
 */
export const schemaV9 = `CREATE INDEX entries_roots ON entries(session) WHERE parent IS NULL;`;

/**
 * Version 10. `sync_attachments` has what is to be done about the bytes of attachments, which go to other devices beside the records
 * (store/sync/attachmentRows.ts). Until then they went as records, and `sync_sent` had those that were; nothing is put there any more.
 */
export const schemaV10 = `
CREATE TABLE sync_attachments(
  session TEXT NOT NULL, hash TEXT NOT NULL, mime TEXT NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (session, hash)
) WITHOUT ROWID;
CREATE INDEX sync_attachments_by_state ON sync_attachments(state, at);
`;

/**
 * Version 11. `stand_ins` names entries that a repair has made up for, and texts that it has kept without knowing of which entries they
 * were (`is_fragment`): what another device tells of one takes its place (store/sync/standIns.ts). The indices are there because a turn
 * asks for the keys of its sessions, not for all that there are. Nothing has used `sync_sent` since version 10.
 */
export const schemaV11 = `
DROP TABLE sync_sent;
CREATE TABLE stand_ins(entry TEXT PRIMARY KEY, is_fragment INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX sync_keys_by_session ON sync_keys(session);
CREATE INDEX sync_keys_unpushed ON sync_keys(id) WHERE pushed = 0;
`;
