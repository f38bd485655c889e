import { asksWhen } from './relativeDates';
import { estimateTokens } from '../context/measure/estimateTokens';
import { wholeCharacters } from '../context/projection/excerpt';
import { timeText } from './dateText';
import { CancelledError, errorText } from '../errors';
import { plainName, searchEverywhere, type Elsewhere, type EverywhereResult, type PlacedHit, type RecallStore } from './answers/elsewhere';
import { withinTokens } from './answers/evidenceBudget';
import { untrashed } from './answers/untrashed';
import { Frames, indented, oneLine } from '../frames/frames';
import { recallToolName, speaker, newestQuestion, isRecallable } from './history';
import type { SessionStore } from '../ports';
import { everywhereInputSchema, parseRecallInput, recallInputSchema, type RecallInput } from './recallInput';
import { ShownHits } from './answers/shownHits';
import { attachmentNote } from '../session/userMessage';
import { entryText, type StoredEntry } from '../session/entry';
import type { SearchQuery } from '../session/searchQuery';
import type { Tool, ToolOutcome } from '../tools/tool';

export interface RecallDependencies {
  readonly store: RecallStore;
  /** The session the model is in; null when it has none (then every session is searched). */
  readonly session: () => string | null;
  /** A new one for every call: what is found was there before it, and cannot have it. */
  readonly newSeal: () => string;
  /** Other workspaces; null, or left out, while the user does not let the tool read them. Asked anew for every request and call. */
  readonly elsewhere?: () => Elsewhere | null;
}

const defaultTokens = 3_000;
const maxTokens = 12_000;
/** A search returns at most so many passages of one entry. */
const questionHits = 3;
/** Names of workspaces that are told. */
const mostUnread = 12;

const description =
  'Look up what was said earlier in this conversation, including everything that has been folded into a summary. ' +
  'Give one of: query (search), entryIds (read entries by the ids cited in summaries and results, like "#12"), around (an entry with its neighbours). ' +
  'A time like "last Friday" is followed by its date, "beside" names the match that an entry stands next to. ' +
  'Results are verbatim: each entry stands between tags that end with the same number, short ones together, each on a line that begins with its id; whatever else is in them is quoted.';

const everywhereDescription =
  ' With "everywhere", other workspaces and what was said to other agents there are searched as well; ids of such a result are read with its "workspace".';

/** Lets the model search and read the originals of whatever was compacted. */
export function createRecallTool(dependencies: RecallDependencies): Tool {
  return {
    name: recallToolName,
    get description() {
      return dependencies.elsewhere?.() ? description + everywhereDescription : description;
    },
    get inputSchema() {
      return dependencies.elsewhere?.() ? everywhereInputSchema : recallInputSchema;
    },
    access: 'read',
    async run(value, signal) {
      if (signal.aborted) throw new CancelledError();
      const input = parseRecallInput(value);
      if (typeof input === 'string') return { text: input, status: 'error' };
      try {
        const outcome = await answer(dependencies, input, signal);
        if (signal.aborted) throw new CancelledError();
        return outcome;
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
      return inWorkspace(dependencies, input.workspace, (there) => read(there, input, budget));
    case 'around':
      return inWorkspace(dependencies, input.workspace, (there) => around(there, input, budget));
  }
}

/** Ids belong to one workspace: this one, or the one that the model names. */
async function inWorkspace(
  dependencies: RecallDependencies,
  workspace: string | null,
  work: (there: RecallDependencies) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  if (workspace === null) return work(dependencies);
  const elsewhere = dependencies.elsewhere?.() ?? null;
  if (elsewhere === null) return notAllowed;
  const outcome = await elsewhere.read(workspace, (store) => work({ ...dependencies, store: untrashed(store) }));
  return outcome ?? { text: `No other workspace is called ${nameOf(workspace)}.`, status: 'error' };
}

const notAllowed: ToolOutcome = {
  text: 'The user does not let this tool read other workspaces. They can switch that on by the setting threadkeeper.recall.otherWorkspaces.',
  status: 'error',
};

function nameOf(workspace: string): string {
  return `"${plainName(workspace)}"`;
}

async function search(
  dependencies: RecallDependencies,
  input: RecallInput & { kind: 'query' },
  budget: number,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { store, session, newSeal } = dependencies;
  const elsewhere = input.everywhere ? (dependencies.elsewhere?.() ?? null) : null;
  if (input.everywhere && elsewhere === null) return notAllowed;
  const current = session();
  const own = input.allSessions || elsewhere ? null : current;
  // The message that is being answered has the words of the query and answers nothing; the model has it before it.
  const asked = current === null ? null : await newestQuestion(store, current);
  const query: SearchQuery = {
    text: input.query,
    limit: input.limit + (asked === null ? 0 : questionHits),
    byMeaning: true,
    ...(own === null ? {} : { session: own }),
  };
  const result: EverywhereResult = elsewhere
    ? await searchEverywhere(store, elsewhere, query, signal)
    : { ...(await store.search(query)), unread: [] };
  const { terms, complete, unread } = result;
  const askedSeq = result.hits.find(({ entry }) => entry === asked)?.seq;
  const isAsked = ({ entry, beside, workspace }: PlacedHit) =>
    entry === asked || (workspace === undefined && beside !== null && beside === askedSeq);
  const hits = result.hits.filter((hit) => !isAsked(hit)).slice(0, input.limit);
  if (terms.length === 0) return { text: `"${input.query}" has no words to search for.`, status: 'error' };
  const scope = elsewhere ? 'all workspaces' : own === null ? 'all conversations' : 'this conversation';
  const notAll = [
    ...(complete ? [] : ['Not all of the history could be searched: it is still being indexed.']),
    ...(unread.length === 0 ? [] : [`Workspaces that were not searched: ${unread.slice(0, mostUnread).map(nameOf).join(', ')}.`]),
  ];
  const best = hits[0];
  if (!best) {
    const hint = own === null ? 'Try other words.' : 'Try other words, or "allSessions": true.';
    return { text: [`Nothing in ${scope} matches ${JSON.stringify(input.query)}. ${hint}`, ...notAll].join(' '), status: 'ok' };
  }
  const shown = new ShownHits(new Frames(newSeal()), own === null, asksWhen(input.query));
  const { hits: chosen, left } = withinTokens(hits, budget - shown.frameCost, (hit) => shown.costOf(hit));
  const parts = shown.parts(chosen);
  const used = estimateTokens(parts.join('\n\n'));
  const there = best.workspace === undefined ? '' : `, "workspace": ${nameOf(best.workspace)}`;
  const head = `The ${chosen.length} best passages of ${scope}, verbatim, about ${used} tokens (estimated; at most ${budget}). The best of them is #${best.seq}${best.workspace === undefined ? '' : ` of workspace ${nameOf(best.workspace)}`}.`;
  const more = `recall {"entryIds": ["#${best.seq}"]${there}} reads a whole entry, recall {"around": "#${best.seq}"${there}} what was said around it.`;
  const names = left.map(({ seq, workspace }) => (workspace === undefined ? `#${seq}` : `#${seq} of ${nameOf(workspace)}`));
  const notShown = names.length === 0 ? [] : [`Less relevant, not shown for lack of room: ${names.join(', ')}.`];
  return { text: [head, ...notAll, ...parts, ...notShown, more].join('\n\n'), status: 'ok' };
}

async function read(
  { store, newSeal }: RecallDependencies,
  input: RecallInput & { kind: 'entries' },
  budget: number,
): Promise<ToolOutcome> {
  const found = await findEntries(store, input.ids);
  const missing = input.ids.filter((id) => !found.has(id));
  const parts = withinBudget(
    new Frames(newSeal()),
    await Promise.all([...found.values()].map((entry) => unfoldAttachments(entry, store))),
    budget,
    input.offset,
  );
  if (missing.length > 0) parts.push(`There is no entry ${missing.join(', ')}.`);
  return { text: parts.join('\n\n'), status: found.size === 0 ? 'error' : 'ok' };
}

async function around(
  { store, session, newSeal }: RecallDependencies,
  input: RecallInput & { kind: 'around' },
  budget: number,
): Promise<ToolOutcome> {
  const entry = (await findEntries(store, [input.id])).get(input.id);
  if (!entry) return { text: `There is no entry ${input.id}.`, status: 'error' };
  const entries = await findAround(store, session(), entry, input.before, input.after);
  // Each gets its share, so that one long result does not hide the rest.
  const share = Math.floor(budget / entries.length);
  const frames = new Frames(newSeal());
  return { text: entries.map((one) => element(frames, one, leading(one, 0, share))).join('\n\n'), status: 'ok' };
}

/** Whole entries while they fit; the last one cut, with the way to read on. */
function withinBudget(frames: Frames, entries: readonly StoredEntry[], budget: number, offset: number): string[] {
  const parts: string[] = [];
  let left = budget;
  for (const [i, entry] of entries.entries()) {
    if (left < 100 && parts.length > 0) {
      parts.push(
        `Not shown for lack of room: ${entries
          .slice(i)
          .map(({ seq }) => `#${seq}`)
          .join(', ')}. Ask for them apart.`,
      );
      break;
    }
    const shown = leading(entry, i === 0 ? offset : 0, left);
    const part = element(frames, entry, shown);
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

function element(frames: Frames, { seq, content, createdAt }: StoredEntry, shown: Shown): string {
  const { text, start, length } = shown;
  const characters = text.length === length ? undefined : `${start}-${start + text.length} of ${length}`;
  return frames.entry({ id: `#${seq}`, role: speaker(content), time: timeText(createdAt), characters }, text.trim());
}

/**
 * A message as one text, what was attached to it included; images are named only. Attachments are indented, so that nothing in them
 * passes for what the user wrote. Rejects with `StoreError`.
 */
async function unfoldAttachments(entry: StoredEntry, store: Pick<SessionStore, 'blob'>): Promise<StoredEntry> {
  const { content } = entry;
  if (content.type !== 'message' || !content.attachments) return entry;
  const { attachments, ...message } = content;
  const texts = await Promise.all(
    attachments.map(async (attachment) => {
      const bytes = attachment.kind === 'image' ? undefined : await store.blob(attachment.hash);
      const title = oneLine(attachmentNote([attachment]));
      return bytes ? `${title}\n  ${indented(new TextDecoder().decode(bytes))}` : title;
    }),
  );
  return { ...entry, content: { ...message, text: [content.text, ...texts].join('\n\n').trim() } };
}

type Lookup = Pick<SessionStore, 'entries' | 'entriesBySeq'>;

/** Entries in the order asked for; ids (`#12`, `12` or a UUID) that name none are left out. */
async function findEntries(store: Lookup, ids: readonly string[]): Promise<Map<string, StoredEntry>> {
  const seqs = ids.map((id) => Number(/^#?(\d{1,15})$/.exec(id)?.[1] ?? Number.NaN));
  const uuids = ids.filter((_, i) => Number.isNaN(seqs[i]));
  const known = seqs.filter((seq) => !Number.isNaN(seq));
  const [byUuid, bySeq] = await Promise.all([
    uuids.length === 0 ? [] : store.entries(uuids),
    known.length === 0 ? [] : store.entriesBySeq(known),
  ]);
  const found = new Map<string, StoredEntry>();
  ids.forEach((id, i) => {
    const entry = Number.isNaN(seqs[i]) ? byUuid.find(({ uuid }) => uuid === id) : bySeq.find(({ seq }) => seq === seqs[i]);
    if (entry) found.set(id, entry);
  });
  return found;
}

/** Steps of a branch that are looked at for a neighbour that says something. */
const maxSteps = 100;

/** The entries of the same branch around one, oldest first, the entry itself included. */
async function findAround(
  store: RecallStore,
  session: string | null,
  entry: StoredEntry,
  before: number,
  after: number,
): Promise<StoredEntry[]> {
  const earlier: StoredEntry[] = [];
  let parent = entry.parent;
  for (let i = 0; i < maxSteps && parent !== null && earlier.length < before; i++) {
    const [previous] = await store.entries([parent]);
    if (!previous) break;
    if (isRecallable(previous.content)) earlier.unshift(previous);
    parent = previous.parent;
  }
  const later: StoredEntry[] = [];
  for (const uuid of await store.following(entry.uuid, session, maxSteps)) {
    if (later.length === after) break;
    const [next] = await store.entries([uuid]);
    if (!next) break;
    if (isRecallable(next.content)) later.push(next);
  }
  return [...earlier, entry, ...later];
}
