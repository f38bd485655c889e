import assert from 'node:assert/strict';
import { ConversationRig } from '../../support/chat/conversationRig';
import { calls, says } from '../../support/chat/scriptedModel';

describe('Conversation: a cancelled compaction', () => {
  let rig: ConversationRig;
  beforeEach(async () => {
    rig = await ConversationRig.create();
  });
  afterEach(() => rig.dispose());

  it('asks for a summary in a turn in which a compaction was cancelled that was not running', async () => {
    await rig.fill(7, 900);
    const gate = rig.gate();
    rig.model.scripts.push([{ hold: gate.opened }, ...calls('dump', { tokens: 1_300 }, 'c1')], says('went on'));
    const sending = rig.conversation.send('read it');
    await rig.until(() => rig.model.requests.length === 8);
    rig.conversation.cancelCompaction();
    gate.open();
    assert.equal((await sending).text, 'went on');
    assert.deepEqual(
      rig.compactions().map(({ content }) => content.rung),
      ['model'],
    );
  });
});
