import assert from 'node:assert/strict';
import type { ModelEvent } from '../../../../src/core/models/modelEvent';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { fails } from '../../../support/chat/scriptedModel';

describe('an answer of which nothing came, or not all', () => {
  let rig: ConversationRig;
  beforeEach(async () => (rig = await ConversationRig.create()));
  afterEach(() => rig.dispose());

  const usage: ModelEvent = { type: 'usage', usage: { input: 1_000, output: 5, cacheRead: 0, cacheWrite: 0 } };
  const spent = async () =>
    (await rig.store.usageTotals({ session: rig.session })).map(({ input, output, requestsEstimated }) => [
      input,
      output,
      requestsEstimated,
    ]);

  it('is counted in what was spent', async () => {
    rig.model.scripts.push([usage, { type: 'stopped', reason: 'end_turn' }]);
    await rig.conversation.send('hello');
    assert.deepEqual(await spent(), [[1_000, 5, 0]]);
  });

  it('is counted by what had been said when it broke off: the provider tells that at its end', async () => {
    const text = rig.words(300);
    rig.model.scripts.push([usage, { type: 'text_delta', index: 0, text }, ...fails('refused')]);
    await rig.conversation.send('hello');
    const [said] = rig.conversation.entries.flatMap((entry) =>
      entry.content.type === 'message' && entry.content.text === text ? [entry] : [],
    );
    const [[input, output, estimated] = []] = await spent();
    assert.deepEqual([said !== undefined, input, estimated], [true, 1_000, 1]);
    assert.ok(output! >= 300 && output! < 400, `${output}`);
  });

  it('is said to be none when all of it is thinking', async () => {
    for (const text of ['', ' \n']) {
      rig.model.scripts.push([
        { type: 'block', index: 0, block: { type: 'thinking', text: 'They say hello.' } },
        { type: 'block', index: 1, block: { type: 'text', text } },
        { type: 'stopped', reason: 'end_turn' },
      ]);
      const { ok, error } = await rig.conversation.send('hello');
      assert.deepEqual([ok, error?.reason], [false, 'server']);
      assert.match(error!.message, /gave no answer/);
    }
  });
});
