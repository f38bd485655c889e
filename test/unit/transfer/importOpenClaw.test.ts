import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { coldArchive } from '../../support/store/coldArchive';
import { brief, ImportRig } from '../../support/store/importRig';

const header = (id: string) => ({ type: 'session', version: 3, id, timestamp: '2026-09-01T10:00:00Z', cwd: '/w' });
const said = (id: string, parentId: string | null, text: string) => ({
  type: 'message',
  id,
  parentId,
  timestamp: '2026-09-01T10:00:01Z',
  message: { role: 'user', content: text },
});

describe('an import of what OpenClaw keeps beside its transcripts', () => {
  let rig: ImportRig;

  beforeEach(async () => {
    rig = await ImportRig.open();
  });
  afterEach(() => rig.close());

  const titles = async () => new Map((await rig.store.listSessions()).map(({ title, metadata }) => [title, metadata['sessionKey']]));

  describe('its list of sessions', () => {
    const list = (sessions: object) => rig.source('sessions/sessions.json', JSON.stringify(sessions));
    const folder = () => join(rig.temp.path, 'sources', 'sessions');

    it('names the sessions: by the user’s label, else as OpenClaw has named them, unless they have a name of their own', async () => {
      list({
        'agent:main:main': { sessionId: 's1', label: 'Bridges', displayName: 'Main', updatedAt: 3 },
        'agent:main:telegram:group:7': {
          sessionId: 's2',
          sessionFile: '/elsewhere/sessions/s2-topic-4.jsonl',
          displayName: 'telegram:g-ports',
        },
        'agent:main:whatsapp:group:8': { sessionId: 's3', subject: 'Tides', displayName: 5 },
        'agent:main:old': { sessionId: 's1', label: 'Earlier', updatedAt: 1 },
      });
      for (const [name, id] of [
        ['s1', 's1'],
        ['s2-topic-4', 's2'],
        ['s3', 's3'],
        ['s4', 's4'],
      ] as const)
        rig.source(`sessions/${name}.jsonl`, [header(id), said('a', null, `first of ${name}`)]);
      rig.source('sessions/s3.jsonl', [
        header('s3'),
        said('a', null, 'first of s3'),
        { type: 'session_info', id: 'n', parentId: 'a', name: 'Named within' },
      ]);
      const { failed, sessions } = await rig.import(folder());
      // What is listed is OpenClaw's, whatever it looks like: it may be watched under that name.
      assert.deepEqual(
        sessions.map(({ format }) => format),
        ['openclaw', 'openclaw', 'openclaw', 'pi'],
      );
      assert.deepEqual(
        [failed, await titles()],
        [
          [],
          new Map([
            ['Bridges', 'agent:main:main'],
            ['telegram:g-ports', 'agent:main:telegram:group:7'],
            ['Named within', 'agent:main:whatsapp:group:8'],
            ['first of s4', undefined],
          ]),
        ],
      );
    });

    it('is followed by the next import as far as the user has not named a session here', async () => {
      for (const id of ['s1', 's2']) rig.source(`sessions/${id}.jsonl`, [header(id), said('a', null, `first of ${id}`)]);
      await rig.import(folder());
      const own = (await rig.store.listSessions()).find(({ title }) => title === 'first of s2')!;
      await rig.store.updateSession(own.uuid, { title: 'Mine', metadata: { ...own.metadata, tags: ['kept'] } });
      list({ one: { sessionId: 's1', label: 'Bridges' }, two: { sessionId: 's2', label: 'Ports' } });
      await rig.import(folder());
      assert.deepEqual([...(await titles()).keys()].sort(), ['Bridges', 'Mine']);
      list({ one: { sessionId: 's1' }, two: { sessionId: 's2', label: 'Ports' } });
      const { sessions } = await rig.import(folder());
      assert.deepEqual(
        [[...(await titles()).keys()].sort(), sessions.map(({ outcome }) => outcome)],
        [
          ['Bridges', 'Mine'],
          ['known', 'known'],
        ],
      );
      assert.deepEqual((await rig.store.session(own.uuid))?.metadata['tags'], ['kept']);
    });

    it('does no harm where it is none', async () => {
      rig.source('sessions/s1.jsonl', [header('s1'), said('a', null, 'first of s1')]);
      for (const text of ['', '[]', '{"one":', '{"one":{"sessionId":7},"two":null}']) {
        rig.source('sessions/sessions.json', text);
        assert.deepEqual((await rig.import(folder())).failed, []);
      }
      assert.deepEqual([...(await titles()).keys()], ['first of s1']);
    });
  });

  it('brings the sessions beside one with a damaged row, and nothing of that one', async () => {
    const file = join(rig.temp.path, 'openclaw-agent.sqlite');
    const rows = ['a', 'b', 'c'].flatMap((id) =>
      [header(id), said('m', id, `first of ${id}`)].map((event, seq) => `('${id}', ${seq}, '${JSON.stringify(event)}', NULL)`),
    );
    execFileSync('sqlite3', [file], {
      input: `CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB);
        INSERT INTO transcript_events VALUES ${rows.join()}, ('b', 2, NULL, x'28b52ffd00');`,
    });
    const { sessions, failed } = await rig.import(file);
    assert.deepEqual([sessions.map(({ title }) => title), failed.length], [['first of a', 'first of c'], 1]);
  });

  it('brings the sessions of GoClaw beside one that cannot be read', async () => {
    const file = join(rig.temp.path, 'goclaw.db');
    const long = 'Z'.repeat(20_000);
    execFileSync('sqlite3', [file], {
      input: `CREATE TABLE messages(id TEXT, session_key TEXT, timestamp TEXT, role TEXT, tool_name TEXT, tool_result TEXT, content TEXT);
        INSERT INTO messages VALUES ('1', 'a', '2026-09-01T10:00:00Z', 'user', NULL, NULL, 'first of a'),
          ('2', 'b', '2026-09-01T10:00:01Z', 'user', NULL, NULL, 'first of b ${long}'),
          ('3', 'c', '2026-09-01T10:00:02Z', 'user', NULL, NULL, 'first of c');`,
    });
    const bytes = readFileSync(file);
    // A page of a long text names the next one in its first four bytes: it leads nowhere now.
    const page = Array.from({ length: bytes.length / 4096 }, (_, i) => i * 4096).find(
      (at) => bytes.toString('latin1', at + 4, at + 8) === 'ZZZZ',
    );
    bytes.writeUInt32BE(0xff_ff_ff, page!);
    writeFileSync(file, bytes);
    const { sessions, failed } = await rig.import(file);
    assert.deepEqual([sessions.map(({ title }) => title), failed.length], [['first of a', 'first of c'], 1]);
  });

  describe('its cold storage', () => {
    const events = (id: string) => [header(id), said('a', id, `first of ${id}`), said('b', 'a', 'second')];
    const file = () => join(rig.temp.path, 'sources', 'agents', 'main', 'agent', 'openclaw-agent.sqlite');

    function database(...archives: readonly ReturnType<typeof coldArchive>[]): string {
      mkdirSync(dirname(file()), { recursive: true });
      rmSync(file(), { force: true });
      const kept = events('s0').map((event, seq) => `('s0', ${seq}, '${JSON.stringify(event)}', 0)`);
      execFileSync('sqlite3', [file()], {
        input: `CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER); CREATE ${archives[0]!.table};
          CREATE TABLE session_nodes(session_key TEXT, current_session_id TEXT, label TEXT); INSERT INTO session_nodes VALUES ('agent:main:old', 's2', 'Old bridges');
          INSERT INTO transcript_events VALUES ${kept.join()}; ${archives.map(({ row }) => row).join(' ')}`,
      });
      return file();
    }

    function put({ name, bytes }: ReturnType<typeof coldArchive>): string {
      const folder = join(dirname(dirname(file())), 'sessions', 'cold');
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, name), bytes);
      return folder;
    }

    it('is read with the database, from a file or from a row, and found again once it is back', async () => {
      const [inFile, inRow] = [coldArchive('s1', events('s1'), 'file'), coldArchive('s2', events('s2'))];
      const folder = put(inFile);
      const { sessions, failed } = await rig.import(database(inFile, inRow));
      assert.deepEqual([failed, sessions.map(({ title }) => title)], [[], ['first of s0', 'first of s1', 'Old bridges']]);
      assert.deepEqual((await rig.branch(sessions[1]!.uuid)).map(brief), ['user: first of s1', 'user: second']);
      assert.deepEqual(readdirSync(folder), [inFile.name]);
      const back = events('s1').map((event, seq) => `('s1', ${seq}, '${JSON.stringify(event)}', 0)`);
      execFileSync('sqlite3', [file()], {
        input: `INSERT INTO transcript_events VALUES ${back.join()}; DELETE FROM session_transcript_cold_archives WHERE session_id = 's1';`,
      });
      assert.deepEqual(
        (await rig.import(file())).sessions.map(({ outcome }) => outcome),
        ['known', 'known', 'known'],
      );
    });

    it('is said to be unread where an archive is missing, damaged, another session’s or of a newer kind; the others are imported', async () => {
      const [missing, damaged, good] = [
        coldArchive('s1', events('s1'), 'file'),
        coldArchive('s2', events('s2'), 'file'),
        coldArchive('s3', events('s3')),
      ];
      put({ ...damaged, bytes: Buffer.concat([damaged.bytes.subarray(0, -1), Buffer.from('x')]) });
      const other = coldArchive('other', events('other'));
      const swapped = { ...other, row: other.row.replace("'other'", "'s4'") };
      const escaping = coldArchive('s5', events('s5'), 'file');
      const outside = { ...escaping, row: escaping.row.replace(`'${escaping.name}'`, `'../${escaping.name}'`) };
      put(escaping);
      writeFileSync(join(dirname(dirname(file())), 'sessions', escaping.name), escaping.bytes);
      const { sessions, failed } = await rig.import(database(missing, damaged, good, swapped, outside));
      assert.deepEqual(
        [failed.map(({ reason }) => reason), sessions.map(({ title }) => title)],
        [
          ['4 sessions are in OpenClaw’s cold storage and were not imported. Open them in OpenClaw, and import again.'],
          ['first of s0', 'first of s3'],
        ],
      );
    });
  });
});
