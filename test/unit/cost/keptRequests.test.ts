import assert from 'node:assert/strict';
import { BranchState } from '../../../src/core/chat/branchState';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import type { UsageRecord } from '../../../src/core/cost/usage';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { silentLog } from '../../support/chat/conversationRig';
import { TestClock } from '../../support/chat/testClock';
import { openTestStore, tempFolder } from '../../support/store/storeTemp';

describe('the requests that tell what a provider still has of a prompt', () => {
  it('are of each model the newest, stopped answers too, and the same after the session is opened again', async () => {
    const temp = tempFolder();
    const store = await openTestStore(temp.path);
    const { uuid } = await store.createSession({ uuid: new UuidV7().next(), channel: 'cli', createdAt: 1 });
    const counter = { count: async (texts: readonly string[]) => texts.map(estimateTokens) };
    const deps = { store, counter, clock: new TestClock(), ids: new UuidV7(), log: silentLog };
    const branch = await BranchState.load(deps, uuid);
    const { uuid: entry } = await branch.append({ type: 'message', role: 'user', text: 'Hi' }, { display: true, modelFacing: true });
    const request = (at: number, over: Partial<UsageRecord>): UsageRecord => ({
      ...{
        entry,
        provider: 'anthropic',
        model: 'claude',
        kind: 'turn',
        input: 3,
        output: 9,
        cacheRead: 0,
        cacheWrite: 30_000,
        cost: null,
        at,
      },
      ...over,
    });
    const small = (at: number) => request(at, { provider: 'ollama', model: 'small', kind: 'compaction', cacheWrite: 0 });
    const spent = [
      request(1, {}),
      request(2, { kind: 'failed', estimated: true }),
      ...Array.from({ length: 15 }, (_, i) => small(i + 3)),
      request(30, { kind: 'compaction', estimated: true }),
    ];
    for (const one of spent) await branch.spend([one]);
    const kept = [...spent.slice(0, 2), ...spent.slice(5)];
    assert.deepEqual([branch.requests, (await BranchState.load(deps, uuid)).requests], [kept, kept]);
    await store.close();
    temp.remove();
  });
});
