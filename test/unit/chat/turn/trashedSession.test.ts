import assert from 'node:assert/strict';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { says } from '../../../support/chat/scriptedModel';

describe('a session that is put into the trash while it is open', () => {
  it('comes out of it with the next message: it would be deleted for good while it is in use', async () => {
    const rig = await ConversationRig.create();
    try {
      rig.model.scripts.push(says('Hello there.'));
      await rig.store.updateSession(rig.session, { deletedAt: 5 });
      const { ok } = await rig.conversation.send('Still here');
      const told = rig.events.some((event) => event.type === 'session_changed' && event.session.deletedAt === null);
      assert.deepEqual([ok, (await rig.store.session(rig.session))?.deletedAt, told], [true, null, true]);
    } finally {
      await rig.dispose();
    }
  });
});
