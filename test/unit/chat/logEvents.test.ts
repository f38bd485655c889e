import assert from 'node:assert/strict';
import { isEntryOf, type EntryOf } from '../../../src/core/session/entry';
import { ConversationRig } from '../../support/chat/conversationRig';
import { says } from '../../support/chat/scriptedModel';

describe('the log of a context', () => {
  let rig: ConversationRig;
  beforeEach(async () => (rig = await ConversationRig.create()));
  afterEach(() => rig.dispose());

  const told = (...events: string[]) => rig.logged.filter(({ event }) => events.includes(event));

  async function untilCompacted(turns: number): Promise<EntryOf<'compaction'>> {
    const records = () => rig.conversation.entries.filter((entry) => isEntryOf(entry, 'compaction'));
    const before = records().length;
    for (let i = 0; i < turns && records().length === before; i++) {
      rig.model.scripts.push(says(`answer ${i} ${rig.words(450)}`));
      assert.equal((await rig.conversation.send(`question ${i} ${rig.words(450)}`)).ok, true);
    }
    return records().at(-1)!;
  }

  it('tells of nudges, of room that is left, and of a compaction with what it gained', async () => {
    rig.logged.length = 0;
    const { content } = await untilCompacted(12);
    const nudges = rig.conversation.entries.flatMap((entry) =>
      isEntryOf(entry, 'nudge') ? [{ percent: entry.content.percent, usedTokens: entry.content.usedTokens }] : [],
    );
    assert.deepEqual(
      told('nudge_delivered').map(({ data }) => data),
      nudges,
    );
    assert.deepEqual(
      nudges.map(({ percent }) => percent),
      [50, 75],
    );
    const { tokensBefore, tokensAfter, messagesBefore, messagesAfter, rung } = content;
    assert.deepEqual(told('compaction_triggered', 'context_compacted', 'context_truncated'), [
      { event: 'compaction_triggered', data: { trigger: 'automatic', tokensBefore } },
      {
        event: 'context_compacted',
        data: {
          rung,
          tokensBefore,
          tokensAfter,
          messagesBefore,
          messagesAfter,
          savingsPercent: Math.round((1 - tokensAfter / tokensBefore) * 100),
        },
      },
    ]);
    assert.ok(messagesAfter < messagesBefore && tokensAfter < tokensBefore / 2, JSON.stringify(content));
    const roomy = told('context_ok').map(({ data }) => data as { readonly used: number; readonly trigger: number });
    assert.ok(roomy.length > 5 && roomy.every(({ used, trigger }) => used < trigger), JSON.stringify(roomy));
  });

  it('calls it a truncation when nothing was summarised', async () => {
    rig.overrides = { 'compaction.whenFull': 'truncate' };
    const { content } = await untilCompacted(12);
    assert.equal(content.rung, 'truncate');
    assert.deepEqual(
      told('context_truncated', 'context_compacted').map(({ event, data }) => [event, data!['rung'], data!['tokensAfter']]),
      [['context_truncated', 'truncate', content.tokensAfter]],
    );
  });
});
