import assert from 'node:assert/strict';
import { MessageQueue } from '../../../src/core/chat/messageQueue';
import type { QueuedMessage } from '../../../src/core/session/userMessage';
import { silentLog } from '../../support/chat/conversationRig';

describe('messages that wait for their turn', () => {
  it('are given back by a stop, but not the one whose turn begins right now: it becomes an entry, and would be said twice', async () => {
    const saved: (readonly QueuedMessage[])[] = [];
    const queue = new MessageQueue({
      store: { queue: async () => [], saveQueue: async (_, messages) => void saved.push(messages) },
      session: () => 's',
      log: silentLog,
      emit: () => undefined,
    });
    for (const text of ['one', 'two', 'three']) await queue.add(text, { text, attachments: [] });
    queue.begun = 'one';
    assert.deepEqual(
      queue.waiting.map(({ id }) => id),
      ['two', 'three'],
    );
    await queue.empty();
    assert.deepEqual([queue.messages, saved.at(-1)], [[{ id: 'one', text: 'one' }], [{ id: 'one', text: 'one' }]]);
    queue.begun = null;
    await queue.empty();
    assert.deepEqual([queue.messages, saved.at(-1)], [[], []]);
  });
});
