import assert from 'node:assert/strict';
import { StoreError } from '../../../src/core/errors';
import { requestIn } from '../../../src/core/session/carriedRequest';
import { type EntryOf } from '../../../src/core/session/entry';
import { ConversationRig } from '../../support/chat/conversationRig';
import { says } from '../../support/chat/scriptedModel';

const good = (fact = 'the plan is set (#2)') =>
  JSON.stringify({ logos: [fact], pathos: [], abstract: [], conversation_summary: 'They talked.' });

let rig: ConversationRig;

describe('better summaries', () => {
  beforeEach(async () => (rig = await ConversationRig.create()));
  afterEach(() => rig.dispose());

  async function standIn(): Promise<EntryOf<'compaction'>> {
    rig.summarizer.fail = 'overloaded';
    await rig.fill(6, 800);
    const { entry } = await rig.conversation.compact();
    assert.equal(entry?.content.rung, 'extractive');
    return entry;
  }

  const retried = () => rig.logged.filter(({ event }) => event === 'summary_retry').map(({ data }) => [data!['attempt'], data!['ok']]);

  it('are made from the originals in the background, less and less often, recorded at once and sent with the next request', async () => {
    const target = await standIn();
    const asked = rig.summarizer.prompts.length;
    rig.clock.pass(59_999);
    assert.equal(rig.summarizer.prompts.length, asked);
    rig.clock.pass(1);
    await rig.until(async () => retried().length === 1 && (await rig.store.summaryRetries(rig.session))[0]?.attempts === 1);
    const [queued] = await rig.store.summaryRetries(rig.session);
    assert.equal(queued!.nextAt - rig.clock.now(), 120_000);
    rig.summarizer.fail = null;
    await new Promise((resolve) => setImmediate(resolve));
    rig.clock.pass(120_000);
    await rig.until(() => retried().length === 2);
    assert.deepEqual(retried(), [
      [1, false],
      [2, true],
    ]);
    assert.match(rig.summarizer.prompts.at(-1)!, /question 0/);
    await rig.until(() => rig.compactions().length === 2);
    await rig.fill(1, 100, 'later');
    const improved = rig.compactions()[1]!;
    assert.deepEqual(
      { trigger: improved.content.trigger, rung: improved.content.rung, supersedes: improved.content.supersedes },
      { trigger: 'retry', rung: 'model', supersedes: target.uuid },
    );
    assert.equal(improved.content.firstKeptEntry, target.content.firstKeptEntry);
    assert.match(rig.lastSent, /the plan is set/);
    assert.deepEqual(await rig.store.summaryRetries(rig.session), []);
    assert.equal((await rig.conversation.undoCompaction()).message, null);
  });

  it('survive the process', async () => {
    await standIn();
    await rig.reopen();
    rig.summarizer.fail = null;
    await rig.until(() => rig.clock.timers > 0);
    rig.clock.pass(60_000);
    await rig.until(() => rig.compactions().length === 2);
    assert.deepEqual(
      rig.compactions().map(({ content }) => content.trigger),
      ['manual', 'retry'],
    );
  });

  it('wait for the next occasion when they cannot be stored', async () => {
    await standIn();
    rig.summarizer.fail = null;
    await rig.until(() => rig.clock.timers > 0);
    rig.failAppends(new StoreError('disk_full', 'full'));
    rig.clock.pass(60_000);
    await rig.until(() => rig.logged.some(({ event }) => event === 'summary_retry_not_saved'));
    const asked = rig.summarizer.prompts.length;
    rig.failAppends(null);
    await rig.fill(1, 100, 'later');
    assert.deepEqual(
      [rig.compactions().map(({ content }) => content.trigger), rig.summarizer.prompts.length],
      [['manual', 'retry'], asked],
    );
    assert.match(rig.lastSent, /the plan is set/);
  });

  it('are not made for a compaction that was undone', async () => {
    await standIn();
    await rig.conversation.undoCompaction();
    rig.clock.pass(60_000);
    await rig.until(async () => (await rig.store.summaryRetries(rig.session)).length === 0);
    assert.deepEqual(retried(), []);
  });

  it('can be previewed without being recorded, and the preview is what is then used', async () => {
    await rig.fill(6, 800);
    const before = rig.conversation.snapshot.used;
    const preview = await rig.conversation.previewCompaction();
    assert.equal(preview.message, null);
    assert.match(preview.content!.summaryText, /the plan is set/);
    assert.ok(preview.folds.length > 0 && preview.stays.length > 0 && preview.content!.tokensAfter < before);
    assert.deepEqual([rig.compactions().length, rig.conversation.snapshot.used], [0, before]);
    const { entry } = await rig.conversation.compact();
    assert.deepEqual(
      { summaryText: entry?.content.summaryText, rung: entry?.content.rung, promptsCount: rig.summarizer.prompts.length },
      { summaryText: preview.content!.summaryText, rung: 'model', promptsCount: 1 },
    );
  });

  for (const summarizes of [true, false]) {
    it(`edited in a preview stand for what it showed, ${summarizes ? 'by a model' : 'without one'}: what was said since stays`, async () => {
      rig.summarizes = summarizes;
      await rig.fill(6, 800);
      const preview = await rig.conversation.previewCompaction();
      await rig.fill(3, 150, 'later');
      const { entry } = await rig.conversation.compact(null, 'We agreed on blue.');
      assert.match(entry!.content.summaryText, /We agreed on blue\./);
      // No model is to write over what the user has written.
      assert.equal(entry!.content.needsSummaryRetry, false);
      const { entries } = rig.conversation;
      const kept = entries.findIndex(({ uuid }) => uuid === entry!.content.firstKeptEntry);
      const folded = entries.slice(0, kept).filter(({ content }) => content.type === 'message');
      assert.deepEqual(
        folded.map(({ uuid }) => uuid).filter((uuid) => !preview.folds.includes(uuid)),
        [],
      );
      rig.model.scripts.push(says('blue'));
      await rig.conversation.send('which colour?');
      for (const index of [0, 1, 2]) assert.match(rig.lastSent, new RegExp(`later ${index}`));
    });
  }

  it('edited in a preview are not put on what has been folded since', async () => {
    await rig.fill(6, 800);
    await rig.conversation.previewCompaction();
    await rig.conversation.compact();
    await rig.fill(2, 400, 'later');
    const { entry, message } = await rig.conversation.compact(null, 'We agreed on blue.');
    assert.equal(entry, null);
    assert.match(message!, /^The messages of this preview have been compacted or changed since\./);
    assert.equal(rig.compactions().length, 1);
    await rig.conversation.undoCompaction();
    assert.match((await rig.conversation.compact(null, 'We agreed on blue.')).entry!.content.summaryText, /We agreed on blue/);
  });

  it('say in a preview why no model has written the summary, and nothing where none is asked', async () => {
    await rig.fill(6, 800);
    rig.summarizer.fail = 'server';
    const failed = await rig.conversation.previewCompaction();
    assert.equal(failed.content?.note, 'The model could not summarize: scripted-summarizer: by script.');
    rig.summarizes = false;
    await rig.fill(1, 800, 'later');
    const { content } = await rig.conversation.previewCompaction();
    assert.deepEqual([content?.rung, content?.note], ['extractive', undefined]);
  });

  it('can be edited: a new record, the ledgers stay, and an undo brings the messages back', async () => {
    await rig.fill(6, 800);
    const first = (await rig.conversation.compact()).entry!;
    assert.match(rig.conversation.editableSummary!, /the plan is set/);
    const { entry } = await rig.conversation.editSummary('We agreed on blue.');
    assert.deepEqual(
      { trigger: entry?.content.trigger, supersedes: entry?.content.supersedes, rung: entry?.content.rung },
      { trigger: 'edit', supersedes: first.uuid, rung: first.content.rung },
    );
    assert.match(entry!.content.summaryText, /We agreed on blue\./);
    assert.match(entry!.content.summaryText, /\(#1\) question 0/);
    assert.doesNotMatch(entry!.content.summaryText, /the plan is set/);
    assert.match((await rig.conversation.editSummary(' ')).message!, /undo the compaction/);
    rig.model.scripts.push(says('blue'));
    await rig.conversation.send('which colour?');
    assert.match(rig.lastSent, /We agreed on blue/);
    const prompts = rig.summarizer.prompts.length;
    await rig.fill(4, 900, 'later');
    await rig.conversation.compact();
    assert.match(rig.summarizer.prompts[prompts]!, /<previous-state-\d+>.*We agreed on blue/s);
  });

  it('carries no request when one is edited that was made behind a whole answer', async () => {
    await rig.fill(1, 3_000);
    const { entry } = await rig.conversation.compact();
    const edited = (await rig.conversation.editSummary('We agreed on blue.')).entry!;
    const parts = [entry!, edited].map(({ content }) => [content.firstKeptEntry, requestIn(content.summary)]);
    assert.deepEqual(parts, [
      [null, undefined],
      [null, undefined],
    ]);
    assert.doesNotMatch(edited.content.summaryText, /The request you are working on/);
  });

  it('can be put in force again after an edit, as it was', async () => {
    await rig.fill(6, 800);
    const first = (await rig.conversation.compact()).entry!;
    const edited = (await rig.conversation.editSummary('We agreed on blue.')).entry!;
    const { entry } = await rig.conversation.reuseSummary(first.uuid);
    const facts = ({ content: { summaryText, rung, model, coversFrom, firstKeptEntry } }: typeof first) => ({
      summaryText,
      rung,
      model,
      coversFrom,
      firstKeptEntry,
    });
    assert.deepEqual(facts(entry!), facts(first));
    assert.deepEqual([entry!.content.supersedes, entry!.content.note], [edited.uuid, 'An earlier summary, in use again.']);
    rig.model.scripts.push(says('which?'));
    await rig.conversation.send('which colour?');
    assert.match(rig.lastSent, /the plan is set/);
    assert.doesNotMatch(rig.lastSent, /We agreed on blue/);
    // The user's own words come back as well.
    assert.match((await rig.conversation.reuseSummary(edited.uuid)).entry!.content.summaryText, /We agreed on blue/);
    await rig.fill(4, 900, 'later');
    await rig.conversation.compact();
    const { entry: none, message } = await rig.conversation.reuseSummary(first.uuid);
    assert.equal(none, null);
    assert.match(message!, /other messages than those that are folded now/);
  });

  for (const [how, replace] of [
    ['an edit', () => rig.conversation.editSummary('We agreed on blue.')],
    ['instructions', () => rig.conversation.resummarize('the colours')],
    [
      'another try in the background',
      async () => {
        rig.summarizer.fail = null;
        await rig.until(() => rig.clock.timers > 0);
        rig.clock.pass(60_000);
        await rig.until(() => rig.compactions().length === 2);
      },
    ],
  ] as const)
    it(`keep what was said since where nothing was kept, after ${how}`, async () => {
      // The last answer alone is more than stays.
      for (const tokens of [100, 100, 10_000]) {
        rig.model.scripts.push(says(rig.words(tokens)));
        await rig.conversation.send('a question');
      }
      if (how === 'another try in the background') rig.summarizer.fail = 'overloaded';
      const first = (await rig.conversation.compact()).entry!;
      assert.equal(first.content.firstKeptEntry, null);
      rig.model.scripts.push(says('ninety'));
      await rig.conversation.send('how many at noon?');
      await replace();
      rig.model.scripts.push(says('fifty'), says('none'));
      await rig.conversation.send('how many at dusk?');
      await rig.conversation.reuseSummary(first.uuid);
      await rig.conversation.send('how many at night?');
      const said = /how many at noon\?.*ninety.*how many at dusk\?.*fifty.*how many at night\?/s;
      assert.match(rig.lastSent, said);
      await rig.reopen();
      rig.model.scripts.push(says('two'));
      await rig.conversation.send('and tomorrow?');
      assert.match(rig.lastSent, said);
      const [record, ...others] = rig.compactions().map(({ content }) => content);
      for (const { coversFrom, supersedes } of others) assert.ok(coversFrom === record!.coversFrom && supersedes);
    });

  it('can be written anew with instructions, from the originals', async () => {
    await rig.fill(6, 800);
    const first = (await rig.conversation.compact()).entry!;
    rig.summarizer.answers.push(good('colours: blue (#1)'));
    const { entry } = await rig.conversation.resummarize('keep the colours');
    assert.match(rig.summarizer.prompts.at(-1)!, /question 0.*keep the colours/s);
    assert.deepEqual(
      { supersedes: entry?.content.supersedes, instructions: entry?.content.instructions, coversFrom: entry?.content.coversFrom },
      { supersedes: first.uuid, instructions: 'keep the colours', coversFrom: first.content.coversFrom },
    );
    assert.match(entry!.content.summaryText, /colours: blue/);
    rig.summarizer.fail = 'server';
    assert.match((await rig.conversation.resummarize()).message!, /stays as it was/);
    assert.equal((await rig.conversation.undoCompaction()).message, null);
    rig.autoCompact = false;
    rig.model.scripts.push(says('x'));
    await rig.conversation.send('y');
    assert.match(rig.lastSent, /question 0/);
  });
});

describe('pins', () => {
  beforeEach(async () => (rig = await ConversationRig.create()));
  afterEach(() => rig.dispose());

  it('stand in every compaction after the ledgers, files as they are then', async () => {
    await rig.fill(5, 1_000);
    const [first] = (await rig.store.page(rig.session, { limit: 100 })).entries;
    rig.files.set('src/rules.md', { text: 'RULE ONE', hash: 'h1' });
    assert.equal((await rig.conversation.pin({ kind: 'text', target: 'Always use tabs.' })).message, null);
    rig.clock.pass(1);
    assert.equal((await rig.conversation.pin({ kind: 'file', target: 'src/rules.md' })).message, null);
    assert.match((await rig.conversation.pin({ kind: 'entry', target: first!.uuid })).message!, /tokens.*for pins are free/);
    assert.match((await rig.conversation.pin({ kind: 'file', target: 'nope' })).message!, /cannot be read/);
    assert.deepEqual(
      (await rig.conversation.pins()).map(({ kind, target }) => [kind, target]),
      [
        ['text', 'Always use tabs.'],
        ['file', 'src/rules.md'],
      ],
    );
    rig.model.scripts.push(says('seen'));
    await rig.conversation.send('hm');
    assert.match(rig.lastSent, /Always use tabs/, 'seen at once');
    rig.files.set('src/rules.md', { text: 'RULE TWO', hash: 'h2' });
    const text = (await rig.conversation.compact()).entry!.content.summaryText;
    assert.match(
      text,
      /## What the user said.*## Pinned by the user \(verbatim\)\n### Note\n {2}Always use tabs\.\n### File src\/rules\.md, changed since it was pinned\n {2}RULE TWO/s,
    );
    await rig.conversation.unpin({ kind: 'text', target: 'Always use tabs.' });
    await rig.fill(4, 900, 'later');
    const second = (await rig.conversation.compact()).entry!.content.summaryText;
    assert.match(second, /RULE TWO/);
    assert.doesNotMatch(second, /### Note/);
  });
});
