import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { programs } from '../../../../src/core/transfer/programs';
import { FolderWatch } from '../../../../src/node/transfer/watch/folderWatch';
import { places } from '../../../../src/node/transfer/watch/places';
import { runCliToEnd } from '../../../support/run/runCliToEnd';
import { importFixtures } from '../../../support/store/importRig';
import { userMessage } from '../../../support/store/storeTemp';
import { importedEntries, WatchRig } from '../../../support/store/watchRig';
import { waitFor } from '../../../support/waitFor';

const at = '2026-09-01T10:00:00.000Z';
const header = (id: string, cwd = '/w') => `${JSON.stringify({ timestamp: at, type: 'session_meta', payload: { id, cwd } })}\n`;
const said = (text: string) =>
  `${JSON.stringify({ timestamp: at, type: 'response_item', payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } })}\n`;
/** Only notifications: no look behind them comes within the test. */
const notified = { quietMs: 20, settleMs: 50, hotMs: 600_000, scanMs: 600_000, retryMs: 10 };

describe('watching agents', function () {
  this.timeout(60_000);
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
  const rollout = (id: string) => `.codex/sessions/2026/09/01/rollout-${id}.jsonl`;

  it('a row of the table for every program, each place below the home folder of this machine', () => {
    const machine = { ...rig.machine, home: '/home/ada', folders: ['/w'] };
    const table = programs.map(({ id }) => [id, places[id](machine).map(({ root }) => root)[0]]);
    assert.deepEqual(
      table.filter(([, root]) => !root?.startsWith('/home/ada/') && root !== '/w'),
      [],
    );
    assert.equal(table.length, 18);
  });

  it('hears of what is written, in folders and files that come later too', async () => {
    put(rollout('a'), header('a') + said('first'));
    await rig.start(['codex'], null, notified);
    await waitFor('the first', async () => (await rig.texts()).length === 1);
    appendFileSync(join(rig.home, rollout('a')), said('second'));
    await waitFor('the second', async () => (await rig.texts()).length === 2);
    put('.codex/sessions/2026/09/02/rollout-b.jsonl', header('b') + said('another day'));
    await waitFor('the other session', async () => (await rig.store.listSessions()).length === 2);
    assert.deepEqual(rig.added.length >= 3, true);
  });

  const line = (
    uuid: string,
    parentUuid: string | null,
    message: { readonly role: string; readonly [key: string]: unknown },
    sessionId = 's',
  ) => `${JSON.stringify({ uuid, parentUuid, sessionId, timestamp: at, cwd: '/w', type: message.role, message })}\n`;

  it('takes in an answer of Claude Code once nothing follows its last line', async () => {
    const file = put('.claude/projects/-w/s.jsonl', line('a', null, { role: 'user', content: 'Which tide?' }));
    await rig.start(['claude-code'], null, notified);
    await waitFor('the question', async () => (await rig.texts()).length === 1);
    appendFileSync(file, line('b', 'a', { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'High.' }] }));
    await waitFor('the answer', async () => (await rig.texts()).includes('assistant: High.'));
  });

  it('takes in the last answer of every session, however many are found at once', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `s${i}`);
    for (const name of names)
      put(
        `.claude/projects/-w/${name}.jsonl`,
        line(`${name}a`, null, { role: 'user', content: 'Which tide?' }, name) +
          line(`${name}b`, `${name}a`, { role: 'assistant', id: name, content: [{ type: 'text', text: 'High.' }] }, name),
      );
    await rig.start(['claude-code'], null, { ...notified, settleMs: 2_000 });
    await rig.watch!.settled();
    const sources = [...(await importedEntries(rig.store)).keys()];
    assert.deepEqual(
      names.filter((name) => !sources.some((source) => source.startsWith(`claude-code:${name}:${name}b:`))),
      [],
    );
  });

  it('takes in an answer that it held back when it was stopped', async () => {
    put(
      '.claude/projects/-w/s.jsonl',
      line('a', null, { role: 'user', content: 'Which tide?' }) +
        line('b', 'a', { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'High.' }] }),
    );
    await rig.start(['claude-code'], null, { ...notified, settleMs: 600_000 });
    await waitFor('the question', async () => (await rig.texts()).length === 1);
    await rig.stop();
    await rig.start(['claude-code']);
    await rig.caughtUp();
    assert.deepEqual(await rig.texts(), ['user: Which tide?', 'assistant: High.']);
  });

  it('leaves the user on their own branch when only the name changes there', async () => {
    const file = put(rollout('a'), header('a') + said('first'));
    await rig.start(['codex']);
    await rig.caughtUp();
    const [session] = await rig.store.listSessions();
    await rig.store.append(session!.uuid, { entries: [userMessage(session!.uuid, session!.leaf, 'my own way')] });
    const renamed = { timestamp: at, type: 'event_msg', payload: { type: 'thread_name_updated', thread_name: 'Tides' } };
    appendFileSync(file, `${JSON.stringify(renamed)}\n`);
    await rig.caughtUp();
    assert.deepEqual([(await rig.store.listSessions())[0]!.title, await rig.texts()], ['Tides', ['user: first', 'user: my own way']]);
  });

  it('takes only what is about the folders that are wanted, and reads the rest no more', async () => {
    put(rollout('a'), header('a', '/w/sub') + said('mine'));
    const other = put(rollout('b'), header('b', '/elsewhere') + said('not mine'));
    put(rollout('c'), header('c', '/wide') + said('not mine'));
    await rig.start(['codex'], ['/w']);
    await rig.caughtUp();
    appendFileSync(other, said('still not mine'));
    await rig.caughtUp();
    assert.deepEqual([(await rig.store.listSessions()).length, await rig.texts()], [1, ['user: mine']]);
  });

  it('reads nothing again that it has read before the window was closed', async () => {
    put(rollout('a'), header('a') + said('first'));
    await rig.start(['codex']);
    await rig.caughtUp();
    await rig.stop();
    const { uuid } = (await rig.store.listSessions())[0]!;
    await rig.store.updateSession(uuid, { deletedAt: 1 });
    await rig.store.purge([uuid]);
    await rig.start(['codex']);
    await rig.caughtUp();
    assert.deepEqual(await rig.store.listSessions(), []);
  });

  it('reads again what the history lacks after an older backup of it was restored', async () => {
    const backup = join(rig.temp.path, 'backup.db');
    assert.equal((await runCliToEnd(['backup', backup, '--store', rig.folder])).code, 0);
    put(rollout('a'), header('a') + said('first'));
    await rig.start(['codex']);
    await rig.caughtUp();
    assert.deepEqual(await rig.texts(), ['user: first']);
    await rig.whileClosed(async () => assert.equal((await runCliToEnd(['restore', backup, '--store', rig.folder])).code, 0));
    assert.deepEqual(await rig.texts(), []);
    await rig.start(['codex']);
    await rig.caughtUp();
    assert.deepEqual(await rig.texts(), ['user: first']);
  });

  it('follows no link out of a program’s folder, and says so', async () => {
    const outside = put('secret/rollout-x.jsonl', header('x') + said('secret'));
    put(rollout('a'), header('a') + said('first'));
    symlinkSync(outside, join(rig.home, '.codex/sessions/2026/09/01/rollout-x.jsonl'));
    symlinkSync(dirname(outside), join(rig.home, '.codex/sessions/2025'));
    await rig.start(['codex']);
    await rig.caughtUp();
    assert.deepEqual(await rig.texts(), ['user: first']);
    assert.deepEqual(
      rig.watch!.status().flatMap(({ problems }) => problems.map(({ reason }) => reason)),
      ['It is a link, and links are not followed.'],
    );
  });

  it('names what it cannot read, and reads it once it is whole', async () => {
    const file = put('.continue/sessions/s.json', '{"sessionId": "s", "history": [');
    await rig.start(['continue']);
    await rig.caughtUp();
    const [status] = rig.watch!.status();
    assert.deepEqual([status?.problems.length, status?.problems[0]?.source], [1, file]);
    writeFileSync(file, JSON.stringify({ sessionId: 's', history: [{ message: { role: 'user', content: 'whole' } }] }));
    await rig.caughtUp();
    assert.deepEqual([await rig.texts(), rig.watch!.status()[0]?.problems], [['user: whole'], []]);
  });

  it('a database that its program has open: rows that are only in the log come at once, and nothing is written beside it', async () => {
    const file = join(rig.home, '.local/share/opencode/opencode.db');
    mkdirSync(dirname(file), { recursive: true });
    const fixture = readFileSync(join(importFixtures, 'opencode.sql'), 'utf8');
    execFileSync('sqlite3', [file], { input: `PRAGMA journal_mode=wal; ${fixture}` });
    await rig.start(['opencode'], ['/work/tide']);
    await rig.caughtUp();
    assert.equal((await rig.texts()).at(-1)?.startsWith('custom'), true);
    const [names, before] = [readdirSync(dirname(file)), (await rig.texts()).length];
    const said = JSON.stringify({ type: 'text', text: 'And then?' });
    execFileSync('sqlite3', [file], {
      input: `INSERT INTO message VALUES ('msg_z','ses_df750febcffeHl9w1ImQ259Z3a',1,1,'{"role":"user","time":{"created":1795442040500}}');
        INSERT INTO part VALUES ('prt_z','msg_z','ses_df750febcffeHl9w1ImQ259Z3a',1,1,'${said}');
        UPDATE event_sequence SET seq = 28;`,
    });
    await rig.caughtUp();
    assert.deepEqual(
      [(await rig.texts()).length, (await rig.texts()).at(-1), readdirSync(dirname(file))],
      [before + 1, 'user: And then?', names],
    );
  });

  it('costs nothing for a program that is not there, and finds it when it comes', async () => {
    await rig.start(['zed', 'goose', 'codex']);
    assert.deepEqual(
      rig.watch!.status().map(({ sources, problems }) => [sources, problems.length]),
      [
        [0, 0],
        [0, 0],
        [0, 0],
      ],
    );
    put(rollout('a'), header('a') + said('first'));
    // Nothing looks again by itself: it is heard of.
    await waitFor('the first session that it has ever had', async () => (await rig.texts()).length > 0);
    assert.deepEqual(await rig.texts(), ['user: first']);
    rmSync(join(rig.home, '.codex'), { recursive: true });
    await rig.caughtUp();
    assert.equal(rig.watch!.status().find(({ id }) => id === 'codex')?.sources, 0);
    assert.deepEqual(await rig.texts(), ['user: first'], 'its history stays');
  });

  it('waits for a folder whose name a file has, and hears when it comes', async () => {
    const file = put('.codex/sessions', 'a file');
    const [place] = places.codex(rig.machine);
    const appeared: string[] = [];
    const watch = new FolderWatch(place!, { changed: () => {}, appeared: (folder) => appeared.push(folder) });
    try {
      watch.waitForRoot();
      assert.deepEqual(appeared, []);
      rmSync(file);
      mkdirSync(file);
      await waitFor('the folder', () => appeared.length === 1);
    } finally {
      watch.dispose();
    }
  });

  it('goes on with the others where the way to a folder leads nowhere', async () => {
    symlinkSync('.codex', join(rig.home, '.codex'));
    put('.claude/projects/-w/s.jsonl', '');
    await rig.start(['codex', 'claude-code'], null, notified);
    assert.deepEqual(
      rig.watch!.status().map(({ id, sources }) => [id, sources]),
      [
        ['codex', 0],
        ['claude-code', 1],
      ],
    );
  });

  it('leaves the sources as they are', async () => {
    const file = put(rollout('a'), header('a') + said('first'));
    const before = [readFileSync(file, 'utf8'), statSync(file).mtimeMs, readdirSync(dirname(file))];
    await rig.start(['codex']);
    await rig.caughtUp();
    assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).mtimeMs, readdirSync(dirname(file))], before);
  });
});
