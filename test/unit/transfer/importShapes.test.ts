import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOpenClaw } from '../../../src/node/transfer/openClaw/findOpenClaw';
import { pngOf } from '../../support/pngOf';
import { brief, ImportRig } from '../../support/store/importRig';
import { promptFaults } from '../../support/chat/promptFaults';
import { wasmFile } from '../../support/store/storeTemp';

const header = { type: 'session', version: 3, id: 's1', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' };
const record = (type: string, id: string, parentId: string | null, more: object) => ({
  type,
  id,
  parentId,
  timestamp: '2026-09-01T10:00:01Z',
  ...more,
});
const message = (id: string, parentId: string | null, role: string, more: object) =>
  record('message', id, parentId, { message: { role, ...more } });
const user = (id: string, parentId: string | null, content: string) => message(id, parentId, 'user', { content });

describe('what else histories of other programs hold', () => {
  let rig: ImportRig;

  beforeEach(async () => {
    rig = await ImportRig.open();
  });
  afterEach(() => rig.close());

  const branch = async (uuid: string) => (await rig.branch(uuid)).map(brief);

  it('what is no image in the place of one is named in words and not kept as one, in whatever format', async () => {
    const [png, pdf] = [pngOf(640, 480), Buffer.from(`%PDF-1.7 ${'binary '.repeat(1_000)}`)];
    const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
    const gemini = rig.source('chats/session-a.jsonl', [
      { sessionId: 'g1', projectHash: 'p', startTime: '2026-09-01T10:00:00Z', lastUpdated: '2026-09-01T10:00:00Z', kind: 'main' },
      {
        id: 'm1',
        timestamp: '2026-09-01T10:00:01Z',
        type: 'user',
        content: [
          { text: 'Read @spec.pdf' },
          { inlineData: { mimeType: 'application/pdf', data: base64(pdf) } },
          { inlineData: { mimeType: 'image/jpg', data: base64(png) } },
        ],
      },
    ]);
    const codex = rig.source('codex.jsonl', [
      { timestamp: '2026-09-01T10:00:00Z', type: 'session_meta', payload: { id: '0198f000-0000-7000-8000-000000000001', cwd: '/w' } },
      {
        timestamp: '2026-09-01T10:00:01Z',
        type: 'response_item',
        payload: {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Hear' },
            { type: 'input_image', image_url: `data:audio/wav;base64,${base64(pdf)}` },
            { type: 'input_image', image_url: `data:image/png;base64,${base64(png)}` },
          ],
        },
      },
    ]);
    const said = async (file: string) =>
      (await rig.branch((await rig.only(file)).uuid)).flatMap(({ content }) =>
        content.type === 'message' ? [[content.text, content.attachments?.map(({ mime, tokens }) => [mime, tokens])]] : [],
      );
    assert.deepEqual(await said(gemini), [
      ['Read @spec.pdf', undefined],
      ['[application/pdf, 7,009 bytes: no image, and not imported]', undefined],
      ['', [['image/png', 410]]],
    ]);
    assert.deepEqual(await said(codex), [['Hear\n[audio/wav, 7,009 bytes: no image, and not imported]', [['image/png', 410]]]]);
  });

  it('pi: every role, the thinking level, a label that was taken away', async () => {
    const { uuid, keptRaw } = await rig.only(
      rig.source('roles.jsonl', [
        header,
        user('a', null, 'question'),
        message('b', 'a', 'custom', { customType: 'hint', content: [{ type: 'text', text: 'from an extension' }], display: false }),
        message('c', 'b', 'branchSummary', { summary: 'what was tried', fromId: 'a' }),
        message('d', 'c', 'compactionSummary', { summary: 'what was before', tokensBefore: 5 }),
        record('thinking_level_change', 'e', 'd', { thinkingLevel: 'high' }),
        record('label', 'f', 'e', { targetId: 'a', label: 'mark' }),
        record('label', 'g', 'f', { targetId: 'a' }),
        message('h', 'g', 'oracle', { content: 'of a role that nobody knows' }),
      ]),
    );
    const all = await rig.entries(uuid);
    assert.deepEqual(all.map(brief), [
      'user: question',
      'hint: from an extension',
      'branch_summary: what was tried',
      'summary: what was before',
      'thinking_level_change',
      'label: mark',
      'label: ',
      'custom import:role:oracle',
    ]);
    assert.deepEqual(
      { display: all[1]!.display, modelFacing: all[1]!.modelFacing, keptRaw },
      { display: false, modelFacing: true, keptRaw: [{ kind: 'role:oracle', count: 1 }] },
    );
  });

  it('pi: a time that cannot be is not taken over, and the report says so', async () => {
    const far = '+275760-09-12T00:00:00Z';
    const at = (one: object) => ({ ...one, timestamp: far });
    const { uuid, repaired } = await rig.only(
      rig.source('far.jsonl', [
        { ...header, timestamp: far },
        at(user('a', null, 'question')),
        user('b', 'a', 'another'),
        at(user('c', 'b', 'last')),
      ]),
    );
    const session = (await rig.store.session(uuid))!;
    assert.match(session.id, /^20\d{6}_\d{3}$/);
    assert.deepEqual(repaired, [{ kind: 'impossible time', count: 3 }]);
    assert.ok((await rig.entries(uuid)).every(({ createdAt }) => createdAt < Date.UTC(2100, 0)));
    const made = await rig.store.createSession({ uuid: '01930000-0000-7000-8000-00000000000a', channel: 'vscode', createdAt: 8.64e15 });
    assert.match(made.id, /^20\d{6}_\d{3}$/);
  });

  it('pi: has one branch where a model was chosen and a name given before anything was said', async () => {
    const { uuid } = await rig.only(
      rig.source('noted.jsonl', [
        header,
        record('model_change', 'a', null, { provider: 'p', modelId: 'm' }),
        record('session_info', 'b', 'a', { name: 'Named' }),
        user('c', null, 'question'),
      ]),
    );
    assert.deepEqual([await branch(uuid), (await rig.store.branches(uuid)).length], [['model: m', 'user: question'], 1]);
  });

  it('pi: a compaction that names the tail it keeps, by ids, by its records or by their number', async () => {
    for (const retainedTail of [
      ['c', 'd'],
      [{ id: 'c' }, { id: 'd' }],
      [{ role: 'user' }, { role: 'assistant' }],
    ]) {
      const { uuid } = await rig.only(
        rig.source(`tail${JSON.stringify(retainedTail).length}.jsonl`, [
          { ...header, id: JSON.stringify(retainedTail) },
          user('a', null, 'old'),
          user('b', 'a', 'older'),
          user('c', 'b', 'kept'),
          message('d', 'c', 'assistant', { content: [{ type: 'text', text: 'kept too' }] }),
          record('compaction', 'e', 'd', { summary: 'SUMMARY', retainedTail, tokensBefore: 10 }),
          user('f', 'e', 'after'),
        ]),
      );
      assert.deepEqual(
        (await branch(uuid)).filter((one) => !one.startsWith('compaction')),
        ['user: kept', 'assistant: kept too', 'user: after'],
      );
    }
  });

  it('pi: a second compaction that keeps what the first one had kept', async () => {
    const { uuid } = await rig.only(
      rig.source('second.jsonl', [
        header,
        user('a', null, 'folded'),
        user('b', 'a', 'tail of the first'),
        record('compaction', 'c', 'b', { summary: 'ONE', firstKeptEntryId: 'b', tokensBefore: 10 }),
        user('d', 'c', 'between'),
        record('compaction', 'e', 'd', { summary: 'TWO', firstKeptEntryId: 'b', tokensBefore: 20 }),
        user('f', 'e', 'after'),
      ]),
    );
    const { messages } = await rig.projection(uuid);
    const text = JSON.stringify(messages);
    for (const part of ['TWO', 'tail of the first', 'between', 'after']) assert.ok(text.includes(part), `${part} in ${text}`);
    for (const part of ['"folded"', 'ONE']) assert.ok(!text.includes(part), `${part} in ${text}`);
  });

  it('OpenClaw: a reset that keeps a tail, and a leaf that is put before the first message', async () => {
    const { uuid } = await rig.only(
      rig.source('.openclaw/agents/main/sessions/reset.jsonl', [
        header,
        user('a', 's1', 'before'),
        user('b', 'a', 'kept over the reset'),
        record('reset', 'c', 'b', { firstKeptEntryId: 'b' }),
        user('d', 'c', 'after'),
      ]),
    );
    assert.deepEqual(
      (await branch(uuid)).filter((one) => !one.startsWith('compaction')),
      ['user: kept over the reset', 'user: after'],
    );
    const anew = await rig.only(
      rig.source('.openclaw/agents/main/sessions/leaf.jsonl', [
        { ...header, id: 's2' },
        user('a', 's2', 'before'),
        record('leaf', 'b', 'a', { targetId: null }),
        user('c', 'b', 'a new beginning'),
      ]),
    );
    assert.deepEqual([await branch(anew.uuid), (await rig.store.branches(anew.uuid)).length], [['user: a new beginning'], 2]);
  });

  it('OpenClaw: is found where older versions of it kept its agents', async () => {
    const home = process.env['HOME'];
    process.env['HOME'] = rig.temp.path;
    try {
      for (const name of ['.clawdbot', '.moltbot']) {
        const folder = join(rig.temp.path, name, 'agents', `of${name}`, 'sessions');
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, 'sessions.json'), JSON.stringify({ [`agent:${name}:main`]: { sessionId: 'x' } }));
      }
      const { agents } = await findOpenClaw('', wasmFile);
      assert.deepEqual(
        agents.map(({ agent, sessions }) => [agent, sessions.map(({ key }) => key)]),
        [
          ['of.clawdbot', ['agent:.clawdbot:main']],
          ['of.moltbot', ['agent:.moltbot:main']],
        ],
      );
    } finally {
      process.env['HOME'] = home;
    }
  });

  const line = (uuid: string, parentUuid: string | null, type: string, content: unknown, more: object = {}) => ({
    type,
    uuid,
    parentUuid,
    sessionId: 'claude',
    timestamp: '2026-09-01T10:00:01Z',
    cwd: '/w',
    ...more,
    message: {
      role: type,
      content,
      ...(type === 'assistant' ? { id: `msg_${uuid[0]}`, model: 'm', usage: { input_tokens: 7, output_tokens: 3 } } : {}),
    },
  });

  it('Claude Code: counts an answer once that was half there at the first import', async () => {
    const lines = [
      line('u1', null, 'user', 'question'),
      line('a1', 'u1', 'assistant', [{ type: 'text', text: 'one' }]),
      line('a2', 'a1', 'assistant', [{ type: 'text', text: 'two' }]),
      line('b1', 'a2', 'assistant', [{ type: 'text', text: 'another answer' }]),
    ];
    const counted = async (uuid: string) => (await rig.store.usageRecords(uuid)).map(({ input }) => input);
    for (const [known, answers] of [
      [2, 1],
      [3, 1],
      [4, 2],
    ] as const) {
      const { uuid } = await rig.only(rig.source('claude.jsonl', lines.slice(0, known)));
      assert.deepEqual(
        await counted(uuid),
        Array.from({ length: answers }, () => 7),
      );
    }
  });

  it('Claude Code: counts an answer once that a note or a sub-task interrupts', async () => {
    const { uuid } = await rig.only(
      rig.source('interrupted.jsonl', [
        line('u1', null, 'user', 'question'),
        line('a1', 'u1', 'assistant', [{ type: 'text', text: 'one' }]),
        line('u2', 'a1', 'user', 'a note', { isMeta: true }),
        line('a2', 'a1', 'assistant', [{ type: 'text', text: 'two' }]),
        line('b1', 'a1', 'assistant', [{ type: 'text', text: 'aside' }], { isSidechain: true }),
        line('a3', 'a2', 'assistant', [{ type: 'text', text: 'three' }]),
      ]),
    );
    assert.deepEqual(
      (await rig.store.usageRecords(uuid)).map(({ input }) => input),
      [7, 7],
    );
  });

  const call = (id: string) => [{ type: 'tool_use', id, name: 'Read', input: { id } }];
  const result = (uuid: string, parentUuid: string, id: string, content = `of ${id}`) =>
    line(uuid, parentUuid, 'user', [{ type: 'tool_result', tool_use_id: id, content }]);
  const noted = (type: string, more: object = {}) => ({ type, sessionId: 'claude', ...more });

  it('Claude Code: has calls side by side on one branch, whatever it notes between them, and counts their answer once', async () => {
    const { uuid } = await rig.only(
      rig.source('parallel.jsonl', [
        noted('queue-operation', { operation: 'enqueue' }),
        noted('queue-operation', { operation: 'dequeue' }),
        line('u1', null, 'user', 'question'),
        line('a1', 'u1', 'assistant', [{ type: 'text', text: 'I look.' }]),
        line('a2', 'a1', 'assistant', call('one')),
        noted('last-prompt', { leafUuid: 'a2' }),
        noted('mode'),
        noted('tools-used'),
        result('r1', 'a2', 'one'),
        line('a3', 'a2', 'assistant', call('two')),
        line('a4', 'a3', 'assistant', call('three')),
        result('r3', 'a4', 'three'),
        { type: 'attachment', uuid: 'x1', parentUuid: 'r3', sessionId: 'claude', attachment: { type: 'hook' } },
        result('r2', 'a3', 'two'),
        noted('last-prompt', { leafUuid: 'r2' }),
        noted('mode'),
        line('b1', 'r2', 'assistant', [{ type: 'text', text: 'Three answers.' }]),
        noted('last-prompt', { leafUuid: 'b1' }),
        noted('cost-state'),
      ]),
    );
    const spoken = [
      'user: question',
      'assistant: I look.',
      'call one Read {"id":"one"}',
      'result one Read ok: of one',
      'call two Read {"id":"two"}',
      'call three Read {"id":"three"}',
      'result three Read ok: of three',
      'result two Read ok: of two',
      'assistant: Three answers.',
    ];
    assert.deepEqual(
      (await branch(uuid)).filter((one) => !one.startsWith('custom')),
      spoken,
    );
    assert.deepEqual(
      [(await rig.store.branches(uuid)).length, (await rig.store.usageRecords(uuid)).map(({ input }) => input)],
      [1, [7, 7]],
    );
    assert.deepEqual(promptFaults((await rig.projection(uuid)).messages), []);
  });

  it('Claude Code: has a second result of a call on a branch of its own', async () => {
    const { uuid } = await rig.only(
      rig.source('again.jsonl', [
        line('u1', null, 'user', 'question'),
        line('a1', 'u1', 'assistant', call('one')),
        result('r1', 'a1', 'one', 'first'),
        result('r2', 'a1', 'one', 'second'),
        line('b1', 'r2', 'assistant', [{ type: 'text', text: 'So be it.' }]),
      ]),
    );
    assert.deepEqual(await branch(uuid), [
      'user: question',
      'call one Read {"id":"one"}',
      'result one Read ok: second',
      'assistant: So be it.',
    ]);
  });

  it('Claude Code: sends what its compaction has left as it was said', async () => {
    for (const left of [
      { preservedSegment: { headUuid: 'b1', anchorUuid: 'c2', tailUuid: 'b1' } },
      { preservedMessages: { anchorUuid: 'c2', uuids: ['b1'] } },
    ]) {
      const { uuid } = await rig.only(
        rig.source(`${Object.keys(left)[0]}.jsonl`, [
          line('u1', null, 'user', 'folded', { sessionId: Object.keys(left)[0] }),
          line('a1', 'u1', 'assistant', [{ type: 'text', text: 'folded too' }]),
          line('u2', 'a1', 'user', 'the last of the folded'),
          line('b1', 'u2', 'assistant', [{ type: 'text', text: 'left' }]),
          {
            type: 'system',
            subtype: 'compact_boundary',
            uuid: 'c1',
            parentUuid: null,
            logicalParentUuid: 'b1',
            sessionId: 'claude',
            compactMetadata: { trigger: 'manual', preTokens: 9, ...left },
          },
          line('c2', 'c1', 'user', 'SUMMARY', { isCompactSummary: true }),
          line('u3', 'c2', 'user', 'after'),
        ]),
      );
      assert.deepEqual(
        (await branch(uuid)).filter((one) => !one.startsWith('custom')),
        ['assistant: left', 'compaction: SUMMARY', 'user: after'],
      );
    }
  });

  it('Claude Code: takes nothing of a compaction for the next one, which says nothing of itself', async () => {
    const boundary = (uuid: string, before: string, more: object) => ({
      type: 'system',
      subtype: 'compact_boundary',
      uuid,
      parentUuid: null,
      logicalParentUuid: before,
      sessionId: 'claude',
      ...more,
    });
    const { uuid } = await rig.only(
      rig.source('twice.jsonl', [
        line('u1', null, 'user', 'left by the first'),
        boundary('c1', 'u1', { compactMetadata: { preTokens: 9, preservedSegment: { headUuid: 'u1' } } }),
        line('c2', 'c1', 'user', 'ONE', { isCompactSummary: true }),
        line('u2', 'c2', 'user', 'between'),
        boundary('d1', 'u2', {}),
        line('d2', 'd1', 'user', 'TWO', { isCompactSummary: true }),
        line('u3', 'd2', 'user', 'after'),
      ]),
    );
    const folds = (await rig.entries(uuid)).flatMap(({ content }) =>
      content.type === 'compaction' ? [[content.summaryText, content.tokensBefore, content.firstKeptEntry === null]] : [],
    );
    assert.deepEqual(folds, [
      ['ONE', 9, false],
      ['TWO', 0, true],
    ]);
  });

  it('Claude Code: goes on from the leaf that it names, and has a sub-task in a session of its own', async () => {
    rig.source('claude.jsonl', [
      line('u1', null, 'user', 'question'),
      line('a1', 'u1', 'assistant', [{ type: 'text', text: 'the one chosen' }]),
      line('b1', 'u1', 'assistant', [{ type: 'text', text: 'the other' }]),
      { type: 'last-prompt', leafUuid: 'a1', sessionId: 'claude' },
    ]);
    const file = rig.source('claude/subagents/agent-7.jsonl', [
      line('s1', null, 'user', 'look it up', { isSidechain: true, agentId: '7' }),
      line('t1', 's1', 'assistant', [{ type: 'text', text: 'found' }], { isSidechain: true, agentId: '7' }),
    ]);
    const { sessions, failed } = await rig.import(join(file, '..', '..', '..'));
    assert.deepEqual([failed, sessions.length], [[], 2]);
    const [whole, part] = await Promise.all(
      ['question', 'look it up'].map((title) => rig.store.session(sessions.find((one) => one.title === title)!.uuid)),
    );
    assert.deepEqual(
      [await branch(whole!.uuid), await branch(part!.uuid)],
      [
        ['user: question', 'assistant: the one chosen'],
        ['user: look it up', 'assistant: found'],
      ],
    );
    assert.equal(part!.metadata['parentSession'], 'claude');
  });

  it('Roo: does not send what it has cut off', async () => {
    const said = (content: string, more = {}) => ({ role: 'user', content, ts: 1_788_000_000_000, ...more });
    const { uuid } = await rig.only(
      rig.source(
        'roo/0198/api_conversation_history.json',
        JSON.stringify([
          said('cut off', { truncationParent: 't' }),
          said('marker', { isTruncationMarker: true, truncationId: 't' }),
          said('still sent'),
        ]),
      ),
    );
    const text = JSON.stringify((await rig.projection(uuid)).messages);
    assert.deepEqual(
      {
        hasStillSent: text.includes('still sent'),
        hasCutOff: text.includes('cut off'),
        hasMarker: text.includes('marker'),
        entriesCount: (await rig.entries(uuid)).length,
      },
      { hasStillSent: true, hasCutOff: false, hasMarker: false, entriesCount: 3 },
    );
  });
});
