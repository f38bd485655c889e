import assert from 'node:assert/strict';
import type { ConversationEvent } from '../../../src/core/chat/events';
import { BranchState } from '../../../src/core/chat/branchState';
import { SharedSession } from '../../../src/core/chat/sharedSession';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { silentLog } from '../../support/chat/conversationRig';
import { openTestStore, tempFolder } from '../../support/store/storeTemp';
import { TestClock } from '../../support/chat/testClock';
import { waitFor } from '../../support/waitFor';

describe('what people say of a session that two windows show', () => {
  it('is known in the other window as soon as it is changed in one', async () => {
    const temp = tempFolder();
    const [here, there] = [await openTestStore(temp.path, 'here'), await openTestStore(temp.path, 'there')];
    const { uuid } = await here.createSession({ uuid: new UuidV7().next(), channel: 'cli', createdAt: 1 });
    const deps = {
      store: there,
      counter: { count: async (texts: readonly string[]) => texts.map(estimateTokens) },
      clock: new TestClock(),
      ids: new UuidV7(),
      log: silentLog,
    };
    const events: ConversationEvent[] = [];
    const branch = await BranchState.load(deps, uuid);
    const shared = new SharedSession({
      ...deps,
      branch,
      emit: (event) => events.push(event),
      branchChanged: () => undefined,
      stop: () => undefined,
    });
    const changes = () => events.filter(({ type }) => type === 'session_changed').length;
    for (const [i, details] of [{ metadata: { user_id: 'u1' } }, { costLimit: 0.5 }, { key: 'telegram:7' }, { title: 'Tides' }].entries()) {
      await here.updateSession(uuid, details);
      await waitFor('the change', () => changes() > i);
    }
    const { metadata, costLimit, key, title } = branch.session;
    assert.deepEqual(
      { metadata, costLimit, key, title },
      { metadata: { user_id: 'u1' }, costLimit: 0.5, key: 'telegram:7', title: 'Tides' },
    );
    shared.dispose();
    await there.close();
    await here.close();
    temp.remove();
  });
});
