import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { verifyFolder } from '../../../src/node/store/client/storeTask';
import { loadSqlite } from '../../../src/node/store/wasm/sqlite';
import { exportSessions } from '../../../src/node/transfer/export/exportSessions';
import { fuzzing } from '../../support/fuzz';
import { importFixtures, ImportRig } from '../../support/store/importRig';
import { mutateBytes, mutateLines, mutateValue, seededRandom } from '../../support/store/mutateSource';
import { promptFaults } from '../../support/chat/promptFaults';
import { wasmFile, workerFile } from '../../support/store/storeTemp';
import { patience } from '../../support/run/patience';

/** Longer, and elsewhere: `THREADKEEPER_FUZZ_SECONDS=600 THREADKEEPER_FUZZ_SEED=7 npm run test:unit -- --grep "any bytes"`. */
const { seed: firstSeed, goesOn, limitMs } = fuzzing(600);
const task = { workerFile: join(workerFile, '..', 'storeTaskWorker.js') };
/** A new store after so many, which is then looked through. */
const roundsOfStore = 60;
/** Each takes milliseconds; a hang is told from a busy machine. */
const longestMs = 15_000;

type Random = () => number;
interface Sample {
  readonly name: string;
  readonly bytes: (random: Random) => Promise<string | Uint8Array>;
}

const lines = (file: string): Sample => ({
  name: file,
  bytes: (random) =>
    Promise.resolve(
      random() < 0.2
        ? mutateBytes(readFileSync(join(importFixtures, file)), random)
        : mutateLines(readFileSync(join(importFixtures, file), 'utf8'), random),
    ),
});
const json = (name: string, value: unknown): Sample => ({
  name,
  bytes: (random) => {
    let mutated = value;
    for (let left = 1 + Math.floor(random() * 3); left > 0; left--) mutated = mutateValue(mutated, random);
    const text = JSON.stringify(mutated) ?? '';
    return Promise.resolve(random() < 0.1 ? text.slice(0, Math.floor(random() * text.length)) : text);
  },
});
const database = (
  name: string,
  tables: readonly string[],
  rows: readonly (readonly [table: string, values: readonly unknown[]])[],
): Sample => ({
  name,
  bytes: async (random) => {
    const mutated = random() < 0.5 ? (mutateValue(rows, random) as typeof rows) : rows;
    const sqlite = (await loadSqlite(wasmFile)).openMemory();
    for (const table of tables) sqlite.run(table);
    for (const [table, values] of rows.map((row, i) =>
      Array.isArray(mutated[i]?.[1]) && mutated[i][1].length === row[1].length ? ([row[0], mutated[i][1]] as const) : row,
    )) {
      const plain = Array.from(values, (value = null) =>
        value instanceof Uint8Array || typeof value === 'string' || typeof value === 'number' || value === null
          ? value
          : (JSON.stringify(value) ?? null),
      );
      sqlite.run(`INSERT OR REPLACE INTO ${table} VALUES (${plain.map(() => '?').join()})`, plain);
    }
    const bytes = sqlite.export();
    sqlite.close();
    return random() < 0.5 ? mutateBytes(bytes, random) : bytes;
  },
});

const said = (i: number, role: string, content: unknown) => ({ role, content, ts: 1_788_000_000_000 + i });
const blocks = [
  said(1, 'user', 'Find it'),
  said(2, 'assistant', [
    { type: 'text', text: 'Looking' },
    { type: 'tool_use', id: 'c1', name: 'read', input: { path: 'a' } },
  ]),
  said(3, 'user', [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'found' }] }]),
  said(4, 'assistant', 'There.'),
];
const cline3 = {
  version: 1,
  updated_at: '2026-09-01T10:00:00Z',
  agent: 'lead',
  sessionId: '1788000000000_x',
  origin: { source: 'cli' },
  messages: blocks.map((one, i) => ({
    id: `m${i}`,
    ...one,
    modelInfo: { provider: 'p', id: 'm' },
    metrics: { inputTokens: 5, outputTokens: 5 },
  })),
  system_prompt: 'x',
};
const continued = {
  sessionId: 'c',
  title: 'Named',
  workspaceDirectory: '/w',
  dateCreated: '1788000000000',
  history: [
    { message: { role: 'user', content: 'Find it' } },
    {
      message: {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } }],
      },
    },
    { message: { role: 'tool', toolCallId: 'c1', content: 'found' } },
    { message: { role: 'assistant', content: 'There.' }, conversationSummary: 'Found it' },
  ],
};
const gooseBlocks = [
  [{ type: 'text', text: 'Find it' }],
  [{ type: 'toolRequest', id: 'c1', toolCall: { status: 'success', value: { name: 'read', arguments: {} } } }],
  [{ type: 'toolResponse', id: 'c1', toolResult: { status: 'success', value: [{ type: 'text', text: 'found' }] } }],
];
const piLine = (id: string, parentId: string | null, role: string) => ({
  type: 'message',
  id,
  parentId,
  timestamp: '2026-09-01T10:00:01Z',
  message: { role, content: [{ type: 'text', text: id }] },
});

const samples: readonly Sample[] = [
  ...['claude-code.jsonl', 'openclaw.jsonl', 'pi-v1.jsonl', 'pi-v2.jsonl', 'pi-v3.jsonl'].map(lines),
  json('tasks/1788000000000/api_conversation_history.json', blocks),
  json('roo/1788000000000/api_conversation_history.json', [
    ...blocks,
    { role: 'assistant', content: 'SUMMARY', isSummary: true, condenseId: 'k' },
    { ...said(9, 'user', 'more'), condenseParent: 'k' },
  ]),
  json('1788000000000_x.messages.json', cline3),
  json('continue.json', continued),
  database(
    'goose.db',
    [
      'CREATE TABLE sessions(id TEXT, name TEXT, description TEXT, working_dir TEXT, created_at TIMESTAMP, provider_name TEXT, model_config_json TEXT)',
      'CREATE TABLE messages(id INTEGER, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT)',
    ],
    [
      ['sessions', ['g', 'Named', '', '/w', '2026-09-01 10:00:00', 'p', '{"model_name":"m"}']],
      ...gooseBlocks.map(
        (block, i) =>
          [
            'messages',
            [i + 1, 'g', i === 1 ? 'assistant' : 'user', block, 1_788_000_000 + i, { userVisible: true, agentVisible: true }],
          ] as const,
      ),
    ],
  ),
  database(
    'librecode.db',
    [
      'CREATE TABLE sessions(id TEXT, cwd TEXT, name TEXT, parent_session TEXT, created_at TEXT)',
      'CREATE TABLE session_entries(id TEXT, session_id TEXT, parent_id TEXT, entry_type TEXT, role TEXT, content TEXT, summary TEXT, created_at TEXT, tool_name TEXT, tool_args_json TEXT, model_facing INTEGER, display INTEGER)',
    ],
    [
      ['sessions', ['l', '/w', 'Named', '', '2026-09-01T10:00:00Z']],
      ['session_entries', ['e1', 'l', null, 'message', 'user', 'Find it', null, '2026-09-01T10:00:01Z', null, null, 1, 1]],
      ['session_entries', ['e2', 'l', 'e1', 'message', 'tool', 'found', null, '2026-09-01T10:00:02Z', 'read', { path: 'a' }, 1, 1]],
      ['session_entries', ['e3', 'l', 'e2', 'compaction', null, null, 'SUMMARY', '2026-09-01T10:00:03Z', null, null, 1, 1]],
    ],
  ),
  database(
    'openclaw.sqlite',
    [
      'CREATE TABLE session_nodes(session_key TEXT PRIMARY KEY, current_session_id TEXT, updated_at INTEGER, label TEXT)',
      'CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB, PRIMARY KEY (session_id, seq))',
    ],
    [
      ['session_nodes', ['agent:main:main', 's1', 5, 'Label']],
      ...[
        { type: 'session', version: 3, id: 's1', timestamp: '2026-09-01T10:00:00Z' },
        piLine('a', null, 'user'),
        piLine('b', 'a', 'assistant'),
        piLine('c', 'b', 'user'),
      ].map((event, i) => ['transcript_events', ['s1', i, JSON.stringify(event), null]] as const),
    ],
  ),
];

describe('an import of any bytes', function () {
  this.timeout(limitMs);

  it('ends with a store that is whole, and names or keeps what it was given', async () => {
    let rounds = 0;
    for (let seed = firstSeed; goesOn(rounds); ) {
      const rig = await ImportRig.open();
      try {
        const exported = JSON.parse(await textOf(rig)) as unknown;
        const all = [...samples, json('export.json', exported)];
        for (let i = 0; i < roundsOfStore && goesOn(rounds); i++, seed++, rounds++)
          await round(rig, all, seed).catch((error: unknown) =>
            assert.fail(`seed ${seed}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
          );
        const report = await verifyFolder(join(rig.temp.path, 'store'), task);
        assert.deepEqual(report.problems, [], `up to seed ${seed}: ${JSON.stringify(report)}`);
      } finally {
        await rig.close();
      }
    }
    assert.ok(rounds > 0);
  });
});

async function textOf(rig: ImportRig): Promise<string> {
  const { sessions } = await rig.import(join(importFixtures, 'pi-v3.jsonl'));
  const stored = await rig.store.session(sessions[0]!.uuid);
  let text = '';
  for await (const piece of exportSessions(rig.store, [stored!], 'json', { redact: false })) text += piece;
  return text;
}

async function round(rig: ImportRig, all: readonly Sample[], seed: number): Promise<void> {
  const random = seededRandom(seed);
  const { name, bytes } = all[Math.floor(random() * all.length)]!;
  const before = await rig.store.countSessions();
  const file = rig.source(`${seed}/${name}`, await bytes(random));
  const began = performance.now();
  const { sessions, failed } = await rig.import(file);
  assert.ok(performance.now() - began < longestMs * patience(), `${name} took ${Math.round(performance.now() - began)} ms`);
  assert.ok(sessions.length + failed.length > 0, `${name}: nothing is said of it`);
  assert.equal(
    await rig.store.countSessions(),
    before + sessions.filter(({ outcome }) => outcome === 'new').length,
    `${name}: a session is there that is not named`,
  );
  for (const { uuid, outcome, entriesAdded } of sessions) {
    if (outcome === 'new') assert.equal((await rig.entries(uuid)).length, entriesAdded, name);
    // Who speaks first and last is settled when the conversation goes on.
    assert.deepEqual(
      promptFaults((await rig.projection(uuid)).messages).filter((fault) => !/^the (?:first|last) message/.test(fault)),
      [],
      name,
    );
  }
  // What is there already is not there twice.
  if (failed.length === 0)
    assert.deepEqual(
      (await rig.import(file)).sessions.filter(({ outcome }) => outcome === 'new'),
      [],
      `${name}: imported again`,
    );
  rmSync(dirname(file), { recursive: true, force: true });
}
