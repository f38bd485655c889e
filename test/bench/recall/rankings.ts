import { inverseFrequency, saturated } from '../../../src/core/recall/contextScores';
import { rankPassages } from '../../../src/core/recall/rankPassages';
import { queryTerms, tokenizeTerms } from '../../../src/core/recall/tokenizeTerms';
import { sealDigits } from '../../../src/core/frames/frames';
import { createRecallTool } from '../../../src/core/recall/recallTool';
import { SearchStore } from '../../support/store/searchStore';
import { tempFolder } from '../../support/store/storeTemp';
import type { EvidenceSet, Said } from './evidence';

/** Ids of what was said, best first; at most `limit`. */
type Ranking = (question: string, limit: number) => readonly string[];

/** What the tables compare. Each is given everything that was said, and then asks it all of the questions. */
export const rankings: Readonly<
  Record<string, (said: readonly Said[], work: (ranking: Ranking) => EvidenceShares) => Promise<EvidenceShares>>
> = {
  'as recall ranks': bySearch,
  'without neighbours and sessions': async (said, work) => work(byAlone(said)),
  'plain BM25': async (said, work) => work(byFrequency(said)),
};

/** Share of the evidence among the first k, over all questions. */
export type EvidenceShares = Readonly<Record<'at 5' | 'at 10' | 'at 25' | 'at 50', number>>;

export function evidenceShares(questions: EvidenceSet['questions'], ranking: Ranking): EvidenceShares {
  const found = questions.map(({ text, evidence }) => {
    const ranked = ranking(text, 50);
    return (k: number) => evidence.filter((id) => ranked.slice(0, k).includes(id)).length / evidence.length;
  });
  const at = (k: number) => Math.round((found.reduce((sum, share) => sum + share(k), 0) / Math.max(1, found.length)) * 1000) / 1000;
  return { 'at 5': at(5), 'at 10': at(10), 'at 25': at(25), 'at 50': at(50) };
}

/** A real store with its index, asked as the tool and the user's search ask it. */
async function bySearch(said: readonly Said[], work: (ranking: Ranking) => EvidenceShares): Promise<EvidenceShares> {
  return withStore(said, (store) =>
    // Several passages of one message are one.
    work((text, limit) => [...new Set(store.core.search({ text, limit: 2 * limit }).hits.map(({ entry }) => entry))].slice(0, limit)),
  );
}

async function withStore<T>(said: readonly Said[], work: (store: SearchStore) => T | Promise<T>): Promise<T> {
  const temp = tempFolder();
  const store = await SearchStore.open(temp.path);
  try {
    for (const name of new Set(said.map(({ session }) => session))) {
      const session = store.session(name);
      let parent: string | null = null;
      const entries = said
        .filter((one) => one.session === name)
        .map(({ id, role, text, at }) => {
          const entry = {
            uuid: id,
            session,
            parent,
            createdAt: at,
            modelFacing: true,
            display: true,
            tokenEstimate: 1,
            content: { type: 'message' as const, role, text },
          };
          parent = id;
          return entry;
        });
      store.core.append(session, { entries });
    }
    store.index(1_000);
    return await work(store);
  } finally {
    store.database.close();
    temp.remove();
  }
}

export type KeptShares = Readonly<Record<'in 1000 tokens' | 'in 2000 tokens' | 'in 4000 tokens', number>>;

/** The share of the evidence that stands, word for word, in what the recall tool answers with for a budget. */
export async function evidenceKept({ said, questions }: EvidenceSet): Promise<KeptShares> {
  return withStore(said, async (store) => {
    const texts = new Map(said.map(({ id, text }) => [id, text.trim()]));
    const tool = createRecallTool({
      store: {
        search: async (query) => store.core.search(query),
        session: async (uuid) => store.core.session(uuid),
        entries: async (uuids) => store.core.entries(uuids),
        entriesBySeq: async (seqs) => store.core.entriesBySeq(seqs),
        following: async (entry, session, most) => store.core.following(entry, session, most),
        untrashed: async (uuids) => store.core.untrashed(uuids),
        blob: async () => undefined,
      },
      session: () => null,
      newSeal: () => '0'.repeat(sealDigits),
    });
    const share = async (maxTokens: number) => {
      let sum = 0;
      for (const { text, evidence } of questions) {
        const answer = (await tool.run({ query: text, allSessions: true, maxTokens }, new AbortController().signal)).text;
        sum += evidence.filter((id) => answer.includes(texts.get(id) ?? id)).length / evidence.length;
      }
      return Math.round((sum / Math.max(1, questions.length)) * 1000) / 1000;
    };
    return { 'in 1000 tokens': await share(1_000), 'in 2000 tokens': await share(2_000), 'in 4000 tokens': await share(4_000) };
  });
}

/** The same terms and boosts, with each message in a group of its own. */
function byAlone(said: readonly Said[]): Ranking {
  const passages = said.map((one) => ({ ...one, group: one.id, opens: true }));
  return (question, limit) =>
    rankPassages(question, passages)
      .slice(0, limit)
      .map(({ item }) => item.id);
}

/** BM25 over stemmed terms without stop words that are OR-ed, and nothing else. */
function byFrequency(said: readonly Said[]): Ranking {
  const average = said.reduce((sum, { text }) => sum + text.length, 0) / Math.max(1, said.length);
  const documents = said.map(({ id, text }) => {
    const frequencies = new Map<string, number>();
    for (const term of tokenizeTerms(text)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    return { id, frequencies, length: text.length / average };
  });
  return (question, limit) => {
    const terms = queryTerms(question).map((term) => ({
      term,
      idf: inverseFrequency(documents.filter(({ frequencies }) => frequencies.has(term)).length, documents.length),
    }));
    const scored = documents.map(({ id, frequencies, length }) => ({
      id,
      score: terms.reduce((sum, { term, idf }) => sum + idf * saturated((frequencies.get(term) ?? 0) / (0.4 + 0.6 * length)), 0),
    }));
    return scored
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ id }) => id);
  };
}
