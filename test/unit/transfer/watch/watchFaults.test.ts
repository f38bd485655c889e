import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ProgramId } from '../../../../src/core/transfer/programs';
import { HeldDatabase } from '../../../support/agents/heldDatabase';
import { zedThread, zedThreads } from '../../../support/agents/zedThreads';
import { brief } from '../../../support/store/importRig';
import { fast, freshImport, importedEntries, WatchRig } from '../../../support/store/watchRig';

const at = '2026-09-01T10:00:00.000Z';
const header = (id: string) => `${JSON.stringify({ timestamp: at, type: 'session_meta', payload: { id, cwd: '/w' } })}\n`;
const said = (text: string) =>
  `${JSON.stringify({ timestamp: at, type: 'response_item', payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } })}\n`;
const rollout = (id: string) => `.codex/sessions/2026/09/01/rollout-${id}.jsonl`;
const gigabyte = 2 ** 30;

/** A program's database: one session in it, and how a message comes to it. */
interface Kept {
  readonly program: ProgramId;
  readonly path: string;
  readonly schema: string;
  readonly say: (text: string, n: number) => string;
}

const json = (value: unknown) => `'${JSON.stringify(value)}'`;
const databases: readonly Kept[] = [
  {
    program: 'opencode',
    path: '.local/share/opencode/opencode.db',
    schema: `CREATE TABLE session(id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER);
      CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, data TEXT);
      CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
      INSERT INTO session VALUES ('s', NULL, '/w', 'Tides', 1, 0, NULL);`,
    say: (text, n) => `INSERT INTO message VALUES ('m${n}', 's', ${json({ role: 'user', time: { created: n } })});
      INSERT INTO part VALUES ('p${n}', 'm${n}', 's', ${json({ type: 'text', text, time: { start: n, end: n } })});
      UPDATE session SET time_updated = ${n};`,
  },
  {
    program: 'goose',
    path: '.local/share/goose/sessions/sessions.db',
    schema: `CREATE TABLE sessions(id TEXT PRIMARY KEY, description TEXT, working_dir TEXT, created_at TEXT, updated_at TEXT);
      CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
      INSERT INTO sessions VALUES ('s', 'Tides', '/w', '2026-09-01 10:00:00', '');`,
    say: (text, n) => `INSERT INTO messages VALUES (${n}, 's', 'user', ${json([{ type: 'text', text }])}, ${n});
      UPDATE sessions SET updated_at = '${n}';`,
  },
  {
    program: 'cursor',
    path: '.config/Cursor/User/globalStorage/state.vscdb',
    schema: `CREATE TABLE cursorDiskKV(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
      INSERT INTO cursorDiskKV VALUES ('composerData:s', ${json({ composerId: 's', conversation: [] })});`,
    say: (
      text,
      n,
    ) => `INSERT INTO cursorDiskKV SELECT key, json_insert(value, '$.conversation[#]', json(${json({ type: 1, bubbleId: `b${n}`, text })}))
      FROM cursorDiskKV WHERE key = 'composerData:s';`,
  },
  {
    program: 'zed',
    path: '.local/share/zed/threads/threads.db',
    schema: `CREATE TABLE threads(id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, folder_paths TEXT, data_type TEXT, data BLOB);
      INSERT INTO threads VALUES ('s', 'Tides', '', '/w', 'json', '{"messages":[]}');`,
    say: (text, n) => `UPDATE threads SET updated_at = '${n}',
      data = json_insert(data, '$.messages[#]', json(${json({ User: { id: `u${n}`, content: [{ Text: text }] } })}));`,
  },
];

describe('watching sources that stand in the way', function () {
  this.timeout(300_000);
  let rig: WatchRig;

  beforeEach(async () => {
    rig = await WatchRig.open();
  });
  afterEach(() => rig.close());

  const put = (path: string, text: string) => {
    const file = join(rig.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const problems = () => rig.watch!.status().flatMap((one) => one.problems.map(({ reason }) => reason));

  for (const { program, path, schema, say } of databases)
    it(`${program}: a database that its program has locked is read as it was before, and as it is once the lock has gone`, async () => {
      const file = join(rig.home, path);
      mkdirSync(dirname(file), { recursive: true });
      const held = HeldDatabase.open(file);
      try {
        await held.run(`PRAGMA journal_mode = delete; ${schema} ${say('first', 1)} BEGIN EXCLUSIVE;`);
        await rig.start([program]);
        await rig.caughtUp();
        assert.deepEqual([await rig.texts(), problems()], [['user: first'], []]);
        await held.run(say('second', 2));
        await rig.caughtUp();
        assert.deepEqual(await rig.texts(), ['user: first'], 'nothing is said before it is committed');
        const names = readdirSync(dirname(file));
        await held.run('COMMIT;');
        await rig.caughtUp();
        assert.deepEqual([await rig.texts(), problems()], [['user: first', 'user: second'], []]);
        assert.deepEqual(
          readdirSync(dirname(file)).filter((name) => !names.includes(name)),
          [],
        );
      } finally {
        await held.close();
      }
    });

  it('names a session of a database that is damaged, reads the others and what comes to them, and that one once it is whole', async () => {
    const file = join(rig.home, '.local/share/zed/threads/threads.db');
    mkdirSync(dirname(file), { recursive: true });
    const held = HeldDatabase.open(file);
    const titles = async () => (await rig.store.listSessions()).map(({ title }) => title).sort();
    try {
      await held.run(zedThreads);
      await rig.start(['zed']);
      await rig.caughtUp();
      assert.deepEqual([await titles(), problems().length], [['Thread a', 'Thread c'], 1]);
      const [a] = await rig.store.listSessions({ text: 'Thread a' });
      await held.run(`UPDATE threads SET updated_at = '2026-09-05T10:00:00Z', data = ${zedThread('a', 'b')} WHERE id = 'a';`);
      await rig.caughtUp();
      assert.deepEqual((await rig.store.liveBranch(a!.uuid)).entries.map(brief), ['user: said in a', 'user: said in b']);
      assert.equal(problems().length, 1, 'it is still named');
      await held.run(`UPDATE threads SET data = ${zedThread('b')} WHERE id = 'b';`);
      await rig.caughtUp();
      assert.deepEqual([await titles(), problems()], [['Thread a', 'Thread b', 'Thread c'], []]);
    } finally {
      await held.close();
    }
  });

  it('reads nothing of a transaction that has written to the file and is taken back', async () => {
    const { program, path, schema, say } = databases.find((one) => one.program === 'goose')!;
    const file = join(rig.home, path);
    mkdirSync(dirname(file), { recursive: true });
    const held = HeldDatabase.open(file);
    try {
      await held.run(`PRAGMA journal_mode = delete; ${schema} ${say('first', 1)}`);
      await rig.start([program]);
      await rig.caughtUp();
      const before = statSync(file).size;
      const many = Array.from({ length: 300 }, (_, i) => say(`uncommitted ${'word '.repeat(200)}`, i + 2)).join('\n');
      await held.run(`PRAGMA cache_size = 1; BEGIN EXCLUSIVE; ${many}`);
      assert.ok(statSync(file).size > before, 'its pages stand in the file already');
      await rig.caughtUp();
      assert.deepEqual(
        [await rig.texts(), problems()],
        [
          ['user: first'],
          ['A change of the database has begun and not ended. It is read once the program that it belongs to has ended it.'],
        ],
      );
      await held.run(`ROLLBACK; ${say('second', 2)}`);
      await rig.caughtUp();
      assert.deepEqual([await rig.texts(), problems()], [['user: first', 'user: second'], []]);
    } finally {
      await held.close();
    }
  });

  it('names a file that nobody may read, reads the others, and reads it once somebody may', async function () {
    if (process.platform === 'win32') return this.skip();
    const closed = put(rollout('closed'), header('closed') + said('behind a door'));
    put(rollout('open'), header('open') + said('in the open'));
    chmodSync(closed, 0);
    const isRoot = process.getuid?.() === 0;
    // Permissions do not bind root, so it becomes nobody for the moment, to whom everything but that file belongs.
    if (isRoot) {
      chmodSync(tmpdir(), (statSync(tmpdir()).mode & 0o7777) | 0o011);
      for (const name of ['', ...readdirSync(rig.temp.path, { recursive: true, encoding: 'utf8' })]) {
        const path = join(rig.temp.path, name);
        if (path !== closed) chownSync(path, 65534, statSync(path).gid);
      }
      process.seteuid!(65534);
    }
    try {
      await rig.start(['codex']);
      await rig.caughtUp();
      assert.deepEqual([await rig.texts(), problems()], [['user: in the open'], [`EACCES: permission denied, open '${closed}'`]]);
    } finally {
      if (isRoot) process.seteuid!(0);
    }
    chmodSync(closed, 0o600);
    await rig.caughtUp();
    assert.deepEqual([(await rig.store.listSessions()).length, problems()], [2, []]);
  });

  it('a file of a gigabyte: its last line is not read again and again, and only what is new is read behind it', async function () {
    if (process.platform !== 'linux') return this.skip();
    const file = put(rollout('long'), header('long') + said('first'));
    truncateSync(file, gigabyte);
    const memory = process.resourceUsage().maxRSS;
    // Without a rest, which would be many times as long as a look at the hole.
    await rig.start(['codex'], null, { ...fast, rest: 0 });
    await rig.caughtUp();
    assert.deepEqual(await rig.texts(), ['user: first']);
    const afterHole = bytesRead();
    for (let i = 0; i < 20; i++) {
      appendFileSync(file, 'still the same line');
      await rig.caughtUp();
    }
    assert.ok(bytesRead() - afterHole < 20 * 2 ** 20, `${bytesRead() - afterHole} bytes read for 20 pieces of a line`);
    appendFileSync(file, `\n${said('second')}`);
    await rig.caughtUp();
    const afterEnd = bytesRead();
    appendFileSync(file, said('third'));
    await rig.caughtUp();
    assert.ok(bytesRead() - afterEnd < 2 ** 20, `${bytesRead() - afterEnd} bytes read for a new line`);
    assert.deepEqual(
      (await rig.texts()).filter((text) => text.startsWith('user: ')),
      ['user: first', 'user: second', 'user: third'],
    );
    assert.ok(process.resourceUsage().maxRSS - memory < 700 * 1024, `${process.resourceUsage().maxRSS - memory} KB more`);
  });

  it('says of a file of a gigabyte that has to be read as a whole that it is too large, without reading it', async function () {
    if (process.platform !== 'linux') return this.skip();
    const file = put('.continue/sessions/s.json', '{');
    truncateSync(file, gigabyte);
    const before = bytesRead();
    await rig.start(['continue']);
    await rig.caughtUp();
    assert.deepEqual([problems().length, /^The file has 1024 MB; up to 500 MB/.test(problems()[0]!)], [1, true]);
    assert.ok(bytesRead() - before < 2 ** 20);
  });

  it('two windows that follow the same folder: everything once, whoever comes first', async () => {
    const beside = await rig.beside();
    const files = ['a', 'b', 'c'].map((id) => put(rollout(id), header(id) + said(`${id} begins`)));
    const session = (texts: readonly string[]) =>
      JSON.stringify({ sessionId: 's', history: texts.map((content) => ({ message: { role: 'user', content } })) });
    const whole = put('.continue/sessions/s.json', session(['whole 0']));
    try {
      await Promise.all([rig.start(['codex', 'continue']), beside.start(['codex', 'continue'])]);
      for (let round = 1; round <= 12; round++) {
        for (const file of files) appendFileSync(file, said(`${file} ${round}`));
        writeFileSync(whole, session(Array.from({ length: round }, (_, i) => `whole ${i}`)));
        await Promise.all([rig.watch!.scan(), beside.watch!.scan()]);
      }
      await Promise.all([rig.caughtUp(), beside.caughtUp()]);
      const all = [...files, whole];
      assert.deepEqual((await rig.store.listSessions()).length, all.length);
      assert.deepEqual([...(await importedEntries(rig.store))].sort(), [...(await freshImport(all))].sort());
      let entries = 0;
      for (const { uuid } of await rig.store.listSessions()) entries += (await rig.store.entrySeqs(uuid)).length;
      assert.deepEqual([entries, problems()], [3 * 13 + 12, []]);
    } finally {
      await beside.close();
    }
  });
});

/** By this process since it began, as the system counts them. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}
