import assert from 'node:assert/strict';
import type { StoredEntry } from '../../../../src/core/session/entry';
import { AnswerParts, sendAnswer } from '../../../../src/node/store/client/answerParts';
import { mostFrameBytes, toFrame } from '../../../../src/node/store/sharing/peerFrames';
import type { Answer } from '../../../../src/node/store/client/storeProtocol';
import { userMessage } from '../../../support/store/storeTemp';

async function sent(value: unknown): Promise<{ readonly answers: readonly Answer[]; readonly received: unknown }> {
  const answers: Answer[] = [];
  await sendAnswer(1, value, (answer) => void answers.push(answer));
  const parts = new AnswerParts();
  let received: unknown;
  for (const answer of answers) {
    if (answer.type === 'part') parts.add(answer);
    if (answer.type === 'done') received = parts.finish(answer);
  }
  return { answers, received };
}

describe('store: an answer on its way to another window', () => {
  const entry = (text: string, seq: number): StoredEntry => ({ ...userMessage('s', null, text), seq });

  it('goes as it is where it is short', async () => {
    for (const value of [
      undefined,
      5,
      [],
      [1, 2],
      [{ seq: 1 }],
      [null],
      [entry('a', 1), entry('b', 2)],
      { entries: [entry('a', 1)], more: true },
    ]) {
      const { answers, received } = await sent(value);
      assert.deepEqual([answers.length, received], [1, value]);
    }
  });

  it('fits into messages, however few and large its entries are', async () => {
    const text = 'x'.repeat(8 * 1024 * 1024);
    const raw = { ...entry('', 4), content: { type: 'custom' as const, customType: 'import:fields', data: { text } } };
    const large = [...Array.from({ length: 9 }, (_, i) => entry(text, i)), raw];
    for (const value of [large, { entries: large, hasMore: false }]) {
      const { answers, received } = await sent(value);
      for (const answer of answers) assert.ok(toFrame(answer).length < mostFrameBytes);
      assert.deepEqual(received, value);
    }
  });
});
