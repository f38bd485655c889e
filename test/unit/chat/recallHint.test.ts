import assert from 'node:assert/strict';
import { createRecallTool } from '../../../src/core/recall/recallTool';
import { ConversationRig } from '../../support/chat/conversationRig';
import { says } from '../../support/chat/scriptedModel';
import { testSeal } from '../../support/chat/testFrames';
import { testUuid, userMessage } from '../../support/store/storeTemp';

describe('a message that refers to another session', () => {
  let rig: ConversationRig;
  beforeEach(async () => {
    rig = await ConversationRig.create();
    rig.recallHints = true;
    rig.moreTools = [createRecallTool({ store: rig.store, session: () => rig.session, newSeal: () => testSeal })];
    await rig.reopen();
    const other = await rig.store.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1_763_800_000_000 });
    await rig.store.append(other.uuid, { entries: [userMessage(other.uuid, null, 'Decided: the importer reads 512 records at once.')] });
  });
  afterEach(() => rig.dispose());

  const notes = () => rig.conversation.entries.flatMap(({ content }) => (content.type === 'usage_note' ? [content.text] : []));
  async function ask(text: string): Promise<string> {
    rig.model.scripts.push(says('Fine.'));
    assert.equal((await rig.conversation.send(text)).ok, true);
    return JSON.stringify(rig.model.requests.at(-1)!.messages);
  }

  it('is followed by one line that names the entry, behind it, and stays there', async () => {
    const first = await ask('Hello, let us begin.');
    const sent = await ask('Do it as we decided for the importer.');
    assert.match(
      notes().join(),
      /^The message may refer to #\d+ \(.*, in another conversation, \d{8}_\d+\): recall \{"around": "#\d+"\} reads it\.$/,
    );
    assert.ok(sent.indexOf('may refer to') > sent.indexOf('as we decided'));
    assert.ok(sent.startsWith(first.slice(0, -1)), 'the cached prefix stays');
    // By words: the number that marks the program's blocks may have any digits in it.
    assert.ok(!sent.includes('records at once'), 'nothing is quoted');
    await ask('And the tests, please.');
    assert.equal(notes().length, 1);
  });

  it('is not, where it is switched off, or the model cannot read it', async () => {
    rig.recallHints = false;
    await ask('Do it as we decided for the importer.');
    rig.recallHints = true;
    rig.moreTools = [];
    await rig.reopen();
    await ask('Do it as we decided for the importer.');
    assert.deepEqual(notes(), []);
  });
});
