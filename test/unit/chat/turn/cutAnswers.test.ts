import assert from 'node:assert/strict';
import type { ModelEvent } from '../../../../src/core/models/modelEvent';
import { ConversationRig } from '../../../support/chat/conversationRig';

describe('an answer that was cut', () => {
  let rig: ConversationRig;
  beforeEach(async () => (rig = await ConversationRig.create()));
  afterEach(() => rig.dispose());

  const cut = (reason: string): ModelEvent[] => [
    { type: 'text_delta', index: 0, text: 'The first half' },
    { type: 'block', index: 0, block: { type: 'text', text: 'The first half' } },
    { type: 'stopped', reason },
  ];

  for (const [reason, why, advice] of [
    ['model_context_window_exceeded', 'overflow', /because the window is full\. Compact the conversation/],
    ['max_tokens', 'invalid_request', /reached the length limit and was cut/],
  ] as const) {
    it(`is kept, and its reader is told what to do: ${reason}`, async () => {
      rig.model.scripts.push(cut(reason));
      const { ok, text, error } = await rig.conversation.send('question');
      assert.deepEqual({ ok, text, reason: error?.reason }, { ok: false, text: 'The first half', reason: why });
      assert.match(error!.message, advice);
      assert.deepEqual(await rig.texts(), ['question', 'The first half']);
    });
  }
});
