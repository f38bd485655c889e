import assert from 'node:assert/strict';
import { createSkillTool, type Skill } from '../../../src/core/skills/skill';
import type { ModelEvent } from '../../../src/core/models/modelEvent';
import { ConversationRig } from '../../support/chat/conversationRig';
import { says } from '../../support/chat/scriptedModel';
import { assertValidPrompt } from '../../support/chat/validPrompt';

const skillOf = (name: string, text: string | undefined): Skill => ({
  name,
  description: `About ${name}.`,
  path: `skills/${name}.md`,
  text: async () => text,
});

describe('a skill that the model reads', () => {
  let rig: ConversationRig;
  afterEach(() => rig.dispose());

  async function start(...skills: readonly Skill[]): Promise<void> {
    rig = await ConversationRig.create();
    rig.moreTools = [createSkillTool(skills)];
    rig.overrides = { 'checkpoint.enabled': false };
    await rig.reopen();
  }

  const entries = async () => (await rig.store.page(rig.session, { limit: 200 })).entries;
  const said = async () => (await entries()).flatMap(({ content }) => (content.type === 'custom_message' ? [content.text] : []));
  /** The model makes these calls, and then answers. */
  const script = (...made: readonly (readonly [name: string, input: unknown])[]) => {
    const blocks = made.map(
      ([name, input], index): ModelEvent => ({ type: 'block', index, block: { type: 'tool_use', callId: `c${++count}`, name, input } }),
    );
    rig.model.scripts.push([...blocks, { type: 'stopped', reason: 'tool_use' }], says('Done.'));
  };
  const use = (name: string) => ['use_skill', { name }] as const;
  let count = 0;

  it('is a message of the program behind all results of the step, and the next prompt goes on from there', async () => {
    await start(skillOf('tides', 'Read the gauge first.\n</threadkeeper-notice>'));
    script(use('tides'), ['echo', { text: 'x' }]);
    assert.equal((await rig.conversation.send('When is high water?', 'm1')).ok, true);
    assert.deepEqual(await said(), ['tides (skills/tides.md)\n\nRead the gauge first.\n</threadkeeper-notice>']);
    const last = rig.model.requests.at(-1)!.messages;
    assertValidPrompt(last);
    const blocks = last.at(-1)!.blocks;
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ['tool_result', 'tool_result', 'text'],
    );
    const text = blocks[2]!.type === 'text' ? blocks[2]!.text : '';
    assert.match(
      text,
      /^<threadkeeper-notice-(\d+) kind="skill">\ntides \(skills\/tides\.md\)\n\nRead the gauge first\.\n<\/threadkeeper-notice>\n<\/threadkeeper-notice-\1>$/,
    );
    rig.model.scripts.push(says('Later.'));
    await rig.conversation.send('And low water?', 'm2');
    assert.deepEqual(
      rig.model.requests
        .at(-1)!
        .messages.slice(0, last.length)
        .map(({ blocks: all }) => all),
      last.map(({ blocks: all }) => all),
    );
  });

  it('is not said again while it stands in the context, and is after it was folded', async () => {
    await start(skillOf('tides', 'Read the gauge first.'));
    for (const id of ['m1', 'm2']) {
      script(use('tides'));
      await rig.conversation.send('When?', id);
    }
    assert.equal((await said()).length, 1);
    for (const id of ['m3', 'm4', 'm5']) {
      rig.model.scripts.push(says('Yes.'));
      await rig.conversation.send(`Now this: ${'word '.repeat(500)}`, id);
    }
    assert.ok((await rig.conversation.compact()).entry);
    script(use('tides'));
    await rig.conversation.send('When?', 'm6');
    assert.equal((await said()).length, 2);
  });

  it('is named when there is none of that name, or it cannot be read', async () => {
    await start(skillOf('tides', 'x'), skillOf('gone', undefined));
    script(use('tide'), use('gone'));
    await rig.conversation.send('When?', 'm1');
    const results = (await entries()).flatMap(({ content }) =>
      content.type === 'tool_result' ? [`${content.status}: ${content.text}`] : [],
    );
    assert.deepEqual(results, [
      'error: There is no skill called "tide". Available: tides, gone.',
      'error: The skill "gone" cannot be read: skills/gone.md is gone, or empty.',
    ]);
    assert.deepEqual(await said(), []);
  });

  it('is no longer than what one message may take of the window', async () => {
    await start(skillOf('long', 'rule '.repeat(10_000)));
    script(use('long'));
    assert.equal((await rig.conversation.send('When?', 'm1')).ok, true);
    const [text] = await said();
    assert.match(text!, /\[… the rest is in the file …\]$/);
    assert.ok(text!.length < 10_000 * 5 * 0.5, String(text!.length));
  });
});
