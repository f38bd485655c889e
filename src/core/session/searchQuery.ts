import type { QueryVector } from '../embeddings/embeddings';

export interface SearchQuery {
  /** Plain words, identifiers, paths; nothing in it is syntax. The more of them an entry has, the better; any one is enough. */
  readonly text: string;
  /** The part of its ancestors that a fork shares is searched with it. When omitted, every session that is not in the trash is searched. */
  readonly session?: string;
  readonly limit: number;
  /** Milliseconds since the epoch, both included. */
  readonly from?: number;
  readonly to?: number;
  /** `tool`: calls and their results. */
  readonly role?: SearchRole;
  /** Answers, thoughts and calls of this model: `provider/model`, or the name of the model alone. */
  readonly model?: string;
  /** Only sessions that have this among their `metadata.tags` are searched. */
  readonly tag?: string;
  /** Only sessions that have these top-level values in their metadata are searched. */
  readonly metadata?: Readonly<Record<string, string | number | boolean>>;
  /** Reads all that is not yet indexed, however much that is; else the newest of it. */
  readonly whole?: boolean;
  /** Finds by meaning, too, where the user has an embedding model: for what people and models ask, not for the program's own questions. */
  readonly byMeaning?: true;
  /** What an embedding model makes of the text: passages of that meaning are found, too, where the store has vectors of the same model. */
  readonly near?: QueryVector;
}

export type SearchRole = 'user' | 'assistant' | 'tool';

export interface SearchHit {
  /** UUID of the entry. */
  readonly entry: string;
  readonly seq: number;
  /** UUID of the session; of one that shares the entry when the entry's own is in the trash. */
  readonly session: string;
  /** `YYYYMMDD_NNN`. */
  readonly sessionId: string;
  readonly sessionTitle: string;
  readonly role: SearchRole | 'note';
  /** Who said it, in words: `user`, `result of read_file`. */
  readonly speaker: string;
  readonly at: number;
  readonly score: number;
  /** A passage of the entry, verbatim: from `start` in its text, which has `length` characters. */
  readonly text: string;
  readonly start: number;
  readonly length: number;
  /** `seq` of the match that it stands beside, where it has none of the words itself: a question's answer, for example. */
  readonly beside: number | null;
  /** It has none of the words and stands beside no match: it is found by its meaning. */
  readonly meant?: true;
  /** Days that it names relative to the one on which it was said (`last Friday`), and which those are. */
  readonly dates: readonly { readonly said: string; readonly day: string }[];
}

/**
 * For people, who look for what they have typed: hits with a word of it, then those that stand beside one or are found by their meaning,
 * each in the order in which they were ranked.
 */
export function wordsFirst(hits: readonly SearchHit[]): readonly SearchHit[] {
  const lacks = ({ beside, meant }: SearchHit) => beside !== null || meant === true;
  return [...hits.filter((hit) => !lacks(hit)), ...hits.filter(lacks)];
}

export interface SearchResult {
  /** Best first. A passage next to one that matches may stand among them without a match of its own (`beside`). */
  readonly hits: readonly SearchHit[];
  /** The terms that were searched for, as the ranking sees them; empty when the query has no words. */
  readonly terms: readonly string[];
  /** Passages that were counted, their length, and, in the order of `terms`, how many have each: for ranking other text beside the hits. */
  readonly statistics: {
    readonly count: number;
    readonly length: number;
    readonly documentFrequency: readonly number[];
    readonly named: readonly number[];
  };
  /** False when not all of the history that is not yet indexed could be read. */
  readonly complete: boolean;
}
