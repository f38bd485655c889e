import assert from 'node:assert/strict';
import type { CompactionReview, WhenFullAnswer } from '../../../src/core/chat/turn/turn';
import { policyChangeOf } from '../../../src/core/session/liveCompaction';
import { says } from '../../support/chat/scriptedModel';
import { outline, SeedRun } from '../../support/chat/seedRun';

const overrides = { 'compaction.whenFull': 'ask' };

describe('a policy that asks when the context is full', () => {
  let run: SeedRun;
  afterEach(() => run?.dispose());

  for (const [answer, rungs, texts] of [
    ['summarize', ['model'], 5],
    ['truncate', ['truncate'], null],
    ['continue', [], 17],
  ] as const) {
    it(`does what the user says: ${answer}`, async () => {
      run = await SeedRun.open('goose', { overrides });
      run.rig.whenFull = async () => answer;
      run.rig.summarizer.answer = 'They talked about many things. Nothing was decided. The last question is open.';
      await run.talk(1, 8, 8_000);
      await run.exchange('last');
      const asked = run.rig.events.filter(({ type }) => type === 'context_full');
      assert.equal(asked.length, 1);
      assert.deepEqual(
        run.compactions.map(({ rung }) => rung),
        rungs,
      );
      const sent = outline(run.lastRequest).filter((line) => /(question|answer) \w+$/.test(line));
      assert.equal(sent.at(-1), 'user: question last');
      if (texts !== null) assert.equal(sent.length, texts);
    });
  }

  it('follows the instructions that come with the answer, and says when it has been answered', async () => {
    run = await SeedRun.open('goose', { overrides });
    const asked: string[] = [];
    run.rig.whenFull = async ({ session }) => (asked.push(session), { summarize: 'Keep every number' });
    run.rig.summarizer.answer = 'They talked about many things. Nothing was decided. The last question is open.';
    await run.talk(1, 8, 8_000);
    await run.exchange('last');
    assert.deepEqual(
      run.compactions.map(({ rung, instructions }) => [rung, instructions]),
      [['model', 'Keep every number']],
    );
    const told = run.rig.events.flatMap(({ type }) =>
      type === 'context_full' || type === 'context_full_answered' || type === 'compaction_started' ? [type] : [],
    );
    assert.deepEqual([asked, told], [[run.rig.session], ['context_full', 'context_full_answered', 'compaction_started']]);
  });

  for (const [how, answer] of [
    ['the user says that it stays', 'continue'],
    ['the user stops', 'summarize'],
  ] as const) {
    it(`does not cut a context that is over its limit when ${how}`, async () => {
      run = await SeedRun.open('goose', { overrides });
      run.rig.whenFull = async () => answer;
      run.rig.summarizer.hold = run.rig.gate();
      for (let i = 1; i <= 8; i++) await run.exchange(String(i), { tokens: 400, ...(i === 8 ? { size: 9_900 } : {}) });
      const sent = run.rig.model.requests.length;
      const before = run.rig.conversation.entries.flatMap((entry) => policyChangeOf(entry) ?? []);
      const sending = run.rig.conversation.send('question last');
      if (answer === 'summarize') {
        await run.rig.until(() => run.rig.summarizer.prompts.length === 1);
        await run.rig.conversation.stop();
      }
      assert.equal((await sending).error?.reason, answer === 'continue' ? 'too_long' : 'cancelled');
      assert.equal(run.rig.model.requests.length, sent);
      assert.deepEqual(
        run.rig.conversation.entries.flatMap((entry) => policyChangeOf(entry) ?? []),
        before,
      );
    });
  }

  it('asks again only after the context has grown', async () => {
    run = await SeedRun.open('goose', { overrides: { ...overrides, 'compaction.triggerPercent': 70 } });
    run.rig.whenFull = async () => 'continue';
    const asked = () => run.rig.events.filter(({ type }) => type === 'context_full').length;
    await run.talk(1, 8, 7_000);
    await run.exchange('9', { size: 7_050 });
    await run.exchange('10', { size: 7_100 });
    assert.equal(asked(), 1);
    await run.exchange('11', { size: 7_460 });
    await run.exchange('12');
    assert.equal(asked(), 2);
  });

  it('does not hold a turn that the user stops', async () => {
    run = await SeedRun.open('goose', { overrides });
    run.rig.whenFull = () => new Promise<WhenFullAnswer>(() => undefined);
    await run.talk(1, 8, 8_000);
    run.rig.model.scripts.push(says('never'));
    const sending = run.rig.conversation.send('last');
    await run.rig.until(() => run.rig.events.some(({ type }) => type === 'context_full'));
    await run.rig.conversation.stop();
    assert.equal((await sending).error?.reason, 'cancelled');
    assert.equal(run.compactions.length, 0);
  });
});

describe('a policy that has every compaction looked at first', () => {
  let run: SeedRun;
  beforeEach(async () => {
    run = await SeedRun.open('goose', { overrides: { 'compaction.review': 'always' } });
    run.rig.summarizer.answer = 'They talked about many things. Nothing was decided. The last question is open.';
  });
  afterEach(() => run.dispose());

  it('makes what was shown when the user agrees, and asks the summariser once', async () => {
    const shown: CompactionReview[] = [];
    run.rig.review = async (review) => shown.push(review) > 0;
    await run.talk(1, 8, 8_000);
    await run.exchange('last');
    const [record] = run.compactions;
    assert.deepEqual(
      { compactionsCount: run.compactions.length, shownCount: shown.length, promptsCount: run.rig.summarizer.prompts.length },
      { compactionsCount: 1, shownCount: 1, promptsCount: 1 },
    );
    assert.equal(record!.summaryText, shown[0]!.content.summaryText);
    assert.deepEqual(
      { session: shown[0]!.session, foldsCount: shown[0]!.folds.length > 0, uuid: shown[0]!.stays[0]?.uuid },
      { session: run.rig.session, foldsCount: true, uuid: record!.firstKeptEntry },
    );
  });

  it('records the summary that the user has made of it, in one record', async () => {
    run.rig.review = async () => ({ summary: 'The port is 54329.' });
    await run.talk(1, 8, 8_000);
    await run.exchange('last');
    const [record] = run.compactions;
    assert.deepEqual(
      { compactionsCount: run.compactions.length, trigger: record!.trigger, note: record!.note },
      { compactionsCount: 1, trigger: 'automatic', note: 'You edited the summary before it was applied.' },
    );
    assert.match(record!.summaryText, /The port is 54329\./);
    assert.doesNotMatch(record!.summaryText, /many things/);
    assert.equal(run.rig.conversation.editableSummary, 'The port is 54329.');
  });

  it('leaves everything as it is when the user does not, until the context has grown', async () => {
    let asked = 0;
    run.rig.review = async () => ++asked < 0;
    await run.talk(1, 8, 8_000);
    await run.exchange('last');
    await run.exchange('more');
    assert.deepEqual([run.compactions.length, asked], [0, 1]);
    assert.equal(outline(run.lastRequest).at(-1), 'user: question more');
  });

  it('does not hold a turn that the user stops', async () => {
    run.rig.review = () => new Promise<boolean>(() => undefined);
    await run.talk(1, 8, 8_000);
    run.rig.model.scripts.push(says('never'));
    const sending = run.rig.conversation.send('last');
    await run.rig.until(() => run.rig.summarizer.prompts.length === 1 && run.rig.events.some(({ type }) => type === 'compaction_started'));
    await run.rig.conversation.stop();
    assert.equal((await sending).error?.reason, 'cancelled');
    assert.equal(run.compactions.length, 0);
  });
});

describe('the policy of a session', () => {
  let run: SeedRun;
  afterEach(() => run?.dispose());

  it('goes before the settings, is kept, and shows in the numbers', async () => {
    run = await SeedRun.open('balanced');
    await run.rig.conversation.setPolicy({ preset: 'goose', overrides: { 'context.maxTokens': 5_000 } });
    await run.exchange('1');
    const numbers = () => [run.rig.conversation.snapshot.policy, run.rig.conversation.snapshot.effective];
    assert.deepEqual(numbers(), ['goose', 5_000]);
    await run.rig.reopen();
    assert.deepEqual(numbers(), ['goose', 5_000]);
    await run.rig.conversation.setPolicy(null);
    assert.deepEqual(numbers(), ['balanced', 10_000]);
  });
});
