import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ImportFormat } from '../../../src/node/transfer/import/importFormats';
import type { ModelMessage } from '../../../src/core/models/modelRequest';
import { anthropicPrompt } from '../../../src/node/models/anthropic/anthropicRequest';
import { loadSqlite } from '../../../src/node/store/wasm/sqlite';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { project } from '../../../src/core/context/projection/projection';
import { entryText } from '../../../src/core/session/entry';
import { ImportRig } from '../../support/store/importRig';
import { validated } from '../../support/messagesApi/messagesApiValidate';
import { testUuid, userMessage, wasmFile } from '../../support/store/storeTemp';
import { testFrames } from '../../support/chat/testFrames';
import {
  agentHistories,
  blocksOf,
  callName,
  time,
  type Placed,
  type Source,
  type Sql,
  type Step,
} from '../../support/store/agentHistories';

const rounds = 25;

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('', ' ', '\n', 'a\0b', '\ud800', 'ready'));
const id = fc.nat(4);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('user', 'assistant', 'thinking'), text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('calls' as const), ids: fc.array(id, { minLength: 1, maxLength: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('result' as const), id, isError: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fold' as const), kept: fc.option(fc.nat(30)) }) },
);
const history = fc.array(
  fc.record({ step, up: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: -3, max: 12 }) }) }),
  { minLength: 1, maxLength: 25 },
);

/** Histories of one step, in which some programs have nothing that is said. */
const loneSteps: readonly Step[] = [
  { kind: 'fold', kept: null },
  { kind: 'user', text: '\ud800' },
];

const parentOf = (steps: readonly Placed[], i: number) => {
  const parent = i - 1 - steps[i]!.up;
  return parent < 0 || parent >= steps.length ? null : parent;
};
const keptOf = (step: Extract<Step, { kind: 'fold' }>, i: number) => (step.kept === null || i === 0 ? null : step.kept % i);

function pi(session: string, steps: readonly Placed[]): Source {
  const message = (one: Step): unknown => {
    if (one.kind === 'result')
      return { role: 'toolResult', toolCallId: callName(one.id), toolName: 'read', content: 'found', isError: one.isError };
    const { role, content } = blocksOf(one)!;
    return {
      role,
      provider: 'anthropic',
      model: 'm',
      content: content.map((block) =>
        (block as { type: string }).type === 'tool_use' ? { ...(block as object), type: 'toolCall', arguments: {} } : block,
      ),
    };
  };
  const line = ({ step: one }: Placed, i: number) => {
    const parent = parentOf(steps, i);
    const frame = { id: `r${i}`, parentId: parent === null ? null : `r${parent}`, timestamp: time(i) };
    if (one.kind !== 'fold') return { type: 'message', ...frame, message: message(one) };
    const first = keptOf(one, i);
    return {
      type: 'compaction',
      ...frame,
      summary: 'SUMMARY',
      tokensBefore: 10,
      ...(first === null ? {} : { firstKeptEntryId: `r${first}` }),
    };
  };
  return { lines: [{ type: 'session', version: 3, id: session, timestamp: time(0), cwd: '/w' }, ...steps.map(line)] };
}

const formats: Readonly<
  Record<
    Exclude<ImportFormat, 'threadkeeper'>,
    { readonly name: (session: string) => string; readonly source: (session: string, steps: readonly Placed[]) => Source }
  >
> = {
  ...agentHistories,
  pi: { name: (session) => `${session}.jsonl`, source: pi },
  openclaw: {
    name: (session) => `.openclaw/agents/main/sessions/${session}.jsonl`,
    source: (session, steps) => {
      const { lines } = pi(session, steps) as { lines: readonly unknown[] };
      const back = steps.findIndex(({ up }) => up > 3);
      return {
        lines: [
          ...lines,
          ...(back === -1
            ? []
            : [{ type: 'leaf', id: 'leaf', parentId: `r${steps.length - 1}`, timestamp: time(99), targetId: `r${back}` }]),
        ],
      };
    },
  },
  'claude-code': {
    name: (session) => `${session}.jsonl`,
    source: (session, steps) => ({
      lines: steps.map(({ step: one }, i) => {
        const parent = parentOf(steps, i);
        const blocks = blocksOf(one);
        const frame = {
          uuid: `${session}-${i}`,
          parentUuid: parent === null ? null : `${session}-${parent}`,
          sessionId: session,
          timestamp: time(i),
          cwd: '/w',
        };
        if (blocks === null) return { ...frame, type: 'user', isCompactSummary: true, message: { role: 'user', content: 'SUMMARY' } };
        return {
          ...frame,
          type: blocks.role,
          message: {
            ...blocks,
            ...(blocks.role === 'assistant'
              ? { id: `msg_${Math.floor(i / 2)}`, model: 'm', usage: { input_tokens: 5, output_tokens: 5 } }
              : {}),
          },
        };
      }),
    }),
  },
  goose: {
    name: (session) => `${session}.db`,
    source: (session, steps) => ({
      sql: [
        [
          'CREATE TABLE sessions(id TEXT PRIMARY KEY, name TEXT, description TEXT, working_dir TEXT, created_at TIMESTAMP, provider_name TEXT, model_config_json TEXT)',
          [],
        ],
        [
          'CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT)',
          [],
        ],
        ['INSERT INTO sessions VALUES (?, ?, ?, ?, ?, NULL, NULL)', [session, 'Named', '', '/w', '2026-09-01 10:00:00']],
        ...steps.map(({ step: one }, i): Sql[number] => {
          const { role, content } = blocksOf(one) ?? { role: 'user', content: [{ type: 'text', text: 'SUMMARY' }] };
          const blocks = content.map((block) => {
            const { type, id: call, tool_use_id: result } = block as { type: string; id?: string; tool_use_id?: string };
            if (type === 'tool_use')
              return { type: 'toolRequest', id: call, toolCall: { status: 'success', value: { name: 'read', arguments: {} } } };
            return type === 'tool_result'
              ? { type: 'toolResponse', id: result, toolResult: { status: 'success', value: [{ type: 'text', text: 'found' }] } }
              : block;
          });
          return [
            'INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)',
            [
              i + 1,
              session,
              role,
              JSON.stringify(blocks),
              1_788_000_000 + i,
              JSON.stringify({ userVisible: one.kind !== 'fold', agentVisible: steps[i]!.up <= 3 }),
            ],
          ];
        }),
      ],
    }),
  },
  librecode: {
    name: (session) => `${session}.db`,
    source: (session, steps) => ({
      sql: [
        ['CREATE TABLE sessions(id TEXT PRIMARY KEY, cwd TEXT, name TEXT, parent_session TEXT, created_at TEXT)', []],
        [
          'CREATE TABLE session_entries(id TEXT PRIMARY KEY, session_id TEXT, parent_id TEXT, entry_type TEXT, role TEXT, content TEXT, summary TEXT, created_at TEXT, tool_name TEXT, tool_status TEXT, model_facing INTEGER, display INTEGER, compaction_first_kept_entry_id TEXT)',
          [],
        ],
        ['INSERT INTO sessions VALUES (?, ?, ?, NULL, ?)', [session, '/w', 'Named', time(0)]],
        ...steps.map(({ step: one }, i): Sql[number] => {
          const parent = parentOf(steps, i);
          const first = one.kind === 'fold' ? keptOf(one, i) : null;
          const role = one.kind === 'calls' || one.kind === 'result' ? 'tool' : one.kind === 'fold' ? null : one.kind;
          const said = 'text' in one ? one.text.replace(/[\0\p{Cs}]/gu, '') : 'found';
          return [
            'INSERT INTO session_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1, ?)',
            [
              `${session}-${i}`,
              session,
              parent === null ? null : `${session}-${parent}`,
              one.kind === 'fold' ? 'compaction' : 'message',
              role,
              said,
              one.kind === 'fold' ? 'SUMMARY' : null,
              time(i),
              role === 'tool' ? 'read' : null,
              'ok',
              first === null ? null : `${session}-${first}`,
            ],
          ];
        }),
      ],
    }),
  },
  cline: {
    name: (session) => `tasks/${session}/api_conversation_history.json`,
    source: (_session, steps) => ({
      json: steps.flatMap(({ step: one }, i) => (blocksOf(one) === null ? [] : [{ ...blocksOf(one)!, ts: 1_788_000_000_000 + i }])),
    }),
  },
  roo: {
    name: (session) => `roo/${session}/api_conversation_history.json`,
    source: (_session, steps) => ({
      json: steps.map(({ step: one, up }, i) => ({
        ...(blocksOf(one) ?? { role: 'assistant', content: 'SUMMARY', isSummary: true, condenseId: 'c' }),
        ts: 1_788_000_000_000 + i,
        ...(up > 3 ? { condenseParent: 'c' } : {}),
      })),
    }),
  },
  continue: {
    name: (session) => `continue/${session}.json`,
    source: (session, steps) => ({
      json: {
        sessionId: session,
        title: 'Named',
        history: steps.map(({ step: one }) => {
          if (one.kind === 'fold') return { message: { role: 'user', content: 'last words' }, conversationSummary: 'SUMMARY' };
          if (one.kind === 'calls')
            return {
              message: {
                role: 'assistant',
                content: '',
                toolCalls: one.ids.map((call) => ({ id: callName(call), type: 'function', function: { name: 'read', arguments: '{}' } })),
              },
            };
          if (one.kind === 'result') return { message: { role: 'tool', toolCallId: callName(one.id), content: 'found' } };
          return { message: { role: one.kind, content: one.text } };
        }),
      },
    }),
  },
  goclaw: {
    name: (session) => `${session}.db`,
    source: (session, steps) => ({
      sql: [
        [
          'CREATE TABLE messages(id TEXT PRIMARY KEY, session_key TEXT, timestamp DATETIME, role TEXT, content TEXT, tool_name TEXT, tool_input BLOB, tool_result TEXT, tool_is_error BOOLEAN)',
          [],
        ],
        [
          'CREATE TABLE compactions(id TEXT PRIMARY KEY, session_key TEXT, timestamp DATETIME, summary TEXT, first_kept_entry_id TEXT, tokens_before INTEGER, needs_summary_retry BOOLEAN)',
          [],
        ],
        [
          'CREATE TABLE checkpoints(id TEXT PRIMARY KEY, session_key TEXT, timestamp DATETIME, summary TEXT, tokens_at_checkpoint INTEGER, topics TEXT, key_decisions TEXT, open_questions TEXT)',
          [],
        ],
        ...steps.map(({ step: one }, i): Sql[number] => {
          const first = one.kind === 'fold' ? keptOf(one, i) : null;
          if (one.kind === 'fold')
            return [
              'INSERT INTO compactions VALUES (?, ?, ?, ?, ?, 10, 0)',
              [`r${i}`, session, time(i), 'SUMMARY', first === null ? null : `r${first}`],
            ];
          if (one.kind === 'thinking')
            return [
              'INSERT INTO checkpoints VALUES (?, ?, ?, ?, 10, ?, NULL, ?)',
              [`r${i}`, session, time(i), 'SNAPSHOT', '["tides"]', 'a\nb'],
            ];
          const role = one.kind === 'calls' ? 'tool_use' : one.kind === 'result' ? 'tool_result' : one.kind;
          const said = 'text' in one ? one.text.replace(/[\0\p{Cs}]/gu, '') : '';
          return [
            'INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
            [
              `r${i}`,
              session,
              time(i),
              role,
              said,
              'read',
              '{"path":"a"}',
              role === 'tool_result' ? 'found' : null,
              one.kind === 'result' && one.isError ? 1 : 0,
            ],
          ];
        }),
      ],
    }),
  },
  emonk: {
    name: (session) => `${session}.db`,
    source: (session, steps) => ({
      sql: [
        [
          'CREATE TABLE sessions(id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP, total_tokens INTEGER, message_count INTEGER, metadata JSON)',
          [],
        ],
        [
          'CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, tool_calls JSON, tokens INTEGER, timestamp TIMESTAMP)',
          [],
        ],
        ['INSERT INTO sessions VALUES (?, ?, ?, 0, 0, ?)', [session, '2026-09-01 10:00:00.123456', '2026-09-01 10:00:00', '{}']],
        ...steps.map(({ step: one }, i): Sql[number] => {
          const role =
            one.kind === 'calls'
              ? 'assistant'
              : one.kind === 'result'
                ? 'function'
                : one.kind === 'fold' || one.kind === 'thinking'
                  ? 'system'
                  : one.kind;
          const said = 'text' in one ? one.text.replace(/[\0\p{Cs}]/gu, '') : one.kind === 'result' ? 'found' : '';
          return [
            'INSERT INTO messages(session_id, role, content, tool_calls, tokens, timestamp) VALUES (?, ?, ?, ?, 1, ?)',
            [
              session,
              role,
              said,
              JSON.stringify(
                one.kind === 'calls'
                  ? one.ids.map((call) => ({ id: callName(call), type: 'function', function: { name: 'read', arguments: '{}' } }))
                  : [],
              ),
              time(i),
            ],
          ];
        }),
      ],
    }),
  },
  'session-json': {
    name: (session) => `sessions/telegram_${session}.json`,
    source: (session, steps) => ({
      json: {
        Key: `telegram:${session}`,
        Messages: steps.map(({ step: one }) => {
          if (one.kind === 'calls')
            return {
              Role: 'assistant',
              Content: '',
              ToolCalls: one.ids.map((call) => ({ ID: callName(call), Type: 'function', Function: { Name: 'read', Arguments: '{}' } })),
            };
          if (one.kind === 'result') return { Role: 'tool', Content: 'found', ToolCallID: callName(one.id) };
          return { Role: one.kind === 'assistant' ? 'assistant' : 'user', Content: 'text' in one ? one.text : '' };
        }),
        Summary: steps.some(({ step: one }) => one.kind === 'fold') ? 'SUMMARY' : '',
        Created: time(0),
        Updated: time(99),
      },
    }),
  },
};

/** Sources without ids of calls, which are made here, or without calls. */
const namesCalls: ReadonlySet<string> = new Set(['librecode', 'goclaw', 'aider']);

/** Programs in whose files a fold is nothing without a message. */
const needsMessages: ReadonlySet<string> = new Set(['cline', 'zed']);

/** Whether a call id comes twice. */
function hasRepeats(steps: readonly Placed[]): boolean {
  const ids = steps.flatMap(({ step: one }) => (one.kind === 'calls' ? one.ids : []));
  return new Set(ids).size < ids.length;
}

describe('an import of any history', function () {
  this.timeout(120_000);
  let rig: ImportRig;
  before(async () => {
    rig = await ImportRig.open();
  });
  after(() => rig.close());

  async function bytesOf(source: Source): Promise<string | Uint8Array> {
    if ('lines' in source) return source.lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    if ('text' in source) return source.text;
    if ('json' in source) return JSON.stringify(source.json);
    const database = (await loadSqlite(wasmFile)).openMemory();
    for (const [sql, values] of source.sql) database.run(sql, [...values]);
    const bytes = database.export();
    database.close();
    return bytes;
  }

  /** The request of the next turn in the session, as the provider sees it. Throws what the provider would answer. */
  async function goOn(session: string): Promise<void> {
    const leaf = (await rig.store.session(session))?.leaf ?? null;
    await rig.store.append(session, { entries: [userMessage(session, leaf, 'And now?')], after: leaf });
    const { messages } = project({
      entries: await rig.branch(session),
      system: 's',
      tools: [],
      budget: { oversized: 100_000 },
      model: 'claude-test',
      frames: testFrames,
      tokensOf: (entry) => estimateTokens(entryText(entry.content)),
      estimate: estimateTokens,
    });
    // None of the sources has attachments, which would be read into texts and pictures first.
    const body = {
      ...anthropicPrompt({
        model: 'claude-test',
        system: 's',
        tools: [],
        messages: messages as readonly ModelMessage[],
        maxOutputTokens: 100,
      }),
      max_tokens: 100,
    };
    const { turns } = validated(
      JSON.stringify(body),
      [{ id: 'claude-test', name: 'test', window: 200_000, maxOutput: 1_000, minCacheTokens: 1_024, omitsThinking: false }],
      false,
    );
    assert.ok(JSON.stringify(turns.at(-1)).includes('And now?'));
  }

  for (const [format, { name, source }] of Object.entries(formats)) {
    it(`${format}: whatever is in it, it can be gone on with, and nothing is lost or taken twice`, () =>
      fc.assert(
        fc.asyncProperty(history, async (steps) => {
          const session = testUuid();
          const file = rig.source(name(session), await bytesOf(source(session, steps)));
          const { sessions, failed } = await rig.import(file, { format: format as ImportFormat });
          // A database of SQLite holds no half of a character.
          const isSaid = steps.some(({ step: one }) =>
            one.kind === 'fold' ? !needsMessages.has(format) : !('text' in one) || one.text.replace(/[\0\p{Cs}]/gu, '') !== '',
          );
          if (sessions.length === 0 && !isSaid) return;
          assert.deepEqual([failed, sessions.length], [[], 1]);
          const { uuid, entriesAdded, repaired } = sessions[0]!;
          const stored = await rig.entries(uuid);
          const calls = stored.flatMap(({ content }) => (content.type === 'tool_call' ? [content.callId] : []));
          assert.deepEqual(
            [stored.length, new Set(calls).size, repaired.some(({ kind }) => kind === 'repeated call id')],
            [entriesAdded, calls.length, !namesCalls.has(format) && hasRepeats(steps)],
          );
          const again = await rig.import(file, { format: format as ImportFormat });
          assert.deepEqual([again.sessions[0]?.outcome, again.sessions[0]?.entriesKnown], ['known', entriesAdded]);
          await goOn(uuid);
        }),
        { numRuns: rounds, examples: loneSteps.map((one) => [[{ step: one, up: 0 }]]) },
      ));
  }
});
