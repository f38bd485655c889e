import assert from 'node:assert/strict';
import { ConversationRig } from '../../support/chat/conversationRig';
import { says } from '../../support/chat/scriptedModel';

describe('the number of compactions in the gauge', () => {
  let rig: ConversationRig;
  beforeEach(async () => (rig = await ConversationRig.create()));
  afterEach(() => rig.dispose());

  const count = () => rig.conversation.snapshot.compactions;

  it('is that of all that stand behind the prompt, without those undone or replaced, and is found again by another process', async () => {
    assert.equal(count(), 0);
    let first = '';
    for (let i = 1; i <= 4; i++) {
      for (let turn = 0; turn < 3; turn++) {
        rig.model.scripts.push(says(`answer ${rig.words(500)}`));
        await rig.conversation.send(`question ${rig.words(500)}`);
      }
      const { entry } = await rig.conversation.compact();
      if (i === 1) first = entry!.uuid;
      assert.equal(count(), i);
    }
    assert.equal((await rig.conversation.resummarize()).message, null);
    assert.equal(count(), 4, 'a better summary of the same range is none more');
    await rig.conversation.undoCompaction();
    assert.equal(count(), 3);
    await rig.reopen();
    await rig.until(() => count() === 3);
    assert.equal(
      rig.conversation.entries.some((entry) => entry.uuid === first),
      false,
      'the oldest is not loaded',
    );
    await rig.until(() => rig.events.some((event) => event.type === 'context_changed' && event.snapshot.compactions === 3));
  });
});
