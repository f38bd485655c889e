import assert from 'node:assert/strict';
import { BranchState } from '../../../src/core/chat/branchState';
import type { ConversationEvent } from '../../../src/core/chat/events';
import { SharedSession } from '../../../src/core/chat/sharedSession';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { silentLog } from '../../support/chat/conversationRig';
import { openTestStore, tempFolder } from '../../support/store/storeTemp';
import { TestClock } from '../../support/chat/testClock';
import { waitFor } from '../../support/waitFor';

describe('pins of a session that two windows show', () => {
  it('are told to the other window', async () => {
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
    const shared = new SharedSession({
      ...deps,
      branch: await BranchState.load(deps, uuid),
      emit: (event) => events.push(event),
      branchChanged: () => undefined,
      modelChanged: () => undefined,
      stop: () => undefined,
    });
    const pin = { session: uuid, kind: 'text' as const, target: 'never on Fridays', contentHash: null, at: 1 };
    await here.savePin(pin);
    await waitFor('the pin', () => events.length > 0);
    await here.removePin(uuid, 'text', pin.target);
    await waitFor('its end', () => events.length > 1);
    assert.deepEqual(events, [
      { type: 'pins_changed', pins: [pin] },
      { type: 'pins_changed', pins: [] },
    ]);
    shared.dispose();
    await there.close();
    await here.close();
    temp.remove();
  });
});
