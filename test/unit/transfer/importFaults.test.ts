import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { readLines } from '../../../src/node/transfer/foreign/readJsonLines';
import { brief, ImportRig } from '../../support/store/importRig';
import { promptFaults } from '../../support/chat/promptFaults';

const header = { type: 'session', version: 3, id: 's1', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' };
const user = (id: string, parentId: string | null, text: string) => ({
  type: 'message',
  id,
  parentId,
  timestamp: '2026-09-01T10:00:01Z',
  message: { role: 'user', content: text },
});

describe('an import of what is broken', () => {
  let rig: ImportRig;
  const added: string[] = [];

  beforeEach(async () => {
    rig = await ImportRig.open();
    added.length = 0;
  });
  afterEach(() => rig.close());

  it('leaves no file open when it was stopped before it began to read', async function () {
    if (process.platform !== 'linux') return this.skip();
    const file = rig.source('s.jsonl', '{}\n');
    const isOpen = (fd: string) => {
      try {
        return readlinkSync(join('/proc/self/fd', fd)) === file;
      } catch {
        return false;
      }
    };
    const read = async () => {
      for await (const _ of readLines(file, 0, AbortSignal.abort()));
    };
    await assert.rejects(read(), { name: 'AbortError' });
    // What has been opened meanwhile is seen: a file is opened by the same four threads, one behind the other.
    await Promise.all(Array.from({ length: 16 }, () => stat(file)));
    assert.deepEqual(readdirSync('/proc/self/fd').filter(isOpen), []);
  });

  it('takes a line of 15 MB, a NUL, half a character, CR LF and a missing last line end', async () => {
    const long = 'x'.repeat(15 * 1024 * 1024);
    const rows = [header, user('a', null, long), user('b', 'a', 'nul \0 and half \ud83d'), user('c', 'b', 'the end')]
      .map((row) => JSON.stringify(row))
      .join('\r\n');
    const { uuid, repaired } = await rig.only(rig.source('long.jsonl', rows));
    const texts = (await rig.branch(uuid)).map(({ content }) => ('text' in content ? content.text : ''));
    assert.deepEqual(
      { firstTexts: texts[0] === long, texts: texts.slice(1), repaired },
      { firstTexts: true, texts: ['nul \0 and half \ud83d', 'the end'], repaired: [] },
    );
  });

  it('leaves a half-written last line for the next import, which finds it', async () => {
    const whole = JSON.stringify(user('b', 'a', 'später'));
    const file = rig.source('half.jsonl', `${[header, user('a', null, 'first')].map((row) => JSON.stringify(row)).join('\n')}\n`);
    // Cut within a character of two bytes.
    const bytes = Buffer.from(`${whole}\n`);
    const cut = bytes.indexOf(0xc3) + 1;
    appendFileSync(file, bytes.subarray(0, cut));
    const first = await rig.only(file);
    assert.deepEqual(
      [first.entriesAdded, first.repaired.map(({ kind }) => kind)],
      [1, ['half-written last line, left for the next import']],
    );
    appendFileSync(file, bytes.subarray(cut));
    const second = await rig.only(file);
    assert.deepEqual(
      { entriesAdded: second.entriesAdded, repaired: second.repaired, branch: (await rig.branch(second.uuid)).map(brief) },
      { entriesAdded: 1, repaired: [], branch: ['user: first', 'user: später'] },
    );
  });

  it('repairs dangling parents, circles and duplicate ids, and loses nothing', async () => {
    const { uuid, repaired } = await rig.only(
      rig.source('tree.jsonl', [
        header,
        user('a', null, 'a'),
        user('b', 'gone', 'b'),
        user('c', 'e', 'c'),
        user('d', 'c', 'd'),
        user('e', 'd', 'e'),
        user('a', 'b', 'other a'),
        user('b', 'gone', 'b'),
        user('f', 'f', 'itself'),
      ]),
    );
    assert.deepEqual(repaired, [
      { kind: 'duplicate id', count: 1 },
      { kind: 'repeated record', count: 1 },
      { kind: 'missing parent', count: 1 },
      { kind: 'circle of parents', count: 2 },
    ]);
    const all = await rig.entries(uuid);
    assert.deepEqual(
      all.map(brief).toSorted(),
      ['a', 'b', 'c', 'd', 'e', 'itself', 'other a'].map((text) => `user: ${text}`),
    );
    const parentOf = (text: string) =>
      brief(all.find(({ uuid: one }) => one === all.find((entry) => brief(entry) === `user: ${text}`)!.parent)!);
    assert.deepEqual(
      [parentOf('b'), parentOf('c'), parentOf('d'), parentOf('e'), parentOf('other a')],
      ['user: a', 'user: b', 'user: c', 'user: d', 'user: b'],
    );
  });

  it('waits for a parent that comes later, however long the chain', async () => {
    const count = 3000;
    const rows = Array.from({ length: count }, (_, i) => user(`r${i}`, i === 0 ? null : `r${i - 1}`, `m${i}`));
    const file = rig.source('late.jsonl', [header, ...rows.reverse()]);
    // Stopped half way, it leaves what waits for the next time, instead of putting it anywhere.
    const stop = new AbortController();
    const stopped = await rig.import(file, { signal: stop.signal, onProgress: ({ fraction }) => fraction > 0.5 && stop.abort() });
    assert.deepEqual([stopped.sessions, stopped.cancelled], [[], true]);
    const { uuid, repaired } = await rig.only(file);
    const branch = await rig.branch(uuid);
    assert.deepEqual(
      { repaired, brief: brief(branch[0]!), entriesCount: (await rig.entries(uuid)).length },
      { repaired: [], brief: 'user: m0', entriesCount: count },
    );
  });

  it('begins a session where the header is missing, and keeps lines that are no records', async () => {
    const { uuid, repaired, keptRaw, title } = await rig.only(
      rig.source('headless.jsonl', [user('a', 'gone', 'first'), '{"broken', '[1,2]', '"text"', user('b', 'a', 'second')]),
    );
    assert.deepEqual(
      { title, repaired, keptRaw },
      {
        title: 'first',
        repaired: [
          { kind: 'missing header', count: 1 },
          { kind: 'missing parent', count: 1 },
        ],
        keptRaw: [{ kind: 'line', count: 3 }],
      },
    );
    assert.deepEqual((await rig.branch(uuid)).filter(({ display }) => display).map(brief), ['user: first', 'user: second']);
    const raw = (await rig.entries(uuid))
      .filter(({ content }) => content.type === 'custom')
      .map(({ content, modelFacing }) => [content.type === 'custom' && content.data, modelFacing]);
    assert.deepEqual(raw, [
      ['{"broken', false],
      [[1, 2], false],
      ['text', false],
    ]);
  });

  it('answers calls without a result and drops results without a call, from the prompt only', async () => {
    const assistant = (id: string, parentId: string, ...content: unknown[]) => ({
      ...user(id, parentId, ''),
      message: { role: 'assistant', provider: 'anthropic', model: 'm', content },
    });
    const result = (id: string, parentId: string, toolCallId: string) => ({
      ...user(id, parentId, ''),
      message: { role: 'toolResult', toolCallId, toolName: 'read', content: 'found' },
    });
    const call = (id: string) => ({ type: 'toolCall', id, name: 'read', arguments: {} });
    const { uuid } = await rig.only(
      rig.source('orphans.jsonl', [
        header,
        result('a', '', 'never'),
        assistant('b', 'a', call('one'), call('two')),
        result('c', 'b', 'two'),
        user('d', 'c', 'go on'),
        result('e', 'd', 'one'),
        assistant('f', 'e', call('three')),
      ]),
    );
    const { messages } = await rig.projection(uuid);
    assert.deepEqual(promptFaults(messages), []);
    assert.equal((await rig.entries(uuid)).length, 7);
  });

  it('says what it cannot import, and stops when it is told to with what it has in good order', async () => {
    const nothing = rig.source('notes.txt', 'not a session\n');
    const empty = rig.source('empty.jsonl', '');
    assert.deepEqual(
      (await rig.import([nothing, empty])).failed.map(({ reason }) => reason),
      ['It is none of the formats that can be imported.', 'It is none of the formats that can be imported.'],
    );
    const folder = dirname(rig.source('none/notes.json', '{"a":1}'));
    assert.deepEqual((await rig.import([folder, rig.source('one.jsonl', [{ ...header, id: 'other' }, user('a', null, 'x')])])).failed, [
      { source: folder, reason: 'There are no sessions in it.' },
    ]);
    await assert.rejects(rig.import(join(folder, 'nowhere')), { message: `There is no file or folder ${join(folder, 'nowhere')}.` });
    const rows = Array.from({ length: 5000 }, (_, i) => user(`r${i}`, i === 0 ? null : `r${i - 1}`, `m${i}`));
    const file = rig.source('big.jsonl', [header, ...rows]);
    const stop = new AbortController();
    const report = await rig.import(file, { signal: stop.signal, onProgress: ({ fraction }) => fraction > 0.5 && stop.abort() });
    const [session] = report.sessions;
    assert.ok(report.cancelled && session && session.entriesAdded > 1000 && session.entriesAdded < 5000, JSON.stringify(report));
    const { entriesAdded, outcome } = await rig.only(file);
    assert.deepEqual(
      { entriesAdded: entriesAdded + session.entriesAdded, outcome, branchesCount: (await rig.store.branches(session.uuid)).length },
      { entriesAdded: 5000, outcome: 'extended', branchesCount: 1 },
    );
  });

  it('finds sessions in a folder by what they are, archives and lists apart', async () => {
    rig.source('agents/main/sessions/sessions.json', '{"agent:main:main":{"sessionId":"s1"}}');
    rig.source('agents/main/sessions/s1.jsonl', [header, user('a', null, 'kept')]);
    rig.source('agents/main/sessions/s2.jsonl.reset.2026-01-01', [header, user('a', null, 'reset')]);
    rig.source('agents/main/sessions/s3.jsonl.deleted.2026-01-01', [header, user('a', null, 'deleted')]);
    const readme = rig.source('agents/notes.json', '{"a":1}');
    const { sessions, failed } = await rig.import(readme.replace('/notes.json', ''));
    assert.deepEqual([sessions.map(({ title }) => title), failed], [['kept'], []]);
    renameSync(readme, `${readme}.jsonl`);
  });

  it('finds sessions whose first line is longer than what is looked at, by how it begins', async () => {
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(400_000) } };
    const said = { role: 'user', content: [{ type: 'text', text: 'look' }, picture] };
    const claude = { parentUuid: null, sessionId: 'c1', type: 'user', message: said, uuid: 'u1', timestamp: '2026-09-01T10:00:01Z' };
    rig.source('folder/claude.jsonl', [claude]);
    rig.source('folder/late.jsonl', [{ message: said, uuid: 'u1', type: 'user', sessionId: 'c2' }]);
    rig.source('folder/pi.jsonl', [{ ...user('a', null, ''), message: said }]);
    rig.source(
      'folder/continue.json',
      JSON.stringify({ title: 'look', history: [{ message: { role: 'user', content: 'x'.repeat(400_000) } }], sessionId: 'c3' }),
    );
    rig.source('folder/1788000000000/api_conversation_history.json', JSON.stringify([{ content: said.content, role: 'user', ts: 1 }]));
    const { sessions, failed, passedOver } = await rig.import(join(rig.temp.path, 'sources', 'folder'));
    assert.deepEqual(
      { sessions: sessions.map(({ format }) => format), failed, passedOver },
      { sessions: ['cline', 'claude-code', 'continue', 'claude-code', 'pi'], failed: [], passedOver: [] },
    );
  });

  it('names everything in a folder that is left where it is, and why', async () => {
    const folder = join(rig.temp.path, 'sources', 'folder');
    rig.source('folder/good.jsonl', [header, user('a', null, 'good')]);
    const odd = rig.source('folder/odd.jsonl', '{"nobody":"knows"}\n');
    const empty = rig.source('folder/empty.jsonl', '');
    const notes = rig.source('folder/notes.json', '{"a":1}');
    const archive = rig.source('folder/s.jsonl.reset.2026-01-01', [header, user('a', null, 'reset')]);
    const link = join(folder, 'link.jsonl');
    symlinkSync(odd, link);
    const names = Array.from({ length: 9 }, (_, i) => `d${i}`);
    rig.source(`folder/${names.join('/')}/deep.jsonl`, [header]);
    const { sessions, failed, passedOver } = await rig.import(folder);
    const unknown = 'It is none of the formats that can be imported.';
    assert.deepEqual([sessions.map(({ title }) => title), failed], [['good'], [{ source: odd, reason: unknown }]]);
    assert.deepEqual(
      new Map(passedOver.map(({ source, reason }) => [source, reason])),
      new Map([
        [join(folder, ...names), 'It lies too deep in the folder. Name it to import what is in it.'],
        [link, 'It is a link. Name it to import what it leads to.'],
        [archive, 'OpenClaw has put it away. Name it to import it.'],
        [empty, 'It is empty.'],
        [notes, unknown],
      ]),
    );
  });

  it('waits for nothing that is no file', async () => {
    const pipe = join(rig.temp.path, 'pipe.jsonl');
    execFileSync('mkfifo', [pipe]);
    assert.deepEqual((await rig.import(pipe)).failed, [{ source: pipe, reason: 'It is no file.' }]);
  });

  it('reads lines as they were written, wherever the reads fall and whatever ends them', async () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'ä', '漢', '😀', ' ', '\t', '"'), maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 30 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.nat(),
        async (lines, end, closed, skip) => {
          const text = `${lines.join(end)}${closed ? end : ''}`;
          const file = rig.source('lines.txt', text);
          const read = [];
          for await (const one of readLines(file)) read.push(one);
          const written = text.split(end);
          assert.deepEqual(
            read.map((one) => one.text),
            written.at(-1) === '' ? written.slice(0, -1) : written,
          );
          if (read.length === 0) return;
          const from = read[skip % read.length]!;
          const again = [];
          for await (const one of readLines(file, from.start)) again.push(one);
          assert.deepEqual(again, read.slice(skip % read.length));
        },
      ),
      { numRuns: 30 },
    );
  });
});
