import assert from 'node:assert/strict';
import { readLocomo } from '../../bench/recall/locomo';
import { evidenceShares, rankings } from '../../bench/recall/rankings';

/** Made up, in the form of the public file. */
const file = JSON.stringify([
  {
    sample_id: 'conv-1',
    conversation: {
      speaker_a: 'Mira',
      speaker_b: 'Tom',
      session_2_date_time: '9:05 am on 3 June, 2023',
      session_2: [
        { speaker: 'Mira', dia_id: 'D2:1', text: 'The greenhouse is finished at last.' },
        { speaker: 'Tom', dia_id: 'D2:2', text: 'Wonderful!', blip_caption: 'a photo of tomato plants' },
      ],
      session_1_date_time: '1:56 pm on 8 May, 2023',
      session_1: [
        { speaker: 'Mira', dia_id: 'D1:1', text: 'I adopted a dog yesterday.' },
        { speaker: 'Tom', dia_id: 'D1:2', text: 'What is it called?' },
        { speaker: 'Mira', dia_id: 'D1:3', text: 'Biscuit.' },
      ],
      session_3_date_time: 'never held',
    },
    qa: [
      { question: "What is the name of Mira's dog?", answer: 'Biscuit', evidence: ['D1:1; D1:3', 'D9:9'], category: 1 },
      { question: 'Which plants grow in the greenhouse?', answer: 'tomatoes', evidence: ['D2:2'], category: 2 },
      { question: 'When did Tom adopt a cat?', adversarial_answer: 'never', evidence: ['D1:1'], category: 5 },
      { question: 'Who wrote nothing down?', answer: '?', evidence: ['D'], category: 3 },
    ],
  },
]);

describe('evidence of a LoCoMo file', () => {
  it('is read in the order of its sessions, with their time and without what cannot be found', () => {
    const [set] = readLocomo(file);
    assert.deepEqual(
      set!.said.map(({ id, session, text, at }) => [id, session, text, new Date(at).toString().slice(4, 21)]),
      [
        ['D1:1', 'session 1', 'Mira: I adopted a dog yesterday.', 'May 08 2023 13:56'],
        ['D1:2', 'session 1', 'Tom: What is it called?', 'May 08 2023 13:57'],
        ['D1:3', 'session 1', 'Mira: Biscuit.', 'May 08 2023 13:58'],
        ['D2:1', 'session 2', 'Mira: The greenhouse is finished at last.', 'Jun 03 2023 09:05'],
        ['D2:2', 'session 2', 'Tom: Wonderful! [picture: a photo of tomato plants]', 'Jun 03 2023 09:06'],
      ],
    );
    assert.deepEqual(set!.questions, [
      { text: "What is the name of Mira's dog?", evidence: ['D1:1', 'D1:3'] },
      { text: 'Which plants grow in the greenhouse?', evidence: ['D2:2'] },
    ]);
    assert.deepEqual(
      readLocomo(file, 'all')[0]!.questions.map(({ text }) => text),
      ["What is the name of Mira's dog?", 'Which plants grow in the greenhouse?', 'When did Tom adopt a cat?'],
    );
    assert.throws(() => readLocomo('[{"conversation":{"session_1":[{"text":"x"}]},"qa":[]}]'), /dia_id/);
  });

  it('is counted as its share among the first results, by every ranking', async () => {
    const [set] = readLocomo(file);
    assert.deepEqual(
      evidenceShares(
        [
          { text: 'q', evidence: ['a', 'b'] },
          { text: 'r', evidence: ['c'] },
        ],
        (question) => (question === 'q' ? ['x', 'a', '1', '2', '3', 'b'] : ['x']),
      ),
      { 'at 5': 0.25, 'at 10': 0.5, 'at 25': 0.5, 'at 50': 0.5 },
    );
    for (const [name, ranking] of Object.entries(rankings)) {
      const ranked = new Map<string, readonly string[]>();
      await ranking(set!.said, (ask) => {
        for (const { text } of set!.questions) ranked.set(text, ask(text, 2));
        return evidenceShares([], ask);
      });
      assert.equal(ranked.get("What is the name of Mira's dog?")?.includes('D1:1'), true, name);
      assert.equal(ranked.get('Which plants grow in the greenhouse?')?.includes('D2:2'), true, name);
    }
  });
});
