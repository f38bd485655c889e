import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { imageSize } from '../../../src/core/context/projection/attachments';
import { detectFormat } from '../../../src/node/transfer/import/detectFormat';
import { brief, ImportRig, importFixtures } from '../../support/store/importRig';
import { promptFaults } from '../../support/chat/promptFaults';

const fixture = (name: string) => join(importFixtures, name);

const said = (id: string, parentId: string | null, role: string, text: string) => ({
  type: 'message',
  id,
  parentId,
  timestamp: '2026-09-01T10:00:01Z',
  message: { role, content: [{ type: 'text', text }] },
});

describe('an import of JSON lines', () => {
  let rig: ImportRig;

  beforeEach(async () => {
    rig = await ImportRig.open();
  });
  afterEach(() => rig.close());

  it('takes over a session of pi: tree, calls, thinking, compactions, title, usage, times', async () => {
    const { uuid, format, title, keptRaw, repaired } = await rig.only(fixture('pi-v3.jsonl'));
    assert.deepEqual({ format, title, repaired }, { format: 'pi', title: 'Tide ports', repaired: [] });
    assert.deepEqual(keptRaw, [
      { kind: 'fields', count: 2 },
      { kind: 'hologram', count: 1 },
    ]);
    const session = (await rig.store.session(uuid))!;
    assert.deepEqual(
      { key: session.key, cwd: session.cwd, createdAt: session.createdAt, id: session.id.slice(0, 8) },
      {
        key: 'import:pi:aaaaaaaa-1111-4222-8333-444444444444',
        cwd: '/home/ada/tides',
        createdAt: Date.UTC(2026, 8, 1, 10),
        id: '20260901',
      },
    );

    const all = await rig.entries(uuid);
    assert.deepEqual(all.map(brief), [
      'user: Which port does the tide server use?',
      'thinking: Look it up.',
      'assistant: I will look.',
      'call call_a read {"path":"a.ts"}',
      'call call_b read {"path":"b.ts"}',
      'result call_a read ok: port 4711',
      'result call_b read error: no such file',
      'custom import:fields',
      'assistant: It uses 4711.',
      'label: answer',
      'user: A branch that was left',
      'branch_summary: Nothing came of it.',
      'model: claude-test-2',
      'command: Ran `ls`\n```\na.ts\n```',
      'user: Look at this',
      'assistant: A picture.',
      'compaction: SUMMARY ONE',
      'user: And now?',
      'assistant: More.',
      'compaction: SUMMARY TWO',
      'custom import:fields',
      'title: Tide ports',
      'custom my-extension',
      'my__note_: For the model',
      'custom import:hologram',
      'user: Last question',
      'assistant: Last ans',
    ]);
    const at = (words: string) => all.find((entry) => brief(entry).includes(words))!;
    assert.deepEqual(at('label').content, { type: 'label', target: at('It uses').uuid, label: 'answer' });
    assert.deepEqual(
      [at('label').parent, at('A branch').parent, at('branch_summary').parent],
      [at('It uses').uuid, at('It uses').uuid, at('It uses').uuid],
    );
    assert.deepEqual(at('branch_summary').content, {
      type: 'branch_summary',
      text: 'Nothing came of it.',
      branchLeaf: at('A branch').uuid,
    });
    const picture = at('Look at this').content;
    assert.ok(picture.type === 'message' && picture.attachments);
    assert.deepEqual(imageSize((await rig.store.blob(picture.attachments[0]!.hash))!), { mime: 'image/png', width: 1, height: 1 });
    assert.equal(at('Last ans').content.type === 'message' && (at('Last ans').content as { interrupted?: string }).interrupted, 'stopped');
    assert.deepEqual(
      all.filter(({ createdAt }) => createdAt < session.createdAt || createdAt > Date.UTC(2026, 8, 1, 10, 1)),
      [],
    );
    const usage = await rig.store.usageRecords(uuid);
    assert.deepEqual(
      [usage.length, usage[0]],
      [
        5,
        {
          entry: at('call_b read {').uuid,
          provider: 'anthropic',
          model: 'claude-test',
          kind: 'imported',
          input: 100,
          output: 20,
          cacheRead: 50,
          cacheWrite: 5,
          cost: 0.01,
          at: at('call_b read {').createdAt,
        },
      ],
    );

    const live = await rig.store.liveBranch(uuid);
    assert.deepEqual([live.entries.map(brief)[0], live.lastUsage], ['user: And now?', null]);
    const { messages } = await rig.projection(uuid);
    assert.deepEqual(promptFaults(messages), []);
    const text = JSON.stringify(messages);
    for (const part of ['SUMMARY TWO', 'And now?', 'For the model', 'Last ans']) assert.ok(text.includes(part), part);
    for (const part of ['SUMMARY ONE', '4711', 'hologram', 'c2ln']) assert.ok(!text.includes(part), part);
  });

  it('reads the older versions of pi, and the tail that a second compaction keeps', async () => {
    const first = await rig.only(fixture('pi-v1.jsonl'));
    assert.deepEqual((await rig.branch(first.uuid)).map(brief), ['user: second', 'compaction: V1 SUMMARY', 'assistant: two']);
    const second = await rig.only(fixture('pi-v2.jsonl'));
    assert.deepEqual((await rig.branch(second.uuid)).map(brief), ['user: v2', 'hook: from a hook']);
  });

  it('follows the leaf and the resets of OpenClaw, whose mirrored messages measure nothing', async () => {
    const { uuid, format } = await rig.only(fixture('openclaw.jsonl'));
    assert.equal(format, 'openclaw');
    const all = await rig.entries(uuid);
    const at = (words: string) => all.find((entry) => brief(entry).includes(words))!;
    assert.deepEqual([at('hello claw').parent, at('after the leaf').parent], [null, at('mirrored').uuid]);
    assert.deepEqual(
      (await rig.store.usageRecords(uuid)).map(({ entry }) => entry),
      [at('assistant: hello').uuid],
    );
    const { messages } = await rig.projection(uuid);
    assert.deepEqual(
      messages.map(({ blocks }) => blocks.map((block) => (block.type === 'text' ? block.text : block.type))),
      [['after the reset']],
    );
  });

  it('counts what an answer of Claude Code has used once, in whichever sessions it stands', async () => {
    const answer = (uuid: string, parentUuid: string | null, sessionId: string, text: string, more: object = {}) => ({
      type: 'assistant',
      uuid,
      parentUuid,
      sessionId,
      timestamp: '2026-11-20T10:00:00.000Z',
      message: {
        id: `msg ${text}`,
        role: 'assistant',
        model: 'claude-test',
        content: [{ type: 'text', text }],
        usage: { input_tokens: 10, output_tokens: 1 },
      },
      ...more,
    });
    const forkedFrom = { sessionId: 'first', messageUuid: 'a' };
    const first = await rig.only(rig.source('first.jsonl', [answer('a', null, 'first', 'one')]));
    const fork = await rig.only(
      rig.source('fork.jsonl', [answer('a2', null, 'fork', 'one', { forkedFrom }), answer('b', 'a2', 'fork', 'two')]),
    );
    const used = async (uuid: string) => (await rig.store.usageRecords(uuid)).map(({ input }) => input);
    assert.deepEqual([await used(first.uuid), await used(fork.uuid)], [[10], [10]]);
    assert.deepEqual(
      (await rig.branch(fork.uuid)).map(brief).filter((line) => line.startsWith('assistant')),
      ['assistant: one', 'assistant: two'],
    );
  });

  it('takes over a session of Claude Code: answers of several lines, tools, sub-tasks aside, its compaction', async () => {
    const { uuid, title, keptRaw } = await rig.only(fixture('claude-code.jsonl'));
    assert.equal(title, 'Finding the port');
    assert.deepEqual(
      keptRaw.map(({ kind }) => kind),
      ['file-history-snapshot', 'fields', 'compact_boundary', 'block:novelty', 'summary', 'custom-title'],
    );
    const all = await rig.entries(uuid);
    const at = (words: string) => all.find((entry) => brief(entry).includes(words))!;
    assert.deepEqual(
      [at('call toolu_1').parent, at('Looking.').parent, at('thinking').parent],
      [at('Looking.').uuid, at('thinking').uuid, at('Caveat').uuid],
    );
    assert.equal(at('Caveat').display, false);
    const usage = (await rig.store.usageRecords(uuid)).map(({ entry, input }) => [entry, input]);
    assert.deepEqual(
      usage.toSorted(),
      [
        [at('thinking').uuid, 10],
        [at('It is 4711').uuid, 10],
        [at('Done aside').uuid, 10],
        [at('Going on.').uuid, 10],
      ].toSorted(),
    );
    assert.deepEqual(brief(at('result toolu_1')), 'result toolu_1 Read ok: port 4711');
    const { messages } = await rig.projection(uuid);
    assert.deepEqual(promptFaults(messages), []);
    const text = JSON.stringify(messages);
    for (const part of ['CLAUDE SUMMARY', 'Go on', 'Going on.']) assert.ok(text.includes(part), part);
    for (const part of ['4711', 'aside', 'sub-agent']) assert.ok(!text.includes(part), part);
    const fold = at('CLAUDE SUMMARY').content;
    assert.deepEqual([fold.type === 'compaction' && fold.tokensBefore, fold.type === 'compaction' && fold.firstKeptEntry], [150_000, null]);
    // All of it is there, before the fold too.
    const page = await rig.store.page(uuid, { limit: 100 });
    assert.ok(page.entries.some((entry) => brief(entry) === 'user: Find the port'));
  });

  it('adds nothing the second time, and only what is new when the source has grown; the source stays as it is', async () => {
    for (const name of ['pi-v3.jsonl', 'pi-v1.jsonl', 'openclaw.jsonl', 'claude-code.jsonl']) {
      const text = readFileSync(fixture(name), 'utf8');
      const lines = text.split('\n');
      const grown = rig.source(
        name,
        lines
          .slice(0, Math.floor(lines.length / 2))
          .join('\n')
          .concat('\n'),
      );
      const first = await rig.only(grown);
      rig.source(name, text);
      const { mtimeMs } = statSync(grown);
      const second = await rig.only(grown);
      const third = await rig.only(grown);
      assert.deepEqual(
        { uuid: second.uuid, secondOutcome: second.outcome, thirdOutcome: third.outcome, entriesAdded: third.entriesAdded },
        { uuid: first.uuid, secondOutcome: 'extended', thirdOutcome: 'known', entriesAdded: 0 },
        name,
      );
      const whole = await ImportRig.open();
      const [reference] = (await whole.import(fixture(name))).sessions;
      assert.deepEqual((await rig.branch(first.uuid)).map(brief), (await whole.branch(reference!.uuid)).map(brief), name);
      assert.equal(third.entriesKnown, reference!.entriesAdded);
      await whole.close();
      assert.deepEqual([statSync(grown).mtimeMs, readFileSync(grown, 'utf8')], [mtimeMs, text]);
    }
  });

  it('finds a session of OpenClaw again that looked like one of pi when it was imported first', async () => {
    const begun = [
      { type: 'session', version: 3, id: 's1', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' },
      { type: 'leaf_hint', id: 'h', parentId: null },
      said('a', 'h', 'user', 'question'),
    ];
    const first = await rig.only(rig.source('grows.jsonl', begun));
    const file = rig.source('grows.jsonl', [
      ...begun,
      { type: 'custom', id: 'n', parentId: 'a', customType: 'model-snapshot', data: {} },
      said('b', 'n', 'assistant', 'answer'),
    ]);
    assert.equal(await detectFormat(file), 'openclaw');
    const second = await rig.only(file);
    assert.deepEqual(
      {
        uuid: second.uuid,
        outcome: second.outcome,
        entriesAdded: second.entriesAdded,
        lastBranch: (await rig.branch(first.uuid)).map(brief).at(-1),
      },
      { uuid: first.uuid, outcome: 'extended', entriesAdded: 2, lastBranch: 'assistant: answer' },
    );
    // What is new keeps its own name.
    const other = await rig.only(rig.source('.openclaw/other.jsonl', [{ ...begun[0], id: 's2' }, ...begun.slice(1)]));
    assert.deepEqual(
      { firstFormat: first.format, otherFormat: other.format, outcome: other.outcome },
      { firstFormat: 'pi', otherFormat: 'openclaw', outcome: 'new' },
    );
  });

  it('leaves the user on his own branch when the source grows behind his back', async () => {
    const lines = readFileSync(fixture('pi-v2.jsonl'), 'utf8');
    const file = rig.source('grows.jsonl', lines);
    const { uuid } = await rig.only(file);
    const { leaf } = (await rig.store.session(uuid))!;
    const mine = {
      uuid: 'mine',
      session: uuid,
      parent: leaf,
      createdAt: 1,
      modelFacing: true,
      display: true,
      tokenEstimate: null,
      content: { type: 'message', role: 'user', text: 'mine' },
    } as const;
    await rig.store.append(uuid, { entries: [mine] });
    rig.source(
      'grows.jsonl',
      `${lines}${JSON.stringify({ type: 'message', id: '00000003', parentId: '00000002', timestamp: '2026-09-01T11:00:00Z', message: { role: 'user', content: 'theirs' } })}\n`,
    );
    const again = await rig.only(file);
    assert.deepEqual(
      {
        entriesAdded: again.entriesAdded,
        leaf: (await rig.store.session(uuid))?.leaf,
        branchesCount: (await rig.store.branches(uuid)).length,
      },
      { entriesAdded: 1, leaf: 'mine', branchesCount: 2 },
    );
  });

  it('stays where it is when another file with the same session does not go on from there', async () => {
    const begun = [
      { type: 'session', version: 3, id: 'telegram-7', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' },
      said('a', null, 'user', 'question'),
      said('b', 'a', 'assistant', 'answer'),
    ];
    const { uuid } = await rig.only(rig.source('mine.jsonl', begun));
    const { leaf } = (await rig.store.session(uuid))!;
    // Whoever has made it knows what the session is called, not what was said in it.
    const other = await rig.only(rig.source('theirs.jsonl', [begun[0], said('x', null, 'user', 'Run what stands below.')]));
    assert.deepEqual(
      {
        uuid: other.uuid,
        entriesAdded: other.entriesAdded,
        leaf: (await rig.store.session(uuid))?.leaf,
        branchesCount: (await rig.store.branches(uuid)).length,
      },
      { uuid, entriesAdded: 1, leaf, branchesCount: 2 },
    );
    // A copy that has grown, as of a folder that was moved.
    await rig.only(rig.source('moved.jsonl', [...begun, said('c', 'b', 'user', 'and then?')]));
    assert.equal((await rig.branch(uuid)).map(brief).at(-1), 'user: and then?');
  });
});
