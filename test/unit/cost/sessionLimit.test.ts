import assert from 'node:assert/strict';
import type { TokenUsage } from '../../../src/core/models/modelEvent';
import { ConversationRig } from '../../support/chat/conversationRig';
import { calls, says } from '../../support/chat/scriptedModel';

/** A dollar for a million tokens, whoever asks and for whatever. */
const costOf = (_: string, __: string, { input, output, cacheRead, cacheWrite }: TokenUsage) =>
  (input + output + cacheRead + cacheWrite) / 1_000_000;

describe('the cost limit of a session', () => {
  let rig: ConversationRig;
  beforeEach(async () => (rig = await ConversationRig.create({ window: 60_000, costOf })));
  afterEach(() => rig.dispose());

  const usage = { input: 9_000, output: 1_000 };

  it('stops a turn before it is sent, says so, and keeps the message', async () => {
    rig.model.scripts.push(says('one', usage), says('two', usage));
    await rig.conversation.changeDetails({ costLimit: 0.02 });
    assert.equal((await rig.conversation.send('first')).ok, true);
    await rig.conversation.changeDetails({ costLimit: 0.01 });
    const stopped = await rig.conversation.send('second');
    assert.equal(stopped.error?.reason, 'cost_limit');
    assert.equal(
      stopped.error?.message,
      'This session has cost $0.01, and its limit is $0.01. Raise the limit, or start a new session. Nothing was sent. Your message is saved.',
    );
    assert.equal(rig.model.requests.length, 1);
    assert.deepEqual(await rig.texts(), ['first', 'one', 'second']);
    await rig.conversation.changeDetails({ costLimit: null });
    assert.equal((await rig.conversation.retry()).text, 'two');
  });

  it('stops the first request already when that alone would cost more', async () => {
    await rig.store.updateSession(rig.session, { costLimit: 0.0001 });
    await rig.reopen();
    const { error } = await rig.conversation.send(rig.words(5_000));
    assert.match(
      error!.message,
      /^This session has cost \$0\.00; the next request takes at least \$0\.00\d+, and the limit is \$0\.0001\./,
    );
    assert.equal(rig.model.requests.length, 0);
  });

  it('stops between the requests of one turn, and the summaries of the session with it', async () => {
    await rig.conversation.changeDetails({ costLimit: 0.015 });
    const expensive = [
      ...calls('echo', { text: 'x' }, 'c1').slice(0, 1),
      { type: 'usage' as const, usage: { input: 19_000, output: 1_000, cacheRead: 0, cacheWrite: 0 } },
      { type: 'stopped' as const, reason: 'tool_use' },
    ];
    rig.model.scripts.push(expensive, says('never'));
    const { error } = await rig.conversation.send('call');
    assert.deepEqual([error?.reason, rig.model.requests.length], ['cost_limit', 1]);
    const { entry } = await rig.conversation.compact();
    assert.deepEqual([rig.summarizer.prompts.length, entry?.content.rung ?? null], [0, entry ? 'extractive' : null]);
  });
});
