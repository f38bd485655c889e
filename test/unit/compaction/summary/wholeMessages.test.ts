import assert from 'node:assert/strict';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { says } from '../../../support/chat/scriptedModel';

let rig: ConversationRig;

/** A conversation that begins with a long message which names one path, in its middle. */
async function longMessage(tokens: number): Promise<void> {
  rig.model.scripts.push(says('read'));
  const half = 'The harbour was quiet and nobody spoke of the fog. '.repeat((tokens * 4) / 2 / 50);
  await rig.conversation.send(`${half} MIDDLE is /srv/middle/of-it.ts and /srv/middle/of-it.ts again ${half}`);
  for (let i = 0; i < 3; i++) {
    rig.model.scripts.push(says(`answer ${i} ${rig.words(200)}`));
    await rig.conversation.send(`question ${i} ${rig.words(200)}`);
  }
}

describe('a summariser', () => {
  beforeEach(async () => (rig = await ConversationRig.create({ window: 400_000 })));
  afterEach(() => rig.dispose());

  it('reads a message whole up to half of what it can read', async () => {
    rig.summarizer.contextTokens = 200_000;
    await longMessage(40_000);
    const { entry } = await rig.conversation.compact();
    const [prompt] = rig.summarizer.prompts;
    assert.ok(prompt!.includes('MIDDLE is /srv/middle/of-it.ts'));
    assert.ok(!prompt!.includes('characters left out') && !prompt!.includes(', part 1 of'));
    assert.match(entry!.content.summaryText, /\/srv\/middle\/of-it\.ts/, 'the audit reads the middle as well');
  });

  it('reads a longer one in parts, nothing left out', async () => {
    rig.summarizer.contextTokens = 30_000;
    await longMessage(40_000);
    await rig.conversation.compact();
    const all = rig.summarizer.prompts.join('\n');
    const parts = Number(/#\d+ user, part 1 of (\d)\]/.exec(all)?.[1]);
    assert.ok(parts > 1 && all.includes(`user, part ${parts} of ${parts}]`), String(parts));
    assert.ok(all.includes('MIDDLE is') && !all.includes('characters left out'));
    for (const prompt of rig.summarizer.prompts) assert.ok(prompt.length / 4 < 30_000, String(prompt.length));
  });
});
