import type { ImportFormat } from '../../../src/node/transfer/import/importFormats';

/** One record of a history, in no program's words. Numbers are taken modulo what there is. */
export type Step =
  | { readonly kind: 'user' | 'assistant' | 'thinking'; readonly text: string }
  | { readonly kind: 'calls'; readonly ids: readonly number[] }
  | { readonly kind: 'result'; readonly id: number; readonly isError: boolean }
  | { readonly kind: 'fold'; readonly kept: number | null };

export interface Placed {
  readonly step: Step;
  /** How many records up its parent is; 0 the one before it. Negative: one that comes later, a circle where that one hangs on this one. */
  readonly up: number;
}

/** Two of them no provider takes. */
export const callName = (n: number) => ['c0', 'c1', 'toolu.x|1', '', 'c'.repeat(80)][n]!;

export type Sql = readonly (readonly [sql: string, values: readonly (string | number | null)[]])[];
export type Source =
  | { readonly lines: readonly unknown[] }
  | { readonly json: unknown }
  | { readonly sql: Sql }
  | { readonly text: string };

export const time = (i: number) => new Date(Date.UTC(2026, 8, 1) + i * 1000).toISOString();

/** A step as blocks of the Messages API, which several programs store; null for a fold. */
export function blocksOf(one: Step): { readonly role: 'user' | 'assistant'; readonly content: readonly unknown[] } | null {
  switch (one.kind) {
    case 'user':
    case 'assistant':
      return { role: one.kind, content: [{ type: 'text', text: one.text }] };
    case 'thinking':
      return { role: 'assistant', content: [{ type: 'thinking', thinking: one.text, signature: 'c2ln' }] };
    case 'calls':
      return {
        role: 'assistant',
        content: one.ids.map((call) => ({ type: 'tool_use', id: callName(call), name: 'read', input: { path: 'a' } })),
      };
    case 'result':
      return { role: 'user', content: [{ type: 'tool_result', tool_use_id: callName(one.id), content: 'found', is_error: one.isError }] };
    case 'fold':
      return null;
  }
}

type Row = { readonly name: (session: string) => string; readonly source: (session: string, steps: readonly Placed[]) => Source };
type Agent = Extract<
  ImportFormat,
  'codex' | 'copilot-cli' | 'vscode-chat' | 'gemini' | 'qwen' | 'opencode' | 'kilo' | 'cursor' | 'zed' | 'aider'
>;

const said = (one: Step) => ('text' in one ? one.text.replace(/[\0\p{Cs}]/gu, '?') : one.kind === 'fold' ? 'SUMMARY' : 'found');
const calls = (one: Step) => (one.kind === 'calls' ? one.ids.map(callName) : []);
const flat = (one: Step) => said(one).replace(/\s+/g, ' ').trim() || 'tide';

function opencode(): Row {
  return {
    name: (session) => `${session}.db`,
    source: (session, steps) => ({
      sql: [
        [
          'CREATE TABLE session(id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER)',
          [],
        ],
        ['CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, data TEXT)', []],
        ['CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)', []],
        ['INSERT INTO session VALUES (?, NULL, ?, ?, 1788000000000, 1788000000000)', [session, '/w', 'Named']],
        ...steps.flatMap(({ step: one }, i): Sql[number][] => {
          const id = `msg_${String(i).padStart(4, '0')}`;
          const data =
            one.kind === 'user'
              ? { role: 'user', time: { created: 1_788_000_000_000 + i } }
              : {
                  role: 'assistant',
                  time: { created: 1_788_000_000_000 + i, completed: 1 },
                  providerID: 'p',
                  modelID: 'm',
                  ...(one.kind === 'fold' ? { summary: true } : {}),
                };
          const tool = (call: string, status: string) => ({
            type: 'tool',
            tool: 'read',
            callID: call,
            state: { status, input: {}, output: 'found' },
          });
          const parts: readonly unknown[] =
            one.kind === 'calls'
              ? calls(one).map((call) => tool(call, 'running'))
              : [{ type: one.kind === 'thinking' ? 'reasoning' : 'text', text: said(one) || 'tide' }];
          return [
            ['INSERT INTO message VALUES (?, ?, ?)', [id, session, JSON.stringify(data)]],
            ...parts.map((part, n): Sql[number] => [
              'INSERT INTO part VALUES (?, ?, ?, ?)',
              [`prt_${String(i).padStart(4, '0')}_${n}`, id, session, JSON.stringify(part)],
            ]),
          ];
        }),
      ],
    }),
  };
}

const parentIn = (steps: readonly Placed[], i: number) => {
  const parent = i - 1 - steps[i]!.up;
  return parent < 0 || parent >= steps.length ? null : `u${parent}`;
};

const googleParts = (one: Step): readonly unknown[] => {
  if (one.kind === 'calls') return calls(one).map((id) => ({ functionCall: { id, name: 'read', args: {} } }));
  if (one.kind === 'result') return [{ functionResponse: { id: callName(one.id), name: 'read', response: { output: 'found' } } }];
  return [{ text: said(one), ...(one.kind === 'thinking' ? { thought: true } : {}) }];
};

/** Programs that are followed live, each as it writes a history. */
export const agentHistories: Readonly<Record<Agent, Row>> = {
  codex: {
    name: (session) => `rollout-2026-09-01T10-00-00-${session}.jsonl`,
    source: (session, steps) => ({
      lines: [
        { timestamp: time(0), type: 'session_meta', payload: { id: session, cwd: '/w', timestamp: time(0), model_provider: 'openai' } },
        ...steps.flatMap(({ step: one }, i): unknown[] => {
          const line = (payload: unknown, type = 'response_item') => ({ timestamp: time(i), type, payload });
          if (one.kind === 'fold') return [line({ message: 'SUMMARY' }, 'compacted')];
          if (one.kind === 'thinking') return [line({ type: 'reasoning', summary: [{ type: 'summary_text', text: said(one) || 'tide' }] })];
          if (one.kind === 'calls')
            return calls(one).map((id) => line({ type: 'function_call', call_id: id, name: 'read', arguments: '{"path":"a"}' }));
          if (one.kind === 'result')
            return [line({ type: 'function_call_output', call_id: callName(one.id), output: { content: 'found', success: !one.isError } })];
          return [
            line({
              type: 'message',
              role: one.kind,
              content: [{ type: one.kind === 'user' ? 'input_text' : 'output_text', text: one.text }],
            }),
          ];
        }),
      ],
    }),
  },
  'copilot-cli': {
    name: (session) => `${session}/events.jsonl`,
    source: (session, steps) => ({
      lines: [
        { type: 'session.start', data: { sessionId: session, context: { cwd: '/w' } }, id: 'u-start', timestamp: time(0), parentId: null },
        ...steps.map(({ step: one }, i) => {
          const frame = { id: `u${i}`, timestamp: time(i), parentId: parentIn(steps, i) ?? 'u-start' };
          if (one.kind === 'user') return { type: 'user.message', ...frame, data: { content: one.text } };
          if (one.kind === 'result')
            return {
              type: 'tool.execution_complete',
              ...frame,
              data: { toolCallId: callName(one.id), success: !one.isError, result: { content: 'found' } },
            };
          if (one.kind === 'fold') return { type: 'session.compaction_complete', ...frame, data: { summaryContent: 'SUMMARY' } };
          return {
            type: 'assistant.message',
            ...frame,
            data: {
              ...(one.kind === 'thinking' ? { reasoningText: one.text } : { content: 'text' in one ? one.text : '' }),
              toolRequests: calls(one).map((id) => ({ toolCallId: id, name: 'read', arguments: {} })),
            },
          };
        }),
      ],
    }),
  },
  'vscode-chat': {
    name: (session) => `chatSessions/${session}.jsonl`,
    source: (session, steps) => ({
      lines: [
        { kind: 0, v: { version: 3, sessionId: session, creationDate: 1_788_000_000_000, requests: [] } },
        ...steps.map(({ step: one }, i) => ({
          kind: 2,
          k: ['requests'],
          v: [
            {
              requestId: `r${i}`,
              timestamp: 1_788_000_000_000 + i,
              message: { text: one.kind === 'user' ? one.text : 'on' },
              response: one.kind === 'assistant' ? [{ value: one.text }] : [],
              result: {
                metadata: {
                  toolCallRounds:
                    one.kind === 'calls'
                      ? [{ response: 'reading', toolCalls: calls(one).map((id) => ({ id, name: 'read', arguments: '{}' })) }]
                      : [],
                  toolCallResults: {},
                },
              },
            },
          ],
        })),
      ],
    }),
  },
  gemini: {
    name: (session) => `chats/session-${session}.jsonl`,
    source: (session, steps) => ({
      lines: [
        { sessionId: session, projectHash: 'h', startTime: time(0), kind: 'main' },
        ...steps.map(({ step: one }, i) => ({
          id: `g${i}`,
          timestamp: time(i),
          type: one.kind === 'user' ? 'user' : 'gemini',
          content: one.kind === 'thinking' || one.kind === 'calls' ? '' : flat(one),
          thoughts: one.kind === 'thinking' ? [{ subject: 'tide', description: one.text }] : [],
          toolCalls: calls(one).map((id) => ({ id, name: 'read', args: {}, status: 'success', result: [] })),
        })),
      ],
    }),
  },
  qwen: {
    name: (session) => `chats/${session}.jsonl`,
    source: (session, steps) => ({
      lines: steps.map(({ step: one }, i) => ({
        uuid: `u${i}`,
        parentUuid: parentIn(steps, i),
        sessionId: session,
        timestamp: time(i),
        cwd: '/w',
        ...(one.kind === 'fold'
          ? {
              type: 'system',
              subtype: 'chat_compression',
              systemPayload: { compressedHistory: [{ role: 'user', parts: [{ text: 'SUMMARY' }] }] },
            }
          : {
              type: one.kind === 'user' ? 'user' : one.kind === 'result' ? 'tool_result' : 'assistant',
              message: { role: one.kind === 'user' ? 'user' : 'model', parts: googleParts(one) },
            }),
      })),
    }),
  },
  opencode: opencode(),
  kilo: opencode(),
  cursor: {
    name: (session) => `${session}.vscdb`,
    source: (session, steps) => {
      const bubbles = steps.flatMap(({ step: one }): object[] => {
        if (one.kind === 'user') return [{ type: 1, text: one.text }];
        if (one.kind === 'thinking') return [{ type: 2, text: '', thinking: { text: one.text } }];
        if (one.kind !== 'calls') return [{ type: 2, text: flat(one) }];
        return calls(one).map((toolCallId) => ({
          type: 2,
          toolFormerData: { name: 'read', toolCallId, rawArgs: '{}', status: 'completed', result: 'x' },
        }));
      });
      const composer = {
        name: 'Named',
        createdAt: 1_788_000_000_000,
        fullConversationHeadersOnly: bubbles.map((_, i) => ({ bubbleId: `b${i}` })),
      };
      const row = (key: string, value: unknown): Sql[number] => ['INSERT INTO cursorDiskKV VALUES (?, ?)', [key, JSON.stringify(value)]];
      return {
        sql: [
          ['CREATE TABLE cursorDiskKV(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)', []],
          row(`composerData:${session}`, composer),
          ...bubbles.map((bubble, i) => row(`bubbleId:${session}:b${i}`, { bubbleId: `b${i}`, ...bubble })),
        ],
      };
    },
  },
  zed: {
    name: (session) => `${session}.db`,
    source: (session, steps) => ({
      sql: [
        [
          'CREATE TABLE threads(id TEXT PRIMARY KEY, parent_id TEXT, folder_paths TEXT, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)',
          [],
        ],
        [
          "INSERT INTO threads VALUES (?, NULL, '/w', 'Named', ?, 'json', ?)",
          [
            session,
            time(0),
            JSON.stringify({
              version: '0.3.0',
              messages: steps.map(({ step: one }) => {
                if (one.kind === 'user') return { User: { id: 'x', content: [{ Text: one.text }] } };
                if (one.kind === 'fold') return 'Resume';
                if (one.kind === 'result')
                  return {
                    Agent: { content: [], tool_results: { [callName(one.id)]: { is_error: one.isError, content: { Text: 'found' } } } },
                  };
                return {
                  Agent: {
                    content:
                      one.kind === 'calls'
                        ? calls(one).map((id) => ({ ToolUse: { id, name: 'read', input: {} } }))
                        : one.kind === 'thinking'
                          ? [{ Thinking: { text: one.text, signature: 's' } }]
                          : [{ Text: one.text }],
                    tool_results: {},
                  },
                };
              }),
            }),
          ],
        ],
      ],
    }),
  },
  aider: {
    name: (session) => `${session}/.aider.chat.history.md`,
    source: (_session, steps) => ({
      text: `\n# aider chat started at 2026-09-01 10:00:00\n\n${steps
        .map(({ step: one }) => `${one.kind === 'user' ? '#### ' : one.kind === 'result' ? '> ' : ''}${flat(one)}\n\n`)
        .join('')}`,
    }),
  },
};
