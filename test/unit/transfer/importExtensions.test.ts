import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { brief, ImportRig } from '../../support/store/importRig';
import { pngOf } from '../../support/pngOf';
import { promptFaults } from '../../support/chat/promptFaults';

describe('an import from the JSON files of other extensions', () => {
  let rig: ImportRig;

  beforeEach(async () => {
    rig = await ImportRig.open();
  });
  afterEach(() => rig.close());

  it('reads the sessions of Cline 3: names, files, pictures, calls and what they have used, without its own notices in the prompt', async () => {
    const assistant = { role: 'assistant', modelInfo: { id: 'claude-test', provider: 'anthropic' } };
    const messages = [
      {
        id: 'u1',
        role: 'user',
        ts: 1_788_000_000_000,
        content: [
          { type: 'text', text: '<user_input mode="plan">Which <b>port</b>?\nSay.</user_input>' },
          { type: 'file', path: '/w/a.txt', content: 'a file' },
          { type: 'image', data: Buffer.from(pngOf(20, 20)).toString('base64'), mediaType: 'image/png' },
        ],
      },
      {
        id: 'a1',
        ...assistant,
        ts: 1_788_000_001_000,
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'tool_use', id: 't1', name: 'read_files', input: { files: [{ path: 'b.txt' }] } },
        ],
        metrics: { inputTokens: 1000, outputTokens: 20, cacheReadTokens: 700, cacheWriteTokens: 100, cost: 0.5 },
      },
      {
        id: 'u2',
        role: 'user',
        ts: 1_788_000_002_000,
        content: [
          { type: 'tool_result', tool_use_id: 't1', name: 'read_files', content: [{ type: 'file', path: 'b.txt', content: '4711' }] },
        ],
      },
      {
        id: 'a2',
        ...assistant,
        ts: 1_788_000_003_000,
        content: [
          { type: 'text', text: '4711' },
          { type: 'tool_use', id: 't2', name: 'run_commands', input: { commands: ['ls', 'nope'] } },
          { type: 'tool_use', id: 't3', name: 'run_commands', input: { commands: ['nope'] } },
        ],
      },
      {
        id: 'u3',
        role: 'user',
        ts: 1_788_000_003_500,
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't2',
            name: 'run_commands',
            content: [
              { query: 'ls', result: 'a.txt', success: true },
              { query: 'nope', result: '', error: 'not found', success: false },
              { query: 'make', result: 'cc a.c', error: 'exit code 2', success: false },
              { query: 'b.txt', result: [{ type: 'file', path: 'b.txt', content: '47' }], error: 'cut off', success: true },
              { query: 'true', result: null, success: true },
            ],
          },
          {
            type: 'tool_result',
            tool_use_id: 't3',
            name: 'run_commands',
            content: [{ query: 'nope', result: '', error: 'not found', success: false }],
          },
        ],
      },
      {
        id: 'error_1',
        ...assistant,
        ts: 1_788_000_004_000,
        content: [{ type: 'text', text: 'Cannot connect' }],
        metadata: { displayOnly: true, displayRole: 'error' },
      },
      'no message',
    ];
    const folder = 'cline/data/sessions/1788000000000_x';
    const source = (list: unknown[]) =>
      rig.source(
        `${folder}/1788000000000_x.messages.json`,
        JSON.stringify(
          {
            version: 1,
            updated_at: '2026-09-01T10:00:00Z',
            agent: 'lead',
            sessionId: '1788000000000_x',
            origin: { source: 'cli', mode: 'user' },
            messages: list,
            system_prompt: 'You are Cline.',
          },
          null,
          2,
        ),
      );
    rig.source(
      `${folder}/1788000000000_x.json`,
      JSON.stringify({
        version: 1,
        session_id: '1788000000000_x',
        started_at: '2026-08-29T10:00:00.000Z',
        cwd: '/w',
        metadata: { title: 'Ports' },
      }),
    );
    const file = source(messages.slice(0, 3));
    await rig.only(dirname(file));
    source(messages);
    const { uuid, format, outcome, entriesAdded, keptRaw } = await rig.only(file);
    assert.deepEqual(
      { format, outcome, entriesAdded, keptRaw },
      {
        format: 'cline',
        outcome: 'extended',
        entriesAdded: 8,
        keptRaw: [
          { kind: 'fields', count: 1 },
          { kind: 'message', count: 1 },
        ],
      },
    );
    const { title, cwd, createdAt } = (await rig.store.session(uuid))!;
    assert.deepEqual({ title, cwd, createdAt }, { title: 'Ports', cwd: '/w', createdAt: Date.UTC(2026, 7, 29, 10) });
    const branch = await rig.branch(uuid);
    assert.deepEqual(branch.map(brief), [
      'user: Which <b>port</b>?\nSay.',
      'user: <file_content path="/w/a.txt">\na file\n</file_content>',
      'thinking: hm',
      'call t1 read_files {"files":[{"path":"b.txt"}]}',
      'result t1 read_files ok: <file_content path="b.txt">\n4711\n</file_content>',
      'assistant: 4711',
      'call t2 run_commands {"commands":["ls","nope"]}',
      'call t3 run_commands {"commands":["nope"]}',
      'result t2 run_commands ok: ls:\na.txt\nnope:\nnot found\nmake:\ncc a.c\nexit code 2\nb.txt:\n<file_content path="b.txt">\n47\n</file_content>\ncut off\ntrue:\nnull',
      'result t3 run_commands error: not found',
      'assistant: Cannot connect',
      'custom import:fields',
      'custom import:message',
    ]);
    assert.deepEqual([branch[1]?.content.type === 'message' && branch[1].content.attachments?.length, branch[10]?.modelFacing], [1, false]);
    assert.deepEqual(
      (await rig.store.usageTotals({ session: uuid })).map(({ model, input, output, cacheRead, cacheWrite, cost }) => [
        model,
        input,
        output,
        cacheRead,
        cacheWrite,
        cost,
      ]),
      [['claude-test', 200, 20, 700, 100, 0.5]],
    );
    assert.deepEqual(promptFaults((await rig.projection(uuid)).messages), []);
  });

  it('reads the tasks of Cline and Roo, without what Roo has condensed', async () => {
    const message = (role: string, content: unknown, more = {}) => ({ role, content, ts: 1_788_000_000_000, ...more });
    const call = { type: 'tool_use', id: 't', name: 'read_file', input: { path: 'a' } };
    const cline = rig.source(
      'tasks/1788000000000/api_conversation_history.json',
      JSON.stringify([
        message('user', [{ type: 'text', text: 'task' }]),
        message('assistant', [call]),
        message('user', [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'found' }] }]),
      ]),
    );
    rig.source('tasks/1788000000000/ui_messages.json', '[]');
    const first = await rig.only(dirname(dirname(cline)));
    assert.deepEqual(
      [first.format, (await rig.branch(first.uuid)).map(brief)],
      ['cline', ['user: task', 'call t read_file {"path":"a"}', 'result t read_file ok: found']],
    );

    const roo = rig.source(
      'roo/0198/api_conversation_history.json',
      JSON.stringify([
        message('user', 'old', { condenseParent: 'c' }),
        message('assistant', 'SUMMARY', { isSummary: true, condenseId: 'c' }),
        message('user', 'new'),
      ]),
    );
    const { uuid, format } = await rig.only(roo);
    const { messages } = await rig.projection(uuid);
    assert.deepEqual([format, promptFaults(messages)], ['roo', []]);
    const text = JSON.stringify(messages);
    assert.ok(text.includes('SUMMARY') && text.includes('new') && !text.includes('old'), text);
  });

  it('reads a session of Continue, and goes on from its summary', async () => {
    const file = rig.source(
      'continue/abc.json',
      JSON.stringify({
        sessionId: 'abc',
        title: 'Continued',
        workspaceDirectory: 'file:///w',
        history: [
          { message: { role: 'user', content: [{ type: 'text', text: 'question' }] }, contextItems: [{ name: 'a.ts' }] },
          {
            message: {
              role: 'assistant',
              content: '',
              toolCalls: [{ id: 't', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } }],
            },
          },
          { message: { role: 'tool', toolCallId: 't', content: 'found' }, conversationSummary: 'CONTINUE SUMMARY' },
          { message: { role: 'thinking', content: 'hm' } },
          { message: { role: 'user', content: 'after' } },
        ],
      }),
    );
    const { uuid, title, format } = await rig.only(file);
    assert.deepEqual({ title, format, cwd: (await rig.store.session(uuid))?.cwd }, { title: 'Continued', format: 'continue', cwd: '/w' });
    assert.deepEqual((await rig.branch(uuid)).map(brief), ['compaction: CONTINUE SUMMARY', 'thinking: hm', 'user: after']);
    assert.deepEqual(
      (await rig.entries(uuid))
        .filter(({ display }) => display)
        .map(brief)
        .slice(0, 3),
      ['user: question', 'call t read {"path":"a"}', 'result t read ok: found'],
    );
  });
});
