import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { entryText } from '../../../src/core/session/entry';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { FileTail } from '../../../src/node/transfer/foreign/fileTail';
import { importFiles } from '../../../src/node/transfer/import/importFiles';
import { OpenClawFolder } from '../../../src/node/transfer/openClaw/findOpenClaw';
import { OpenClawWatch } from '../../../src/node/transfer/openClaw/openClawWatch';
import { openTestStore, tempFolder, testUuid, userMessage, type TempFolder, wasmFile } from '../../support/store/storeTemp';
import { waitFor } from '../../support/waitFor';

const key = 'agent:main:main';
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('watching OpenClaw', function () {
  this.timeout(20_000);
  let temp: TempFolder;
  let folder: string;
  let store: SessionStore;
  let watched: SessionStore;
  let watch: OpenClawWatch;
  let sessions: string[];
  /** Every 400 ms there is one. */
  let looks: number;
  let looksWhenAdded: number;

  beforeEach(async () => {
    temp = tempFolder();
    folder = join(temp.path, 'agents', 'main', 'sessions');
    mkdirSync(folder, { recursive: true });
    store = await openTestStore(join(temp.path, 'store'));
    watched = await openTestStore(join(temp.path, 'store'), 'OpenClaw');
    sessions = [];
    [looks, looksWhenAdded] = [0, 0];
    const source = new OpenClawFolder(folder, key);
    const look = source.look.bind(source);
    source.look = () => (looks++, look());
    const added = (uuid: string) => {
      looksWhenAdded = looks;
      sessions.push(uuid);
    };
    watch = new OpenClawWatch({ source, store: watched, ids: new UuidV7(), now: () => 1, log, added });
    point('one');
  });
  afterEach(async () => {
    await watch.stop();
    await watched.close();
    await store.close();
    temp.remove();
  });

  const file = (id = 'one') => join(folder, `${id}.jsonl`);
  const point = (sessionId: string) =>
    writeFileSync(
      join(folder, 'sessions.json'),
      JSON.stringify({ [key]: { sessionId, updatedAt: 5 }, 'agent:main:other': { sessionId: 'other' } }),
    );
  const header = (id = 'one') =>
    `${JSON.stringify({ type: 'session', version: 3, id, timestamp: '2026-11-20T10:00:00.000Z', cwd: '/work' })}\n`;
  const said = (id: string, parentId: string | null, text: string, role = 'user', more: object = {}) =>
    `${JSON.stringify({ type: 'message', id, parentId, timestamp: '2026-11-20T10:00:01.000Z', message: { role, content: role === 'user' ? text : [{ type: 'text', text }], ...more } })}\n`;
  const texts = async (uuid = sessions.at(-1)) =>
    uuid === undefined ? [] : (await store.page(uuid, { limit: 100 })).entries.map(({ content }) => entryText(content));

  it('imports what is there and then takes in what is appended, at one of the next two looks', async () => {
    writeFileSync(file(), header() + said('a1', 'one', 'first'));
    await watch.start();
    assert.deepEqual(await texts(), ['first']);
    const told: string[] = [];
    store.onDidChange(({ kind }) => told.push(kind));
    appendFileSync(file(), said('a2', 'a1', 'second', 'assistant'));
    const known = looks;
    await waitFor('the second', async () => (await texts()).length === 2);
    assert.ok(looksWhenAdded - known <= 2, `${looksWhenAdded - known} looks`);
    assert.deepEqual(await texts(), ['first', 'second']);
    assert.ok(told.includes('entries'), 'whoever has the session open is told');
    assert.ok(!told.includes('branch'), 'and need not read it again');
  });

  it('waits for the rest of a line, also where a character is cut in two', async () => {
    const [bytes, line] = [header() + said('a1', null, 'first'), Buffer.from(said('a2', 'a1', 'zweiter Satz: größer 漢字'))];
    writeFileSync(file(), bytes);
    await watch.look();
    const cut = line.indexOf(Buffer.from('漢')) + 1;
    appendFileSync(file(), line.subarray(0, cut));
    await watch.look();
    assert.deepEqual(await texts(), ['first']);
    appendFileSync(file(), line.subarray(cut));
    await watch.look();
    assert.deepEqual(await texts(), ['first', 'zweiter Satz: größer 漢字']);
  });

  it('loses nothing that was appended between an import and the watch, and stores nothing twice', async () => {
    writeFileSync(file(), header() + said('a1', null, 'first'));
    const report = await importFiles([file()], { store, ids: new UuidV7(), now: () => 1, format: 'openclaw', wasmFile });
    appendFileSync(file(), said('a2', 'a1', 'second'));
    await watch.look();
    assert.deepEqual(sessions, [report.sessions[0]!.uuid]);
    assert.deepEqual(await texts(), ['first', 'second']);
  });

  it('has read a file to its end that ends in blank lines', async () => {
    writeFileSync(file(), `${header()}${said('a1', null, 'first')}\n\r\n\n`);
    await watch.look();
    const tail = new FileTail(file());
    const lines = [];
    for await (const event of tail.read()) lines.push(event);
    assert.deepEqual(
      { linesCount: lines.length, hasNews: await tail.hasNews(), offset: tail.position.offset },
      { linesCount: 2, hasNews: false, offset: readFileSync(file()).length },
    );
    appendFileSync(file(), said('a2', 'a1', 'second'));
    await watch.look();
    assert.deepEqual(await texts(), ['first', 'second']);
  });

  it('reads a file that was cut, and one that was written anew over it, from its start', async () => {
    writeFileSync(file(), header() + said('a1', null, 'first') + said('a2', 'a1', 'second'));
    await watch.look();
    truncateSync(file(), header().length + said('a1', null, 'first').length);
    await watch.look();
    assert.deepEqual(await texts(), ['first', 'second'], 'what is stored stays');
    appendFileSync(file(), said('a3', 'a1', 'another second'));
    await watch.look();
    assert.deepEqual(await texts(), ['first', 'another second']);
    writeFileSync(
      file(),
      header() + said('b1', null, 'all new, and longer than what stood here before: '.repeat(20)) + said('b2', 'b1', 'end'),
    );
    await watch.look();
    assert.equal((await texts()).at(-1), 'end');
    assert.equal((await texts()).length, 2);
  });

  it('follows a file that is replaced by another one of the same name', async () => {
    writeFileSync(file(), header() + said('a1', null, 'first'));
    await watch.look();
    writeFileSync(`${file()}.tmp`, header() + said('a1', null, 'first') + said('a2', 'a1', 'second'));
    renameSync(`${file()}.tmp`, file());
    await watch.look();
    appendFileSync(file(), said('a3', 'a2', 'third'));
    await watch.look();
    assert.deepEqual(await texts(), ['first', 'second', 'third']);
  });

  it('waits while the file is away, and goes on when it is back', async () => {
    await watch.look();
    writeFileSync(file(), header() + said('a1', null, 'first'));
    await watch.look();
    rmSync(file());
    await watch.look();
    assert.deepEqual(await texts(), ['first']);
    writeFileSync(file(), header() + said('a1', null, 'first') + said('a2', 'a1', 'second'));
    await watch.look();
    assert.deepEqual(await texts(), ['first', 'second']);
  });

  it('goes over to the session that the key points to after a reset, with the last words of the one before', async () => {
    writeFileSync(file(), header() + said('a1', null, 'first'));
    await watch.look();
    appendFileSync(file(), said('a2', 'a1', 'last words'));
    writeFileSync(file('two'), header('two') + said('c1', null, 'a new beginning'));
    writeFileSync(join(folder, 'sessions.json'), '{"agent:main:ma');
    await watch.look();
    point('two');
    await watch.look();
    assert.equal(new Set(sessions).size, 2);
    assert.deepEqual(await texts(sessions[0]), ['first', 'last words']);
    assert.deepEqual(await texts(), ['a new beginning']);
  });

  it('leaves the user where the user has gone on, and keeps a name that the user gave', async () => {
    writeFileSync(file(), header() + said('a1', null, 'first'));
    await watch.look();
    const [session] = sessions;
    const before = await store.session(session!);
    const own = userMessage(session!, before!.leaf, 'my own way');
    await store.append(session!, { entries: [own] });
    await store.updateSession(session!, { title: 'Mine' });
    appendFileSync(file(), said('a2', 'a1', 'second') + said('a3', 'a2', 'third', 'assistant'));
    await watch.look();
    assert.deepEqual(await texts(), ['first', 'my own way']);
    assert.equal((await store.branches(session!)).length, 2);
    assert.equal((await store.session(session!))!.title, 'Mine');
  });

  it('takes over the name that OpenClaw has for the session, follows it when it changes, and never one that the user gave', async () => {
    const named = (entry: object) =>
      writeFileSync(join(folder, 'sessions.json'), JSON.stringify({ [key]: { sessionId: 'one', ...entry } }));
    const title = async () => (await store.session(sessions[0]!))!.title;
    named({ subject: 'Bridge watchers', updatedAt: 1 });
    writeFileSync(file(), header() + said('a1', null, 'first'));
    await watch.look();
    assert.deepEqual([await title(), (await store.session(sessions[0]!))!.metadata['sessionKey']], ['Bridge watchers', key]);
    const titles: string[] = [];
    for (const entry of [
      { displayName: 'telegram:bridges' },
      { displayName: 'telegram:bridges', label: 'Bridges' },
      { displayName: 'telegram:bridges', label: ' ' },
      { label: 'Bridges and ports' },
      {},
    ]) {
      named({ ...entry, updatedAt: titles.length + 2 });
      await watch.look();
      titles.push(await title());
    }
    assert.deepEqual(titles, ['telegram:bridges', 'Bridges', 'telegram:bridges', 'Bridges and ports', 'Bridges and ports']);
    // As after a reload of the window.
    await watch.stop();
    watch = new OpenClawWatch({
      source: new OpenClawFolder(folder, key),
      store: watched,
      ids: new UuidV7(),
      now: () => 1,
      log,
      added: (uuid) => sessions.push(uuid),
    });
    named({ label: 'Renamed meanwhile', updatedAt: 20 });
    await watch.look();
    assert.deepEqual([await title(), await texts()], ['Renamed meanwhile', ['first']]);
    await store.updateSession(sessions[0]!, { title: 'Mine' });
    named({ label: 'Bridges', updatedAt: 30 });
    await watch.look();
    assert.equal(await title(), 'Mine');
  });

  it('makes no session of a name alone', async () => {
    writeFileSync(join(folder, 'sessions.json'), JSON.stringify({ [key]: { sessionId: 'one', label: 'Bridges' } }));
    await watch.look();
    await watch.look();
    assert.deepEqual([sessions, await store.countSessions()], [[], 0]);
  });

  it('waits with its records while a turn runs in the session', async () => {
    writeFileSync(file(), header() + said('a1', null, 'first'));
    await watch.look();
    const claim = testUuid();
    assert.ok((await store.claim(sessions[0]!, claim)).granted);
    appendFileSync(file(), said('a2', 'a1', 'second'));
    let looked = false;
    const looking = watch.look().then(() => (looked = true));
    await store.entries([]);
    assert.deepEqual([looked, await texts()], [false, ['first']]);
    await store.release(sessions[0]!, claim);
    await looking;
    assert.deepEqual(await texts(), ['first', 'second']);
  });

  it('lets a mirrored message drive no gauge, and writes nothing of its own anywhere', async () => {
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
    const content =
      header() +
      said('a1', null, 'first') +
      said('a2', 'a1', 'mirrored', 'assistant', { provider: 'openclaw', model: 'delivery-mirror', usage });
    writeFileSync(file(), content);
    await watch.look();
    assert.deepEqual(await texts(), ['first', 'mirrored']);
    assert.equal((await store.liveBranch(sessions[0]!)).lastUsage, null);
    assert.deepEqual(await store.usageTotals({}), []);
    assert.equal(readFileSync(file(), 'utf8'), content);
  });

  it('takes in live what other watchers drop: every call, thinking, branches, a compaction’s summary and what it keeps, a line of 15 MB', async () => {
    writeFileSync(file(), header() + said('f1', null, 'old question'));
    await watch.look();
    const line = (value: object) => `${JSON.stringify({ timestamp: '2026-11-20T10:00:02.000Z', ...value })}\n`;
    const call = (id: string) => ({ type: 'toolCall', id, name: 'read', arguments: { path: id } });
    const result = (id: string, parentId: string, toolCallId: string) =>
      line({
        type: 'message',
        id,
        parentId,
        message: { role: 'toolResult', toolCallId, toolName: 'read', content: `content of ${toolCallId}` },
      });
    const long = 'x'.repeat(15 * 1024 * 1024);
    appendFileSync(
      file(),
      line({
        type: 'message',
        id: 'e9',
        parentId: 'f1',
        message: {
          role: 'assistant',
          content: [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'reading' }, call('one'), call('two')],
        },
      }) +
        result('b0', 'e9', 'one') +
        result('c7', 'b0', 'two') +
        said('d3', 'c7', 'a branch that was left') +
        said('a0', 'c7', 'kept question') +
        said('9f', 'a0', 'kept answer', 'assistant') +
        // Ids are random: by their order as texts everything would be older than what is kept.
        line({ type: 'compaction', id: '01', parentId: '9f', summary: 'LIVE SUMMARY', firstKeptEntryId: 'a0', tokensBefore: 900 }) +
        said('00', '01', long),
    );
    await watch.look();
    const all = await store.entriesBySeq(await store.entrySeqs(sessions[0]!));
    assert.deepEqual(
      all.map(({ content }) => content.type),
      [
        'message',
        'thinking',
        'message',
        'tool_call',
        'tool_call',
        'tool_result',
        'tool_result',
        'message',
        'message',
        'message',
        'compaction',
        'message',
      ],
    );
    assert.equal((await store.branches(sessions[0]!)).length, 2);
    const live = (await store.liveBranch(sessions[0]!)).entries.map(({ content }) => entryText(content));
    assert.deepEqual(
      { live: live.slice(0, 3), fourthLive: live[3] === long, liveCount: live.length },
      { live: ['kept question', 'kept answer', 'LIVE SUMMARY'], fourthLive: true, liveCount: 4 },
    );
  });

  it('follows the file that the list names for a thread of a channel, within the same folder', async () => {
    writeFileSync(join(folder, 'one-topic-7.jsonl'), header() + said('a1', null, 'in the thread'));
    writeFileSync(file(), header() + said('a1', null, 'elsewhere'));
    writeFileSync(
      join(folder, 'sessions.json'),
      JSON.stringify({ [key]: { sessionId: 'one', sessionFile: '/home/ada/.openclaw/agents/main/sessions/one-topic-7.jsonl' } }),
    );
    await watch.look();
    assert.deepEqual(await texts(), ['in the thread']);
  });

  it('reads no archive, and nothing outside of its folder', async () => {
    writeFileSync(join(folder, 'one.jsonl.reset.2026-11-20'), header() + said('x1', null, 'archived'));
    writeFileSync(join(temp.path, 'agents', 'secret.jsonl'), header() + said('x1', null, 'outside'));
    point('../../secret');
    await watch.look();
    assert.deepEqual([sessions, await store.listSessions()], [[], []]);
  });
});
