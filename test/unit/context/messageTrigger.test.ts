import assert from 'node:assert/strict';
import { ConversationRig } from '../../support/chat/conversationRig';

describe('a policy that counts messages', () => {
  it('has its compaction foretold, and due when it comes, however small the context is', async () => {
    const rig = await ConversationRig.create({ window: 200_000 });
    rig.policy = 'keep-recent';
    rig.overrides = { 'compaction.triggerMessages': 8 };
    try {
      const foretold: [number | null, string | undefined][] = [];
      while (rig.compactions().length === 0) {
        await rig.fill(1, 2_000);
        const { turnsLeft, thresholds } = rig.conversation.snapshot;
        foretold.push([turnsLeft, thresholds.find(({ kind }) => kind === 'compaction')?.state]);
      }
      assert.deepEqual(foretold, [
        [null, 'ahead'],
        [2, 'ahead'],
        [1, 'ahead'],
        [0, 'due'],
        [1, 'ahead'],
      ]);
    } finally {
      await rig.dispose();
    }
  });
});
