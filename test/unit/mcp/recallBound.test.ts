import assert from 'node:assert/strict';
import { StoreError } from '../../../src/core/errors';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { HistoryTools } from '../../../src/node/mcp/historyTools';
import type { SharedHistories } from '../../../src/node/mcp/sharedHistories';

const hit = (at: number) => ({
  entry: `e${at}`,
  seq: at,
  session: 's',
  sessionId: '20260101_001',
  sessionTitle: 'Harbour',
  role: 'user',
  speaker: 'user',
  at: 1,
  score: 1,
  text: 'harbour '.repeat(80),
  start: 0,
  length: 640,
  beside: null,
  dates: [],
});

describe('what an agent recalls from many workspaces', () => {
  it('stays within the bound of the answer, and says how many had no room and what could not be read', async () => {
    const store = {
      search: async () => ({ hits: [1, 2, 3, 4].map(hit), terms: ['harbour'], complete: true }),
      session: async () => undefined,
      entries: async () => [],
      entriesBySeq: async () => [],
    };
    const histories = Array.from({ length: 90 }, (_, i) => ({ name: `w${i}`, folder: '/x', store, notes: {} }));
    const tools = new HistoryTools({ all: async () => ({ histories, unread: [] }) } as unknown as SharedHistories, () => 'link');
    const broken = { ...store, search: () => Promise.reject(new StoreError('io', 'the disk does not answer')) };
    histories.push({ name: 'broken', folder: '/x', store: broken, notes: {} });
    for (const [maxTokens, bound] of [
      [undefined, 3_000],
      [12_000, 12_000],
    ] as const) {
      const { text } = await tools.recall({ query: 'harbour', ...(maxTokens ? { maxTokens } : {}) }, new AbortController().signal);
      assert.ok(estimateTokens(text) <= bound, `${estimateTokens(text)} tokens`);
      assert.match(text, /\d+ more workspaces had no room/);
    }
    assert.match((await tools.search({ query: 'harbour' })).text, /What cannot be read is left out: broken\./);
  });
});
