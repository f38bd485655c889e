import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreError } from '../../../../src/core/errors';
import type { SessionStore } from '../../../../src/core/ports';
import type { EntryContent } from '../../../../src/core/session/entry';
import type { Session } from '../../../../src/core/session/session';
import { handoverProgram, type HandoverProgramId } from '../../../../src/core/transfer/handover/handoverPrograms';
import { UuidV7 } from '../../../../src/node/runtime/ids';
import {
  carryOut,
  commandLine,
  handoverTargets,
  prepareHandover,
  terminalInput,
  type Handover,
} from '../../../../src/node/transfer/handover/handOver';
import { importFiles } from '../../../../src/node/transfer/import/importFiles';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import { brief } from '../../../support/store/importRig';
import { branchOf, opencodeRows, storedSession } from '../../../support/agents/handedSessions';
import { wasmFile } from '../../../support/store/storeTemp';
import { WatchRig } from '../../../support/store/watchRig';

const now = Date.UTC(2026, 10, 23, 12);
const at = new Date(now + 60_000).toISOString();
const said: readonly EntryContent[] = [
  { type: 'message', role: 'user', text: 'Which tide?' },
  { type: 'message', role: 'assistant', text: 'I look it up.' },
  { type: 'tool_call', callId: 'c1', name: 'read', input: { path: 'tides.md' } },
  { type: 'tool_result', callId: 'c1', name: 'read', text: 'high at noon', status: 'ok' },
  { type: 'message', role: 'assistant', text: 'High at noon.' },
];

interface Line {
  readonly uuid?: string;
  readonly id?: string;
}

/** What each program appends when a question is put and answered in a session that it has resumed; `last`: of the line before. */
const goesOn: Readonly<Record<Exclude<HandoverProgramId, 'opencode'>, (session: string, last: Line) => readonly object[]>> = {
  'claude-code': (sessionId, last) => {
    const frame = { sessionId, cwd: '/w', version: '2.1.330', timestamp: at, isSidechain: false };
    return [
      { ...frame, type: 'user', uuid: 'u-1', parentUuid: last.uuid, message: { role: 'user', content: 'And low?' } },
      {
        ...frame,
        type: 'assistant',
        uuid: 'u-2',
        parentUuid: 'u-1',
        message: { id: 'm-1', role: 'assistant', model: 'claude-sonnet-4-5', content: [{ type: 'text', text: 'At six.' }] },
      },
      { ...frame, type: 'system', subtype: 'turn_duration', uuid: 'u-3', parentUuid: 'u-2' },
    ];
  },
  codex: () => [
    { timestamp: at, type: 'turn_context', payload: { cwd: '/w', model: 'gpt-5' } },
    {
      timestamp: at,
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And low?' }] },
    },
    {
      timestamp: at,
      type: 'response_item',
      payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'At six.' }] },
    },
  ],
  pi: (_, last) => [
    { type: 'message', id: 'aaaa0001', parentId: last.id, timestamp: at, message: { role: 'user', content: 'And low?' } },
    {
      type: 'message',
      id: 'aaaa0002',
      parentId: 'aaaa0001',
      timestamp: at,
      message: { role: 'assistant', content: [{ type: 'text', text: 'At six.' }] },
    },
  ],
  gemini: () => [
    { id: 'g-1', timestamp: at, type: 'user', content: [{ text: 'And low?' }] },
    { id: 'g-2', timestamp: at, type: 'gemini', content: 'At six.' },
  ],
  qwen: (sessionId, last) => [
    {
      uuid: 'q-1',
      parentUuid: last.uuid,
      sessionId,
      timestamp: at,
      type: 'user',
      message: { role: 'user', parts: [{ text: 'And low?' }] },
    },
    {
      uuid: 'q-2',
      parentUuid: 'q-1',
      sessionId,
      timestamp: at,
      type: 'assistant',
      message: { role: 'model', parts: [{ text: 'At six.' }] },
    },
  ],
  'copilot-cli': (_, last) => [
    { type: 'session.resume', id: 'e-0', parentId: last.id, timestamp: at, data: {} },
    { type: 'user.message', id: 'e-1', parentId: 'e-0', timestamp: at, data: { content: 'And low?' } },
    { type: 'assistant.message', id: 'e-2', parentId: 'e-1', timestamp: at, data: { content: 'At six.', toolRequests: [] } },
  ],
};

describe('a session that was handed over', function () {
  this.timeout(60_000);
  let rig: WatchRig;
  let session: Session;

  beforeEach(async () => {
    rig = await WatchRig.open();
    mkdirSync(join(rig.home, 'work'));
    session = await storedSession(rig.store, said, join(rig.home, 'work'));
  });
  afterEach(() => rig.close());

  const handOver = async (id: HandoverProgramId): Promise<Handover> => {
    const options = { store: rig.store, machine: rig.machine, now, folder: rig.home, exportFolder: join(rig.home, 'out') };
    const prepared = await prepareHandover(session, handoverProgram(id)!, options);
    await carryOut(prepared, session, rig.store, new UuidV7(), now);
    return prepared;
  };
  const texts = async () =>
    (await rig.store.liveBranch(session.uuid)).entries.filter(({ content }) => content.type !== 'custom').map(brief);
  const sessions = async () => (await rig.store.listSessions()).map(({ uuid, title }) => [uuid, title]);
  const importAgain = async (file: string) => {
    const { sessions: found } = await importFiles([file], { store: rig.store, ids: new UuidV7(), now: Date.now, wasmFile });
    return found.map(({ uuid, outcome, entriesAdded }) => [uuid, outcome, entriesAdded]);
  };
  const whole = [...branchOf(said).map(brief), 'user: And low?', 'assistant: At six.'];

  for (const id of Object.keys(goesOn) as (keyof typeof goesOn)[]) {
    it(`${id}: what is said there since goes on in it, and comes in once`, async () => {
      const { files, session: foreign } = await handOver(id);
      const { file } = files.at(-1)!;
      assert.deepEqual(await importAgain(file), [[session.uuid, 'known', 0]]);
      await rig.start([id]);
      await rig.caughtUp();
      const lines = readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
      const last = lines.findLast((line) => line.uuid ?? line.id) ?? {};
      appendFileSync(
        file,
        goesOn[id](foreign, last)
          .map((line) => `${JSON.stringify(line)}\n`)
          .join(''),
      );
      await rig.caughtUp();
      assert.deepEqual([await texts(), await sessions()], [whole, [[session.uuid, 'Tides']]]);
      await rig.stop();
      assert.deepEqual(await importAgain(file), [[session.uuid, 'known', 0]]);
    });
  }

  it('opencode: what is said there since goes on in it, and comes in once', async () => {
    const { files } = await handOver('opencode');
    const { file } = files.at(-1)!;
    const database = join(rig.home, '.local', 'share', 'opencode', 'opencode.db');
    await opencodeImport(database, readFileSync(file, 'utf8'), [
      ['msg_zz1', { role: 'user', time: { created: now + 1 } }, [['prt_zz1', { type: 'text', text: 'And low?' }]]],
      [
        'msg_zz2',
        { role: 'assistant', time: { created: now + 2, completed: now + 3 }, providerID: 'p', modelID: 'm' },
        [['prt_zz2', { type: 'text', text: 'At six.' }]],
      ],
    ]);
    await rig.start(['opencode']);
    await rig.caughtUp();
    assert.deepEqual([await texts(), await sessions()], [whole, [[session.uuid, 'Tides']]]);
    await rig.stop();
    assert.deepEqual(await importAgain(database), [[session.uuid, 'known', 0]]);
  });

  it('stays where it is when it has gone on here, and what was said there is another branch', async () => {
    const { files, session: foreign } = await handOver('codex');
    const { file } = files.at(-1)!;
    const [more] = branchOf([{ type: 'message', role: 'user', text: 'Here it goes on' }], session.uuid);
    await rig.store.append(session.uuid, { entries: [{ ...more!, parent: session.leaf }] });
    appendFileSync(
      file,
      goesOn
        .codex(foreign, {})
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
    await importAgain(file);
    const branches = (await rig.store.branches(session.uuid)).map(({ active, firstText }) => [active, firstText]);
    assert.deepEqual(
      [(await texts()).at(-1), branches, (await sessions()).length],
      [
        'user: Here it goes on',
        [
          [false, 'And low?'],
          [true, 'Which tide?'],
        ],
        1,
      ],
    );
  });

  it('is written once for each time, beside what is there, and says what goes on with it', async () => {
    const [first, second] = [await handOver('gemini'), await handOver('gemini')];
    const root = join(rig.home, '.gemini', 'tmp', 'work');
    assert.deepEqual(
      [
        first.files.map(({ file }) => dirname(file)),
        second.files.map(({ file }) => dirname(file)),
        readFileSync(join(root, '.project_root'), 'utf8'),
      ],
      [[root, join(root, 'chats')], [join(root, 'chats')], join(rig.home, 'work')],
    );
    assert.notEqual(first.session, second.session);
    assert.equal(commandLine(first.resume, 'linux'), `gemini --resume ${first.session}`);
    assert.equal(commandLine([['pi', '--session', "/it's here"]], 'linux'), String.raw`pi --session '/it'\''s here'`);
    const ofWindows = commandLine(
      [
        ['opencode', 'import', 'C:\\a b'],
        ['cd', "C:\\$(calc)'s", 'a\u2019b', '--resume=x'],
      ],
      'win32',
    );
    assert.equal(ofWindows, "opencode import 'C:\\a b'\ncd 'C:\\$(calc)''s' 'a\u2019\u2019b' --resume=x");
    const words = [
      `claude-${first.session}`,
      '/home/a/.pi/x_1.jsonl',
      'C:\\a-b\\c.json',
      '/a b',
      'C:\\a&calc',
      "it's",
      '$(x)',
      '%PATH%',
      'a;b',
      '日',
    ];
    assert.deepEqual(
      words.map((word) => terminalInput([['pi', '--session', word]], 'linux').runs),
      words.map((_, i) => i < 3),
    );
    const [twice, quotes] = [
      [['opencode', 'import', 'C:\\a.json'], ['opencode']],
      [['opencode', 'import', 'C:\\a b'], ['opencode']],
    ];
    assert.deepEqual(
      [terminalInput(twice, 'win32'), terminalInput(quotes, 'win32')],
      [
        { text: 'opencode import C:\\a.json\nopencode', runs: true },
        { text: "opencode import 'C:\\a b' ; opencode", runs: false },
      ],
    );
    for (const platform of ['linux', 'win32'] as const)
      assert.throws(() => commandLine([['cd', '/a\nrm b']], platform), /control characters cannot be handed over: \/a\ufffdrm b/);
    const before = readFileSync(first.files.at(-1)!.file, 'utf8');
    writeFileSync(first.files.at(-1)!.file, 'theirs');
    await assert.rejects(carryOut(first, session, rig.store, new UuidV7(), now));
    assert.deepEqual([before.length > 0, readFileSync(first.files.at(-1)!.file, 'utf8')], [true, 'theirs']);
  });

  it('notes nothing when it could not be written, and leaves no file when it could not be noted', async () => {
    const options = { store: rig.store, machine: rig.machine, now, folder: rig.home, exportFolder: join(rig.home, 'out') };
    const prepared = await prepareHandover(session, handoverProgram('gemini')!, options);
    const { file } = prepared.files.at(-1)!;
    mkdirSync(file, { recursive: true });
    let noted = 0;
    const store = Object.create(rig.store, {
      importEntries: { value: () => Promise.reject(new Error(`noted ${++noted}`)) },
    }) as SessionStore;
    await assert.rejects(carryOut(prepared, session, store, new UuidV7(), now), /could not be written/);
    assert.equal(noted, 0);
    rmSync(file, { recursive: true });
    await assert.rejects(carryOut(prepared, session, store, new UuidV7(), now), /noted 1/);
    const left = readdirSync(join(rig.home, '.gemini'), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    assert.deepEqual(left, []);
  });

  /** A session with a long and an attached text; the file of each, and what Codex would be told of them. */
  async function longAndAttached() {
    const hash = await rig.store.putBlob(Buffer.from('Low at six.'), 'text/plain');
    const attachments = [{ kind: 'file', name: 'low.md', hash, mime: 'text/plain', path: 'low.md' }] as const;
    const long = `Tides ${'rise and fall '.repeat(40_000)}end`;
    const all: readonly EntryContent[] = [
      { type: 'message', role: 'user', text: long },
      { type: 'message', role: 'user', text: 'And this?', attachments: [...attachments] },
    ];
    const { uuid } = await storedSession(rig.store, all, join(rig.home, 'work'));
    const options = { store: rig.store, machine: rig.machine, now, folder: rig.home, exportFolder: join(rig.home, 'out') };
    const handed = async () => {
      const { history } = await prepareHandover((await rig.store.session(uuid))!, handoverProgram('codex')!, options);
      const told = history.steps.map(({ text }) => (text.startsWith('Tides rise') ? 'long' : text.replaceAll('\n', '|')));
      return { told, unreadable: history.unreadable };
    };
    const files = readdirSync(join(rig.folder, 'blobs'), { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    assert.equal(files.length, 2);
    return { files, handed };
  }
  const allTold = { told: ['long', '[attached file: low.md]|Low at six.|[end of low.md]||And this?'], unreadable: 0 };

  it('is refused while a long or an attached text cannot be read, and goes whole when it can', async () => {
    const { files, handed } = await longAndAttached();
    assert.deepEqual(await handed(), allTold);
    for (const file of files) {
      renameSync(file, `${file}.away`);
      mkdirSync(file);
      await assert.rejects(handed(), (error) => StoreError.is(error) && error.message.includes(file));
      rmdirSync(file);
      renameSync(`${file}.away`, file);
    }
    assert.deepEqual(await handed(), allTold);
  });

  it('leaves out what is damaged or gone for good, and says how much that is', async () => {
    const { files, handed } = await longAndAttached();
    for (const file of files) writeFileSync(file, 'of another time');
    const named = { told: ['[attached file: low.md]||And this?'], unreadable: 2 };
    assert.deepEqual(await handed(), named);
    for (const file of files) rmSync(file);
    assert.deepEqual(await handed(), named);
  });

  it('goes on in another folder when its own is none on this machine, and says so', async () => {
    const options = { store: rig.store, machine: rig.machine, now, folder: rig.home, exportFolder: join(rig.home, 'out') };
    writeFileSync(join(rig.home, 'file'), '');
    for (const folder of [join(rig.home, 'gone'), join(rig.home, 'file'), 'relative', 'C:\\work']) {
      const elsewhere = await storedSession(rig.store, said, folder);
      const { cwd, missing } = await prepareHandover(elsewhere, handoverProgram('codex')!, options);
      assert.deepEqual([cwd, missing], [rig.home, folder]);
    }
    const { cwd, missing } = await prepareHandover(session, handoverProgram('codex')!, options);
    assert.deepEqual([cwd, missing], [join(rig.home, 'work'), null]);
  });

  it('is not written where its folder has a name that would end the line of a command', async () => {
    const folder = join(rig.home, 'a\nb');
    mkdirSync(folder);
    const elsewhere = await storedSession(rig.store, said, folder);
    const options = { store: rig.store, machine: rig.machine, now, folder: rig.home, exportFolder: join(rig.home, 'out') };
    await assert.rejects(prepareHandover(elsewhere, handoverProgram('codex')!, options), /control characters/);
  });

  it('asks opencode for the model that was chosen there last', async () => {
    const state = join(rig.home, '.local', 'state', 'opencode');
    mkdirSync(state, { recursive: true });
    const chosen = { providerID: 'acme', modelID: 'large' };
    writeFileSync(join(state, 'model.json'), JSON.stringify({ recent: [chosen, { providerID: 'x', modelID: 'y' }] }));
    const { files } = await handOver('opencode');
    const { messages } = JSON.parse(files[0]!.text) as { messages: { info: { role: string; model?: object } }[] };
    assert.deepEqual(messages[0]!.info.model, chosen);
  });

  it('is offered to the programs that are on this machine', async () => {
    mkdirSync(join(rig.home, '.codex'));
    const here = (await handoverTargets(rig.machine)).filter(({ isHere }) => isHere).map(({ program }) => program.id);
    assert.deepEqual(here, ['codex']);
  });
});

type Row = readonly [id: string, data: object, parts: readonly (readonly [id: string, data: object])[]];

/** What `opencode import` makes of a file, and what it adds when the session goes on. */
async function opencodeImport(file: string, written: string, more: readonly Row[]): Promise<void> {
  const [session, messages, parts] = opencodeRows(written);
  const database = (await loadSqlite(wasmFile)).openMemory();
  database.run('CREATE TABLE session(id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER)');
  database.run('CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, data TEXT)');
  database.run('CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)');
  const { id, directory, title } = session as Record<string, string>;
  database.run('INSERT INTO session VALUES (?, NULL, ?, ?, 1)', [id!, directory!, title!]);
  const added = more.map(([message, data]) => ({ id: message, session_id: id, data: JSON.stringify(data) }));
  const addedParts = more.flatMap(([message, , own]) =>
    own.map(([part, data]) => ({ id: part, message_id: message, session_id: id, data: JSON.stringify(data) })),
  );
  for (const row of [...messages, ...added])
    database.run('INSERT INTO message VALUES (?, ?, ?)', [String(row['id']), id!, String(row['data'])]);
  for (const row of [...parts, ...addedParts])
    database.run('INSERT INTO part VALUES (?, ?, ?, ?)', [String(row['id']), String(row['message_id']), id!, String(row['data'])]);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, database.export());
  database.close();
}
