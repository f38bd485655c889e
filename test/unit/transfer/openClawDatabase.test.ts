import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { entryText } from '../../../src/core/session/entry';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { findOpenClaw } from '../../../src/node/transfer/openClaw/findOpenClaw';
import { OpenClawDatabase } from '../../../src/node/transfer/openClaw/openClawDatabase';
import { OpenClawWatch, type OpenClawNotice } from '../../../src/node/transfer/openClaw/openClawWatch';
import { coldArchive } from '../../support/store/coldArchive';
import { silentLog } from '../../support/chat/conversationRig';
import { SqliteShell } from '../../support/store/sqliteShell';
import { openTestStore, tempFolder, userMessage, type TempFolder, wasmFile } from '../../support/store/storeTemp';
import { waitFor } from '../../support/waitFor';
import { zstdFrame } from '../../support/store/zstdFrame';

const key = 'agent:main:main';
const quoted = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", "''")}'`;
const said = (id: string, parentId: string | null, text: string, role = 'user') => ({
  type: 'message',
  id,
  parentId,
  timestamp: '2026-11-20T10:00:01.000Z',
  message: { role, content: [{ type: 'text', text }] },
});
const row = (session: string, seq: number, event: unknown) =>
  `INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES ('${session}', ${seq}, ${quoted(event)}, 0);`;

/** OpenClaw's own connection stays open, and what it writes stays in the log. */
class LiveDatabase {
  private readonly shell: SqliteShell;

  constructor(readonly file: string) {
    const header = (id: string) => ({ type: 'session', version: 3, id, timestamp: '2026-11-20T10:00:00.000Z', cwd: '/work' });
    execFileSync('sqlite3', [file], {
      input: `PRAGMA journal_mode=wal;
        CREATE TABLE session_nodes(session_key TEXT PRIMARY KEY, current_session_id TEXT, updated_at INTEGER);
        CREATE TABLE session_windows(session_id TEXT PRIMARY KEY, session_key TEXT, transcript_generation INTEGER);
        CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, PRIMARY KEY (session_id, seq));
        -- As OpenClaw has them: a module that is not built in here, and counters of other things than rewrites.
        CREATE VIRTUAL TABLE session_transcript_fts USING fts5(text);
        CREATE TABLE session_pending_inputs(session_id TEXT, lifecycle_generation TEXT);
        INSERT INTO session_nodes VALUES ('${key}', 'one', 5), ('agent:main:other', 'other', 9);
        INSERT INTO session_windows VALUES ('one', '${key}', 1), ('two', '${key}', 1);
        ${row('one', 0, header('one'))} ${row('two', 0, header('two'))} ${row('other', 0, header('other'))}
        ${row('one', 2, said('a2', 'a1', 'second'))} ${row('one', 1, said('a1', 'one', 'first'))}`,
    });
    this.shell = new SqliteShell(file);
  }

  async open(): Promise<this> {
    await this.shell.run('PRAGMA wal_autocheckpoint=0;');
    return this;
  }

  run(sql: string): Promise<void> {
    return this.shell.run(sql);
  }

  /** As statements that put the rows back. */
  dump(select: string): Promise<string> {
    return Promise.resolve(execFileSync('sqlite3', ['-cmd', '.mode insert transcript_events', this.file, select], { encoding: 'utf8' }));
  }

  close(): Promise<void> {
    return this.shell.close();
  }
}

describe('watching OpenClaw’s database', function () {
  this.timeout(20_000);
  let temp: TempFolder;
  let live: LiveDatabase;
  let store: SessionStore;
  let watched: SessionStore;
  let watch: OpenClawWatch;
  let sessions: string[];
  let notices: OpenClawNotice[];
  /** Every 400 ms there is one. */
  let looks: number;
  let looksWhenAdded: number;

  beforeEach(async () => {
    temp = tempFolder();
    mkdirSync(join(temp.path, 'agents', 'main', 'agent'), { recursive: true });
    live = await new LiveDatabase(join(temp.path, 'agents', 'main', 'agent', 'openclaw-agent.sqlite')).open();
    store = await openTestStore(join(temp.path, 'store'));
    watched = await openTestStore(join(temp.path, 'store'), 'OpenClaw');
    [sessions, notices] = [[], []];
    [looks, looksWhenAdded] = [0, 0];
    const source = new OpenClawDatabase(live.file, key, wasmFile);
    const look = source.look.bind(source);
    source.look = () => (looks++, look());
    const added = (uuid: string) => {
      looksWhenAdded = looks;
      sessions.push(uuid);
    };
    watch = new OpenClawWatch({
      source,
      store: watched,
      ids: new UuidV7(),
      now: Date.now,
      log: silentLog,
      added,
      told: (notice) => notices.push(notice),
    });
  });
  afterEach(async () => {
    await watch.stop();
    await watched.close();
    await store.close();
    await live.close();
    temp.remove();
  });

  const texts = async (uuid = sessions.at(-1)) =>
    uuid === undefined ? [] : (await store.page(uuid, { limit: 100 })).entries.map(({ content }) => entryText(content));
  const files = () =>
    readdirSync(join(live.file, '..'))
      .filter((name) => !name.endsWith('-shm'))
      .map((name) => [name, readFileSync(join(live.file, '..', name), 'base64')]);

  it('imports what is there, and takes in what is in the log only, at one of the next two looks, without touching a file', async () => {
    await watch.start();
    assert.deepEqual(await texts(), ['first', 'second']);
    await live.run(row('one', 3, said('a3', 'a2', 'third')) + row('other', 1, said('x', null, 'not ours')));
    const known = looks;
    const before = files();
    assert.ok(before.some(([name]) => name?.endsWith('-wal')));
    await waitFor('the third', async () => (await texts()).length === 3);
    assert.deepEqual([await texts(), files()], [['first', 'second', 'third'], before]);
    assert.ok(looksWhenAdded - known <= 2, `${looksWhenAdded - known} looks`);
    watch.writeReplies(true);
    const { leaf } = (await store.session(sessions[0]!))!;
    const asked = userMessage(sessions[0]!, leaf, 'Mine');
    await store.append(sessions[0]!, {
      entries: [asked, { ...userMessage(sessions[0]!, asked.uuid, ''), content: { type: 'message', role: 'assistant', text: 'Yours' } }],
    });
    await watch.look();
    assert.deepEqual(files(), before, 'replies stay here');
  });

  it('takes over the name, the archive, the pin and the session before, where it sees a session first', async () => {
    await live.run(`ALTER TABLE session_nodes ADD COLUMN label TEXT; ALTER TABLE session_nodes ADD COLUMN archived_at INTEGER; ALTER TABLE session_nodes ADD COLUMN pinned_at INTEGER; ALTER TABLE session_windows ADD COLUMN previous_session_id TEXT;
      UPDATE session_nodes SET label = 'Bridges', archived_at = 1788000000000, pinned_at = 1788000001000 WHERE session_key = '${key}'; UPDATE session_windows SET previous_session_id = 'zero' WHERE session_id = 'one';`);
    await watch.look();
    const { title, archivedAt, pinnedAt, metadata } = (await store.session(sessions[0]!))!;
    assert.deepEqual(
      { title, archivedAt, pinnedAt, sessionKey: metadata['sessionKey'], previousSession: metadata['previousSession'] },
      { title: 'Bridges', archivedAt: 1_788_000_000_000, pinnedAt: 1_788_000_001_000, sessionKey: key, previousSession: 'zero' },
    );
    await store.updateSession(sessions[0]!, { pinnedAt: null });
    await live.run(row('one', 3, said('a3', 'a2', 'third')));
    await watch.look();
    assert.deepEqual([await texts(), (await store.session(sessions[0]!))!.pinnedAt], [['first', 'second', 'third'], null]);
    await live.run(`UPDATE session_nodes SET label = 'Ports' WHERE session_key = '${key}';`);
    await watch.look();
    assert.equal((await store.session(sessions[0]!))!.title, 'Ports');
  });

  it('reads a session that OpenClaw has put away, and goes on with it when it is back', async () => {
    const archive = coldArchive('one', [
      { type: 'session', version: 3, id: 'one', timestamp: '2026-11-20T10:00:00.000Z' },
      said('a1', 'one', 'first'),
      said('a2', 'a1', 'second'),
      said('a3', 'a2', 'third'),
    ]);
    const back = await live.dump("SELECT * FROM transcript_events WHERE session_id = 'one'");
    await live.run(`CREATE ${archive.table}; BEGIN; ${archive.row} DELETE FROM transcript_events WHERE session_id = 'one'; COMMIT;`);
    await watch.look();
    assert.deepEqual(await texts(), ['first', 'second', 'third']);
    await live.run(
      `BEGIN; DELETE FROM session_transcript_cold_archives; ${back} ${row('one', 3, said('a3', 'a2', 'third'))} ${row('one', 4, said('a4', 'a3', 'fourth'))} COMMIT;`,
    );
    await watch.look();
    assert.deepEqual([await texts(), new Set(sessions).size], [['first', 'second', 'third', 'fourth'], 1]);
    await live.run(`BEGIN; ${archive.row} DELETE FROM transcript_events WHERE session_id = 'one'; COMMIT;`);
    for (let i = 0; i < 8; i++) await watch.look();
    assert.deepEqual([(await texts()).length, notices], [4, []]);
  });

  it('reads a session that is put away once, whatever else changes in the database, and again when it is back', async () => {
    const events = [
      { type: 'session', version: 3, id: 'one', timestamp: '2026-11-20T10:00:00.000Z' },
      said('a1', 'one', 'first'),
      { type: 'custom', customType: 'without an id', parentId: 'a1' },
      said('a2', 'a1', 'second'),
    ];
    const archive = coldArchive('one', events);
    await live.run(`CREATE ${archive.table}; BEGIN; ${archive.row} DELETE FROM transcript_events WHERE session_id = 'one'; COMMIT;`);
    await watch.look();
    const all = async () =>
      (await store.entriesBySeq(await store.entrySeqs(sessions[0]!))).map(({ content, sourceId }) => [content.type, sourceId]);
    const before = await all();
    for (let seq = 1; seq <= 5; seq++) {
      await live.run(row('other', seq, said(`x${seq}`, null, 'not ours')));
      await watch.look();
    }
    assert.deepEqual([await all(), await texts(), notices], [before, await texts(), []]);
    await live.run(
      `BEGIN; DELETE FROM session_transcript_cold_archives; ${events.map((event, seq) => row('one', seq, event)).join(' ')} ${row('one', 4, said('a3', 'a2', 'third'))} COMMIT;`,
    );
    await watch.look();
    assert.deepEqual(
      { firstRows: (await all()).slice(0, before.length), rowCount: (await all()).length, lastTexts: (await texts()).at(-1), notices },
      { firstRows: before, rowCount: before.length + 1, lastTexts: 'third', notices: [] },
    );
  });

  it('reads an archive of very many records', async () => {
    const count = 200_000;
    const archive = coldArchive(
      'one',
      Array.from({ length: count }, (_, i) => i),
      'file',
    );
    mkdirSync(join(temp.path, 'agents', 'main', 'sessions', 'cold'), { recursive: true });
    writeFileSync(join(temp.path, 'agents', 'main', 'sessions', 'cold', archive.name), archive.bytes);
    await live.run(`CREATE ${archive.table}; BEGIN; ${archive.row} DELETE FROM transcript_events WHERE session_id = 'one'; COMMIT;`);
    const source = new OpenClawDatabase(live.file, key, wasmFile);
    assert.equal(await source.look(), 'one');
    let lines = 0;
    for await (const _ of source.tail('one').read()) lines++;
    assert.equal(lines, count);
  });

  it('goes over to the session that the key points to, with the last rows of the one before', async () => {
    await watch.look();
    await live.run(
      `BEGIN; ${row('one', 3, said('a3', 'a2', 'last words'))} ${row('two', 1, said('b1', 'two', 'a new beginning'))} UPDATE session_nodes SET current_session_id = 'two' WHERE session_key = '${key}'; COMMIT;`,
    );
    await watch.look();
    assert.deepEqual([await texts(sessions[0]), await texts()], [['first', 'second', 'last words'], ['a new beginning']]);
    await live.run(row('two', 2, said('b2', 'b1', 'and on')));
    await watch.look();
    assert.deepEqual(await texts(), ['a new beginning', 'and on']);
  });

  it('reads a session again that was rewritten, by its generation or by its rows', async () => {
    await watch.look();
    await live.run(
      `BEGIN; UPDATE session_windows SET transcript_generation = 2 WHERE session_id = 'one'; UPDATE transcript_events SET event_json = ${quoted(said('a1', 'one', 'first, rewritten'))} WHERE session_id = 'one' AND seq = 1; COMMIT;`,
    );
    await watch.look();
    await live.run(row('one', 3, said('a3', 'a1~', 'x')));
    await watch.look();
    const all = async () => (await store.entriesBySeq(await store.entrySeqs(sessions[0]!))).map(({ content }) => entryText(content));
    assert.deepEqual(await all(), ['first', 'second', 'first, rewritten', 'x']);
    await live.run(
      `DELETE FROM transcript_events WHERE session_id = 'one' AND seq > 1; ${row('one', 2, said('c2', 'a1', 'another second'))}`,
    );
    await watch.look();
    assert.equal((await all()).at(-1), 'another second');
  });

  it('reads a session again that was rewritten in its middle, by whatever table counts that, and not for what others count', async () => {
    await live.run(
      "CREATE TABLE transcript_rewrite_watermarks(session_id TEXT, generation INTEGER); INSERT INTO transcript_rewrite_watermarks VALUES ('one', 1); CREATE TABLE transcript_epochs(session_id TEXT, generation INTEGER); INSERT INTO transcript_epochs VALUES ('one', 1);",
    );
    await watch.look();
    const all = async () => (await store.entriesBySeq(await store.entrySeqs(sessions[0]!))).map(({ content }) => entryText(content));
    for (const table of ['transcript_rewrite_watermarks', 'transcript_epochs']) {
      await live.run(
        `BEGIN; UPDATE ${table} SET generation = 2; UPDATE transcript_events SET event_json = ${quoted(said('a1', 'one', `by ${table}`))} WHERE session_id = 'one' AND seq = 1; COMMIT;`,
      );
      await watch.look();
    }
    await live.run(
      `BEGIN; INSERT INTO session_pending_inputs VALUES ('one', '7'); UPDATE transcript_events SET event_json = ${quoted(said('a1', 'one', 'unseen'))} WHERE session_id = 'one' AND seq = 1; COMMIT;`,
    );
    await watch.look();
    assert.deepEqual(await all(), ['first', 'second', 'by transcript_rewrite_watermarks', 'by transcript_epochs']);
  });

  it('reads a checkpointed database as before', async () => {
    await watch.look();
    await live.run(`${row('one', 3, said('a3', 'a2', 'third'))} PRAGMA wal_checkpoint(TRUNCATE);`);
    await watch.look();
    await live.run(row('one', 4, said('a4', 'a3', 'fourth')));
    await watch.look();
    assert.deepEqual(await texts(), ['first', 'second', 'third', 'fourth']);
  });

  it('takes in a row at one of the next two looks from a database that is too large to be read as a whole', async () => {
    await live.run('PRAGMA wal_checkpoint(TRUNCATE);');
    // SQLite knows by the header how many of its pages there are; of the rest no disk has a block.
    truncateSync(live.file, 3 * 2 ** 30);
    await watch.start();
    assert.deepEqual(await texts(), ['first', 'second']);
    await live.run(row('one', 3, said('a3', 'a2', 'third')));
    const known = looks;
    await waitFor('the third', async () => (await texts()).length === 3);
    assert.ok(looksWhenAdded - known <= 2, `${looksWhenAdded - known} looks`);
    assert.deepEqual(notices, []);
  });

  it('takes in rows that are compressed', async () => {
    await watch.look();
    const frame = zstdFrame(Buffer.from(JSON.stringify(said('a3', 'a2', 'compressed'))));
    await live.run(
      `ALTER TABLE transcript_events ADD COLUMN event_zstd BLOB; INSERT INTO transcript_events VALUES ('one', 3, NULL, 0, x'${frame.toString('hex')}');`,
    );
    for (let i = 0; i < 12; i++) await watch.look();
    assert.deepEqual([await texts(), notices], [['first', 'second', 'compressed'], []]);
  });

  it('is found by its agent, with its keys and their names, the newest first; a list beside it adds what it does not have', async () => {
    mkdirSync(join(temp.path, 'agents', 'broken', 'agent'), { recursive: true });
    execFileSync('bash', [
      '-c',
      `echo no database > '${join(temp.path, 'agents', 'broken', 'agent', 'openclaw-agent.sqlite')}'; mkdir '${join(temp.path, 'agents', 'main', 'sessions')}'; echo '{"${key}":{"sessionId":"old"},"cron:x":{"sessionId":"c","updatedAt":3,"displayName":"Tides"}}' > '${join(temp.path, 'agents', 'main', 'sessions', 'sessions.json')}'`,
    ]);
    await live.run(
      `ALTER TABLE session_nodes ADD COLUMN label TEXT; UPDATE session_nodes SET label = 'Bridges' WHERE session_key = '${key}';`,
    );
    const unnamed = { label: null, displayName: null };
    const { agents, unreadable } = await findOpenClaw(join(temp.path, 'agents'), wasmFile);
    assert.deepEqual(agents, [
      {
        agent: 'main',
        place: { type: 'database', file: live.file },
        sessions: [
          { key: 'agent:main:other', sessionId: 'other', updatedAt: 9, ...unnamed },
          { key, sessionId: 'one', updatedAt: 5, ...unnamed, label: 'Bridges' },
        ],
      },
      {
        agent: 'main',
        place: { type: 'folder', folder: join(temp.path, 'agents', 'main', 'sessions') },
        sessions: [{ key: 'cron:x', sessionId: 'c', file: 'c.jsonl', updatedAt: 3, ...unnamed, displayName: 'Tides' }],
      },
    ]);
    assert.deepEqual(
      unreadable.map(({ agent }) => agent),
      ['broken'],
    );
  });
});
