import assert from 'node:assert/strict';
import { ConversationRig } from '../../../support/chat/conversationRig';

describe('an answer of which nothing came', () => {
  it('is counted in what was spent', async () => {
    const rig = await ConversationRig.create();
    try {
      const usage = { input: 1_000, output: 5, cacheRead: 0, cacheWrite: 0 };
      rig.model.scripts.push([
        { type: 'usage', usage },
        { type: 'stopped', reason: 'end_turn' },
      ]);
      await rig.conversation.send('hello');
      const totals = await rig.store.usageTotals({ session: rig.session });
      assert.deepEqual(
        totals.map(({ input, output }) => [input, output]),
        [[1_000, 5]],
      );
    } finally {
      await rig.dispose();
    }
  });
});
