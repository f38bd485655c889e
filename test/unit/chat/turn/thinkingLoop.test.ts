import assert from 'node:assert/strict';
import type { ModelEvent } from '../../../../src/core/models/modelEvent';
import { afterLastBreak } from '../../../../src/core/session/liveCompaction';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { calls, fails, says } from '../../../support/chat/scriptedModel';
import { SeedRun } from '../../../support/chat/seedRun';

/** A step that thinks and calls; the provider reports `size` for it. */
const thinkingStep = (n: number, size: number): ModelEvent[] => [
  { type: 'block', index: 0, block: { type: 'thinking', text: `plan ${n}`, signature: `sig${n}` } },
  ...calls('echo', { text: `x${n}` }, `c${n}`)
    .map((event) => (event.type === 'block' ? { ...event, index: 1 } : event))
    .slice(0, 1),
  { type: 'usage', usage: { input: size - 1, output: 1, cacheRead: 0, cacheWrite: 0 } },
  { type: 'stopped', reason: 'tool_use' },
];

describe('a compaction that falls into a loop of calls with thinking', () => {
  let run: SeedRun;
  afterEach(() => run?.dispose());

  it('a level of the session is asked for from then on, and changing it is a declared break', async () => {
    const rig = await ConversationRig.create({ window: 200_000 });
    try {
      rig.model.scripts.push(says('one'), says('two'), says('three'));
      await rig.conversation.send('first');
      assert.equal(await rig.conversation.setThinkingLevel('low'), null);
      await rig.conversation.send('second');
      assert.deepEqual(
        rig.model.requests.map(({ thinking }) => thinking),
        [undefined, 'low'],
      );
      const change = rig.conversation.entries.findIndex(({ content }) => content.type === 'thinking_level_change');
      assert.equal(afterLastBreak(rig.conversation.entries), change + 1);
      await rig.reopen();
      await rig.conversation.send('third');
      assert.equal(rig.model.requests.at(-1)?.thinking, 'low');
      await rig.conversation.setThinkingLevel(null);
      assert.equal((await rig.store.session(rig.session))?.thinkingLevel, null);
    } finally {
      await rig.dispose();
    }
  });

  it('waits for the end of the turn while there is room', async () => {
    run = await SeedRun.open('balanced', { overrides: { 'compaction.triggerPercent': 70, 'memoryFlush.enabled': false } });
    await run.talk(1, 8);
    await run.send('work', thinkingStep(1, 7_500), thinkingStep(2, 7_600), says('done', { input: 7_650, output: 10 }));
    assert.equal(run.compactions.length, 0);
    const thoughts = run.lastRequest.messages.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'thinking' ? [block.signature] : [])),
    );
    assert.deepEqual([thoughts, run.lastRequest.thinking], [['sig1', 'sig2'], undefined]);
    await run.exchange('after');
    assert.equal(run.compactions.length, 1);
  });

  it('is made when there is none, and the rest of the turn goes without thinking', async () => {
    run = await SeedRun.open('balanced', { overrides: { 'compaction.triggerPercent': 70, 'memoryFlush.enabled': false } });
    await run.talk(1, 8);
    await run.send('work', thinkingStep(1, 8_600), says('done', { input: 2_000, output: 10 }));
    assert.equal(run.compactions.length, 1);
    assert.equal(run.lastRequest.thinking, 'off');
    assert.ok(run.lastRequest.messages.every(({ blocks }) => blocks.every(({ type }) => type !== 'thinking')));
    await run.exchange('after');
    assert.equal(run.lastRequest.thinking, undefined);
  });

  it('costs a model nothing that had no part in the thinking', async () => {
    const rig = await ConversationRig.create({ window: 200_000 });
    try {
      rig.model.scripts.push(thinkingStep(1, 100), fails('invalid_request'), says('done'));
      await rig.conversation.send('work');
      rig.modelId = 'scripted-2';
      await rig.conversation.retry();
      assert.deepEqual(
        rig.model.requests.map(({ model, thinking }) => [model, thinking]),
        [
          ['scripted-1', undefined],
          ['scripted-1', undefined],
          ['scripted-2', undefined],
        ],
      );
    } finally {
      await rig.dispose();
    }
  });
});
