import assert from 'node:assert/strict';
import fc from 'fast-check';
import { StoreError } from '../../../src/core/errors';
import { entryText, type StoredEntry } from '../../../src/core/session/entry';
import { ConversationRig } from '../../support/chat/conversationRig';
import { fails, says } from '../../support/chat/scriptedModel';

describe('branching', () => {
  let rig: ConversationRig;
  beforeEach(async () => {
    rig = await ConversationRig.create();
  });
  afterEach(() => rig.dispose());

  const answers = (...texts: string[]) => void rig.model.scripts.push(...texts.map((text) => says(text)));
  const say = (text: string) => rig.conversation.send(text);
  const messages = async (): Promise<StoredEntry[]> =>
    (await rig.store.page(rig.session, { limit: 100 })).entries.filter(({ content }) => content.type === 'message');
  const named = async (text: string): Promise<string> => (await messages()).find(({ content }) => entryText(content) === text)!.uuid;
  const sent = () =>
    rig.model.requests.at(-1)!.messages.flatMap(({ blocks }) => blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])));

  it('an edited message goes another way from where the first one stood, and the first one is kept', async () => {
    answers('one', 'two', 'three');
    await say('first');
    await say('second');
    const outcome = await rig.conversation.branching.edit(await named('second'), 'second, better', 'id-1');
    assert.equal(outcome.ok, true);
    assert.deepEqual(await rig.texts(), ['first', 'one', 'second, better', 'three']);
    assert.deepEqual(sent(), ['first', 'one', 'second, better']);
    const [fork] = (await rig.store.page(rig.session, { limit: 100 })).forks;
    assert.equal(fork?.branches.length, 2);
    assert.equal(fork.entry, await named('second, better'));

    assert.equal(await rig.conversation.branching.switchTo(fork.branches[0]!), null);
    assert.deepEqual(await rig.texts(), ['first', 'one', 'second', 'two']);
    await rig.reopen();
    assert.deepEqual(await rig.texts(), ['first', 'one', 'second', 'two'], 'where it stands survives');
  });

  it('an edited message that is on disk is told as saved, whatever fails behind it', async () => {
    answers('one');
    await say('first');
    const entry = await named('first');
    const { page } = rig.store;
    rig.store.page = () => Promise.reject(new StoreError('disk_full', 'by script'));
    let accepted = 0;
    const { begun, error } = await rig.conversation.branching.edit(entry, 'better', 'id-1', () => accepted++);
    rig.store.page = page;
    assert.deepEqual(
      { begun, error, accepted, saved: (await messages()).map(({ content }) => entryText(content)) },
      {
        begun: true,
        error: {
          reason: 'store',
          message: 'The disk is full. Your message is saved, what came after it could not be. Free some space and try again.',
        },
        accepted: 1,
        saved: ['better'],
      },
    );
  });

  it('the very first message can be edited, too', async () => {
    answers('one', 'two');
    await say('first');
    await rig.conversation.branching.edit(await named('first'), 'other', 'id-1');
    assert.deepEqual(await rig.texts(), ['other', 'two']);
    assert.deepEqual(sent(), ['other']);
    assert.equal((await rig.store.page(rig.session, { limit: 100 })).forks[0]?.branches.length, 2);
  });

  it('another answer stands beside the first, of whatever turn it is asked for', async () => {
    answers('one', 'two', 'another');
    await say('first');
    await say('second');
    const outcome = await rig.conversation.branching.regenerate(await named('one'), 'id-1');
    assert.deepEqual([outcome.ok, await rig.texts()], [true, ['first', 'another']]);
    assert.deepEqual(sent(), ['first']);
    const [fork] = (await rig.store.page(rig.session, { limit: 100 })).forks;
    assert.equal(fork?.branches.length, 2);
    await rig.conversation.branching.switchTo(fork.branches[0]!);
    assert.deepEqual(await rig.texts(), ['first', 'one', 'second', 'two']);
  });

  it('a failed repetition is a branch as well, and the answer that was there is one step away', async () => {
    answers('one');
    await say('first');
    rig.model.scripts.push(fails('refused'));
    await rig.conversation.branching.regenerate(await named('one'), 'id-1');
    const page = await rig.store.page(rig.session, { limit: 100 });
    assert.deepEqual(
      page.entries.map(({ content }) => content.type),
      ['message', 'custom'],
    );
    assert.equal(page.forks[0]?.branches.length, 2);
  });

  it("tells surfaces by a page that takes the old one's place, before what is new", async () => {
    answers('one', 'two');
    await say('first');
    rig.events.length = 0;
    await rig.conversation.branching.edit(await named('first'), 'other', 'id-1');
    const told = rig.events.flatMap((event): (string | string[])[] =>
      event.type === 'branch_replaced'
        ? [event.page.entries.map(({ content }) => entryText(content))]
        : event.type === 'entry_appended'
          ? [entryText(event.entry.content)]
          : [],
    );
    assert.deepEqual(told, [[], 'other', 'two']);
  });

  it('a label is on its turn, found by search, and taken away by an empty one', async () => {
    answers('one');
    await say('first');
    const entry = await named('one');
    await rig.conversation.branching.label(entry, ' good heron idea ');
    assert.equal((await rig.store.search({ text: 'heron', limit: 5 })).hits[0]?.text, 'good heron idea');
    await rig.conversation.branching.label(entry, '');
    const labels = (await rig.store.page(rig.session, { limit: 10 })).entries.flatMap(({ content }) =>
      content.type === 'label' ? [[content.target, content.label]] : [],
    );
    assert.deepEqual(labels, [
      [entry, 'good heron idea'],
      [entry, ''],
    ]);
    assert.equal((await rig.conversation.branching.list())[0]?.label, null);
  });

  const talk = async () => {
    answers('one', 'two', 'three', 'four', 'five');
    for (const text of ['first', 'second', 'third']) await say(text);
    await rig.conversation.branching.edit(await named('second'), 'another second', 'id-1');
  };
  const offers = () => rig.events.flatMap((event) => (event.type === 'branch_left' ? [event.left] : []));

  it('a branch that is left with work in it is summarised when the user wants that, and cites what can be read again', async () => {
    await talk();
    assert.deepEqual(offers(), [{ messages: 4, summarizing: false }]);
    assert.equal(await rig.conversation.branching.summarizeLeft('the ports'), null);
    assert.deepEqual(offers().slice(1), [{ messages: 4, summarizing: true }, null]);
    assert.match(rig.summarizer.prompts[0]!, /second[^]*third/);
    assert.match([...rig.summarizer.systems, ...rig.summarizer.prompts].join(), /the ports/);
    const entry = rig.conversation.entries.at(-1)!;
    assert.equal(entry.content.type, 'branch_summary');
    const text = entryText(entry.content);
    assert.match(text, /the plan is set/);
    const cited = [...text.matchAll(/#(\d+)/g)].map(([, seq]) => Number(seq)).filter((seq) => seq !== 12);
    assert.ok(cited.length > 0);
    assert.equal((await rig.store.entriesBySeq([...new Set(cited)])).length, new Set(cited).size);
    await say('and now?');
    assert.ok(
      sent().some((one) => one.includes('the plan is set')),
      'the model is told',
    );
    assert.ok(!sent().includes('third'));
    assert.match((await rig.conversation.branching.summarizeLeft(null)) ?? '', /no branch/);
  });

  it('without a model that can summarise, it is made of exact passages', async () => {
    await talk();
    rig.summarizer.fail = 'server';
    assert.equal(await rig.conversation.branching.summarizeLeft(null), null);
    assert.match(entryText(rig.conversation.entries.at(-1)!.content), /third/);
  });

  it('no summary is offered for a single question, when it was declined, or after the next message', async () => {
    answers('one', 'two', 'three');
    await say('first');
    await rig.conversation.branching.edit(await named('first'), 'other', 'id-1');
    assert.deepEqual(offers(), []);
    rig.model.scripts.length = 0;
    await talk();
    rig.conversation.branching.forgetLeft();
    assert.deepEqual(offers(), [{ messages: 4, summarizing: false }, null]);
    rig.offersBranchSummary = false;
    const { forks } = await rig.store.page(rig.session, { limit: 100 });
    await rig.conversation.branching.switchTo(forks.at(-1)!.branches[0]!);
    assert.equal(offers().length, 2);
  });

  it('a branch is offered once: what has been brought along is there', async () => {
    await talk();
    await rig.conversation.branching.summarizeLeft(null);
    const [left, here] = (await rig.store.page(rig.session, { limit: 100 })).forks[0]!.branches;
    await rig.conversation.branching.switchTo(left!);
    rig.events.length = 0;
    await rig.conversation.branching.switchTo(here!);
    assert.deepEqual(offers(), []);
  });

  it('refuses what is not there and what is no message of the user', async () => {
    answers('one');
    await say('first');
    assert.equal((await rig.conversation.branching.edit(await named('one'), 'x', 'id-1')).error?.reason, 'store');
    assert.equal((await rig.conversation.branching.edit(await named('first'), '  ', 'id-2')).begun, false);
    assert.match((await rig.conversation.branching.switchTo('nowhere')) ?? '', /./);
    assert.deepEqual(await rig.texts(), ['first', 'one']);
  });
});

/** Runs of the property; each opens a store of its own. */
const runs = 25;

describe('branching, whatever is done in whatever order', () => {
  const step = fc.record({
    do: fc.constantFrom('send' as const, 'edit' as const, 'retry' as const, 'switch' as const, 'compact' as const),
    pick: fc.nat(1_000),
  });

  it('every entry stays reachable, and what is sent is a valid prompt of the branch on show', async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const rig = await ConversationRig.create();
        try {
          rig.model.scripts.push(...Array.from({ length: 40 }, (_, i) => says(`answer ${i}`)));
          await rig.conversation.send('begin');
          const seen = new Set<string>();
          for (const [index, { do: what, pick }] of steps.entries()) {
            const { entries } = await rig.store.page(rig.session, { limit: 200 });
            for (const { uuid } of entries) seen.add(uuid);
            const of = (role: string) => entries.filter(({ content }) => content.type === 'message' && content.role === role);
            const any = (list: readonly StoredEntry[]) => list[pick % Math.max(1, list.length)]?.uuid;
            const { branching } = rig.conversation;
            const user = any(of('user'));
            const answer = any(of('assistant'));
            if (what === 'send') await rig.conversation.send(`message ${index}`);
            if (what === 'edit' && user) await branching.edit(user, `edited ${index}`, `id-${index}`);
            if (what === 'retry' && answer) await branching.regenerate(answer, `id-${index}`);
            if (what === 'compact') await rig.conversation.compact();
            if (what === 'switch') {
              const tips = await branching.list();
              const { leaf } = tips[pick % tips.length]!;
              assert.equal(await branching.switchTo(leaf), null);
              assert.equal((await rig.store.session(rig.session))?.leaf, leaf);
            }
            const asked = rig.model.requests.at(-1)!;
            assert.equal(asked.messages[0]?.role, 'user');
            assert.equal(asked.messages.at(-1)?.role, 'user');
            assert.ok(asked.messages.every((message, at) => at === 0 || message.role !== asked.messages[at - 1]!.role));
            assert.deepEqual(
              rig.conversation.entries.map(({ uuid }) => uuid),
              (await rig.store.liveBranch(rig.session)).entries.map(({ uuid }) => uuid),
            );
          }
          const reached = new Set<string>();
          for (const { leaf } of await rig.conversation.branching.list()) {
            await rig.conversation.branching.switchTo(leaf);
            for (const { uuid } of (await rig.store.page(rig.session, { limit: 200 })).entries) reached.add(uuid);
          }
          assert.deepEqual(
            [...seen].filter((uuid) => !reached.has(uuid)),
            [],
          );
        } finally {
          await rig.dispose();
        }
      }),
      { numRuns: runs },
    );
  });
});
