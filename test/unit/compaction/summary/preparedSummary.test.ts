import assert from 'node:assert/strict';
import { isEntryOf, type EntryOf } from '../../../../src/core/session/entry';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { calls, says } from '../../../support/chat/scriptedModel';
import { toldStubs } from '../../../../src/core/compaction/ladder/mask';

let rig: ConversationRig;

async function fill(turns: number, tokens: number, name = 'question'): Promise<void> {
  for (let i = 0; i < turns; i++) {
    rig.model.scripts.push(says(`answer ${i} ${rig.words(tokens / 2)}`));
    await rig.conversation.send(`${name} ${i} ${rig.words(tokens / 2)}`);
  }
}

function records(): EntryOf<'compaction'>[] {
  return rig.events.flatMap((event) => (event.type === 'entry_appended' && isEntryOf(event.entry, 'compaction') ? [event.entry] : []));
}

const sent = () => JSON.stringify(rig.model.requests.at(-1)!.messages);

describe('a summary prepared in the background', () => {
  beforeEach(async () => {
    rig = await ConversationRig.create();
    rig.overrides = {
      'compaction.prepareAtPercent': 60,
      'compaction.triggerPercent': 80,
      'memoryFlush.enabled': false,
      'compaction.preferCheckpoint': false,
    };
  });
  afterEach(() => rig.dispose());

  it('is used when the trigger is reached, and the turn is not held', async () => {
    await fill(6, 900);
    assert.equal(rig.summarizer.prompts.length, 1, 'begun after the turn that passed 60 %');
    assert.deepEqual(records(), []);
    await fill(2, 900, 'later');
    const [record] = records();
    assert.deepEqual(
      { rung: record?.content.rung, heldMs: record?.content.heldMs, trigger: record?.content.trigger },
      { rung: 'prepared', heldMs: 0, trigger: 'automatic' },
    );
    assert.equal(rig.summarizer.prompts.length, 1, 'asked once');
    assert.match(sent(), /the plan is set/);
    assert.match(sent(), /later 0/, 'what was said since stands verbatim');
    assert.ok(record!.content.continuity!.searched > 0, 'measured while nobody waited');
  });

  it('is told of while it is written, also when that fails', async () => {
    const told = () => {
      const states = rig.events.flatMap((event) => (event.type === 'context_changed' ? [event.snapshot.summarizing] : []));
      return states.filter((state, index) => state !== (states[index - 1] ?? false));
    };
    const gate = rig.gate();
    rig.summarizer.hold = gate;
    await fill(6, 900);
    assert.deepEqual([told(), rig.conversation.snapshot.summarizing], [[true], true]);
    rig.summarizer.fail = 'overloaded';
    gate.open();
    await rig.until(() => !rig.conversation.snapshot.summarizing);
    await rig.until(() => told().length === 2);
    assert.deepEqual(told(), [true, false]);
  });

  it('tells of all that was said when it was begun, and what was said since is all that stays', async () => {
    await fill(6, 900);
    const { entries } = await rig.store.page(rig.session, { limit: 100 });
    assert.ok(rig.summarizer.prompts[0]!.includes(`[#${entries.at(-1)!.seq} assistant]`), 'the newest answer');
    await fill(3, 600, 'later');
    const [record] = records();
    const after = (await rig.store.page(rig.session, { limit: 100 })).entries.find(({ seq }) => seq > entries.at(-1)!.seq);
    assert.deepEqual([record?.content.rung, record?.content.firstKeptEntry], ['prepared', after?.uuid]);
    assert.match(sent(), /later 0[^]*later 1/);
    assert.doesNotMatch(sent(), /"answer 5 /);
  });

  it('leaves as many turns verbatim as the policy keeps, though it tells of one of them too', async () => {
    rig.overrides = { ...rig.overrides, 'compaction.triggerPercent': 75 };
    await fill(6, 900);
    const { entries } = await rig.store.page(rig.session, { limit: 100 });
    rig.model.scripts.push(says('at once'));
    await rig.conversation.send(`jump ${rig.words(1_100)}`);
    const [record] = records();
    const turns = entries.filter(({ content }) => content.type === 'message' && content.role === 'user');
    assert.deepEqual([record?.content.rung, record?.content.firstKeptEntry], ['prepared', turns.at(-1)!.uuid]);
    await fill(6, 900, 'more');
    const ledger = (records().at(-1)!.content.summary as { ledger: { ref: string }[] }).ledger.map(({ ref }) => ref);
    assert.ok(records().length > 1 && ledger.includes(`#${turns.at(-1)!.seq}`));
    assert.deepEqual(ledger, [...new Set(ledger)], 'no message twice');
  });

  it('waits for the end of the turn where it is due within one, and is written there of all that the turn has said', async () => {
    rig.overrides = { ...rig.overrides, 'compaction.prepareAtPercent': 69, 'compaction.triggerPercent': 70 };
    await fill(6, 900);
    assert.deepEqual([rig.summarizer.prompts.length, records().length], [0, 0]);
    rig.model.scripts.push(calls('dump', { tokens: 900 }, 'c1'), says('seen'));
    await rig.conversation.send('look');
    assert.deepEqual(records(), [], 'nothing is folded between a call and the answer to it');
    const { entries } = await rig.store.page(rig.session, { limit: 100 });
    assert.ok(rig.summarizer.prompts[0]!.includes(`[#${entries.findLast(({ content }) => content.type === 'message')!.seq} assistant]`));
    await fill(1, 100, 'next');
    assert.deepEqual(
      records().map(({ content }) => [content.rung, content.heldMs]),
      [['prepared', 0]],
    );
  });

  it('leaves stubs of the results that it tells of, and the next one goes on from those', async () => {
    rig.overrides = { ...rig.overrides, 'compaction.prepareAtPercent': 69, 'compaction.triggerPercent': 70 };
    await fill(6, 900);
    rig.model.scripts.push(calls('dump', { tokens: 900 }, 'c1'), says('seen'));
    await rig.conversation.send('look');
    const result = rig.conversation.entries.find(({ content }) => content.type === 'tool_result')!;
    await fill(1, 100, 'next');
    const [record] = records();
    assert.deepEqual([record?.content.masked, record?.content.maskedTold], [[result.uuid], true]);
    assert.match(sent(), /"look"[^]*kind=\\"masked\\"[^]*"seen"[^]*next 0/);
    const told = () => [...toldStubs(rig.conversation.entries)];
    assert.deepEqual(told(), [result.uuid]);
    // One that is written anew from the folded messages alone does not: the next one reads the results themselves.
    assert.equal((await rig.conversation.resummarize()).message, null);
    assert.deepEqual([records().at(-1)?.content.masked, told()], [[result.uuid], []]);
    await rig.conversation.reuseSummary(record!.uuid);
    assert.deepEqual(told(), [result.uuid]);
  });

  it('needs no checkpoints beside it, and has them where it failed', async () => {
    rig.overrides = { ...rig.overrides, 'checkpoint.enabled': true };
    const kinds = () => rig.events.filter((event) => event.type === 'entry_appended' && event.entry.content.type === 'checkpoint').length;
    await fill(5, 900);
    assert.deepEqual([kinds(), rig.summarizer.prompts.length], [0, 0], 'half of the window is past');
    rig.summarizer.answers.push(
      new Error('on purpose'),
      JSON.stringify({ summary: 'They spoke.', topics: [], keyDecisions: [], openQuestions: [] }),
    );
    await fill(1, 900);
    await fill(1, 100);
    await rig.until(() => kinds() === 1);
  });

  for (const prepare of [60, 0]) {
    it(`${prepare > 0 ? 'is used' : 'that was not made, is written'} while the search is busy: no turn waits for the score`, async () => {
      rig.overrides = { ...rig.overrides, 'compaction.prepareAtPercent': prepare };
      const search = rig.gate();
      const answer = rig.store.search.bind(rig.store);
      rig.store.search = async (query) => search.opened.then(() => answer(query));
      await fill(8, 900);
      const [record] = records();
      assert.equal(record?.content.rung, prepare > 0 ? 'prepared' : 'model');
      const { continuity } = record!.content;
      assert.deepEqual(
        { reachablePercent: continuity!.reachablePercent, searched: continuity!.searched, elements: continuity!.elements > 0 },
        { reachablePercent: null, searched: 0, elements: true },
      );
      search.open();
    });
  }

  it('does not hold the turn while it is being written and there is room, and is used by the next', async () => {
    const gate = (rig.summarizer.hold = rig.gate());
    await fill(8, 900);
    assert.deepEqual([records().length, rig.summarizer.prompts.length], [0, 1]);
    gate.open();
    await new Promise((resolve) => setImmediate(resolve));
    await fill(1, 400);
    assert.deepEqual(
      records().map(({ content }) => content.rung),
      ['prepared'],
    );
  });

  it('is not overtaken by a checkpoint while there is room', async () => {
    rig.overrides = { ...rig.overrides, 'compaction.preferCheckpoint': true };
    await fill(4, 900);
    rig.summarizer.answers.push(JSON.stringify({ summary: 'They spoke.', topics: [], keyDecisions: [], openQuestions: [] }));
    assert.notEqual((await rig.conversation.checkpoint()).entry, null);
    const gate = (rig.summarizer.hold = rig.gate());
    await fill(4, 900);
    assert.deepEqual([records().length, rig.summarizer.prompts.length], [0, 2]);
    gate.open();
    await new Promise((resolve) => setImmediate(resolve));
    await fill(1, 400);
    assert.deepEqual(
      records().map(({ content }) => content.rung),
      ['prepared'],
    );
  });

  it('leaves its place to a checkpoint when nothing more fits and it is still being written', async () => {
    rig.overrides = { ...rig.overrides, 'compaction.preferCheckpoint': true };
    await fill(5, 900);
    rig.summarizer.answers.push(JSON.stringify({ summary: 'They spoke.', topics: [], keyDecisions: [], openQuestions: [] }));
    assert.notEqual((await rig.conversation.checkpoint()).entry, null);
    rig.summarizer.isDead = true;
    for (let i = 0; i < 8 && records().length === 0; i++) await fill(1, 600);
    const { rung, tokensBefore, heldMs } = records()[0]!.content;
    assert.deepEqual(
      { rung, tokensBefore: tokensBefore >= rig.conversation.snapshot.limit, heldMs, promptsCount: rig.summarizer.prompts.length },
      { rung: 'checkpoint', tokensBefore: true, heldMs: 0, promptsCount: 2 },
    );
  });

  it('is used although the notes have changed since it was stored: what they say now stands behind it', async () => {
    await fill(6, 900);
    await rig.until(() => rig.logged.some(({ event }) => event === 'summary_prepared'));
    rig.notes = 'The port is 54329.';
    await fill(2, 900, 'later');
    assert.deepEqual(
      records().map(({ content }) => content.rung),
      ['prepared'],
    );
    assert.equal(rig.summarizer.prompts.length, 1, 'asked once');
    assert.match(sent(), /the plan is set[^]*The port is 54329/);
  });

  it('is used by another model too, and what it cost is kept', async () => {
    await fill(6, 900);
    rig.modelId = 'scripted-2';
    await fill(2, 900, 'later');
    assert.deepEqual(
      records().map(({ content }) => content.rung),
      ['prepared'],
    );
    assert.equal(rig.summarizer.prompts.length, 1);
    const totals = await rig.store.usageTotals({ session: rig.session });
    assert.equal(
      totals.filter(({ model }) => model === 'scripted-summarizer').reduce((sum, { input }) => sum + input, 0),
      10,
    );
  });

  it('is not used when another window has put back what it knows nothing of', async () => {
    await fill(1, 900, 'PELICAN');
    const answer = rig.conversation.entries.at(-1)!;
    assert.equal(await rig.conversation.setExcluded(answer.uuid, true), null);
    await fill(6, 900);
    assert.equal(rig.summarizer.prompts.length, 1, 'prepared');
    const there = await rig.besides();
    try {
      assert.equal(await there.conversation.setExcluded(answer.uuid, false), null);
    } finally {
      await there.dispose(false);
    }
    await fill(2, 900, 'later');
    assert.deepEqual(
      [records().map(({ content }) => content.rung), rig.summarizer.prompts.map((prompt) => prompt.includes(`[#${answer.seq} assistant]`))],
      [['model'], [false, true]],
    );
  });

  it('falls to passages at once when it had failed', async () => {
    rig.summarizer.fail = 'overloaded';
    await fill(7, 900);
    const asked = rig.summarizer.prompts.length;
    assert.ok(asked >= 1);
    await fill(1, 900);
    assert.deepEqual(
      records().map(({ content }) => [content.rung, content.heldMs]),
      [['extractive', 0]],
    );
    assert.equal(rig.summarizer.prompts.length, asked, 'it is not asked again while the turn waits');
  });
});
