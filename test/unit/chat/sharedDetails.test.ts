import assert from 'node:assert/strict';
import { Emitter } from '../../../src/core/base/event';
import type { StoreChange } from '../../../src/core/session/storage';
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
    let models = 0;
    const branch = await BranchState.load(deps, uuid);
    const shared = new SharedSession({
      ...deps,
      branch,
      emit: (event) => events.push(event),
      branchChanged: () => undefined,
      modelChanged: () => (models += 1),
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
    assert.equal(models, 0);
    const chosen = { model: 'ollama/qwen3', policy: { preset: 'goose' }, thinkingLevel: 'high' } as const;
    await here.updateSession(uuid, chosen);
    await waitFor('what is chosen', () => models > 0);
    const { model, policy, thinkingLevel } = branch.session;
    assert.deepEqual({ model, policy, thinkingLevel }, chosen);
    shared.dispose();

    // Another device's words come all at once.
    const arrived = new Emitter<StoreChange>();
    const synced = new SharedSession({
      ...deps,
      store: { ...there, status: there.status, onDidChange: arrived.event },
      branch,
      emit: (event) => events.push(event),
      branchChanged: () => undefined,
      modelChanged: () => undefined,
      stop: () => undefined,
    });
    await here.updateSession(uuid, { title: 'Tides and harbours' });
    arrived.fire({ kind: 'all' });
    await waitFor('what has come', () => branch.session.title === 'Tides and harbours');
    synced.dispose();
    await there.close();
    await here.close();
    temp.remove();
  });
});
