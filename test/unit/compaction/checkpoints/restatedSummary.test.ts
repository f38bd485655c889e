import assert from 'node:assert/strict';
import { ConversationRig } from '../../../support/chat/conversationRig';

const checkpoint = (summary: string) => JSON.stringify({ summary, topics: [], keyDecisions: [], openQuestions: [] });

describe('a snapshot that was taken over a summary', () => {
  let rig: ConversationRig;
  afterEach(() => rig.dispose());

  const begin = async (window: number, overrides: ConversationRig['overrides']) => {
    rig = await ConversationRig.create({ window });
    rig.overrides = { 'checkpoint.enabled': true, 'checkpoint.thresholds': [], 'checkpoint.everyUserTurns': 0, ...overrides };
  };

  for (const { by, restate } of [
    {
      by: 'in its place',
      restate: async (text: string) => {
        assert.notEqual((await rig.conversation.compact()).entry, null);
        return rig.conversation.editSummary(text);
      },
    },
    {
      by: 'in the preview',
      restate: async (text: string) => {
        await rig.conversation.previewCompaction();
        return rig.conversation.compact(null, text);
      },
    },
  ])
    it(`does not take the place of what the user has made of it ${by}`, async () => {
      await begin(40_000, {});
      rig.policy = 'goclaw';
      rig.summarizer.answer = checkpoint('They went on.');
      await rig.fill(14, 1_200);
      rig.summarizer.answers.push(checkpoint('They spoke.'));
      assert.notEqual((await rig.conversation.checkpoint()).entry, null);
      assert.notEqual((await restate('The mascot is PELICAN.')).entry, null);
      const [before, asked] = [rig.compactions().length, rig.summarizer.prompts.length];
      for (let i = 0; i < 30 && rig.compactions().length === before; i++) await rig.fill(1, 1_200, `later ${i}`);
      const next = rig.compactions().at(-1)!.content;
      assert.match([...rig.summarizer.prompts.slice(asked), next.summaryText].join(), /PELICAN/, next.rung);
    });

  it('does not bring it back when it was undone', async () => {
    await begin(10_000, { 'compaction.preferCheckpoint': true, 'compaction.maskToolResults': false });
    await rig.fill(4, 700);
    const wrong = { logos: ['the plan is WRONG'], pathos: [], abstract: [], conversation_summary: 'They talked.' };
    rig.summarizer.answers.push(JSON.stringify(wrong));
    assert.notEqual((await rig.conversation.compact()).entry, null);
    await rig.fill(1, 200, 'and');
    rig.summarizer.answers.push(checkpoint('The plan is WRONG.'));
    assert.notEqual((await rig.conversation.checkpoint()).entry, null);
    await rig.conversation.undoCompaction();
    const before = rig.compactions().length;
    for (let i = 0; i < 12 && rig.compactions().length === before; i++) await rig.fill(1, 700, `later ${i}`);
    assert.doesNotMatch(rig.compactions().at(-1)!.content.summaryText, /WRONG/);
  });
});
