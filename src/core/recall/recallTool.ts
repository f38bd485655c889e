import { estimateTokens } from '../context/estimateTokens';
import { wholeCharacters } from '../context/excerpt';
import { CancelledError, errorText } from '../errors';
import type { SessionStore, Tool, ToolOutcome } from '../ports';
import { entryText, type StoredEntry } from '../session/entry';
import { timeText } from './dateText';
import { findAround, findEntries } from './findEntries';
import { historyPassages, recallToolName, speaker, type HistoryPassage, type SearchBounds } from './history';
import { PassageRanker } from './rankPassages';
import { parseRecallInput, recallInputSchema, type RecallInput } from './recallInput';

export interface RecallDependencies {
  readonly store: Pick<SessionStore, 'scan' | 'session' | 'entries' | 'entriesBySeq'>;
  /** The session the model is in; null when it has none (then every session is searched). */
  readonly session: () => string | null;
  /** Entries that no query returns, for example because the model sees them anyway. Their ids can still be read. */
  readonly skip?: (entry: StoredEntry) => boolean;
  readonly bounds?: SearchBounds;
}

const defaultTokens = 3_000;
const maxTokens = 12_000;

const description =
  'Look up what was said earlier in this conversation, including everything that has been folded into a summary. ' +
  'Give one of: query (search), entryIds (read entries by the ids cited in summaries and results, like "#12"), around (an entry with its neighbours). ' +
  'Results are verbatim.';

/** Lets the model search and read the originals of whatever was compacted. */
export function createRecallTool(dependencies: RecallDependencies): Tool {
  return {
    name: recallToolName,
    description,
    inputSchema: recallInputSchema,
    access: 'read',
    async run(value, signal) {
      if (signal.aborted) throw new CancelledError();
      const input = parseRecallInput(value);
      if (typeof input === 'string') return { text: input, status: 'error' };
      try {
        return await answer(dependencies, input, signal);
      } catch (error) {
        if (CancelledError.is(error)) throw error;
        return { text: `The history could not be read: ${errorText(error)}`, status: 'error' };
      }
    },
  };
}

function answer(dependencies: RecallDependencies, input: RecallInput, signal: AbortSignal): Promise<ToolOutcome> {
  const budget = Math.min(maxTokens, Math.max(200, input.maxTokens ?? defaultTokens));
  switch (input.kind) {
    case 'query':
      return search(dependencies, input, budget, signal);
    case 'entries':
      return read(dependencies, input, budget);
    case 'around':
      return around(dependencies, input, budget);
  }
}

async function search({ store, session, skip, bounds }: RecallDependencies, input: RecallInput & { kind: 'query' }, budget: number, signal: AbortSignal): Promise<ToolOutcome> {
  const ranker = new PassageRanker<HistoryPassage>(input.query);
  if (ranker.terms.length === 0) return { text: `"${input.query}" has no words to search for.`, status: 'error' };
  const own = input.allSessions ? null : session();
  let searched = 0;
  let complete = true;
  for await (const page of historyPassages(store, { ...(own === null ? {} : { session: own }), ...(bounds ? { bounds } : {}) }, signal)) {
    ranker.add(page.passages);
    ({ searched, complete } = page);
  }
  const where = own === null ? 'of all conversations' : 'of this conversation';
  const scope = complete ? `the ${searched} entries ${where}` : `the newest ${searched} entries ${where}`;
  const ranked = distinct(ranker.ranked().filter(({ item }) => !skip?.(item.entry)));
  if (ranked.length === 0) {
    const hint = own === null ? 'Try other words.' : 'Try other words, or "allSessions": true.';
    return { text: `Nothing in ${scope} matches ${JSON.stringify(input.query)}. ${hint}`, status: 'ok' };
  }
  const parts: string[] = [];
  let used = 0;
  for (const { item } of ranked.slice(0, input.limit)) {
    const part = element(item.entry, item, own === null ? await titleOf(store, item.entry) : null);
    used += estimateTokens(part);
    if (used > budget && parts.length > 0) break;
    parts.push(part);
  }
  const head = `Searched ${scope}: ${ranked.length} passages match, the best ${parts.length} first. Text is verbatim.`;
  const more = `recall {"entryIds": ["#${ranked[0]?.item.entry.seq ?? 0}"]} reads a whole entry, recall {"around": "#${ranked[0]?.item.entry.seq ?? 0}"} what was said around it.`;
  return { text: [head, ...parts, more].join('\n\n'), status: 'ok' };
}

async function read({ store }: RecallDependencies, input: RecallInput & { kind: 'entries' }, budget: number): Promise<ToolOutcome> {
  const found = await findEntries(store, input.ids);
  const missing = input.ids.filter((id) => !found.has(id));
  const parts = withinBudget([...found.values()], budget, input.offset);
  if (missing.length > 0) parts.push(`There is no entry ${missing.join(', ')}.`);
  return { text: parts.join('\n\n'), status: found.size === 0 ? 'error' : 'ok' };
}

async function around({ store }: RecallDependencies, input: RecallInput & { kind: 'around' }, budget: number): Promise<ToolOutcome> {
  const entry = (await findEntries(store, [input.id])).get(input.id);
  if (!entry) return { text: `There is no entry ${input.id}.`, status: 'error' };
  const entries = await findAround(store, entry, input.before, input.after);
  // Each gets its share, so that one long result does not hide the rest.
  const share = Math.floor(budget / entries.length);
  return { text: entries.map((one) => element(one, leading(one, 0, share), null)).join('\n\n'), status: 'ok' };
}

/** Whole entries while they fit; the last one cut, with the way to read on. */
function withinBudget(entries: readonly StoredEntry[], budget: number, offset: number): string[] {
  const parts: string[] = [];
  let left = budget;
  for (const [i, entry] of entries.entries()) {
    if (left < 100 && parts.length > 0) {
      parts.push(`Not shown for lack of room: ${entries.slice(i).map(({ seq }) => `#${seq}`).join(', ')}. Ask for them apart.`);
      break;
    }
    const shown = leading(entry, i === 0 ? offset : 0, left);
    const part = element(entry, shown, null);
    parts.push(part);
    left -= estimateTokens(part);
    const end = shown.start + shown.text.length;
    if (end < shown.length) parts.push(`#${entry.seq} goes on: recall {"entryIds": ["#${entry.seq}"], "offset": ${end}}`);
  }
  return parts;
}

interface Shown {
  readonly text: string;
  readonly start: number;
  readonly length: number;
}

/** The text of an entry from `offset`, as far as it fits. */
function leading(entry: StoredEntry, offset: number, tokens: number): Shown {
  const text = entryText(entry.content);
  let end = Math.min(text.length, offset + tokens * 4);
  let shown = wholeCharacters(text, offset, end);
  while (end > offset + 40 && estimateTokens(shown) > tokens) {
    end = offset + Math.floor((end - offset) * 0.8);
    shown = wholeCharacters(text, offset, end);
  }
  return { text: shown, start: Math.min(offset, text.length), length: text.length };
}

function element(entry: StoredEntry, { text, start, length }: Shown, session: string | null): string {
  const part = text.length === length ? '' : ` characters="${start}-${start + text.length} of ${length}"`;
  const from = session === null ? '' : ` session=${JSON.stringify(session)}`;
  return `<entry id="#${entry.seq}" role="${speaker(entry.content)}" time="${timeText(entry.createdAt)}"${from}${part}>\n${text.trim()}\n</entry>`;
}

async function titleOf(store: RecallDependencies['store'], entry: StoredEntry): Promise<string> {
  const session = await store.session(entry.session);
  return session ? `${session.id} ${session.title}`.trim() : entry.session;
}

function distinct<T extends { readonly item: HistoryPassage }>(ranked: readonly T[]): T[] {
  const seen = new Set<string>();
  return ranked.filter(({ item }) => {
    const text = item.text.trim();
    if (text === '' || seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}
