import assert from 'node:assert/strict';
import { StoreError } from '../../../../src/core/errors';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { says } from '../../../support/chat/scriptedModel';

describe('Conversation: a store that fails under an answer', () => {
  let rig: ConversationRig;
  beforeEach(async () => {
    rig = await ConversationRig.create();
  });
  afterEach(() => rig.dispose());

  it('shows nothing more behind the end of the turn, when there is room again at once', async () => {
    const { append, writePartial } = rig.store;
    const disk = rig.gate();
    let isTried = false;
    let hasWritten = false;
    rig.store.writePartial = async (chunk) => {
      if (chunk.offset === 0) return writePartial(chunk);
      await disk.opened;
      await writePartial(chunk);
      hasWritten = true;
    };
    const answer = rig.gate();
    rig.model.scripts.push([
      { type: 'text_delta', index: 0, text: 'Shown before, ' },
      { hold: answer.opened },
      ...says('and written while the rest cannot be').slice(0, -1),
    ]);
    const sending = rig.conversation.send('go');
    await rig.until(() => rig.events.some(({ type }) => type === 'text_delta'));
    rig.store.append = () => {
      isTried = true;
      return Promise.reject(new StoreError('disk_full', 'no space'));
    };
    answer.open();
    await rig.until(() => isTried);
    rig.store.append = append;
    disk.open();
    assert.match((await sending).error!.message, /The disk is full\. Your message is saved/);
    await rig.until(() => hasWritten);
    const told = rig.events.map(({ type }) => type).filter((type) => type === 'text_delta' || type === 'turn_ended');
    assert.deepEqual(told, ['text_delta', 'text_delta', 'turn_ended']);
  });

  it('counts what it had shown once, also when that has become an entry', async () => {
    const { append } = rig.store;
    const answer = rig.gate();
    rig.model.scripts.push([
      { type: 'text_delta', index: 0, text: rig.words(500) },
      { hold: answer.opened },
      { type: 'block', index: 0, block: { type: 'text', text: rig.words(600) } },
    ]);
    const sending = rig.conversation.send('go');
    await rig.until(() => rig.events.some(({ type }) => type === 'text_delta'));
    rig.store.append = () => Promise.reject(new StoreError('disk_full', 'no space'));
    answer.open();
    await sending;
    rig.store.append = append;
    const { used } = rig.conversation.snapshot;
    const next = rig.gate();
    const asked = rig.model.requests.length;
    rig.model.scripts.push([{ hold: next.opened }, ...says('better now')]);
    const retry = rig.conversation.send('again');
    await rig.until(() => rig.model.requests.length > asked);
    const counted = rig.conversation.snapshot.used;
    next.open();
    await retry;
    assert.ok(counted < used + 50, `${used} before, ${counted} when the text is an entry`);
  });
});
