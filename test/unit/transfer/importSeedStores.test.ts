import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sessionsToCleanUp } from '../../../src/core/maintenance/cleanUp';
import { toRow, type RowContext } from '../../../src/vscode/chat/transcript/transcriptRow';
import { brief, ImportRig } from '../../support/store/importRig';

const context: RowContext = {
  modelName: (id) => id,
  foldedBefore: 0,
  excerpted: () => false,
  isRepeated: () => false,
  result: () => undefined,
  output: () => undefined,
  aside: () => undefined,
  approval: () => undefined,
  isRunning: () => false,
  compactionState: () => ({ state: 'superseded', reusable: false }),
  saving: () => null,
  isPinned: () => false,
  isExcluded: () => false,
  nudgeOutcome: () => ({ outcome: 'pending', writes: [] }) as never,
};

describe('an import from the stores of the five designs', () => {
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

  const emonk = `
    CREATE TABLE sessions (id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP, total_tokens INTEGER, message_count INTEGER, metadata JSON);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, tool_calls JSON, tokens INTEGER, timestamp TIMESTAMP, FOREIGN KEY (session_id) REFERENCES sessions(id));
    CREATE INDEX idx_messages_session ON messages(session_id);
    INSERT INTO sessions VALUES ('20260211_001', '2026-02-11 10:00:00.123456', '2026-02-11 10:05:00', 30, 5, '{"user_id":"user_123","channel":"telegram","tags":["competitor-analysis","automated"],"cost_limit":0.5}');
    INSERT INTO messages(session_id, role, content, tool_calls, tokens, timestamp) VALUES
      ('20260211_001', 'system', 'You are emonk.', '[]', 4, '2026-02-11 10:00:00.2'),
      ('20260211_001', 'user', 'What does B cost?', '[]', 5, '2026-02-11 10:00:15.654321'),
      ('20260211_001', 'assistant', '', '[{"id":"call_1","type":"function","function":{"name":"search","arguments":"{\\"q\\":\\"B\\"}"}}]', 5, '2026-02-11 10:00:16'),
      ('20260211_001', 'function', 'B=$129', '[]', 5, '2026-02-11 10:00:17'),
      ('20260211_001', 'assistant', 'B costs $129.', '[]', 6, '2026-02-11 10:00:18');`;

  it('reads the sessions.db of the Goose pattern: messages, calls with their results, metadata, cost limit (seed 000)', async () => {
    const file = database('sessions.db', emonk);
    const { uuid, format, keptRaw } = await rig.only(file);
    const session = (await rig.store.session(uuid))!;
    assert.deepEqual((await rig.branch(uuid)).filter(({ display }) => display).map(brief), [
      'user: What does B cost?',
      'call call_1 search {"q":"B"}',
      'result call_1 search ok: B=$129',
      'assistant: B costs $129.',
    ]);
    assert.deepEqual(
      { format, keptRaw, costLimit: session.costLimit },
      { format: 'emonk', keptRaw: [{ kind: 'role:system', count: 1 }], costLimit: 0.5 },
    );
    const { importedFrom, ...own } = session.metadata;
    assert.deepEqual(
      [own, typeof importedFrom],
      [{ user_id: 'user_123', channel: 'telegram', tags: ['competitor-analysis', 'automated'] }, 'object'],
    );
    assert.equal(new Date(session.createdAt).getHours(), 10, 'times are of the zone that they were written in');
    assert.equal((await rig.store.listSessions({ metadata: { user_id: 'user_123' } })).length, 1);
    assert.equal((await rig.only(file)).outcome, 'known');
  });

  it('counts a session as used when it comes here, however old it is: none is cleaned up for its age', async () => {
    const now = Date.UTC(2036, 0, 1);
    const { sessions } = await rig.import(database('sessions.db', emonk), { now: () => now });
    const { uuid } = sessions[0]!;
    const due = async (at: number) => (await sessionsToCleanUp(rig.store, { days: 30, now: at, open: [] })).map((one) => one.uuid);
    assert.deepEqual([await due(now), await due(now + 31 * 86_400_000)], [[], [uuid]]);
  });

  it('reads GoClaw’s sessions.db: calls, compactions, checkpoints (seed 001)', async () => {
    const file = database(
      'sessions.db',
      `CREATE TABLE messages (id TEXT PRIMARY KEY, session_key TEXT, timestamp DATETIME, role TEXT, content TEXT, tool_name TEXT, tool_input BLOB, tool_result TEXT, tool_is_error BOOLEAN);
       CREATE TABLE compactions (id TEXT PRIMARY KEY, session_key TEXT, timestamp DATETIME, summary TEXT, first_kept_entry_id TEXT, tokens_before INTEGER, needs_summary_retry BOOLEAN);
       CREATE TABLE checkpoints (id TEXT PRIMARY KEY, session_key TEXT, timestamp DATETIME, summary TEXT, tokens_at_checkpoint INTEGER, topics TEXT, key_decisions TEXT, open_questions TEXT);
       INSERT INTO messages VALUES
         ('m1', 'main', '2026-02-11 10:00:00', 'user', 'old question', NULL, NULL, NULL, 0),
         ('m2', 'main', '2026-02-11 10:00:01', 'assistant', 'old answer', NULL, NULL, NULL, 0),
         ('m3', 'main', '2026-02-11 10:00:03', 'user', 'look', NULL, NULL, NULL, 0),
         ('m4', 'main', '2026-02-11 10:00:04', 'tool_use', '', 'read', CAST('{"path":"a"}' AS BLOB), NULL, 0),
         ('m5', 'main', '2026-02-11 10:00:05', 'tool_result', '', 'read', NULL, 'not there', 1),
         ('x1', 'other', '2026-02-11 10:00:06', 'user', 'elsewhere', NULL, NULL, NULL, 0);
       INSERT INTO checkpoints VALUES ('k1', 'main', '2026-02-11 10:00:02', 'They talked.', 5000, '["tides"]', '["chose B"]', '[]');
       INSERT INTO compactions VALUES ('c1', 'main', '2026-02-11 10:00:06', 'An old question was answered.', 'm3', 170000, 0);`,
    );
    const { sessions, failed } = await rig.import(file);
    assert.deepEqual([failed, sessions.length], [[], 2]);
    const { uuid } = sessions[0]!;
    const entries = await rig.entries(uuid);
    const checkpoint = entries.find(({ content }) => content.type === 'checkpoint')!.content;
    const covered = entries.find(({ content }) => content.type === 'message' && content.text === 'old answer')!.uuid;
    assert.ok(checkpoint.type === 'checkpoint');
    assert.deepEqual(
      {
        topics: checkpoint.topics,
        keyDecisions: checkpoint.keyDecisions,
        openQuestions: checkpoint.openQuestions,
        coversThrough: checkpoint.coversThrough,
      },
      { topics: ['tides'], keyDecisions: ['chose B'], openQuestions: [], coversThrough: covered },
    );
    const call = entries.find(({ content }) => content.type === 'tool_call')!.content;
    assert.deepEqual(call.type === 'tool_call' && call.input, { path: 'a' });
    const prompt = JSON.stringify((await rig.projection(uuid)).messages);
    assert.deepEqual(
      ['An old question was answered.', 'look', 'not there', 'old answer'].map((text) => prompt.includes(text)),
      [true, true, true, false],
    );
    assert.equal((await rig.store.listSessions({ metadata: { sessionKey: 'main' } })).length, 1);
  });

  it('shows what a person ran beside the conversation, and sends it where the source does (seed 004)', async () => {
    const file = database(
      'librecode.db',
      `CREATE TABLE sessions(id TEXT PRIMARY KEY, cwd TEXT, name TEXT, parent_session TEXT, created_at TEXT);
       CREATE TABLE session_entries(id TEXT PRIMARY KEY, session_id TEXT, parent_id TEXT, entry_type TEXT, role TEXT, content TEXT, data_json TEXT, created_at TEXT, model_facing INTEGER, display INTEGER);
       INSERT INTO sessions VALUES ('x', '/w', 'Named', '', '2026-09-01T10:00:00Z');
       INSERT INTO session_entries VALUES
         ('1', 'x', '', 'message', 'user', 'question', NULL, '2026-09-01T10:00:01Z', 1, 1),
         ('2', 'x', '1', 'message', 'bashExecution', 'a.ts', '{"command":"ls","exitCode":0}', '2026-09-01T10:00:02Z', 1, 1),
         ('3', 'x', '2', 'message', 'bashExecution', '$ make' || char(10) || 'no rule', NULL, '2026-09-01T10:00:03Z', 0, 0);`,
    );
    const { uuid, keptRaw } = await rig.only(file);
    const prompt = JSON.stringify((await rig.projection(uuid)).messages);
    assert.deepEqual([keptRaw, prompt.includes('Ran `ls`\\n```\\na.ts\\n```'), prompt.includes('make')], [[], true, false]);
    const rows = (await rig.branch(uuid)).map((entry) => toRow(entry, context));
    assert.deepEqual(
      rows.slice(1).map((row) => row?.kind === 'tool' && [row.name, JSON.parse(row.input), row.output, row.status]),
      [
        ['Command', { command: 'ls' }, 'a.ts', 'ok'],
        ['Command', { command: 'make' }, 'no rule', 'ok'],
      ],
    );
  });

  const telegram = (messages: readonly unknown[], summary: string) =>
    JSON.stringify(
      { key: 'telegram:123456', messages, summary, created: '2026-02-15T10:00:00Z', updated: '2026-02-15T10:05:00Z' },
      null,
      2,
    );
  const talk = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hi there!' },
    { role: 'user', content: 'Read my config file' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_123', type: 'function', function: { name: 'read_file', arguments: '{"path":"config"}' } }],
    },
    { role: 'tool', content: 'file contents...', tool_call_id: 'call_123' },
    { role: 'assistant', content: "Here's your config..." },
  ];

  it('reads one JSON file for each session, and goes on where it was cut off from the front (seed 003)', async () => {
    const file = rig.source('workspace/sessions/telegram_123456.json', telegram(talk, ''));
    const { uuid, format } = await rig.only(join(rig.temp.path, 'sources', 'workspace'));
    const branch = async () => (await rig.branch(uuid)).map(brief);
    const first = await branch();
    assert.deepEqual(
      [format, first.length, first.slice(0, 2), first[4]],
      ['session-json', 6, ['user: Hello', 'assistant: Hi there!'], 'result call_123 read_file ok: file contents...'],
    );
    assert.deepEqual(
      (await rig.store.listSessions({ metadata: { sessionKey: 'telegram:123456' } })).map((one) => one.uuid),
      [uuid],
    );
    rig.source(
      'workspace/sessions/telegram_123456.json',
      telegram([...talk.slice(2), { role: 'user', content: 'Thanks' }], 'User greeted assistant.'),
    );
    const again = await rig.only(file);
    assert.deepEqual(
      { uuid: again.uuid, outcome: again.outcome, entriesAdded: again.entriesAdded },
      { uuid, outcome: 'extended', entriesAdded: 2 },
    );
    const prompt = JSON.stringify((await rig.projection(uuid)).messages);
    assert.deepEqual(
      ['User greeted assistant.', 'Read my config file', 'Thanks', 'Hi there!'].map((text) => prompt.includes(text)),
      [true, true, true, false],
    );
  });

  it('takes the names of a program in Go, and a file that holds no message yet for no failure of the others (seed 003)', async () => {
    rig.source(
      'go/cli_direct.json',
      JSON.stringify({
        Key: 'cli:direct',
        Messages: [
          { Role: 'user', Content: 'Hello' },
          { Role: 'assistant', Content: '', ToolCalls: [{ ID: 'c', Type: 'function', Function: { Name: 'ls', Arguments: '{}' } }] },
          { Role: 'tool', Content: 'a', ToolCallID: 'c' },
        ],
        Summary: '',
        Created: '2026-02-15T10:00:00Z',
      }),
    );
    rig.source('go/empty_1.json', JSON.stringify({ Key: 'empty:1', Messages: null, Summary: '' }));
    const { sessions, failed } = await rig.import(join(rig.temp.path, 'sources', 'go'));
    assert.deepEqual([failed, sessions.length], [[], 1]);
    assert.deepEqual((await rig.branch(sessions[0]!.uuid)).map(brief), ['user: Hello', 'call c ls {}', 'result c ls ok: a']);
  });
});
