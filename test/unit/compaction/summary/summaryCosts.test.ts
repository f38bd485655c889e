import assert from 'node:assert/strict';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { says } from '../../../support/chat/scriptedModel';

describe('what a summary has cost that was not finished', () => {
  let rig: ConversationRig;
  beforeEach(async () => {
    rig = await ConversationRig.create();
    for (let i = 0; i < 5; i++) {
      rig.model.scripts.push(says(`answer ${i} ${rig.words(400)}`));
      await rig.conversation.send(`question ${i} ${rig.words(400)}`);
    }
  });
  afterEach(() => rig.dispose());

  const reported = { input: 4_100, output: 70, cacheRead: 12, cacheWrite: 3 };
  const half = 'half of a summary '.repeat(20);

  async function spent() {
    const totals = await rig.store.usageTotals({ session: rig.session });
    return totals
      .filter(({ model }) => model === rig.summarizer.model)
      .map(({ requests, input, output, cacheRead, cacheWrite, requestsEstimated }) => ({
        requests,
        input,
        output,
        cacheRead,
        cacheWrite,
        requestsEstimated,
      }));
  }

  /** Stops what runs as soon as the summariser has been asked. */
  async function whileAsked<T>(running: Promise<T>, stop: () => void): Promise<T> {
    await rig.until(() => rig.summarizer.prompts.length === 1);
    stop();
    return running;
  }

  it('is what was reported', async () => {
    rig.summarizer.hold = rig.gate();
    rig.summarizer.begun = { text: half, usage: reported };
    assert.match((await whileAsked(rig.conversation.compact(), () => void rig.conversation.stop())).message!, /Cancelled/);
    assert.deepEqual(await spent(), [{ requests: 1, ...reported, requestsEstimated: 0 }]);
  });

  it('is an estimate of what came behind the last report', async () => {
    rig.summarizer.hold = rig.gate();
    rig.summarizer.begun = { text: '', usage: { ...reported, output: 1 }, more: half };
    await whileAsked(rig.conversation.compact(), () => void rig.conversation.stop());
    assert.deepEqual(await spent(), [{ requests: 1, ...reported, output: 91, requestsEstimated: 1 }]);
  });

  it('is an estimate when nothing was reported: of a compaction and a summary made anew', async () => {
    rig.summarizer.hold = rig.gate();
    rig.summarizer.begun = { text: half, usage: null };
    await whileAsked(rig.conversation.compact(), () => void rig.conversation.stop());
    const [first] = await spent();
    assert.deepEqual(
      { requests: first?.requests, requestsEstimated: first?.requestsEstimated, output: first?.output },
      { requests: 1, requestsEstimated: 1, output: 90 },
    );
    assert.ok(first!.input > 2_500, JSON.stringify(first));

    rig.summarizer.hold = null;
    rig.summarizer.begun = null;
    assert.equal((await rig.conversation.compact()).message, null);
    rig.summarizer.prompts.length = 0;
    rig.summarizer.hold = rig.gate();
    rig.summarizer.begun = { text: half, usage: null };
    await whileAsked(rig.conversation.resummarize(), () => void rig.conversation.stop());
    assert.deepEqual(
      (await spent()).map(({ requests, requestsEstimated }) => [requests, requestsEstimated]),
      [[3, 2]],
    );
  });

  it('is counted when the answer breaks off', async () => {
    rig.summarizer.begun = { text: half, usage: null };
    rig.summarizer.fail = 'network';
    assert.equal((await rig.conversation.compact()).entry?.content.rung, 'extractive');
    assert.deepEqual(
      (await spent()).map(({ requests, requestsEstimated }) => [requests, requestsEstimated]),
      [[1, 1]],
    );
  });

  it('is counted of a snapshot that is still being written when the session is closed', async () => {
    rig.summarizer.hold = rig.gate();
    rig.summarizer.begun = { text: half, usage: null };
    const { message } = await whileAsked(rig.conversation.checkpoint(), () => rig.conversation.dispose());
    assert.equal(message, 'Cancelled. No snapshot was saved.');
    assert.deepEqual(
      (await spent()).map(({ requests, requestsEstimated }) => [requests, requestsEstimated]),
      [[1, 1]],
    );
  });

  it('is counted when it was prepared and is of no use any more', async () => {
    rig.summarizer.begun = { text: half, usage: null };
    rig.summarizer.hold = rig.gate();
    rig.overrides = { 'compaction.prepareAtPercent': 20, 'compaction.triggerPercent': 95, 'memoryFlush.enabled': false };
    rig.model.scripts.push(says('ok'));
    await whileAsked(rig.conversation.send('one more'), () => rig.conversation.dispose());
    await rig.until(async () => (await spent())[0]?.requestsEstimated === 1);
  });

  it('is nothing when nothing had come', async () => {
    rig.summarizer.fail = 'overloaded';
    await rig.conversation.compact();
    rig.summarizer.fail = null;
    await rig.conversation.undoCompaction();
    rig.summarizer.prompts.length = 0;
    rig.summarizer.hold = rig.gate();
    await whileAsked(rig.conversation.compact(), () => void rig.conversation.stop());
    assert.deepEqual(await spent(), []);
  });
});
