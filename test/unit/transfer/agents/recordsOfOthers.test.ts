import assert from 'node:assert/strict';
import { CodexReader } from '../../../../src/core/transfer/formats/codex';
import { librecodeEvents } from '../../../../src/core/transfer/formats/librecode';
import { vscodeChatEvents } from '../../../../src/core/transfer/formats/vscodeChat';
import { zedEvents } from '../../../../src/core/transfer/formats/zed';
import type { SourceEvent } from '../../../../src/core/transfer/sourceRecord';

/** What each record holds: whether it is sent, shown or only kept, and what it says. */
function partsOf(events: readonly SourceEvent[]): unknown[] {
  return events.flatMap((event) =>
    event.type === 'record'
      ? event.record.parts.map(({ content, modelFacing, display }) => [modelFacing ? 'sent' : display ? 'shown' : 'kept', content])
      : [],
  );
}

const hashOf = (value: unknown) => JSON.stringify(value);

describe('records of other programs that are rare', () => {
  it('a chat of VS Code: thoughts, calls and edits that stand in the answer itself', () => {
    const model = { provider: 'github-copilot', model: 'gpt' };
    const response = [
      { kind: 'thinking', value: 'Hm.' },
      { value: 'It is in ' },
      { kind: 'inlineReference', name: 'tide.ts' },
      { kind: 'toolInvocationSerialized', toolCallId: 't1', toolId: 'readFile', pastTenseMessage: { value: 'Read tide.ts' } },
      { kind: 'textEditGroup', edits: [] },
      { kind: 'markdownContent', content: { value: 'Done.' } },
    ];
    const requests = [
      { requestId: 'r', message: { text: 'Which tide?' }, modelId: 'copilot/gpt', response, result: { errorDetails: { message: 'cut' } } },
      'nonsense',
    ];
    const events = vscodeChatEvents(JSON.stringify({ sessionId: 's', requests }), { cwd: '/w', fallbackId: 'f' }, hashOf)!;
    assert.deepEqual(partsOf(events), [
      ['sent', { type: 'message', role: 'user', text: 'Which tide?' }],
      ['sent', { type: 'thinking', text: 'Hm.' }],
      ['sent', { type: 'message', role: 'assistant', text: 'It is in tide.ts', ...model }],
      ['sent', { type: 'tool_call', callId: 't1', name: 'readFile', input: {}, ...model }],
      ['sent', { type: 'tool_result', callId: 't1', name: 'readFile', text: 'Read tide.ts', status: 'ok' }],
      ['kept', { type: 'custom', customType: 'import:textEditGroup', data: response[4] }],
      ['sent', { type: 'message', role: 'assistant', text: 'Done.', ...model }],
      ['kept', { type: 'custom', customType: 'import:error', data: 'cut' }],
      ['kept', { type: 'custom', customType: 'import:request', data: 'nonsense' }],
    ]);
  });

  it('a chat of VS Code: a result that was drawn as a tree, in a log whose changes fit', () => {
    const call = { id: 'c', name: 'search', arguments: '{"query":"tide"}' };
    const tree = { node: { children: [{ text: 'a.ts' }, { children: [{ text: ', b.ts' }] }] } };
    const metadata = {
      toolCallRounds: [{ response: 'I look.', toolCalls: [call] }],
      toolCallResults: { c: { content: [{ value: tree }] } },
    };
    const request = { requestId: 'r', message: 'Where?', modelId: 'gpt', isCanceled: true, draft: 'x' };
    const log = [
      { kind: 0, v: { sessionId: 's', customTitle: 'Tides', requests: [] } },
      { kind: 2, k: ['requests'], v: [{ requestId: 'gone' }, request, request] },
      { kind: 1, k: ['requests', 0], v: { ...request, result: { metadata } } },
      { kind: 2, k: ['requests'], i: 1 },
      { kind: 3, k: ['customTitle'] },
      // None of these fits anything.
      ...[
        ['requests', 7],
        ['__proto__', 'x'],
        ['requests', 0, 'message', 'text'],
      ].map((k) => ({ kind: 1, k, v: 'lost' })),
      { kind: 3, k: ['requests', 'x'] },
    ];
    const events = vscodeChatEvents(log.map((line) => JSON.stringify(line)).join('\n'), { cwd: null, fallbackId: 'f' }, hashOf)!;
    assert.deepEqual(
      [events.map(({ type }) => type), partsOf(events)],
      [
        ['session', 'record', 'record', 'record', 'record'],
        [
          ['sent', { type: 'message', role: 'user', text: 'Where?' }],
          ['sent', { type: 'message', role: 'assistant', text: 'I look.', provider: 'github-copilot', model: 'gpt' }],
          ['sent', { type: 'tool_call', callId: 'c', name: 'search', input: { query: 'tide' }, provider: 'github-copilot', model: 'gpt' }],
          ['sent', { type: 'tool_result', callId: 'c', name: 'search', text: 'a.ts, b.ts', status: 'ok' }],
        ],
      ],
    );
  });

  it('Codex: calls of every kind, and a list of messages in the place of a summary', () => {
    const reader = new CodexReader();
    const read = (type: string, payload: object, line: number) =>
      reader.read({ timestamp: '2026-09-01T10:00:00.000Z', type, payload }, line, `h${line}`, 'rollout-x');
    const events = [
      { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: '*** Begin Patch' },
      { type: 'custom_tool_call_output', call_id: 'a', output: { content: 'refused', success: false } },
      { type: 'local_shell_call', call_id: 'b', action: { command: ['ls'] } },
      { type: 'web_search_call', id: 'c', action: { query: 'tide' } },
      { type: 'ghost_snapshot' },
    ].flatMap((item, i) => read('response_item', item, i));
    const input = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
    events.push(
      ...read(
        'compacted',
        { message: '', replacement_history: [input('<environment_context>x</environment_context>'), input('The tide was high.')] },
        9,
      ),
    );
    const model = { provider: 'openai', model: 'unknown' };
    const parts = partsOf(events) as [string, { summaryText?: string }][];
    assert.deepEqual(parts.slice(0, -1), [
      ['sent', { type: 'tool_call', callId: 'a', name: 'apply_patch', input: { input: '*** Begin Patch' }, ...model }],
      ['sent', { type: 'tool_result', callId: 'a', name: 'apply_patch', text: 'refused', status: 'error' }],
      ['sent', { type: 'tool_call', callId: 'b', name: 'shell', input: { command: ['ls'] }, ...model }],
      ['sent', { type: 'tool_call', callId: 'c', name: 'web_search', input: { query: 'tide' }, ...model }],
      ['sent', { type: 'tool_result', callId: 'c', name: 'web_search', text: '', status: 'ok' }],
      ['kept', { type: 'custom', customType: 'import:ghost_snapshot', data: { type: 'ghost_snapshot' } }],
    ]);
    // What the program has put there for the model is nobody's summary.
    assert.deepEqual([parts.at(-1)![0], parts.at(-1)![1].summaryText], ['shown', 'The tide was high.']);
  });

  it('librecode: every kind of entry of its tree', () => {
    const rows = [
      { entry_type: 'custom_message', custom_type: 'hint', content: 'Mind the tide.', display: 0 },
      { entry_type: 'branch_summary', summary: 'What was tried.', branch_from_entry_id: 'e1' },
      { entry_type: 'label', data_json: '{"targetId":"e1","label":"mark"}' },
      { entry_type: 'label', content: 'here' },
      { entry_type: 'model_change', provider: 'anthropic', model: 'claude' },
      { entry_type: 'thinking_level_change', data_json: '{"thinkingLevel":"high"}' },
      { entry_type: 'session_info', data_json: '{"name":"Tides"}' },
      { entry_type: 'custom', custom_type: 'state', data_json: '{"n":1}' },
      { entry_type: 'message', role: 'thinking', content: 'Hm.', provider: 'anthropic' },
      { entry_type: 'message', role: 'bashExecution', content: '$ ls\na.ts\n', data_json: '{"excludeFromContext":true}' },
      { entry_type: 'message', role: 'oracle', content: 'x' },
      { entry_type: 'comet' },
    ].map((row, i) => ({ row: { id: `e${i + 1}`, parent_id: i === 0 ? null : `e${i}`, ...row }, hash: `h${i}` }));
    assert.deepEqual(partsOf(librecodeEvents({ id: 's' }, rows)), [
      ['sent', { type: 'custom_message', customType: 'hint', text: 'Mind the tide.' }],
      ['sent', { type: 'branch_summary', text: 'What was tried.', branchLeaf: 'e1' }],
      ['shown', { type: 'label', target: 'e1', label: 'mark' }],
      ['shown', { type: 'label', target: 'e3', label: 'here' }],
      ['shown', { type: 'model_change', provider: 'anthropic', model: 'claude' }],
      ['shown', { type: 'thinking_level_change', level: 'high' }],
      ['shown', { type: 'session_info', title: 'Tides' }],
      ['kept', { type: 'custom', customType: 'state', data: { n: 1 } }],
      ['sent', { type: 'thinking', text: 'Hm.', provider: 'anthropic' }],
      ['shown', { type: 'custom_message', customType: 'command', text: 'Ran `ls`\n```\na.ts\n\n```' }],
      ['kept', { type: 'custom', customType: 'import:role:oracle', data: rows[10]!.row }],
      ['kept', { type: 'custom', customType: 'import:comet', data: rows[11]!.row }],
    ]);
  });

  it('Zed: images, sealed thoughts and results without a call, now and before version 0.3.0', () => {
    const messages = [
      { User: { content: [{ Text: 'Look' }, { Image: { source: 'QUJD' } }] } },
      { Agent: { content: [{ RedactedThinking: 'sealed' }], tool_results: { c: 'plain' } } },
      'Resume',
      7,
      {
        role: 'assistant',
        segments: [],
        tool_uses: [{ id: 'd', name: 'read', input: { path: 'a' } }],
        tool_results: [{ tool_use_id: 'd', content: 'x', is_error: true }],
      },
      { role: 'system', segments: [] },
    ];
    const events = zedEvents({ id: 't', updated_at: '2026-09-01T10:00:00Z' }, JSON.stringify({ messages }), hashOf);
    assert.deepEqual(partsOf(events), [
      ['sent', { type: 'message', role: 'user', text: 'Look' }],
      ['sent', { type: 'thinking', text: '', provider: 'zed', redactedData: 'sealed' }],
      ['sent', { type: 'tool_result', callId: 'c', name: 'tool', text: 'plain', status: 'ok' }],
      ['kept', { type: 'custom', customType: 'import:message', data: 7 }],
      ['sent', { type: 'tool_call', callId: 'd', name: 'read', input: { path: 'a' }, provider: 'zed', model: 'unknown' }],
      ['sent', { type: 'tool_result', callId: 'd', name: 'read', text: 'x', status: 'error' }],
      ['kept', { type: 'custom', customType: 'import:role:system', data: messages[5] }],
    ]);
    const [look] = events.flatMap((event) => (event.type === 'record' ? event.record.parts : []));
    assert.deepEqual(look!.pictures, [{ mime: 'image/png', data: 'QUJD' }]);
  });
});
