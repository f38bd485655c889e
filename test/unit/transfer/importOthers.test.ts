import assert from 'node:assert/strict';
import { UnpackBudget } from '../../../src/node/transfer/foreign/unpackZstd';
import { eventText } from '../../../src/node/transfer/foreign/eventText';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { zedThreads } from '../../support/agents/zedThreads';
import { brief, ImportRig } from '../../support/store/importRig';
import { promptFaults } from '../../support/chat/promptFaults';
import { zstdBomb, zstdFrame } from '../../support/store/zstdFrame';

const pi = (id: string, parentId: string | null, message: unknown) =>
  JSON.stringify({ type: 'message', id, parentId, timestamp: '2026-09-01T10:00:01Z', message });
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

describe('an import from databases and JSON files of other programs', () => {
  let rig: ImportRig;

  beforeEach(async () => {
    rig = await ImportRig.open();
  });
  afterEach(() => rig.close());

  function database(name: string, sql: string): string {
    const file = join(rig.temp.path, 'sources', name);
    mkdirSync(dirname(file), { recursive: true });
    execFileSync('sqlite3', [file], { input: sql });
    return file;
  }

  it('reads OpenClaw’s database with what is still in its log, in the order of seq, and leaves it alone', async () => {
    const header = JSON.stringify({ type: 'session', version: 3, id: 's1', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' });
    const file = database(
      'openclaw-agent.sqlite',
      `PRAGMA journal_mode=wal; CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, event_zstd BLOB);
       CREATE TABLE session_nodes(session_key TEXT, current_session_id TEXT);
       INSERT INTO session_nodes VALUES ('agent:main:main', 's1');
       INSERT INTO transcript_events VALUES ('s1', 3, ${quoted(pi('b', 'a', { role: 'user', content: 'second' }))}, 0, NULL);
       INSERT INTO transcript_events VALUES ('s1', 1, ${quoted(header)}, 0, NULL), ('s1', 2, ${quoted(pi('a', 's1', { role: 'user', content: 'first' }))}, 0, NULL);`,
    );
    const live = spawn('sqlite3', [file]);
    try {
      live.stdin.write(
        `PRAGMA wal_autocheckpoint=0; INSERT INTO transcript_events VALUES ('s1', 4, ${quoted(pi('c', 'b', { role: 'user', content: 'in the log' }))}, 0, NULL);\n.print written\n`,
      );
      await new Promise((written) => live.stdout.once('data', written));
      const folder = dirname(file);
      const before = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')]);
      assert.ok(before.some(([name]) => name?.endsWith('-wal')));
      const { uuid, format } = await rig.only(file);
      assert.equal(format, 'openclaw');
      assert.deepEqual((await rig.branch(uuid)).map(brief), ['user: first', 'user: second', 'user: in the log']);
      assert.deepEqual((await rig.store.session(uuid))?.metadata['sessionKey'], 'agent:main:main');
      assert.deepEqual(
        readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')]),
        before,
      );
      assert.equal((await rig.only(file)).outcome, 'known');
    } finally {
      live.kill();
    }
  });

  it('reads the other sessions of a database in which one is damaged, and says what is wrong with that one', async () => {
    const { sessions, failed } = await rig.import(database('threads.db', zedThreads));
    assert.deepEqual(
      sessions.map(({ title }) => title),
      ['Thread a', 'Thread c'],
    );
    assert.equal(failed.length, 1);
  });

  it('takes over what OpenClaw knows of a session beside its records: key, name, archive, pin, the session before it', async () => {
    const first = (id: string) => `('${id}', 1, ${quoted(pi('a', null, { role: 'user', content: `first of ${id}` }))}, 0)`;
    const { sessions, failed } = await rig.import(
      database(
        'openclaw-agent.sqlite',
        `CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER);
         CREATE TABLE session_nodes(session_key TEXT, current_session_id TEXT, label TEXT, display_name TEXT, archived_at INTEGER, pinned_at INTEGER);
         CREATE TABLE session_windows(session_id TEXT, session_key TEXT, previous_session_id TEXT, reason TEXT, display_name TEXT);
         CREATE TABLE session_transcript_cold_archives(session_id TEXT, archive_name TEXT);
         INSERT INTO session_transcript_cold_archives VALUES ('s1', 'back again'), ('s0', 'cold');
         INSERT INTO session_nodes VALUES ('agent:main:main', 's2', 'Bridges', 'Main', 1788000000000, 1788000001000);
         INSERT INTO session_windows VALUES ('s1', 'agent:main:main', NULL, 'initial', NULL), ('s2', 'agent:main:main', 's1', 'rollover', NULL);
         INSERT INTO transcript_events VALUES ${first('s1')}, ${first('s2')};`,
      ),
    );
    const found = await Promise.all(sessions.map(async ({ uuid }) => (await rig.store.session(uuid))!));
    assert.deepEqual(
      [
        failed.map(({ reason }) => reason),
        found.map(({ title, archivedAt, pinnedAt, metadata: { sessionKey, previousSession, begun } }) => [
          title,
          archivedAt,
          pinnedAt,
          sessionKey,
          previousSession,
          begun,
        ]),
      ],
      [
        ['1 session is in OpenClaw’s cold storage and was not imported. Open it in OpenClaw, and import again.'],
        [
          ['first of s1', null, null, 'agent:main:main', undefined, 'initial'],
          ['Bridges', 1_788_000_000_000, 1_788_000_001_000, 'agent:main:main', 's1', 'rollover'],
        ],
      ],
    );
  });

  it('takes a name of OpenClaw’s own making only where the session has no better one, finds a copied session by its rows, and takes 0 for no time', async () => {
    const header = (id: string) => JSON.stringify({ type: 'session', version: 3, id, timestamp: '2026-09-01T10:00:00Z' });
    const named = JSON.stringify({ type: 'session_info', id: 'n', parentId: 'a', timestamp: '2026-09-01T10:00:02Z', name: 'Named within' });
    const said = (of: string) => quoted(pi('a', null, { role: 'user', content: `first of ${of}` }));
    const { sessions } = await rig.import(
      database(
        'openclaw-agent.sqlite',
        `CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER);
         CREATE TABLE session_nodes(session_key TEXT, current_session_id TEXT, label TEXT, display_name TEXT, archived_at INTEGER, pinned_at INTEGER);
         INSERT INTO session_nodes VALUES ('one', 's1', NULL, 'Main', 0, 0), ('two', 's2', NULL, 'Second', NULL, NULL), ('three', 's3', 'Bridges', 'Third', NULL, NULL);
         INSERT INTO transcript_events VALUES ('s1', 0, ${quoted(header('s1'))}, 0), ('s1', 1, ${said('s1')}, 0), ('s1', 2, ${quoted(named)}, 0),
           ('s2', 0, ${quoted(header('copied from'))}, 0), ('s2', 1, ${said('s2')}, 0), ('s3', 1, ${said('s3')}, 0), ('s3', 2, ${quoted(named)}, 0);`,
      ),
    );
    const found = await Promise.all(sessions.map(async ({ uuid }) => (await rig.store.session(uuid))!));
    assert.deepEqual(
      found.map(({ title, archivedAt, pinnedAt, metadata }) => [title, archivedAt, pinnedAt, metadata['sessionKey']]),
      [
        ['Named within', null, null, 'one'],
        ['Second', null, null, 'two'],
        ['Bridges', null, null, 'three'],
      ],
    );
  });

  it('passes over databases of other kinds in a folder, and says so of one that is named', async () => {
    const other = database('home/state/openclaw.sqlite', 'CREATE TABLE devices(id TEXT);');
    database(
      'home/agents/main/agent/openclaw-agent.sqlite',
      `CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER); INSERT INTO transcript_events VALUES ('s1', 1, ${quoted(pi('a', null, { role: 'user', content: 'first' }))}, 0);`,
    );
    await rig.only(join(rig.temp.path, 'sources', 'home'));
    assert.deepEqual((await rig.import(other)).failed, [
      { source: other, reason: 'The database is none of the kinds that can be imported.' },
    ]);
  });

  it('names the databases that it passed over in a folder that gave nothing: their sessions may be in a form of another version', async () => {
    const other = database('goose/sessions.db', 'CREATE TABLE sessions(id TEXT); CREATE TABLE turns(id TEXT);');
    assert.deepEqual((await rig.import(dirname(other))).failed, [
      { source: other, reason: 'The database is none of the kinds that can be imported.' },
    ]);
  });

  it('reads compressed rows', async () => {
    const line = Buffer.from(pi('a', null, { role: 'user', content: 'compressed' }));
    const bytes = zstdFrame(line);
    const file = database(
      'zstd.sqlite',
      `CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB); INSERT INTO transcript_events VALUES ('s2', 1, NULL, x'${bytes.toString('hex')}');`,
    );
    const { sessions, failed } = await rig.import(file);
    assert.deepEqual([sessions.map(({ title }) => title), failed], [['compressed'], []]);
    // Made with zstd 1.5 -19 --check.
    const packed = Buffer.from('KLUv/QRonQEAssIJEMDrdGm12JZY4r896mRXPwHLGp6yyEkK0BT55NXDvC43YUcf80wFAgDHJfXRpk0nALTT9Q==', 'base64');
    const unpacked = (bytes: Uint8Array) => eventText({ event_json: null, event_zstd: bytes }, new UnpackBudget());
    assert.equal(unpacked(packed), JSON.stringify({ content: 'the tide comes in, the tide goes out. '.repeat(40) }));
    assert.throws(() => unpacked(packed.subarray(0, 30)));
  });

  it('keeps a place for a record that is too large to be unpacked, and brings what stands before and behind it', async () => {
    const rows = [pi('a', null, { role: 'user', content: 'before' }), zstdBomb(1025), pi('c', 'b', { role: 'user', content: 'behind' })];
    const values = rows.map((row, i) =>
      typeof row === 'string' ? `('s1', ${i}, ${quoted(row)}, NULL)` : `('s1', ${i}, NULL, x'${row.toString('hex')}')`,
    );
    const file = database(
      'bomb.sqlite',
      `CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB); INSERT INTO transcript_events VALUES ${values.join()};`,
    );
    const { uuid, keptRaw } = await rig.only(file);
    const branch = await rig.branch(uuid);
    assert.deepEqual(
      [keptRaw, branch.map(brief)],
      [[{ kind: 'too_large', count: 1 }], ['user: before', 'custom import:too_large', 'user: behind']],
    );
    assert.equal((await rig.only(file)).outcome, 'known');
  });

  it('reads Goose’s sessions, and sends what Goose would send', async () => {
    const message = (role: string, content: unknown[], at: number, metadata = {}) =>
      `INSERT INTO messages(message_id, session_id, role, content_json, created_timestamp, metadata_json) VALUES ('m${at}', '20260901_1', '${role}', ${quoted(JSON.stringify(content))}, ${1_788_000_000 + at}, ${quoted(JSON.stringify({ userVisible: true, agentVisible: true, ...metadata }))});`;
    const file = database(
      'sessions.db',
      `CREATE TABLE sessions(id TEXT PRIMARY KEY, name TEXT, description TEXT, working_dir TEXT, created_at TIMESTAMP, updated_at TIMESTAMP, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, provider_name TEXT, model_config_json TEXT, archived_at TIMESTAMP);
       CREATE TABLE messages(id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
       INSERT INTO sessions VALUES ('20260901_1', 'Ports', '', '/w', '2026-09-01 10:00:00', '2026-09-01 10:00:00', 500, 40, 'anthropic', '{"model_name":"claude-test"}', '2026-09-02 10:00:00');
       ${message('user', [{ type: 'text', text: 'Which port?' }], 1, { agentVisible: false })}
       ${message('assistant', [{ type: 'toolRequest', id: 't1', toolCall: { status: 'success', value: { name: 'shell', arguments: { command: 'ls' } } } }], 2, { agentVisible: false })}
       ${message('user', [{ type: 'toolResponse', id: 't1', toolResult: { status: 'success', value: [{ type: 'text', text: '4711' }] } }], 3, { agentVisible: false })}
       ${message('user', [{ type: 'text', text: 'GOOSE SUMMARY' }], 4, { userVisible: false })}
       ${message('assistant', [{ type: 'toolRequest', id: 't2', toolCall: { status: 'success', value: { name: 'shell', arguments: {} } } }, { type: 'confetti' }], 5)}
       ${message('user', [{ type: 'toolResponse', id: 't2', toolResult: { status: 'error', error: 'denied' } }], 6)}`,
    );
    const { uuid, title, format, keptRaw } = await rig.only(file);
    assert.deepEqual({ title, format, keptRaw }, { title: 'Ports', format: 'goose', keptRaw: [{ kind: 'block:confetti', count: 1 }] });
    assert.deepEqual((await rig.entries(uuid)).map(brief), [
      'user: Which port?',
      'call t1 shell {"command":"ls"}',
      'result t1 shell ok: 4711',
      'user: GOOSE SUMMARY',
      'call t2 shell {}',
      'custom import:block:confetti',
      'result t2 shell error: denied',
    ]);
    const { messages } = await rig.projection(uuid);
    assert.deepEqual(promptFaults(messages), []);
    assert.deepEqual(
      messages.map(({ blocks }) => blocks.map((block) => (block.type === 'text' ? block.text : block.type))),
      [['GOOSE SUMMARY'], ['tool_use'], ['tool_result']],
    );
    assert.deepEqual(
      (await rig.store.usageRecords(uuid)).map(({ input, output, model }) => [input, output, model]),
      [[500, 40, 'claude-test']],
    );
    const session = (await rig.store.session(uuid))!;
    assert.deepEqual([session.createdAt, session.archivedAt], [Date.UTC(2026, 8, 1, 10), Date.UTC(2026, 8, 2, 10)]);
    await rig.store.updateSession(uuid, { archivedAt: null });
    await rig.only(file);
    assert.equal((await rig.store.session(uuid))?.archivedAt, null, 'taken out of the archive here, and stays so');
  });

  it('knows Goose’s messages again after it has written all of them anew, as a compaction does', async () => {
    const insert = (id: number, name: string, text: string, agentVisible = true) =>
      `INSERT INTO messages VALUES (${id}, ${quoted(name)}, 'g', 'user', ${quoted(JSON.stringify([{ type: 'text', text }]))}, ${1_788_000_000 + id}, ${quoted(JSON.stringify({ userVisible: true, agentVisible }))});`;
    const file = database(
      'sessions.db',
      `CREATE TABLE sessions(id TEXT PRIMARY KEY, working_dir TEXT, created_at TIMESTAMP);
       CREATE TABLE messages(id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
       INSERT INTO sessions VALUES ('g', '/w', '2026-09-01 10:00:00');
       ${insert(1, 'm1', 'first')} ${insert(2, 'm2', 'second')} ${insert(3, 'm2', 'the rest of it')}`,
    );
    await rig.only(file);
    execFileSync('sqlite3', [file], {
      input: `DELETE FROM messages; ${insert(4, 'm1', 'first', false)} ${insert(5, 'm2', 'second', false)} ${insert(6, 'm2', 'the rest of it', false)} ${insert(7, 'm3', 'what they said')}`,
    });
    const { uuid, entriesAdded } = await rig.only(file);
    assert.equal(entriesAdded, 1);
    assert.deepEqual((await rig.branch(uuid)).map(brief), ['user: first', 'user: second', 'user: the rest of it', 'user: what they said']);
  });

  it('counts what Goose has used once, however often its session has grown between two imports', async () => {
    const file = database(
      'sessions.db',
      `CREATE TABLE sessions(id TEXT PRIMARY KEY, working_dir TEXT, created_at TIMESTAMP, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, provider_name TEXT, model_config_json TEXT);
       CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
       INSERT INTO sessions VALUES ('g', '/w', '2026-09-01 10:00:00', 0, 0, 'anthropic', '{}');`,
    );
    const sums: number[][] = [];
    for (const [i, [input, output]] of [
      [500, 40],
      [900, 40],
      [900, 40],
    ].entries()) {
      execFileSync('sqlite3', [file], {
        input: `UPDATE sessions SET accumulated_input_tokens = ${input}, accumulated_output_tokens = ${output}; INSERT INTO messages(session_id, role, content_json, created_timestamp) VALUES ('g', 'assistant', ${quoted(JSON.stringify([{ type: 'text', text: `answer ${i}` }]))}, ${1_788_000_000 + i});`,
      });
      const { uuid } = await rig.only(file);
      const records = await rig.store.usageRecords(uuid);
      sums.push([records.length, ...(['input', 'output'] as const).map((of) => records.reduce((sum, record) => sum + record[of], 0))]);
    }
    assert.deepEqual(sums, [
      [1, 500, 40],
      [2, 900, 40],
      [2, 900, 40],
    ]);
  });

  it('reads librecode’s tree', async () => {
    const entry = (id: string, parent: string, type: string, more: Record<string, string | number>) => {
      const row = {
        id,
        session_id: 'x',
        parent_id: parent,
        entry_type: type,
        created_at: `2026-09-01T10:00:0${id}Z`,
        model_facing: 1,
        display: 1,
        ...more,
      };
      return `INSERT INTO session_entries(${Object.keys(row).join()}) VALUES (${Object.values(row)
        .map((value) => (value === '' ? 'NULL' : quoted(String(value))))
        .join()});`;
    };
    const file = database(
      'librecode.db',
      `CREATE TABLE sessions(id TEXT PRIMARY KEY, cwd TEXT, name TEXT, parent_session TEXT, created_at TEXT, updated_at TEXT);
       CREATE TABLE session_entries(id TEXT PRIMARY KEY, session_id TEXT, parent_id TEXT, entry_type TEXT, role TEXT, content TEXT, provider TEXT, model TEXT, custom_type TEXT, data_json TEXT, summary TEXT, created_at TEXT, tool_name TEXT, tool_status TEXT, tool_args_json TEXT, token_estimate INTEGER, model_facing INTEGER, display INTEGER, compaction_first_kept_entry_id TEXT, compaction_tokens_before INTEGER, branch_from_entry_id TEXT);
       INSERT INTO sessions VALUES ('x', '/w', 'Named', '', '2026-09-01T10:00:00Z', '');
       ${entry('1', '', 'message', { role: 'user', content: 'question' })}
       ${entry('2', '1', 'message', { role: 'tool', content: 'found', tool_name: 'read', tool_status: 'error', tool_args_json: '{"path":"a"}', model_facing: 0 })}
       ${entry('3', '2', 'message', { role: 'assistant', content: 'answer', provider: 'openai', model: 'm' })}
       ${entry('4', '1', 'message', { role: 'assistant', content: 'another branch' })}
       ${entry('5', '3', 'compaction', { summary: 'LIBRE SUMMARY', compaction_tokens_before: 70 })}
       ${entry('6', '5', 'message', { role: 'user', content: 'after' })}`,
    );
    const { uuid, title, format } = await rig.only(file);
    assert.deepEqual([title, format], ['Named', 'librecode']);
    assert.deepEqual((await rig.entries(uuid)).map(brief), [
      'user: question',
      'call librecode_2 read {"path":"a"}',
      'result librecode_2 read error: found',
      'assistant: answer',
      'assistant: another branch',
      'compaction: LIBRE SUMMARY',
      'user: after',
    ]);
    assert.deepEqual((await rig.branch(uuid)).map(brief), ['compaction: LIBRE SUMMARY', 'user: after']);
  });
});
