import assert from 'node:assert/strict';
import { readHistory, withEntry, withUsage } from '../../../../src/vscode/panels/breakdownState';
import { openTestStore, tempFolder, testUuid, userMessage } from '../../../support/store/storeTemp';
import { compactionContent } from '../../../support/chat/compactionContent';

describe('the history of a breakdown', () => {
  it('grows as the branch does, without being read again', async () => {
    const temp = tempFolder();
    const store = await openTestStore(temp.path);
    const session = (await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: 1 })).uuid;
    const question = userMessage(session, null, 'q');
    await store.append(session, { entries: [question] });
    let grown = await readHistory(store, session);
    const answer = userMessage(session, question.uuid, 'a', { content: { type: 'message', role: 'assistant', text: 'a' } });
    const fold = userMessage(session, answer.uuid, '', { modelFacing: false, content: compactionContent('op', answer.uuid) });
    const usage = { input: 1, output: 20, cacheRead: 300, cacheWrite: 4_000 };
    for (const entry of [answer, fold])
      for (const stored of await store.append(session, { entries: [entry] })) grown = withEntry(grown, stored);
    await store.append(session, {
      entries: [],
      usage: [{ ...usage, entry: answer.uuid, provider: 'p', model: 'm', kind: 'turn', cost: null, at: 1 }],
    });
    grown = withUsage(grown, usage);
    assert.deepEqual(grown, await readHistory(store, session));
    await store.close();
    temp.remove();
  });
});
