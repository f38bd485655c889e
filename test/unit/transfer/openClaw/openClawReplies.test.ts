import fc from 'fast-check';
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../../../src/core/ports';
import { entryText, type NewEntry } from '../../../../src/core/session/entry';
import { UuidV7 } from '../../../../src/node/runtime/ids';
import { OpenClawFolder } from '../../../../src/node/transfer/openClaw/findOpenClaw';
import { OpenClawWatch, type OpenClawNotice } from '../../../../src/node/transfer/openClaw/openClawWatch';
import { compactionContent } from '../../../support/chat/compactionContent';
import { openTestStore, tempFolder, testUuid, userMessage, type TempFolder } from '../../../support/store/storeTemp';

const key = 'agent:main:main';
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
interface Line {
  readonly type: string;
  readonly id: string;
  readonly parentId?: string | null;
  readonly message?: { readonly role: string; readonly content: readonly { readonly text: string }[]; readonly [name: string]: unknown };
}

describe('replies to a session of OpenClaw', function () {
  this.timeout(20_000);
  let temp: TempFolder;
  let folder: string;
  let store: SessionStore;
  let watched: SessionStore;
  let watch: OpenClawWatch;
  let session: string;
  let notices: OpenClawNotice[];

  const file = () => join(folder, 'one.jsonl');
  const content = () => readFileSync(file(), 'utf8');
  const lines = () =>
    content()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  const header = `${JSON.stringify({ type: 'session', version: 3, id: 'one', timestamp: '2026-11-20T10:00:00.000Z', cwd: '/work' })}\n`;
  const said = (id: string, parentId: string | null, text: string, role = 'user', more: object = {}) =>
    `${JSON.stringify({ type: 'message', id, parentId, timestamp: '2026-11-20T10:00:01.000Z', message: { role, content: [{ type: 'text', text }], ...more } })}\n`;
  const texts = async () =>
    (await store.page(session, { limit: 100 })).entries
      .filter(({ content: { type } }) => type === 'message')
      .map((entry) => entryText(entry.content));
  const leaf = async () => (await store.session(session))!.leaf;

  /** A turn here, as the chat stores one. */
  async function turn(question: string, answer: string, after?: string | null): Promise<NewEntry[]> {
    const asked = userMessage(session, after === undefined ? await leaf() : after, question);
    const answered: NewEntry = {
      ...userMessage(session, asked.uuid, ''),
      content: { type: 'message', role: 'assistant', text: answer, provider: 'anthropic', model: 'claude-test' },
    };
    await store.append(session, {
      entries: [asked, answered],
      usage: [
        {
          entry: answered.uuid,
          provider: 'anthropic',
          model: 'claude-test',
          kind: 'turn',
          input: 40,
          output: 7,
          cacheRead: 2,
          cacheWrite: 1,
          cost: 0.5,
          at: 1,
        },
      ],
    });
    return [asked, answered];
  }

  async function begin(): Promise<void> {
    watched = await openTestStore(join(temp.path, 'store'), 'OpenClaw');
    watch = new OpenClawWatch({
      source: new OpenClawFolder(folder, key),
      store: watched,
      ids: new UuidV7(),
      now: Date.now,
      log,
      added: (uuid) => (session = uuid),
      told: (notice) => notices.push(notice),
    });
    watch.writeReplies(true);
    await watch.look();
  }

  async function end(): Promise<void> {
    await watch.stop();
    await watched.close();
  }

  beforeEach(reset);
  afterEach(cleanUp);

  async function reset(): Promise<void> {
    temp = tempFolder();
    folder = join(temp.path, 'agents', 'main', 'sessions');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'sessions.json'), JSON.stringify({ [key]: { sessionId: 'one', updatedAt: 5 } }));
    writeFileSync(file(), header + said('a1', 'one', 'What is the tide?') + said('a2', 'a1', 'High.', 'assistant', { stopReason: 'stop' }));
    store = await openTestStore(join(temp.path, 'store'));
    notices = [];
    await begin();
  }

  async function cleanUp(): Promise<void> {
    await end();
    await store.close();
    temp.remove();
  }

  it('are appended behind what is there, in its format, and are not taken for something new', async () => {
    const [before, list] = [content(), readFileSync(join(folder, 'sessions.json'), 'utf8')];
    const [asked, answered] = await turn('And tomorrow?', 'Low.');
    await watch.look();
    assert.ok(content().startsWith(before));
    const [one, two] = lines().slice(3);
    assert.deepEqual(
      [one, two],
      [
        {
          type: 'message',
          id: asked!.uuid.slice(-8),
          parentId: 'a2',
          timestamp: new Date(asked!.createdAt).toISOString(),
          message: {
            role: 'user',
            content: [{ type: 'text', text: 'And tomorrow?' }],
            timestamp: asked!.createdAt,
            idempotencyKey: `threadkeeper:${asked!.uuid}`,
          },
        },
        {
          type: 'message',
          id: answered!.uuid.slice(-8),
          parentId: asked!.uuid.slice(-8),
          timestamp: new Date(answered!.createdAt).toISOString(),
          message: {
            role: 'assistant',
            content: [{ type: 'text', text: 'Low.' }],
            api: 'anthropic-messages',
            provider: 'anthropic',
            model: 'claude-test',
            usage: {
              input: 40,
              output: 7,
              cacheRead: 2,
              cacheWrite: 1,
              totalTokens: 50,
              cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 },
            },
            stopReason: 'stop',
            timestamp: answered!.createdAt,
            idempotencyKey: `threadkeeper:${answered!.uuid}`,
          },
        },
      ],
    );
    const written = content();
    await watch.look();
    await watch.look();
    assert.deepEqual(await texts(), ['What is the tide?', 'High.', 'And tomorrow?', 'Low.']);
    assert.deepEqual(
      { content: content(), list: readFileSync(join(folder, 'sessions.json'), 'utf8'), files: readdirSync(folder).sort(), notices },
      { content: written, list, files: ['one.jsonl', 'sessions.json'], notices: [{ type: 'appended', messages: 2 }] },
    );
    assert.equal((await store.usageTotals({}))[0]?.cost, 0.5, 'nothing is paid twice');
  });

  it('are followed by what OpenClaw says next, also behind a compaction that was made here', async () => {
    const [, answered] = await turn('And tomorrow?', 'Low.');
    await watch.look();
    const compaction: NewEntry = {
      ...userMessage(session, answered!.uuid, ''),
      modelFacing: true,
      content: compactionContent(testUuid(), null),
    };
    await store.append(session, { entries: [compaction] });
    appendFileSync(file(), said('a5', lines().at(-1)!.id, 'On Monday?') + said('a6', 'a5', 'High.', 'assistant', { stopReason: 'stop' }));
    await watch.look();
    assert.deepEqual(await texts(), ['What is the tide?', 'High.', 'And tomorrow?', 'Low.', 'On Monday?', 'High.']);
    assert.equal((await store.branches(session)).length, 1);
    await turn('Thanks.', 'You are welcome.');
    await watch.look();
    assert.deepEqual(
      lines()
        .slice(-3)
        .map(({ id, parentId }) => [id, parentId][1]),
      ['a5', 'a6', lines().at(-2)!.id],
    );
  });

  it('go nowhere while that is switched off, and all of them go when it is switched on', async () => {
    watch.writeReplies(false);
    const before = content();
    await turn('one', '1');
    await turn('two', '2');
    await watch.look();
    assert.equal(content(), before);
    watch.writeReplies(true);
    await watch.look();
    assert.deepEqual(
      lines()
        .slice(3)
        .map(({ message }) => message!.content[0]!.text),
      ['one', '1', 'two', '2'],
    );
  });

  it('wait for their answer, and for the end of a turn', async () => {
    const before = content();
    const claim = testUuid();
    await store.claim(session, claim);
    const asked = userMessage(session, await leaf(), 'And?');
    await store.append(session, { entries: [asked] });
    await watch.look();
    assert.equal(content(), before);
    await store.append(session, {
      entries: [{ ...userMessage(session, asked.uuid, ''), content: { type: 'message', role: 'assistant', text: 'so' } }],
    });
    await watch.look();
    assert.equal(content(), before, 'the turn has not ended');
    await store.release(session, claim);
    await watch.look();
    assert.equal(lines().length, 5);
  });

  it('wait for the rest of a line that OpenClaw is writing, and for its lock', async () => {
    await turn('And?', 'So.');
    const note = `${JSON.stringify({ type: 'custom', id: 'a3', parentId: 'a2', customType: 'model-snapshot', data: {} })}\n`;
    appendFileSync(file(), note.slice(0, 20));
    for (let i = 0; i < 40; i++) await watch.look();
    assert.ok(content().endsWith(note.slice(0, 20)));
    assert.deepEqual(notices, [{ type: 'waiting', why: 'growing', messages: 2 }], 'once, and not at once');
    writeFileSync(`${file()}.lock`, '{"pid":1}');
    appendFileSync(file(), note.slice(20));
    for (let i = 0; i < 12; i++) await watch.look();
    assert.ok(content().endsWith(note));
    utimesSync(`${file()}.lock`, 1, 1);
    for (let i = 0; i < 20; i++) await watch.look();
    assert.ok(!existsSync(`${file()}.lock`), 'one that OpenClaw takes to be left over holds nobody up');
    assert.deepEqual(
      lines()
        .slice(4)
        .map(({ parentId, message }) => [parentId, message?.content[0]!.text]),
      [
        ['a3', 'And?'],
        [lines()[4]!.id, 'So.'],
      ],
    );
  });

  it('wait while OpenClaw answers a question, which would break off otherwise', async () => {
    appendFileSync(file(), said('a3', 'a2', 'And on Monday?'));
    await watch.look();
    await turn('Yes, on Monday?', 'Low.');
    for (let i = 0; i < 12; i++) await watch.look();
    assert.equal(lines().length, 4);
    const anHourAgo = Date.now() / 1000 - 3600;
    utimesSync(file(), anHourAgo, anHourAgo);
    for (let i = 0; i < 12; i++) await watch.look();
    assert.equal(lines().length, 6, 'until it has clearly given up');
  });

  it('stay on a branch of their own when OpenClaw’s user has written at the same moment; there the user is told and can go over', async () => {
    const claim = testUuid();
    await store.claim(session, claim);
    await turn('Mine', 'To you.');
    appendFileSync(file(), said('a3', 'a2', 'Theirs') + said('a4', 'a3', 'To them.', 'assistant', { stopReason: 'stop' }));
    const before = content();
    await store.release(session, claim);
    for (let i = 0; i < 12; i++) await watch.look();
    assert.deepEqual([content(), notices], [before, [{ type: 'parted', messages: 2 }]]);
    assert.deepEqual([await texts(), (await store.branches(session)).length], [['What is the tide?', 'High.', 'Mine', 'To you.'], 2]);
    await watch.goToTip();
    await turn('Mine again', 'To all.');
    await watch.look();
    assert.deepEqual(await texts(), ['What is the tide?', 'High.', 'Theirs', 'To them.', 'Mine again', 'To all.']);
    assert.deepEqual(
      lines()
        .slice(5)
        .map(({ parentId, message }) => [parentId, message!.content[0]!.text]),
      [
        ['a4', 'Mine again'],
        [lines()[5]!.id, 'To all.'],
      ],
    );
  });

  it('follow an edit here with an edit there, as long as nobody has answered to what is taken back', async () => {
    const before = await leaf();
    await turn('First try', 'x');
    await watch.look();
    await turn('Second try', 'y', before);
    await watch.look();
    assert.deepEqual(
      lines()
        .slice(5)
        .map(({ parentId, message }) => [parentId, message!.content[0]!.text]),
      [
        ['a2', 'Second try'],
        [lines()[5]!.id, 'y'],
      ],
    );
    await watch.look();
    assert.deepEqual(await texts(), ['What is the tide?', 'High.', 'Second try', 'y']);
  });

  it('are tried again in their order after a failure, which is told once', async () => {
    const before = content();
    chmodSync(file(), 0o444);
    const undo = asNobody(temp.path, file());
    try {
      await turn('one', '1');
      for (let i = 0; i < 12; i++) await watch.look();
      await turn('two', '2');
      for (let i = 0; i < 12; i++) await watch.look();
      assert.equal(content(), before);
      assert.deepEqual([notices.map(({ type }) => type), readdirSync(folder).sort()], [['failed'], ['one.jsonl', 'sessions.json']]);
      assert.match(JSON.stringify(notices), /EACCES/);
    } finally {
      undo();
    }
    chmodSync(file(), 0o644);
    for (let i = 0; i < 12; i++) await watch.look();
    assert.deepEqual(
      lines()
        .slice(3)
        .map(({ message }) => message!.content[0]!.text),
      ['one', '1', 'two', '2'],
    );
  });

  it('are known again after a restart, in a rewritten file too', async () => {
    await turn('one', '1');
    await watch.look();
    await end();
    const written = content();
    await begin();
    await watch.look();
    assert.deepEqual([content(), await texts()], [written, ['What is the tide?', 'High.', 'one', '1']]);
    writeFileSync(`${file()}.tmp`, written.replace('"cwd":"/work"', '"cwd":"/work","rewritten":true'));
    renameSync(`${file()}.tmp`, file());
    const { ino } = statSync(file());
    await turn('two', '2');
    for (let i = 0; i < 3; i++) await watch.look();
    assert.deepEqual(
      [
        lines()
          .slice(3)
          .map(({ message }) => message!.content[0]!.text),
        statSync(file()).ino,
      ],
      [['one', '1', 'two', '2'], ino],
    );
    assert.deepEqual(await texts(), ['What is the tide?', 'High.', 'one', '1', 'two', '2']);
  });

  it('are written once where two windows watch the same session', async () => {
    const elsewhere = await openTestStore(join(temp.path, 'store'), 'another window');
    const other = new OpenClawWatch({
      source: new OpenClawFolder(folder, key),
      store: elsewhere,
      ids: new UuidV7(),
      now: Date.now,
      log,
      added: () => undefined,
    });
    other.writeReplies(true);
    await other.look();
    for (let i = 0; i < 3; i++) {
      await turn(`question ${i}`, `answer ${i}`);
      for (let n = 0; n < 8; n++) await Promise.all([watch.look(), other.look()]);
    }
    await other.stop();
    await elsewhere.close();
    assert.deepEqual(
      lines()
        .slice(3)
        .map(({ message }) => message!.content[0]!.text),
      ['question 0', 'answer 0', 'question 1', 'answer 1', 'question 2', 'answer 2'],
    );
    assert.equal((await texts()).length, 8);
  });

  it('are never lost, doubled or put where OpenClaw’s own words are passed over, whatever happens in whatever order', async function () {
    this.timeout(60_000);
    const step = fc.constantFrom('turn', 'theirs', 'note', 'half', 'compact', 'off', 'on', 'restart', 'look', 'goToTip');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        const written: string[] = [];
        let n = 0;
        let half = '';
        const finish = () => {
          if (half !== '') appendFileSync(file(), half);
          half = '';
        };
        const theirLeaf = () => lines().at(-1)!.id;
        for (const one of steps) {
          const before = content();
          if (one === 'turn') written.push(...(await turn(`mine ${++n}`, `to mine ${n}`)).map(({ content: said }) => entryText(said)));
          else if (one === 'compact')
            await store.append(session, {
              entries: [{ ...userMessage(session, await leaf(), ''), content: compactionContent(testUuid(), null) }],
            });
          else if (one === 'off' || one === 'on') watch.writeReplies(one === 'on');
          else if (one === 'goToTip') await watch.goToTip();
          else if (one === 'restart') {
            await end();
            await begin();
          } else if (one !== 'look') {
            finish();
            const id = `f${++n}`;
            const line =
              one === 'note'
                ? `${JSON.stringify({ type: 'custom', id, parentId: theirLeaf(), customType: 'model-snapshot', data: {} })}\n`
                : said(id, theirLeaf(), `theirs ${n}`, 'assistant', { stopReason: 'stop' });
            const cut = one === 'half' ? 9 : line.length;
            appendFileSync(file(), line.slice(0, cut));
            half = line.slice(cut);
          }
          for (let i = 0; i < 3; i++) await watch.look();
          assert.ok(content().startsWith(before), 'nothing is rewritten');
        }
        finish();
        watch.writeReplies(true);
        for (let i = 0; i < 10; i++) await watch.look();
        const [records, ids] = [lines().slice(1), new Set(lines().map(({ id }) => id))];
        assert.equal(ids.size, records.length + 1, 'no id twice');
        assert.deepEqual(
          records.filter(({ parentId }) => !ids.has(parentId!)),
          [],
        );
        const branch = new Set<string>();
        for (let at: string | null | undefined = records.at(-1)!.id; at; at = records.find(({ id }) => id === at)?.parentId) branch.add(at);
        assert.deepEqual(
          records.filter(({ id, message }) => message?.['idempotencyKey'] === undefined && !branch.has(id)),
          [],
          'OpenClaw goes on from everything it said',
        );
        const there = records.flatMap(({ message }) => (message?.['idempotencyKey'] === undefined ? [] : [message.content[0]!.text]));
        assert.deepEqual(
          there,
          written.filter((text) => there.includes(text)),
          'in their order, each once',
        );
        // What is not there is on a branch that OpenClaw has left behind.
        if (there.length < written.length) assert.ok((await store.branches(session)).length > 1, JSON.stringify(steps));
        const all = (await store.entriesBySeq(await store.entrySeqs(session)))
          .filter(({ content: { type } }) => type === 'message')
          .map((entry) => entryText(entry.content));
        assert.equal(new Set(all).size, all.length, 'nothing twice here');
        await cleanUp();
        await reset();
      }),
      { numRuns: 12 },
    );
  });
});

/** Permissions mean nothing to root: the rest of the test is done by somebody whom everything belongs to but one file. */
function asNobody(folder: string, file: string): () => void {
  if (process.getuid?.() !== 0) return () => undefined;
  const nobody = 65534;
  for (const name of ['', ...(readdirSync(folder, { recursive: true }) as string[])]) chownSync(join(folder, name), nobody, nobody);
  chownSync(file, 0, 0);
  process.seteuid!(nobody);
  return () => process.seteuid!(0);
}
