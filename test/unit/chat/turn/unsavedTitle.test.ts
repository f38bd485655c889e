import assert from 'node:assert/strict';
import { StoreError } from '../../../../src/core/errors';
import { ConversationRig } from '../../../support/chat/conversationRig';

describe('Conversation: a title that cannot be stored', () => {
  let rig: ConversationRig;
  beforeEach(async () => {
    rig = await ConversationRig.create();
  });
  afterEach(() => rig.dispose());

  it('says that a message is saved when only the title made of it cannot be', async () => {
    const { updateSession } = rig.store;
    rig.store.updateSession = () => Promise.reject(new StoreError('disk_full', 'no space'));
    const outcome = await rig.conversation.send('go');
    rig.store.updateSession = updateSession;
    assert.match(outcome.error!.message, /The disk is full\. Your message is saved/);
    assert.deepEqual(await rig.texts(), ['go']);
  });
});
