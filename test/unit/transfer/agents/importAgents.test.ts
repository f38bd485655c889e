import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EntryContent } from '../../../../src/core/session/entry';
import { said } from '../../../../src/core/transfer/sourceRecord';
import { UuidV7 } from '../../../../src/node/runtime/ids';
import { recordHash, SessionWriter } from '../../../../src/node/transfer/import/sessionWriter';
import { brief, importFixtures, ImportRig } from '../../../support/store/importRig';
import { promptFaults } from '../../../support/chat/promptFaults';

/**
 * Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0, Qwen Code 0.15.10, Copilot CLI 1.0.102, opencode 1.18.33 and Continue 1.5.47
 * wrote their fixtures, in one turn with one call; their system prompts are cut. The other files are of the form that is documented.
 */
describe('an import of what other agents keep', () => {
  let rig: ImportRig;

  beforeEach(async () => {
    rig = await ImportRig.open();
  });
  afterEach(() => rig.close());

  const fixture = (name: string) => readFileSync(join(importFixtures, name), 'utf8');

  function database(name: string, sql: string): string {
    const file = join(rig.temp.path, 'sources', name);
    mkdirSync(dirname(file), { recursive: true });
    execFileSync('sqlite3', [file], { input: sql });
    return file;
  }

  /** What is shown of the only session in a source; it is read twice. */
  async function shown(file: string) {
    const { uuid, format, title, entriesAdded } = await rig.only(file);
    const again = await rig.only(file);
    assert.deepEqual([again.outcome, again.entriesAdded, again.entriesKnown], ['known', 0, entriesAdded]);
    assert.deepEqual(promptFaults((await rig.projection(uuid)).messages), []);
    const session = (await rig.store.session(uuid))!;
    const rows = (await rig.branch(uuid))
      .filter(({ display }) => display)
      .map((entry) => brief(entry).replaceAll('\n', ' ').slice(0, 60).trim());
    return { format, title, cwd: session.cwd, rows };
  }

  it('Codex: what the model saw, not the log of the screen that repeats it', async () => {
    assert.deepEqual(await shown(rig.source('rollout-a.jsonl', fixture('codex.jsonl'))), {
      format: 'codex',
      title: 'Which tide is it? USETOOL',
      cwd: '/work/tide',
      rows: [
        'user: Which tide is it? USETOOL',
        'thinking: Thinking about tides.',
        'call call_1 exec_command {"cmd":"echo ebb"}',
        'result call_1 exec_command ok: Chunk ID: a009fa Wall time: 0',
        'thinking: Thinking about tides.',
        'assistant: The tide turns at noon, reply 2.',
      ],
    });
  });

  it('Continue: a result stands in the state of its call alone, and a name that every session has is no title', async () => {
    assert.deepEqual(await shown(rig.source('continue/a.json', fixture('continue.json'))), {
      format: 'continue',
      title: 'Write the word ebb into note.txt.',
      cwd: '/work/tide',
      rows: [
        'user: Write the word ebb into note.txt.',
        'call call_1 Write {"filepath":"/work/tide/note.txt","content":"ebb"}'.slice(0, 60),
        'result call_1 Write ok: Successfully created file: /work/tid',
        'assistant: The tide turns at noon.',
      ],
    });
    const begun = fixture('continue.json').replace('"done"', '"calling"');
    const { uuid, entriesAdded } = await rig.only(rig.source('continue/b.json', begun.replace('d3fcc8e3', 'e3fcc8e3')));
    const { entriesAdded: more } = await rig.only(rig.source('continue/b.json', fixture('continue.json').replace('d3fcc8e3', 'e3fcc8e3')));
    assert.deepEqual([entriesAdded, more], [3, 1]);
    assert.equal((await rig.entries(uuid)).filter(({ content }) => content.type === 'tool_call').length, 1);
  });

  it('Continue: what comes to a message later is no other message, and its summary comes in', async () => {
    const session = { sessionId: 'folds', history: [{ message: { role: 'user', content: 'Which tide?' } }] as object[] };
    const write = () => rig.source('continue/folds.json', JSON.stringify(session));
    await rig.only(write());
    const [asked] = session.history;
    session.history = [{ ...asked, promptLogs: [{}], editorState: {}, conversationSummary: 'Tides were asked about.' }];
    const { uuid, entriesAdded } = await rig.only(write());
    /** Each, if it follows the one before it. */
    const types = async () =>
      (await rig.entries(uuid)).map(({ content, parent }, i, all) => (parent === (all[i - 1]?.uuid ?? null) ? content.type : 'elsewhere'));
    assert.deepEqual([entriesAdded, await types()], [1, ['message', 'compaction']]);
    session.history.push({ message: { role: 'assistant', content: 'Ebb.' } });
    assert.deepEqual([(await rig.only(write())).entriesAdded, await types()], [1, ['message', 'compaction', 'message']]);
  });

  it('Continue: what earlier versions have imported under other names is known', async () => {
    const { sessionId, history } = JSON.parse(fixture('continue.json')) as { sessionId: string; history: Record<string, unknown>[] };
    const folded = history.map((item, i) => (i === 0 ? { ...item, conversationSummary: 'Begun.' } : item));
    const hashings = {
      '0.1, the whole item': (item: object) => item,
      '1.0, without the states': ({ toolCallStates: _, ...still }: Record<string, unknown>) => still,
    };
    for (const [version, hashed] of Object.entries(hashings)) {
      const id = `${sessionId}-${version}`;
      const writer = new SessionWriter({
        store: rig.store,
        ids: new UuidV7(),
        now: Date.now,
        format: 'continue',
        source: 'a',
        session: { id },
      });
      for (const [i, item] of folded.entries()) {
        const { role, content, toolCalls } = item['message'] as { role: 'user' | 'assistant'; content: string; toolCalls?: unknown };
        const first: EntryContent = toolCalls
          ? { type: 'tool_call', callId: 'call_1', name: 'Write', input: {} }
          : { type: 'message', role, text: content };
        const fold: EntryContent = { type: 'custom', customType: 'fold', data: null };
        const parts = ('conversationSummary' in item ? [first, fold] : [first]).map((one) => said(one));
        writer.add({ id: `m${i}`, parent: undefined, at: null, hash: recordHash(JSON.stringify(hashed(item))), parts });
      }
      await writer.finish();
      const file = rig.source(`continue/${version}.json`, JSON.stringify({ sessionId: id, history: folded }));
      const { uuid, entriesAdded } = await rig.only(file);
      const types = (await rig.entries(uuid)).map(({ content }) => content.type);
      assert.deepEqual([entriesAdded, types.filter((type) => type !== 'tool_result').length], [1, folded.length + 1], version);
    }
  });

  it('Claude Code: what was said, and no copy of what was sent', async () => {
    const file = rig.source('claude/a.jsonl', fixture('claude-code-2.1.330.jsonl'));
    assert.deepEqual(await shown(file), {
      format: 'claude-code',
      title: 'Write the word ebb into note.txt.',
      cwd: '/work/tide',
      rows: [
        'user: Write the word ebb into note.txt.',
        'call toolu_double_1 Write {"file_path":"/work/tide/note.txt","content":"ebb"}'.slice(0, 60),
        'result toolu_double_1 Write ok: File created successfully at: /work/tide/note.txt'.slice(0, 60),
        'assistant: The tide turns at noon.',
      ],
    });
    const { uuid } = await rig.only(file);
    const raw = JSON.stringify((await rig.entries(uuid)).map(({ content }) => content));
    assert.deepEqual(
      ['api-request', 'prompt_snapshot', 'session_context'].map((kind) => raw.includes(kind)),
      [false, false, true],
    );
  });

  it('Gemini CLI: a message that is written again counts once, results that stand twice as well', async () => {
    rig.source('tmp/tide/.project_root', '/work/tide\n');
    assert.deepEqual(await shown(rig.source('tmp/tide/chats/session-a.jsonl', fixture('gemini.jsonl'))), {
      format: 'gemini',
      title: 'Which tide is it? USETOOL',
      cwd: '/work/tide',
      rows: [
        'user: Which tide is it? USETOOL',
        'assistant: I will look.',
        'call run_shell_command__run_shell_command_1795441968134_0 ru',
        'result run_shell_command__run_shell_command_1795441968134_0',
        'assistant: The tide turns at noon, reply 4.',
      ],
    });
  });

  it('Qwen Code', async () => {
    assert.deepEqual(await shown(rig.source('chats/a.jsonl', fixture('qwen.jsonl'))), {
      format: 'qwen',
      title: 'Which tide is it? USETOOL',
      cwd: '/work/tide',
      rows: [
        'user: Which tide is it? USETOOL',
        'call call_5 run_shell_command {"command":"echo ebb"}',
        'result call_5 run_shell_command ok: Command: echo ebb Direct',
        'assistant: The tide turns at noon, reply 6.',
      ],
    });
  });

  it('Copilot CLI', async () => {
    assert.deepEqual(await shown(rig.source('a/events.jsonl', fixture('copilot-cli.jsonl'))), {
      format: 'copilot-cli',
      title: 'Which tide is it? USETOOL',
      cwd: '/work/tide',
      rows: [
        'user: Which tide is it? USETOOL',
        'call call_7 bash {"command":"echo ebb","description":"x"}',
        'result call_7 bash ok: ebb <shellId: 0 completed with exit c',
        'assistant: The tide turns at noon, reply 8.',
      ],
    });
  });

  it('opencode, and Kilo, whose database has tables of its own beside', async () => {
    const expected = {
      format: 'opencode',
      title: 'The tide turns at noon, reply 9.',
      cwd: '/work/tide',
      rows: [
        'user: "Which tide is it? USETOOL"',
        'call toolu_10 bash {"command":"echo ebb"}',
        'result toolu_10 bash ok: ebb',
        'assistant: The tide turns at noon, reply 11.',
      ],
    };
    assert.deepEqual(await shown(database('opencode.db', fixture('opencode.sql'))), expected);
    const kilo = database('kilo.db', `${fixture('opencode.sql')} CREATE TABLE kilo_board(id TEXT);`);
    assert.deepEqual(await shown(kilo), { ...expected, format: 'kilo' });
  });

  it('opencode: an answer that grows is told as far as it is whole', async () => {
    const growing = fixture('opencode.sql').replace(
      /"time":\{"created":1795442038677,"completed":\d+\},"finish":"stop"/,
      '"time":{"created":1}',
    );
    const cut = growing
      .replace(/,"time":\{"start":1795442039675,"end":1795442039682\}/, ',"time":{"start":1}')
      .replace(/INSERT INTO part VALUES\('prt_208af5d38[^;]*;/, '');
    const { rows } = await shown(database('growing.db', cut));
    assert.deepEqual(rows.at(-1), 'result toolu_10 bash ok: ebb');
  });

  it('a chat of VS Code: a log of changes to one state, and a whole file of before', async () => {
    const request = (id: string, text: string, more: object) => ({
      requestId: id,
      timestamp: 1_788_000_000_000,
      message: { text },
      ...more,
    });
    const rounds = {
      metadata: {
        toolCallRounds: [
          { response: 'I will look.', toolCalls: [{ id: 'c1', name: 'read_file', arguments: '{"path":"tide.md"}' }] },
          { response: 'High.', toolCalls: [] },
        ],
        toolCallResults: { c1: { content: [{ value: 'high tide' }] } },
      },
    };
    rig.source('ws/workspace.json', JSON.stringify({ folder: 'file:///work/tide%20pool' }));
    const log = rig.source('ws/chatSessions/a.jsonl', [
      { kind: 0, v: { version: 3, sessionId: 'a', creationDate: 1_788_000_000_000, requests: [] } },
      { kind: 2, k: ['requests'], v: [request('r0', 'gone', { response: [{ value: 'x' }], result: {} })] },
      { kind: 2, k: ['requests'], i: 0, v: [request('r1', 'Which tide?', { response: [] })] },
      { kind: 1, k: ['requests', 0, 'result'], v: rounds },
      { kind: 1, k: ['customTitle'], v: 'Tides' },
      { kind: 1, k: ['__proto__', 'polluted'], v: true },
      { kind: 2, k: ['requests'], v: [request('r2', 'And now?', { response: [{ value: 'Lo' }], modelState: { value: 0 } })] },
    ]);
    const expected = {
      format: 'vscode-chat',
      title: 'Tides',
      cwd: '/work/tide pool',
      rows: [
        'user: Which tide?',
        'assistant: I will look.',
        'call c1 read_file {"path":"tide.md"}',
        'result c1 read_file ok: high tide',
        'assistant: High.',
        'user: And now?',
      ],
    };
    assert.deepEqual(await shown(log), expected);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    const whole = rig.source('ws/chatSessions/b.json', [
      {
        version: 3,
        requesterUsername: 'ada',
        sessionId: 'b',
        customTitle: 'Tides',
        requests: [request('r1', 'Which tide?', { result: rounds, response: [] }), request('r2', 'And now?', { response: [] })],
      },
    ]);
    assert.deepEqual(await shown(whole), expected);
  });

  it('a chat of VS Code without a state says so', async () => {
    const { failed } = await rig.import(rig.source('ws/chatSessions/a.jsonl', [{ kind: 1, k: ['a'], v: 1 }]), { format: 'vscode-chat' });
    assert.deepEqual(
      failed.map(({ reason }) => reason),
      ['There is no state in it: the program has left the log without one.'],
    );
  });

  it('Cursor: bubbles in the order of the headers', async () => {
    const row = (key: string, value: unknown) =>
      `INSERT INTO cursorDiskKV VALUES ('${key}', '${JSON.stringify(value).replaceAll("'", "''")}');`;
    const file = database(
      'state.vscdb',
      [
        'CREATE TABLE ItemTable(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);',
        'CREATE TABLE cursorDiskKV(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);',
        row('composerData:c1', {
          name: 'Tides',
          createdAt: 1_788_000_000_000,
          status: 'completed',
          workspaceIdentifier: { uri: { fsPath: '/work/tide' } },
          fullConversationHeadersOnly: [{ bubbleId: 'b1' }, { bubbleId: 'b2' }, { bubbleId: 'b3' }],
        }),
        row('bubbleId:c1:b3', { bubbleId: 'b3', type: 2, text: 'High.', thinking: { text: 'Hm.' } }),
        row('bubbleId:c1:b1', { bubbleId: 'b1', type: 1, text: 'Which tide?' }),
        row('bubbleId:c1:b2', {
          bubbleId: 'b2',
          type: 2,
          text: '',
          toolFormerData: { name: 'read_file', toolCallId: 't1', rawArgs: '{"path":"tide.md"}', result: 'high', status: 'completed' },
        }),
        row('bubbleId:other:b1', { bubbleId: 'b1', type: 1, text: 'not this' }),
      ].join('\n'),
    );
    assert.deepEqual(await shown(file), {
      format: 'cursor',
      title: 'Tides',
      cwd: '/work/tide',
      rows: [
        'user: Which tide?',
        'call t1 read_file {"path":"tide.md"}',
        'result t1 read_file ok: high',
        'thinking: Hm.',
        'assistant: High.',
      ],
    });
  });

  it('Zed: threads of now, and of before version 0.3.0', async () => {
    const thread = {
      version: '0.3.0',
      model: { provider: 'anthropic', model: 'claude' },
      messages: [
        { User: { id: 'u', content: [{ Text: 'Which tide?' }, { Mention: { uri: 'file:///a', content: 'the file' } }] } },
        {
          Agent: {
            content: [
              { Thinking: { text: 'Hm.', signature: 's' } },
              { Text: 'I will look.' },
              { ToolUse: { id: 't1', name: 'read', input: { path: 'a' } } },
            ],
            tool_results: { t1: { tool_use_id: 't1', is_error: false, content: { Text: 'high' } } },
          },
        },
        'Resume',
        { Agent: { content: [{ Text: 'High.' }], tool_results: {} } },
      ],
    };
    const old = { version: '0.2.0', messages: [{ id: 0, role: 'user', segments: [{ type: 'text', text: 'Old words' }] }] };
    const table = 'CREATE TABLE threads(id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB, folder_paths TEXT);';
    const row = (id: string, value: unknown) =>
      `INSERT INTO threads VALUES ('${id}', 'Tides', '2026-09-01T10:00:00Z', 'json', CAST('${JSON.stringify(value)}' AS BLOB), '/work/tide');`;
    assert.deepEqual(await shown(database('threads.db', table + row('a', thread))), {
      format: 'zed',
      title: 'Tides',
      cwd: '/work/tide',
      rows: [
        'user: Which tide?',
        'user: <mention> the file </mention>',
        'thinking: Hm.',
        'assistant: I will look.',
        'call t1 read {"path":"a"}',
        'result t1 read ok: high',
        'assistant: High.',
      ],
    });
    assert.deepEqual((await shown(database('old.db', table + row('b', old)))).rows, ['user: Old words']);
  });

  it('aider: a session for each run', async () => {
    const file = rig.source(
      'tide/.aider.chat.history.md',
      '\n# aider chat started at 2026-09-01 10:00:00\n\n> Aider v0.86\n\n#### Which tide?\n#### Now.\n\nHigh.\n\nReally.\n\n> Tokens: 1k\n\n# aider chat started at 2026-09-02 10:00:00\n\n#### Again\n\nLow.\nhalf a li',
    );
    const { sessions, failed } = await rig.import(file);
    assert.deepEqual([sessions.map(({ title }) => title), failed], [['Which tide?', 'Again'], []]);
    assert.deepEqual((await rig.branch(sessions[0]!.uuid)).map(brief), [
      'aider: Aider v0.86',
      'user: Which tide?\nNow.',
      'assistant: High.\n\nReally.',
      'aider: Tokens: 1k',
    ]);
    assert.deepEqual((await rig.branch(sessions[1]!.uuid)).map(brief), ['user: Again', 'assistant: Low.']);
    const again = await rig.import(file);
    assert.deepEqual(
      again.sessions.map(({ outcome }) => outcome),
      ['known', 'known'],
    );
  });

  it('a folder of everything: a second import adds nothing', async () => {
    for (const name of ['codex', 'gemini', 'qwen', 'copilot-cli', 'claude-code', 'openclaw', 'pi-v3'])
      rig.source(`all/${name}.jsonl`, fixture(`${name}.jsonl`));
    database('all/opencode.db', fixture('opencode.sql'));
    const first = await rig.import(join(rig.temp.path, 'sources', 'all'));
    assert.deepEqual([first.failed, first.sessions.length], [[], 8]);
    const second = await rig.import(join(rig.temp.path, 'sources', 'all'));
    assert.equal(
      second.sessions.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0),
      0,
    );
  });
});
