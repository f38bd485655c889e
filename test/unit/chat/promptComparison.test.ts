import assert from 'node:assert/strict';
import { ConversationRig } from '../../support/chat/conversationRig';
import { calls, says } from '../../support/chat/scriptedModel';

describe('comparing the prompt without and with a compaction', () => {
  let rig: ConversationRig;
  beforeEach(async () => (rig = await ConversationRig.create()));
  afterEach(() => rig.dispose());

  async function fill(turns: number, name: string): Promise<void> {
    for (let i = 0; i < turns; i++) {
      rig.model.scripts.push(says(`${name} answer ${i} ${rig.words(300)}`));
      await rig.conversation.send(`${name} question ${i} ${rig.words(300)}`);
    }
  }
  const blocks = (text: string) => text.split('\n').filter((line) => line.startsWith('────'));

  it('shows the originals on one side and the summary on the other, for every record, undone and older ones included', async () => {
    rig.summarizer.answer = JSON.stringify({ logos: ['FIRST FACT (#2)'], pathos: [], abstract: [], conversation_summary: 'They talked.' });
    await fill(4, 'early');
    const first = (await rig.conversation.compact()).entry!;
    const seqOf = (text: string) =>
      rig.conversation.entries.find(({ content }) => content.type === 'message' && content.text.startsWith(text))!.seq;
    const made = await rig.conversation.comparePrompts(first.uuid);
    const [question, last] = [seqOf('early question 0'), seqOf('early answer 3')];
    assert.ok(blocks(made.before).includes(`──── user · #${question}`) && !made.before.includes('FIRST FACT'));
    assert.ok(!blocks(made.after).includes(`──── user · #${question}`) && made.after.includes('FIRST FACT'));
    for (const side of [made.before, made.after])
      assert.ok(blocks(side).includes(`──── answer · #${last}`), 'what was kept is on both sides');
    assert.match(made.before, /^Without this compaction: about [\d,]+ tokens/);

    await fill(4, 'late');
    rig.summarizer.answer = JSON.stringify({
      logos: ['SECOND FACT (#9)'],
      pathos: [],
      abstract: [],
      conversation_summary: 'They went on.',
    });
    const second = (await rig.conversation.compact()).entry!;
    const next = await rig.conversation.comparePrompts(second.uuid);
    assert.ok(
      next.before.includes('FIRST FACT') && !blocks(next.before).includes(`──── user · #${question}`),
      'without the second, the first one stands',
    );
    assert.ok(next.after.includes('SECOND FACT'));

    await rig.conversation.undoCompaction();
    assert.deepEqual(await rig.conversation.comparePrompts(second.uuid), next, 'an undo changes nothing of what it did');
    await rig.reopen();
    assert.deepEqual(await rig.conversation.comparePrompts(first.uuid), made, 'nor does a restart');
    assert.deepEqual(
      (await rig.conversation.compactions()).map(({ entry, state }) => [entry.uuid, state]),
      [
        [first.uuid, 'live'],
        [second.uuid, 'undone'],
      ],
    );
    await assert.rejects(rig.conversation.comparePrompts('elsewhere'), /not on the branch/);
  });

  it('shows what a tool was asked and what it said, each under its name', async () => {
    rig.model.scripts.push(calls('echo', { text: 'hello' }, 'c1'), calls('no_such_tool', {}, 'c2'), says('Done.'));
    await rig.conversation.send('call');
    await fill(4, 'later');
    const { entry } = await rig.conversation.compact();
    const { before } = await rig.conversation.comparePrompts(entry!.uuid);
    const speakers = blocks(before).map((line) => line.replace(/ · #\d+$/, ''));
    assert.deepEqual(speakers.slice(0, 6), [
      '──── user',
      '──── call of echo',
      '──── result of the call',
      '──── call of no_such_tool',
      '──── error of the call',
      '──── answer',
    ]);
    assert.ok(before.includes('{\n  "text": "hello"\n}'), before.slice(0, 600));
  });
});
