import assert from 'node:assert/strict';
import { analyse } from '../../../src/core/analytics/analyse';
import { AnalyticsReport, daysBetween, lastDays } from '../../../src/core/analytics/report';
import type { SessionStore } from '../../../src/core/ports';
import type { UsageRecord } from '../../../src/core/cost/usage';
import type { EntryContent, NewEntry } from '../../../src/core/session/entry';
import { compactionContent } from '../../support/chat/compactionContent';
import { openTestStore, tempFolder, testUuid, userMessage, type TempFolder } from '../../support/store/storeTemp';

const local = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).getTime();

describe('analytics of a store', () => {
  let temp: TempFolder;
  let store: SessionStore;
  let parent: string | null;
  let session: string;
  const range = { from: local(18, 0), to: local(20, 24) - 1 };

  async function begin(title: string, at: number, more: { cwd?: string; tags?: string[] } = {}): Promise<string> {
    session = testUuid();
    parent = null;
    await store.createSession({
      uuid: session,
      channel: 'vscode',
      title,
      createdAt: at,
      cwd: more.cwd ?? null,
      metadata: { tags: more.tags ?? [] },
    });
    return session;
  }
  async function say(
    at: number,
    content: EntryContent = { type: 'message', role: 'user', text: 'x' },
    usage: Partial<UsageRecord>[] = [],
    more: Partial<NewEntry> = {},
  ): Promise<string> {
    const entry = userMessage(session, parent, '', { createdAt: at, content, ...more });
    const record = {
      entry: entry.uuid,
      provider: 'anthropic',
      model: 'm',
      kind: 'turn' as const,
      input: 100,
      output: 10,
      cacheRead: 30,
      cacheWrite: 5,
      cost: 0.5,
      at,
    };
    await store.append(session, { entries: [entry], usage: usage.map((one) => ({ ...record, ...one })) });
    return (parent = entry.uuid);
  }

  beforeEach(async () => {
    temp = tempFolder();
    store = await openTestStore(temp.path);
  });
  afterEach(async () => {
    await store.close();
    temp.remove();
  });

  it('counts sessions, tokens, cost, compactions and nudges by the day', async () => {
    const a = await begin('A', local(18, 23, 50), { cwd: '/w', tags: ['work'] });
    await say(local(18, 23, 55));
    await say(local(19, 0, 5), { type: 'message', role: 'assistant', text: 'y' }, [{}]);
    await say(local(19, 1), { type: 'nudge', percent: 50, text: 'write', injectAs: 'user', usedTokens: 5 });
    const noted = await say(local(19, 2), { type: 'tool_call', callId: 'c', name: 'memory', input: {} });
    await store.append(session, { entries: [], memoryWrites: [{ entry: noted, path: 'a', op: 'create', bytes: 1, at: local(19, 2) }] });
    const first = await say(
      local(19, 3),
      compactionContent('one', null, { tokensBefore: 1000, tokensAfter: 200, durationMs: 50, heldMs: 20 }),
      [{ kind: 'compaction', estimated: true, cost: null, input: 7, output: 1, cacheRead: 0, cacheWrite: 0 }],
    );
    await say(local(19, 3), { type: 'nudge', percent: 75, text: 'write', injectAs: 'user', usedTokens: 5 });
    const undone = await say(local(19, 4), compactionContent('two', null, { tokensBefore: 500, tokensAfter: 100, rung: 'mask' }));
    await say(local(19, 5), { type: 'compaction_undone', target: undone, tokensRestored: 500 });
    await say(
      local(19, 6),
      compactionContent('three', null, { tokensBefore: 1000, tokensAfter: 190, trigger: 'manual', supersedes: first, durationMs: 5 }),
    );
    const b = await begin('B', local(20, 12));
    await say(local(20, 12), { type: 'message', role: 'assistant', text: 'z' }, [
      { provider: 'ollama', model: 'q', cost: 0, input: 1000 },
      { kind: 'count', input: 9999 },
    ]);
    await begin('trashed', local(20, 12));
    await say(local(20, 12), undefined, [{}]);
    await store.updateSession(session, { deletedAt: 1 });
    await begin('before', local(1, 12));
    await say(local(1, 12), undefined, [{}]);

    const rows = await store.analyticsRows(range);
    const report = AnalyticsReport.parse(analyse(rows, range));
    const spent = { requests: 1, tokens: 145, output: 10, cacheRead: 30, cost: { usd: 0.5, requestsWithoutCost: 0, requestsEstimated: 0 } };
    const none = { requests: 0, tokens: 0, output: 0, cacheRead: 0, cost: { usd: 0, requestsWithoutCost: 0, requestsEstimated: 0 } };
    assert.deepEqual(report.days, [
      { day: '2026-11-18', sessionsCreated: 1, sessionsActive: 1, messages: 1, ...none },
      {
        day: '2026-11-19',
        sessionsCreated: 0,
        sessionsActive: 1,
        messages: 1,
        ...spent,
        requests: 2,
        tokens: 153,
        output: 11,
        cost: { usd: 0.5, requestsWithoutCost: 1, requestsEstimated: 1 },
      },
      {
        day: '2026-11-20',
        sessionsCreated: 1,
        sessionsActive: 1,
        messages: 1,
        ...spent,
        tokens: 1045,
        cost: { usd: 0, requestsWithoutCost: 0, requestsEstimated: 0 },
      },
    ]);
    assert.deepEqual(
      report.sessions.map(({ uuid, tokens, messages, tags }) => [uuid, tokens, messages, tags]),
      [
        [a, 153, 2, ['work']],
        [b, 1045, 1, []],
      ],
      'by the tokens that were said, whatever they were billed',
    );
    assert.ok(report.sessions[0]!.contentTokens > report.sessions[1]!.contentTokens);
    assert.deepEqual(report.compactions, {
      count: 2,
      undone: 1,
      tokensBefore: 1000,
      tokensAfter: 200,
      savedTokens: 800,
      durationMs: 56,
      heldMs: 20,
      cost: { usd: 0, requestsWithoutCost: 1, requestsEstimated: 1 },
      byRung: [{ rung: 'model', count: 1, savedTokens: 800 }],
    });
    assert.deepEqual(report.nudges, {
      delivered: 2,
      acted: 1,
      byPercent: [
        { percent: 50, delivered: 1, acted: 1 },
        { percent: 75, delivered: 1, acted: 0 },
      ],
    });
    assert.deepEqual(report.choices, { workspaces: ['/w'], models: ['anthropic/m', 'ollama/q'], tags: ['work'] });
    assert.deepEqual(report.totals, {
      sessionsCreated: 2,
      sessionsActive: 2,
      messages: 3,
      requests: 3,
      tokens: 1198,
      output: 21,
      cacheRead: 60,
      cost: { usd: 0.5, requestsWithoutCost: 1, requestsEstimated: 1 },
    });

    const filtered = [{ workspace: '/w' }, { tag: 'work' }, { model: 'ollama/q' }].map((filter) => analyse(rows, range, filter));
    assert.deepEqual(
      filtered.map(({ sessions, totals, compactions }) => [sessions.map(({ uuid }) => uuid), totals.tokens, compactions.count]),
      [
        [[a], 153, 2],
        [[a], 153, 2],
        [[b], 1045, 0],
      ],
    );
    assert.deepEqual([analyse(rows, range, { top: 1 }).sessions.length, analyse(rows, range, { top: 1 }).moreSessions], [1, 1]);
  });

  it('tells what was written again after pauses, and what folding saved, by what was billed', async () => {
    const model = { provider: 'anthropic', model: 'claude-sonnet-4-5', input: 0, output: 100, cost: 1 };
    const answer: EntryContent = { type: 'message', role: 'assistant', text: 'y' };
    await begin('A', local(17, 9));
    // Before the range: what was asked last is the prompt that could have been written again.
    await say(local(17, 23), answer, [{ ...model, cacheRead: 0, cacheWrite: 39_900 }]);
    const written = await say(local(18, 9), answer, [{ ...model, cacheRead: 2_000, cacheWrite: 40_000 }]);
    await say(local(18, 9, 4), answer, [{ ...model, cacheRead: 42_000, cacheWrite: 1_900 }]);
    await say(local(18, 9, 30), answer, [{ ...model, cacheRead: 44_000, cacheWrite: 900 }], {});
    const cold = await say(local(18, 13), compactionContent('cold', null, { trigger: 'cold', rung: 'prepared' }));
    await say(local(18, 13), answer, [{ ...model, cacheRead: 0, cacheWrite: 10_000, cacheWriteHour: 10_000 }]);
    // One that tells of no cache.
    await say(local(18, 17), answer, [{ provider: 'ollama', model: 'q', input: 9_000, cacheRead: 0, cacheWrite: 0 }]);
    await say(local(18, 19), answer, [{ provider: 'ollama', model: 'q', input: 9_000, cacheRead: 0, cacheWrite: 0 }]);
    assert.ok(written);
    const rows = await store.analyticsRows(range);
    assert.deepEqual(
      rows.returns.map(({ at, before, folded }) => [at, before, folded]),
      [
        [local(18, 9), 40_000, null],
        [local(18, 13), 45_000, cold],
      ],
    );
    assert.deepEqual(AnalyticsReport.parse(analyse(rows, range)).returns, {
      count: 2,
      again: 50_000,
      // 3.75 and 6 dollars a million.
      cost: { usd: 0.15 + 0.06, requestsWithoutCost: 0, requestsEstimated: 0 },
      folded: 1,
      saved: 35_000,
      savedCost: { usd: 0.21, requestsWithoutCost: 0, requestsEstimated: 0 },
    });
    const unpriced = analyse(rows, range, { costOf: () => null }).returns;
    assert.deepEqual([unpriced.cost.requestsWithoutCost, unpriced.savedCost.requestsWithoutCost], [2, 1]);
    assert.equal(analyse(rows, range, { model: 'ollama/q' }).returns.count, 0);
  });

  it('has every day of a range once, also where the clocks change', () => {
    assert.deepEqual(daysBetween(local(18, 23), local(20, 1)), ['2026-11-18', '2026-11-19', '2026-11-20']);
    const { from, to } = lastDays(366, local(20, 13));
    const days = daysBetween(from, to);
    assert.deepEqual([days.length, new Set(days).size, days.at(-1)], [366, 366, '2026-11-20']);
  });
});
