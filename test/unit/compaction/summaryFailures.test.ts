import assert from 'node:assert/strict';
import { ModelError } from '../../../src/core/models/modelEvent';
import { isEntryOf } from '../../../src/core/session/entry';
import { ConversationRig } from '../../support/chat/conversationRig';
import { calls, says } from '../../support/chat/scriptedModel';
import { outline, SeedRun } from '../../support/chat/seedRun';

const state = JSON.stringify({ logos: ['the plan is set'], pathos: [], abstract: [], conversation_summary: 'They talked.' });

describe('a summary that fails', () => {
  let run: SeedRun;
  afterEach(() => run?.dispose());

  const told = () =>
    run.rig.events.flatMap((event) => (event.type === 'compaction_ended' && event.message !== null ? [event.message] : []));
  const messages = () => outline(run.lastRequest).filter((line) => /question|answer/.test(line)).length;

  it('is told with its reason, everything stays, and the next message tries again', async () => {
    run = await SeedRun.open('session-state');
    run.rig.summarizer.answer = state;
    run.rig.summarizer.answers.push(new ModelError({ reason: 'overloaded', detail: 'Overloaded' }));
    await run.talk(1, 8, 7_500);
    await run.exchange('9', { size: 7_520 });
    assert.deepEqual(told(), [
      'The model could not summarize: scripted-summarizer: Overloaded. The conversation stays as it is, and the next message tries again.',
    ]);
    assert.deepEqual([run.compactions.length, messages()], [0, 17]);
    await run.exchange('10');
    assert.deepEqual(
      run.compactions.map(({ rung }) => rung),
      ['model'],
    );
    assert.equal(run.rig.summarizer.prompts.length, 2);
  });

  it('never ends automatic compaction, however often, and the hard limit holds', async () => {
    run = await SeedRun.open('session-state');
    run.rig.summarizer.fail = 'overloaded';
    await run.talk(1, 8, 7_500);
    for (let turn = 9; turn <= 15; turn++) await run.exchange(String(turn), { size: 7_500 + turn });
    assert.deepEqual([run.compactions.length, run.rig.summarizer.prompts.length], [0, 7], 'asked once with every message');
    await run.exchange('16', { size: 8_510 });
    await run.exchange('17');
    assert.deepEqual(
      run.compactions.map(({ rung }) => rung),
      ['truncate'],
    );
    assert.equal(
      told().some((message) => message.includes('Automatic compaction stops')),
      false,
    );
  });

  it('leaves the whole history with a policy that keeps it, until a summary is there', async () => {
    run = await SeedRun.open('keep-recent', { window: 100_000 });
    run.rig.summarizer.fail = 'overloaded';
    for (let turn = 1; turn <= 20; turn++) await run.exchange(String(turn));
    assert.deepEqual([run.compactions.length, messages()], [0, 39]);
    run.rig.summarizer.fail = null;
    run.rig.summarizer.answer = 'They talked about many things. Nothing was decided. The last question is open, and it is about the port.';
    await run.exchange('21');
    await run.exchange('22');
    assert.equal(run.compactions[0]?.rung, 'model');
    assert.ok(messages() <= 7, String(messages()));
  });

  it('is asked for once a turn, however many requests the turn takes', async () => {
    run = await SeedRun.open('session-state');
    run.rig.summarizer.fail = 'overloaded';
    await run.talk(1, 8, 7_500);
    const script = (name: string) => [...calls('echo', { text: name }, name)];
    run.rig.model.scripts.push(script('a'), script('b'), script('c'), says('done'));
    assert.equal((await run.rig.conversation.send('use tools')).ok, true);
    assert.equal(run.rig.summarizer.prompts.length, 1);
  });

  for (const late of [0, 4]) {
    it(`comes down to just under the target ${late === 0 ? 'at once' : `when it is ${late} turns late`}`, async () => {
      run = await SeedRun.open('session-state', { window: 20_000 });
      run.rig.summarizer.answer = state;
      const gate = run.rig.gate();
      if (late > 0) run.rig.summarizer.hold = gate;
      for (let turn = 1; run.rig.summarizer.prompts.length === 0; turn++) {
        const sending = run.exchange(`before ${turn}`, { tokens: 300 });
        let isOver = false;
        void sending.finally(() => (isOver = true));
        while (!isOver) {
          await new Promise((resolve) => setImmediate(resolve));
          if (late > 0 && run.rig.summarizer.prompts.length > 0) run.rig.clock.pass(500);
        }
      }
      for (let turn = 1; turn < late; turn++) await run.exchange(`while ${turn}`, { tokens: 300 });
      gate.open();
      await new Promise((resolve) => setImmediate(resolve));
      if (late > 0) await run.exchange('after', { tokens: 300 });
      const [record] = run.compactions;
      assert.ok(
        record!.tokensAfter < 12_000 && record!.tokensAfter > 10_500,
        `${record!.rung}: ${record!.tokensBefore} → ${record!.tokensAfter}`,
      );
      assert.match(record!.summaryText, /the plan is set/);
    });
  }

  it('says nothing of key details that nobody has read, and looks up what recall finds while a model writes', async () => {
    run = await SeedRun.open('session-state');
    run.rig.summarizer.fail = 'server';
    await run.talk(1, 8, 8_510);
    await run.exchange('last');
    assert.deepEqual(
      run.compactions.map(({ rung, continuity }) => [rung, continuity]),
      [['truncate', undefined]],
    );
    await run.dispose();
    run = await SeedRun.open('session-state');
    const { rig } = run;
    let found = 0;
    const search = rig.store.search.bind(rig.store);
    rig.store.search = async (query) => search(query).finally(() => found++);
    rig.summarizer.answer = state;
    const gate = (rig.summarizer.hold = rig.gate());
    await run.talk(1, 8, 7_500);
    const sending = run.exchange('last');
    await rig.until(() => found >= 8);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    gate.open();
    await sending;
    assert.ok((run.compactions[0]?.continuity?.searched ?? 0) > 0);
  });
});

describe('a truncation that was chosen', () => {
  it('keeps the last five messages, and no model is ever asked for a summary', async () => {
    const run = await SeedRun.open('goose', { overrides: { 'compaction.whenFull': 'truncate' } });
    try {
      await run.talk(1, 8, 8_000);
      await run.exchange('last');
      assert.deepEqual(
        run.compactions.map(({ rung, needsSummaryRetry, note }) => [rung, needsSummaryRetry, note]),
        [['truncate', false, undefined]],
      );
      assert.equal(outline(run.lastRequest).filter((line) => /(question|answer) \w+$/.test(line)).length, 5);
      run.rig.clock.pass(600_000);
      await run.exchange('later');
      assert.deepEqual([await run.rig.store.summaryRetries(run.rig.session), run.rig.summarizer.prompts.length], [[], 0]);
    } finally {
      await run.dispose();
    }
  });
});

describe('a snapshot that fails', () => {
  it('is tried again after twice as many turns each time, and after every success as usual', async () => {
    const rig = await ConversationRig.create({ window: 60_000 });
    try {
      rig.overrides = { 'checkpoint.enabled': true, 'checkpoint.everyUserTurns': 1, 'checkpoint.minTokens': 1 };
      rig.summarizer.fail = 'server';
      const exchange = async () => {
        rig.model.scripts.push(says('answer'));
        await rig.conversation.send(`question ${rig.words(40)}`);
        for (let i = 0; i < 30; i++) await new Promise((resolve) => setImmediate(resolve));
      };
      const askedIn: number[] = [];
      for (let turn = 1; turn <= 20; turn++) {
        const before = rig.summarizer.prompts.length;
        await exchange();
        if (rig.summarizer.prompts.length > before) askedIn.push(turn);
      }
      assert.deepEqual(askedIn, [1, 3, 7, 15]);
      rig.summarizer.fail = null;
      rig.summarizer.answer = JSON.stringify({ summary: 'They spoke.', topics: [], keyDecisions: [], openQuestions: [] });
      for (let turn = 21; turn <= 33; turn++) await exchange();
      const written = rig.events.filter((event) => event.type === 'entry_appended' && isEntryOf(event.entry, 'checkpoint')).length;
      assert.equal(written, 3, 'in turns 31, 32 and 33');
    } finally {
      await rig.dispose();
    }
  });
});
