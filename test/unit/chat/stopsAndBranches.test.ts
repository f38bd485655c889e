import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isEntryOf, entryText } from '../../../src/core/session/entry';
import { ConversationRig } from '../../support/chat/conversationRig';
import { calls, fails, says } from '../../support/chat/scriptedModel';
import { assertValidPrompt } from '../../support/chat/validPrompt';

const state = (fact: string) => JSON.stringify({ logos: [fact], pathos: [], abstract: [], conversation_summary: 'They talked.' });

describe('a conversation that is stopped anywhere', () => {
  /**
   * Stops at its n-th event, for n = 1, 2 …, until a turn has ended before that; in the second round each turn begins with a compaction.
   */
  it('is whole: what was shown stays, and the next prompt is one that a provider takes', async function () {
    this.timeout(60_000);
    const rig = await ConversationRig.create({ window: 6_000 });
    const stoppedIn = new Set<string>();
    let said = 0;
    for (let round = 0; round < 2; round++) {
      for (let at = 1, ended = false; !ended; at++) {
        if (round === 1) {
          rig.autoCompact = false;
          rig.model.scripts.splice(0, Infinity, says(rig.words(1_000)), says(rig.words(1_000)));
          for (const name of ['one', 'two']) await rig.conversation.send(`${name} ${rig.words(1_000)}`);
          said += 2;
          rig.autoCompact = true;
          rig.overrides = { 'compaction.triggerPercent': 40 };
        }
        rig.model.scripts.splice(
          0,
          Infinity,
          calls('write_file', { path: `${at}.ts` }, `c${round}-${at}`),
          fails('overloaded'),
          says(`answer ${at} ${rig.words(200)}`),
          says('more'),
        );
        let seen = 0;
        const listening = rig.conversation.onDidEmit((event) => {
          if (event.type === 'context_changed' || ++seen !== at) return;
          stoppedIn.add(event.type === 'phase_changed' ? event.phase : event.type);
          void rig.conversation.stop();
        });
        const outcome = await rig.conversation.send(`question ${round}-${at} ${rig.words(150)}`);
        listening.dispose();
        said++;
        ended = seen < at;
        if (!ended && !outcome.ok) assert.equal(outcome.error?.reason, 'cancelled');
        rig.model.scripts.splice(0, Infinity, says('fine'));
        assert.equal((await rig.conversation.send(`next ${round}-${at}`)).ok, true);
        said++;
        assertValidPrompt(rig.model.requests.at(-1)!.messages);
        assert.ok(rig.size(rig.model.requests.at(-1)!) <= rig.conversation.snapshot.limit);
      }
    }
    for (const phase of [
      'turn_started',
      'entry_appended',
      'waiting',
      'tools',
      'retrying',
      'compacting',
      'compaction_started',
      'text_delta',
    ])
      assert.ok(stoppedIn.has(phase), `${phase} of ${[...stoppedIn].join()}`);
    const { entries } = await rig.store.page(rig.session, { limit: 5_000 });
    assert.equal(entries.filter(({ content }) => content.type === 'message' && content.role === 'user').length, said);
    await rig.dispose();
  });
});

describe('two branches', () => {
  it('have compactions of their own: each is sent its own summary, and an undo concerns one', async () => {
    const rig = await ConversationRig.create();
    const talk = async (name: string, turns: number) => {
      for (let i = 0; i < turns; i++) {
        rig.model.scripts.push(says(`answer ${name}${i} ${rig.words(300)}`));
        await rig.conversation.send(`question ${name}${i} ${rig.words(300)}`);
      }
      return rig.conversation.entries.at(-1)!.uuid;
    };
    const go = async (leaf: string) => {
      await rig.store.moveLeaf(rig.session, leaf);
      await rig.reopen();
    };
    const prompt = async (name: string) => {
      await talk(name, 1);
      return JSON.stringify(rig.model.requests.at(-1)!.messages);
    };
    const fork = await talk('shared', 3);
    await talk('left', 3);
    rig.summarizer.answer = state('the left fact');
    assert.equal((await rig.conversation.compact()).message, null);
    const left = await talk('leftmore', 1);
    await go(fork);
    const uncompacted = await prompt('right');
    assert.ok(uncompacted.includes('question shared0') && !uncompacted.includes('the left fact'));
    await talk('right', 3);
    rig.summarizer.answer = state('the right fact');
    assert.equal((await rig.conversation.compact()).message, null);
    const right = await talk('rightmore', 1);
    const ofRight = await prompt('rightagain');
    assert.ok(ofRight.includes('the right fact') && !ofRight.includes('the left fact') && !ofRight.includes('question left'));
    await go(left);
    const ofLeft = await prompt('leftagain');
    assert.ok(ofLeft.includes('the left fact') && !ofLeft.includes('the right fact') && !ofLeft.includes('question right'));
    await rig.conversation.undoCompaction();
    const undone = await prompt('leftundone');
    assert.ok(undone.includes('question shared0') && !undone.includes('the left fact'));
    await go(right);
    assert.match(await prompt('rightlast'), /the right fact/);
    await rig.dispose();
  });
});

describe('whatever a prompt leaves out', () => {
  /** A story: how long each message is, whether a tool is called, and where a compaction falls and whether its summariser works. */
  const story = fc.array(
    fc.record({ tokens: fc.integer({ min: 5, max: 700 }), dump: fc.boolean(), compact: fc.constantFrom('no', 'no', 'model', 'fails') }),
    { minLength: 6, maxLength: 12 },
  );

  it('is found by recall, by its words and by its id', async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(story, async (turns) => {
        const rig = await ConversationRig.create();
        try {
          for (const [i, { tokens, dump, compact }] of turns.entries()) {
            rig.model.scripts.splice(
              0,
              Infinity,
              ...(dump ? [calls('echo', { text: `resultword${i}x ${rig.words(tokens)}` }, `c${i}`)] : []),
              says(`answerword${i}x ${rig.words(tokens)}`),
            );
            assert.equal((await rig.conversation.send(`questionword${i}x ${rig.words(tokens)}`)).ok, true);
            rig.summarizer.fail = compact === 'fails' ? 'server' : null;
            if (compact !== 'no') await rig.conversation.compact();
          }
          rig.model.scripts.splice(0, Infinity, says('done'));
          await rig.conversation.send('last');
          const prompt = JSON.stringify(rig.model.requests.at(-1)!.messages);
          const { entries } = await rig.store.page(rig.session, { limit: 1_000 });
          for (const entry of entries) {
            const text = entryText(entry.content);
            const word = /\b(?:question|answer|result)word\d+x/.exec(text)?.[0];
            if (word === undefined || isEntryOf(entry, 'compaction') || prompt.includes(JSON.stringify(text).slice(1, -1))) continue;
            const { hits } = await rig.store.search({ text: word, session: rig.session, limit: 5 });
            assert.ok(
              hits.some((hit) => hit.entry === entry.uuid),
              `${word} is out of the prompt and not found`,
            );
            assert.deepEqual(
              (await rig.store.entriesBySeq([entry.seq])).map(({ uuid }) => uuid),
              [entry.uuid],
            );
          }
        } finally {
          await rig.dispose();
        }
      }),
      { numRuns: 5 },
    );
  });
});
