import { SearchStore } from '../support/store/searchStore';
import { tempFolder } from '../support/store/storeTemp';

export interface SearchBenchResult {
  readonly query: string;
  readonly search: number;
  readonly candidates: number;
  readonly like: number;
  readonly ratio: number;
}

const messages = Number(process.env['SEARCH_MESSAGES'] ?? 20_000);
const wordsPerMessage = 500;
const rare = 'marmaladeHint42';

/** Milliseconds of a search, of the index alone and of LIKE over the same 20,000 messages, and what the index costs. */
export async function run(): Promise<SearchBenchResult[]> {
  const temp = tempFolder();
  const store = await SearchStore.open(temp.path);
  try {
    const characters = fill(store);
    const { connection } = store.database;
    const sizeOf = () =>
      Number(connection.get('PRAGMA page_count')?.['page_count']) * Number(connection.get('PRAGMA page_size')?.['page_size']);
    const before = sizeOf();
    const batches = store.index().sort((x, y) => x - y);
    const at = (share: number) => round(batches[Math.min(batches.length - 1, Math.floor(batches.length * share))] ?? 0);
    console.log(
      `${messages} messages, ${round(characters / 1e6)} M characters; index ${round((sizeOf() - before) / characters)}× of the text, made in ${round(batches.reduce((x, y) => x + y, 0) / 1000)} s`,
    );
    console.log(`${batches.length} batches: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms`);
    const results = [rare, '東京駅', `${rare} src/file77.ts word12`, 'word12 word900', 'word0 word1 word2 word3 word4', 'nowhere'].map(
      (query): SearchBenchResult => {
        const parts = query.split(' ').map((part) => `%${part}%`);
        const search = best(() => store.core.search({ text: query, limit: 20 }).hits.length);
        const terms = store.core.search({ text: query, limit: 1 }).terms;
        const candidates = best(() => store.core.index.evidence(terms, new Set(), { within: null, matching: null }).evidence.length);
        const like = best(
          () => connection.all(`SELECT entry FROM bodies WHERE ${parts.map(() => 'text LIKE ?').join(' OR ')}`, parts).length,
        );
        return { query, search, candidates, like, ratio: search / like };
      },
    );
    console.table(
      results.map(({ query, search, candidates, like, ratio }) => ({
        query,
        search: round(search),
        candidates: round(candidates),
        like: round(like),
        'search : LIKE': round(ratio, 4),
        'index : LIKE': round(candidates / like, 4),
      })),
    );
    return results;
  } finally {
    store.database.close();
    temp.remove();
  }
}

/** Words as frequent as in prose (Zipf), with paths, and with Japanese in every fiftieth message. */
function fill(store: SearchStore): number {
  let seed = 42;
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  let characters = 0;
  for (let s = 0; s < 20; s++) {
    const session = store.session(`s${s}`);
    let parent: string | null = null;
    for (let part = 0; part < messages / 20 / 250; part++) {
      const entries = Array.from({ length: 250 }, (_, i) => {
        const n = s * 1000 + part * 250 + i;
        const words = Array.from({ length: wordsPerMessage }, () => `word${Math.floor(Math.exp(random() * Math.log(30_000))) - 1}`);
        words.push(`src/file${n % 997}.ts`, ...(n % 4999 === 7 ? [rare] : []), ...(n % 50 === 0 ? ['会議は東京駅の近くで開かれます'] : []));
        const text = words.join(' ');
        characters += text.length;
        const uuid = `b${n}`;
        const entry = {
          uuid,
          session,
          parent,
          createdAt: 1_763_800_000_000 + n * 60_000,
          modelFacing: true,
          display: true,
          tokenEstimate: 1,
          content: { type: 'message' as const, role: 'user' as const, text },
        };
        parent = uuid;
        return entry;
      });
      store.core.append(session, { entries });
    }
  }
  return characters;
}

function best(task: () => number): number {
  let ms = Infinity;
  for (let i = 0; i < 3; i++) {
    const started = performance.now();
    task();
    ms = Math.min(ms, performance.now() - started);
  }
  return ms;
}

function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
