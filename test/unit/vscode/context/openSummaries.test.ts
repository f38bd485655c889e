import assert from 'node:assert/strict';
import type { Conversation } from '../../../../src/core/chat/conversation';
import { isEntryOf } from '../../../../src/core/session/entry';
import { liveCompaction } from '../../../../src/core/session/liveCompaction';
import { OpenSummaries, SummaryFault, type SummaryPlace } from '../../../../src/vscode/context/openSummaries';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { says } from '../../../support/chat/scriptedModel';

describe('summaries that are being edited', () => {
  let rig: ConversationRig;
  let shown: Conversation | null;
  let summaries: OpenSummaries;
  let place: SummaryPlace;
  const address = 'threadkeeper-summary:/one.md';

  beforeEach(async () => {
    rig = await ConversationRig.create();
    for (let i = 0; i < 4; i++) {
      rig.model.scripts.push(says(rig.words(400)));
      await rig.conversation.send(`question ${i} ${rig.words(300)}`);
    }
    const { entry, message } = await rig.conversation.compact();
    assert.equal(message, null);
    shown = rig.conversation;
    summaries = new OpenSummaries(
      async () => shown,
      () => 4_000,
    );
    place = { session: rig.conversation.session.uuid, compaction: entry!.uuid };
  });
  afterEach(() => rig.dispose());

  const live = () => liveCompaction(rig.conversation.entries)!;
  const records = () => rig.conversation.entries.filter((entry) => isEntryOf(entry, 'compaction')).length;
  const fault = (isGone: boolean, text: RegExp) => (error: unknown) =>
    error instanceof SummaryFault && error.isGone === isGone && text.test(error.message);

  it('are recorded when they are saved, and read as they were saved', async () => {
    const before = await summaries.read(address, place);
    assert.deepEqual([before.compaction, before.text], [place.compaction, rig.conversation.editableSummary]);
    assert.equal(await summaries.write(address, place, 'The plan is set: ports from 4001.\n'), true);
    assert.match(live().content.summaryText, /ports from 4001/);
    assert.deepEqual([live().content.supersedes, live().content.trigger], [place.compaction, 'edit']);
    assert.deepEqual(await summaries.read(address, place), {
      compaction: live().uuid,
      text: 'The plan is set: ports from 4001.\n',
      savedAt: 4_000,
    });
    assert.equal(await summaries.write(address, place, 'And a second version.'), true, 'again, without opening it anew');
    assert.equal(records(), 3);
  });

  it('stay as they are when nothing but space has changed', async () => {
    const { text } = await summaries.read(address, place);
    assert.equal(await summaries.write(address, place, `${text}\n\n`), false);
    assert.equal(records(), 1);
  });

  it('refuse what would lose something: an empty text, an older version than the one in use, another session', async () => {
    await summaries.read(address, place);
    await assert.rejects(summaries.write(address, place, '  \n'), fault(false, /empty summary would lose/));
    await rig.conversation.editSummary('Made elsewhere.');
    await assert.rejects(summaries.write(address, place, 'mine'), fault(false, /got another summary/));
    shown = null;
    await assert.rejects(summaries.write(address, place, 'mine'), fault(false, /another session/));
    assert.match(live().content.summaryText, /Made elsewhere/);
    assert.equal(records(), 2);
  });

  it('are gone with the compaction that was undone, but what is open can still be read', async () => {
    await summaries.read(address, place);
    await rig.conversation.undoCompaction();
    assert.ok((await summaries.read(address, place)).text);
    await assert.rejects(summaries.write(address, place, 'mine'), fault(false, /The compaction was undone/));
    summaries.forget(address);
    await assert.rejects(summaries.read(address, place), fault(true, /not in use/));
  });
});
