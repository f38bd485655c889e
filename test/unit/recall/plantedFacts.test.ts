import { ok } from 'node:assert/strict';
import { recallCorpus, type RecallCorpus } from '../../support/chat/recallCorpus';
import { SearchStore } from '../../support/store/searchStore';
import { tempFolder } from '../../support/store/storeTemp';

interface Quality {
  /** Share of the facts whose newest value stands among the first k results. */
  readonly at5: number;
  readonly at10: number;
  readonly at25: number;
  /** Of the corrected facts: share whose newest value stands before any older one. */
  readonly newestFirst: number;
}

/**
 * At 2,000 turns and with the neighbours' half and the session's best score alone, as measured before: 0.47, 0.67, 0.78, and 0.23 of
 * the corrected ones. The ranking was tuned with seeds 1 and 2; of those that it was not tuned with, 21 to 23, it finds 0.96, 1, 1,
 * and the newest statement first for all of the corrected ones.
 */
const expected: Quality = { at5: 0.95, at10: 0.99, at25: 1, newestFirst: 1 };

describe('recall of planted facts', () => {
  it('finds every one of 200 among 2,000 turns, and of a corrected one the newest statement first', async function () {
    this.timeout(60_000);
    const quality = await measure(recallCorpus({ seed: 21, turns: 2_000, facts: 200, updated: 40 }));
    for (const [name, least] of Object.entries(expected))
      ok(quality[name as keyof Quality] >= least, `${name}: ${JSON.stringify(quality)}`);
  });
});

async function measure({ turns, facts }: RecallCorpus): Promise<Quality> {
  const temp = tempFolder();
  const store = await SearchStore.open(temp.path);
  try {
    fill(store, turns);
    store.index(1_000);
    const ranks = facts.map(({ question, values }) => {
      const texts = store.texts(question, { limit: 25 });
      const rankOf = (value: string) => {
        const rank = texts.findIndex((text) => text.includes(value));
        return rank < 0 ? Infinity : rank;
      };
      return { newest: rankOf(values.at(-1)!), older: Math.min(...values.slice(0, -1).map(rankOf)), corrected: values.length > 1 };
    });
    const share = (from: typeof ranks, holds: (rank: (typeof ranks)[number]) => boolean) => from.filter(holds).length / from.length;
    const corrected = ranks.filter((rank) => rank.corrected);
    return {
      at5: share(ranks, ({ newest }) => newest < 5),
      at10: share(ranks, ({ newest }) => newest < 10),
      at25: share(ranks, ({ newest }) => newest < 25),
      newestFirst: share(corrected, ({ newest, older }) => newest < older),
    };
  } finally {
    store.database.close();
    temp.remove();
  }
}

function fill(store: SearchStore, turns: RecallCorpus['turns']): void {
  const at = Date.UTC(2026, 0, 5, 8);
  for (let first = 0; first < turns.length; ) {
    const { session: number } = turns[first]!;
    const session = store.session(`s${number}`);
    let parent: string | null = null;
    const entries = [];
    for (; turns[first]?.session === number; first++) {
      for (const role of ['user', 'assistant'] as const) {
        const uuid = `t${first}-${role}`;
        entries.push({
          uuid,
          session,
          parent,
          createdAt: at + first * 600_000,
          modelFacing: true,
          display: true,
          tokenEstimate: 1,
          content: { type: 'message' as const, role, text: turns[first]![role] },
        });
        parent = uuid;
      }
    }
    store.core.append(session, { entries });
  }
}
