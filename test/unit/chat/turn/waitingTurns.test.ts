import assert from 'node:assert/strict';
import { isEntryOf } from '../../../../src/core/session/entry';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { says } from '../../../support/chat/scriptedModel';

let rig: ConversationRig;

async function fill(turns: number, tokens: number): Promise<void> {
  for (let i = 0; i < turns; i++) {
    rig.model.scripts.push(says(`answer ${i} ${rig.words(tokens / 2)}`));
    await rig.conversation.send(`question ${i} ${rig.words(tokens / 2)}`);
  }
}

const records = () =>
  rig.events.flatMap((event) => (event.type === 'entry_appended' && isEntryOf(event.entry, 'compaction') ? [event.entry.content] : []));

describe('what a summary is made from and when', () => {
  beforeEach(async () => (rig = await ConversationRig.create()));
  afterEach(() => rig.dispose());

  it('leaves out what the program said to the model for the moment', async () => {
    rig.overrides = { 'context.showUsageToModel': true };
    await fill(7, 900);
    const said = rig.conversation.entries.map(({ content }) => content.type);
    assert.ok(said.includes('nudge') && said.includes('usage_note'));
    await rig.conversation.compact();
    await rig.conversation.checkpoint();
    assert.ok(rig.summarizer.prompts.length >= 2);
    for (const prompt of rig.summarizer.prompts) {
      assert.match(prompt, /question \d/);
      assert.doesNotMatch(prompt, /the context window is \d+ % full|Context in use/i);
    }
  });

  it('measures a better summary in the background: the turn that records it waits for no search', async () => {
    rig.summarizer.fail = 'overloaded';
    await fill(6, 800);
    await rig.conversation.compact();
    rig.summarizer.fail = null;
    rig.clock.pass(60_000);
    await rig.until(() => rig.logged.some(({ event }) => event === 'summary_retry'));
    rig.store.search = () => new Promise(() => undefined);
    rig.modelId = 'scripted-2';
    await fill(1, 100);
    const improved = records()[1]!;
    assert.equal(improved.trigger, 'retry');
    assert.ok(improved.continuity!.searched > 0);
  });

  it('is not made of passages for a preview that was stopped, and costs nothing further', async () => {
    await fill(6, 800);
    rig.summarizer.hold = rig.gate();
    const previewing = rig.conversation.previewCompaction();
    await rig.until(() => rig.summarizer.prompts.length === 1);
    await rig.conversation.stop();
    rig.summarizer.hold = null;
    const { content, message } = await previewing;
    assert.deepEqual([content, message], [null, 'Cancelled: nothing was changed.']);
    assert.equal((await rig.conversation.compact()).entry?.content.rung, 'model');
    assert.equal(rig.summarizer.prompts.length, 2);
  });

  it('is announced when something is due elsewhere because the policy changed', async () => {
    const updates = () => rig.logged.flatMap(({ event, data }) => (event === 'threshold_updated' ? [data!['trigger']] : []));
    await fill(1, 100);
    assert.deepEqual(updates(), []);
    rig.overrides = { 'compaction.triggerPercent': 50 };
    await fill(2, 100);
    assert.deepEqual(updates(), [5_000]);
  });
});

describe('a message for a session that another window answers in', () => {
  it('waits on disk, is sent when its turn comes, and once', async () => {
    rig = await ConversationRig.create();
    const there = await rig.besides();
    try {
      const gate = rig.gate();
      rig.model.scripts.push([{ hold: gate.opened }, ...says('here')], says('there'));
      const first = rig.conversation.send('one');
      await rig.until(() => rig.model.requests.length === 1);
      const second = there.conversation.send('two', 'waiting');
      await rig.until(async () => (await there.store.queue(there.session)).length > 0);
      const ids = (queue: readonly { readonly id: string }[]) => queue.map(({ id }) => id);
      assert.deepEqual(
        {
          idsQueued: ids(there.conversation.queued),
          idsQueue: ids(await there.store.queue(there.session)),
          requestsCount: rig.model.requests.length,
        },
        { idsQueued: ['waiting'], idsQueue: ['waiting'], requestsCount: 1 },
      );
      gate.open();
      assert.deepEqual([(await first).ok, (await second).ok], [true, true]);
      assert.deepEqual(
        { texts: await rig.texts(), queued: there.conversation.queued, queue: await there.store.queue(there.session) },
        { texts: ['one', 'here', 'two', 'there'], queued: [], queue: [] },
      );
    } finally {
      await there.dispose(false);
      await rig.dispose();
    }
  });
});
