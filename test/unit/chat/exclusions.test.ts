import assert from 'node:assert/strict';
import { contextExclusionOf } from '../../../src/core/context/contextExclusion';
import { isEntryOf, type StoredEntry } from '../../../src/core/session/entry';
import { ConversationRig } from '../../support/chat/conversationRig';
import { calls, says } from '../../support/chat/scriptedModel';

describe('excluding entries from the context', () => {
  let rig: ConversationRig;
  beforeEach(async () => (rig = await ConversationRig.create()));
  afterEach(() => rig.dispose());

  const sent = () => JSON.stringify(rig.model.requests.at(-1)!.messages);
  const entry = (found: (entry: StoredEntry) => boolean) => rig.conversation.entries.find(found)!;
  const marks = () => rig.conversation.entries.flatMap((one) => contextExclusionOf(one) ?? []);

  async function ask(text: string, ...scripts: Parameters<typeof rig.model.scripts.push>): Promise<void> {
    rig.model.scripts.push(...scripts);
    assert.equal((await rig.conversation.send(text)).ok, true);
  }

  it('takes a result and its call out of the next request and of the gauge, through a restart, until they are included again', async () => {
    await ask('dump it', calls('dump', { tokens: 2_000 }, 'c1'), says('That was long.', { input: 2_500 }));
    const before = rig.conversation.snapshot;
    const result = entry(({ content }) => content.type === 'tool_result');
    assert.equal(await rig.conversation.setExcluded(result.uuid, true), null);
    const call = entry(({ content }) => content.type === 'tool_call');
    const { snapshot } = rig.conversation;
    const toolResults = ({ segments }: typeof snapshot) => segments.find(({ kind }) => kind === 'toolResults')!.tokens;
    assert.deepEqual(
      [marks().map(({ entries, excluded, tokensAfter }) => ({ entries, excluded, tokensAfter })), toolResults(snapshot)],
      [[{ entries: [call.uuid, result.uuid], excluded: true, tokensAfter: snapshot.used }], 0],
    );
    assert.ok(snapshot.used < before.used - 1_500, `${before.used} → ${snapshot.used}`);
    await rig.reopen();
    await ask('and now?', says('Without it.'));
    assert.ok(!sent().includes('tool_use') && !sent().includes('w7919'), sent().slice(0, 400));
    assert.ok(sent().includes('dump it') && sent().includes('That was long.'));
    assert.equal(await rig.conversation.setExcluded(call.uuid, false), null);
    await ask('and again?', says('With it.'));
    assert.ok(sent().includes('tool_use') && sent().includes('w7919'));
    assert.deepEqual(
      marks().map(({ excluded }) => excluded),
      [true, false],
    );
  });

  it('says no to what is pinned, not answered yet, or folded', async () => {
    await ask('first', says('one'));
    const [question, answer] = [
      entry(({ content }) => content.type === 'message'),
      entry(({ content }) => content.type === 'message' && content.role === 'assistant'),
    ];
    await rig.conversation.pin({ kind: 'entry', target: question.uuid });
    assert.match((await rig.conversation.setExcluded(question.uuid, true))!, /pinned/);
    assert.equal(await rig.conversation.setExcluded(answer.uuid, true), null);
    assert.equal(await rig.conversation.setExcluded(answer.uuid, true), null, 'twice is once');
    assert.equal(marks().length, 1);
    assert.match((await rig.conversation.pin({ kind: 'entry', target: answer.uuid })).message!, /not in the context/);
    rig.model.scripts.push([{ type: 'failed', failure: { reason: 'bad_key', detail: '' } }]);
    await rig.conversation.send('no answer');
    const open = rig.conversation.entries.findLast(({ content }) => content.type === 'message')!;
    assert.match((await rig.conversation.setExcluded(open.uuid, true))!, /no answer yet/);
    assert.match((await rig.conversation.setExcluded('nobody', true))!, /not sent to the model/);
  });

  it('keeps what is excluded out of the summary, its ledgers, and a summary that is made anew', async () => {
    await ask(`my secret is PELICAN ${rig.words(900)}`, says(`noted PELICAN ${rig.words(300)}`));
    const secret = rig.conversation.entries.filter(({ content }) => content.type === 'message').map(({ uuid }) => uuid);
    for (const uuid of secret) assert.equal(await rig.conversation.setExcluded(uuid, true), null);
    for (let i = 0; i < 5; i++) await ask(`question ${i} ${rig.words(700)}`, says(`answer ${i} ${rig.words(300)}`));
    rig.summarizer.prompts.length = 0;
    assert.equal((await rig.conversation.compact()).message, null);
    assert.equal((await rig.conversation.resummarize()).message, null);
    const records = rig.conversation.entries.filter((one) => isEntryOf(one, 'compaction'));
    assert.equal(records.length, 2);
    assert.equal(
      [...records.map(({ content }) => content.summaryText), ...rig.summarizer.prompts].filter((text) => text.includes('PELICAN')).length,
      0,
    );
    await ask('go on', says('yes'));
    assert.ok(!sent().includes('PELICAN'));
    const { hits } = await rig.store.search({ text: 'PELICAN', limit: 20 });
    assert.deepEqual(
      secret.filter((uuid) => !hits.some((hit) => hit.entry === uuid)),
      [],
      'recall still finds it',
    );
    assert.match((await rig.conversation.setExcluded(secret[0]!, false))!, /part of the summary/);
    await rig.conversation.undoCompaction();
    await rig.conversation.undoCompaction();
    assert.equal(await rig.conversation.setExcluded(secret[0]!, false), null);
  });

  it('keeps a failed attempt out of a summary that is made anew', async () => {
    await ask(
      `first ${rig.words(900)}`,
      [
        { type: 'text_delta', index: 0, text: 'half of a PELICAN' },
        { type: 'failed', failure: { reason: 'overloaded', detail: '' } },
      ],
      says(`noted ${rig.words(300)}`),
    );
    for (let i = 0; i < 5; i++) await ask(`question ${i} ${rig.words(700)}`, says(`answer ${i} ${rig.words(300)}`));
    rig.summarizer.prompts.length = 0;
    assert.equal((await rig.conversation.compact()).message, null);
    // From here on only what the summary leaves is loaded.
    await rig.reopen();
    assert.equal((await rig.conversation.resummarize()).message, null);
    assert.deepEqual([rig.summarizer.prompts.length, rig.summarizer.prompts.filter((text) => text.includes('PELICAN')).length], [2, 0]);
    assert.equal((await rig.store.search({ text: 'PELICAN', limit: 20 })).hits[0]?.text, 'half of a PELICAN', 'the history keeps it');
  });

  it('folds by no checkpoint that tells of what has been excluded since, and writes the next one without it', async () => {
    rig.overrides = {
      'checkpoint.enabled': true,
      'checkpoint.thresholds': [],
      'checkpoint.everyUserTurns': 0,
      'compaction.preferCheckpoint': true,
      'compaction.maskToolResults': false,
    };
    const checkpoint = (summary: string) => JSON.stringify({ summary, topics: [], keyDecisions: [], openQuestions: [] });
    await ask(`my secret is PELICAN ${rig.words(450)}`, says(`noted PELICAN ${rig.words(450)}`));
    for (let i = 0; i < 4; i++) await ask(`question ${i} ${rig.words(450)}`, says(`answer ${i} ${rig.words(450)}`));
    rig.summarizer.answers.push(checkpoint('They spoke of PELICAN.'));
    assert.equal((await rig.conversation.checkpoint()).entry?.content.summary, 'They spoke of PELICAN.');
    for (const { uuid } of rig.conversation.entries.filter(({ content }) => 'text' in content && content.text.includes('PELICAN')))
      assert.equal(await rig.conversation.setExcluded(uuid, true), null);
    rig.summarizer.prompts.length = 0;
    rig.summarizer.answers.push(checkpoint('They spoke.'));
    assert.equal((await rig.conversation.checkpoint()).entry?.content.summary, 'They spoke.');
    const found = () => rig.conversation.entries.find((one) => isEntryOf(one, 'compaction'));
    for (let i = 4; i < 12 && !found(); i++) await ask(`question ${i} ${rig.words(450)}`, says(`answer ${i} ${rig.words(450)}`));
    const record = found()!;
    assert.deepEqual(
      [record.content.rung, record.content.summaryText.includes('They spoke.'), record.content.summaryText.includes('PELICAN')],
      ['checkpoint', true, false],
    );
    assert.deepEqual([rig.summarizer.prompts.length, rig.summarizer.prompts.filter((text) => text.includes('PELICAN')).length], [1, 0]);
  });

  it('throws away a checkpoint that is being written when something is excluded', async () => {
    await ask(`my secret is PELICAN ${rig.words(600)}`, says(`noted ${rig.words(600)}`));
    rig.summarizer.hold = rig.gate();
    const writing = rig.conversation.checkpoint();
    await rig.until(() => rig.summarizer.prompts.length === 1);
    assert.equal(await rig.conversation.setExcluded(entry(({ content }) => content.type === 'message').uuid, true), null);
    assert.deepEqual(await writing, { entry: null, message: 'Cancelled. No snapshot was saved.', isNothing: true });
  });

  it('folds by no checkpoint that one window was writing when another one excluded what it tells of', async () => {
    rig.overrides = {
      'checkpoint.enabled': true,
      'checkpoint.thresholds': [],
      'checkpoint.everyUserTurns': 0,
      'compaction.preferCheckpoint': true,
    };
    await ask(`my secret is PELICAN ${rig.words(450)}`, says(`noted ${rig.words(450)}`));
    for (let i = 0; i < 4; i++) await ask(`question ${i} ${rig.words(450)}`, says(`answer ${i} ${rig.words(450)}`));
    const there = await rig.besides();
    try {
      rig.summarizer.hold = rig.gate();
      rig.summarizer.answers.push(JSON.stringify({ summary: 'They spoke of PELICAN.', topics: [], keyDecisions: [], openQuestions: [] }));
      const writing = rig.conversation.checkpoint();
      await rig.until(() => rig.summarizer.prompts.length === 1);
      const secret = entry(({ content }) => 'text' in content && content.text.includes('PELICAN'));
      assert.equal(await there.conversation.setExcluded(secret.uuid, true), null);
      (rig.summarizer.hold as ReturnType<typeof rig.gate>).open();
      rig.summarizer.hold = null;
      assert.equal((await writing).entry?.content.summary, 'They spoke of PELICAN.', 'this window need not know yet');
      const found = () => rig.conversation.entries.find((one) => isEntryOf(one, 'compaction'));
      for (let i = 4; i < 12 && !found(); i++) await ask(`question ${i} ${rig.words(450)}`, says(`answer ${i} ${rig.words(450)}`));
      const record = found()!;
      assert.deepEqual([record.content.rung, record.content.summaryText.includes('PELICAN')], ['model', false]);
    } finally {
      await there.dispose(false);
    }
  });

  it('folds by a checkpoint that another window has written', async () => {
    rig.overrides = {
      'checkpoint.enabled': true,
      'checkpoint.thresholds': [],
      'checkpoint.everyUserTurns': 0,
      'compaction.preferCheckpoint': true,
    };
    for (let i = 0; i < 3; i++) await ask(`question ${i} ${rig.words(450)}`, says(`answer ${i} ${rig.words(450)}`));
    // This window has asked for them before.
    rig.summarizer.answers.push(JSON.stringify({ summary: 'They spoke of OWLS.', topics: [], keyDecisions: [], openQuestions: [] }));
    assert.notEqual((await rig.conversation.checkpoint()).entry, null);
    const there = await rig.besides();
    try {
      rig.model.scripts.push(says(`answer ${rig.words(450)}`));
      await there.conversation.send(`from there ${rig.words(450)}`);
      there.summarizer.answers.push(JSON.stringify({ summary: 'They spoke of HERONS.', topics: [], keyDecisions: [], openQuestions: [] }));
      assert.equal((await there.conversation.checkpoint()).entry?.content.summary, 'They spoke of HERONS.');
      const found = () => rig.conversation.entries.find((one) => isEntryOf(one, 'compaction'));
      for (let i = 4; i < 12 && !found(); i++) await ask(`question ${i} ${rig.words(450)}`, says(`answer ${i} ${rig.words(450)}`));
      assert.deepEqual([found()!.content.rung, found()!.content.summaryText.includes('HERONS')], ['checkpoint', true]);
    } finally {
      await there.dispose(false);
    }
  });

  it('keeps what is excluded, and failed attempts, out of a summary of the branch that was left', async () => {
    await ask('first', says('one'));
    await ask('second PELICAN', says('noted PELICAN'));
    const failed = { type: 'failed', failure: { reason: 'overloaded', detail: '' } } as const;
    await ask('third', [{ type: 'text_delta', index: 0, text: 'half of a HERON' }, failed], says('three'));
    const second = entry(({ content }) => content.type === 'message' && content.text.startsWith('second'));
    for (const { uuid, content } of rig.conversation.entries)
      if (content.type === 'message' && content.text.includes('PELICAN'))
        assert.equal(await rig.conversation.setExcluded(uuid, true), null);
    rig.model.scripts.push(says('other'));
    await rig.conversation.branching.edit(second.uuid, 'another second', 'id-1');
    rig.summarizer.prompts.length = 0;
    assert.equal(await rig.conversation.branching.summarizeLeft(null), null);
    await ask('go on', says('yes'));
    const prompts = rig.summarizer.prompts.join();
    assert.deepEqual(
      [prompts.includes('third'), prompts.includes('PELICAN'), rig.lastSent.includes('PELICAN'), prompts.includes('HERON')],
      [true, false, false, false],
    );
  });
});
