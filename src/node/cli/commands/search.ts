import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '../../../core/errors';
import { counted } from '../../../core/maintenance/reports';
import { hitSnippet } from '../../../core/recall/answers/callText';
import { timeText } from '../../../core/recall/dateText';
import { asksWhen } from '../../../core/recall/relativeDates';
import { dayStart, parseSearchText } from '../../../core/recall/parseSearchText';
import { embeddingSpace } from '../../../core/embeddings/embeddings';
import type { SessionStore } from '../../../core/ports';
import { wordsFirst, type SearchHit, type SearchQuery, type SearchResult } from '../../../core/session/searchQuery';
import { everyPlace } from '../../mcp/historyPlaces';
import { openStore } from '../../store/client/openStore';
import { storeFiles } from '../../store/database/storeFiles';
import { flagHelp, parseFlags, positiveInteger, splitWords, UsageError, type Flags, type FlagSpec } from '../flags';
import { embeddingChoice, embeddingFlags, embeddingKeyHelp, embeddingsOf } from '../embeddingFlags';
import { plain, stderrLogger } from '../terminal';
import { sessionNamed, withReader } from '../storeFlags';

const specs: readonly FlagSpec[] = [
  { name: 'store', value: 'DIR', help: 'folder of the history' },
  { name: 'everywhere', help: 'instead of --store: the histories of all workspaces, in one list' },
  { name: 'registry', value: 'DIR', help: "with --everywhere: the extension's global storage, where it is not in one of the usual places" },
  { name: 'session', value: 'ID', help: 'only this session (YYYYMMDD_NNN or its uuid), with what it shares when it is a fork' },
  { name: 'all', help: 'every session that is not in the trash; so it is without --session' },
  { name: 'role', value: 'ROLE', help: 'only what this one said: user, assistant or tool' },
  { name: 'tag', value: 'TAG', help: 'only sessions with this tag' },
  { name: 'model', value: 'MODEL', help: 'only what this model said or called: its name, or provider/name' },
  { name: 'meta', value: 'KEY=VALUE', help: 'only sessions with this value in their metadata' },
  { name: 'from', value: 'DAY', help: 'nothing older than this day (YYYY-MM-DD, local time)' },
  { name: 'to', value: 'DAY', help: 'nothing newer than the end of this day' },
  ...embeddingFlags,
  { name: 'k', value: 'N', help: 'at most this many results; default 10' },
  {
    name: 'json',
    help: 'one JSON object a line: entryId, sessionId, role, time, score, text; beside, where a result has none of the words: the number of the entry that it was said next to; meant: it has none of them and is found by its meaning; dates: days that it names like "last Friday"',
  },
];

const defaultResults = 10;
/** Long enough for a server to load its model: no later search of this command would profit from it. */
const patienceMs = 10_000;

export const searchHelp = `threadkeeper search <query>: finds what was said, in every branch, compacted or not.

${flagHelp(specs)}

Any of the words is enough, the best results come first; text in JSON is a passage, verbatim. What follows -- is query, not flags.
With --everywhere each result names its workspace, and histories that cannot be read are named; that is a search by words alone.
With --everywhere the exit code is 1 when nothing was found and some history could not be read.
By meaning is found what "threadkeeper embed" has read with the same model; a server that is away or slow is not waited for. ${embeddingKeyHelp}
The store may be in use: a copy is read. Exit code 0 when something was found, 3 when nothing was; 2 for a command line that cannot be
run, 1 when the store cannot be read or the session does not exist.`;

/** Resolves with the exit code. Results go to standard output, everything else to standard error. */
export async function search(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  const text = words.join(' ');
  if (text.trim() === '') throw new UsageError('A query is missing.');
  if (flags['session'] !== undefined && flags['all'] !== undefined) throw new UsageError('--session and --all exclude each other.');
  const limit = positiveInteger(flags, 'k') ?? defaultResults;
  const filters = { ...sessionsOf(flags), ...roleOf(flags['role']), ...dayOf('from', flags['from'], 0), ...dayOf('to', flags['to'], 1) };
  if ((flags['store'] === undefined) === (flags['everywhere'] === undefined))
    throw new UsageError('Say either --store DIR or --everywhere.');
  if (flags['everywhere'] !== undefined) return searchEverywhere(flags, { text, limit, whole: true, ...filters });
  const embeddings = embeddingsOf(flags, process.env, stderrLogger([]), patienceMs);
  const opened = await openStore({
    folder: flags['store']!,
    workerFile: join(__dirname, 'storeWorker.js'),
    label: 'threadkeeper search',
    readonly: true,
    logger: stderrLogger([]),
  });
  const store = embeddings.searching(opened);
  try {
    const session = flags['session'] === undefined ? undefined : (await sessionNamed(store, flags['session'])).uuid;
    const result = await store.search({
      text,
      limit,
      whole: true,
      byMeaning: true,
      ...filters,
      ...(session === undefined ? {} : { session }),
    });
    for (const hit of wordsFirst(result.hits))
      process.stdout.write(flags['json'] === undefined ? `${forPeople(hit, result, text)}\n` : `${JSON.stringify(toOutput(hit))}\n`);
    const wordsOnly = embeddings.searchProblem ?? (await withoutVectors(store, flags));
    if (wordsOnly !== null) process.stderr.write(`Searched by words alone. ${wordsOnly}\n`);
    if (!result.complete) process.stderr.write('Not all of the history was searched: its index is not ready yet.\n');
    if (result.hits.length > 0) return 0;
    process.stderr.write(result.terms.length === 0 ? `"${text}" has no words to search for.\n` : `Nothing matches "${text}".\n`);
    return 3;
  } finally {
    embeddings.dispose();
    await store.close();
  }
}

/** One history after the other, each as a copy. Those that cannot be read are named, so that nobody takes them for searched. */
async function searchEverywhere(flags: Flags, query: SearchQuery): Promise<number> {
  if (flags['session'] !== undefined) throw new UsageError('--session goes with --store DIR: a session is in one history.');
  const { embeddings } = flags;
  if (embeddings !== undefined) throw new UsageError('--embeddings goes with --store DIR: --everywhere searches by words alone.');
  const places = (await everyPlace(flags['registry'])()).filter(({ folder }) => existsSync(storeFiles(folder).main));
  if (places.length === 0)
    throw new UsageError('No workspace with a history was found. Say where with --registry, or name one by --store.');
  const found: { readonly hit: SearchHit; readonly result: SearchResult; readonly workspace: string }[] = [];
  let isComplete = true;
  let searched = 0;
  for (const { folder, name } of places) {
    try {
      const result = await withReader(folder, 'search', (store) => store.search(query));
      searched++;
      isComplete &&= result.complete;
      found.push(...result.hits.map((hit) => ({ hit, result, workspace: name })));
    } catch (error) {
      process.stderr.write(`Not searched: ${plain(name)}: ${plain(errorText(error))}\n`);
    }
  }
  const of = new Map(found.map((one) => [one.hit, one]));
  const best = wordsFirst([...of.keys()].sort((a, b) => b.score - a.score)).slice(0, query.limit);
  for (const hit of best) {
    const { result, workspace } = of.get(hit)!;
    const line =
      flags['json'] === undefined
        ? `${plain(workspace)}  ${forPeople(hit, result, query.text)}`
        : JSON.stringify({ workspace, ...toOutput(hit) });
    process.stdout.write(`${line}\n`);
  }
  if (!isComplete) process.stderr.write('Not all of the history was searched: its index is not ready yet.\n');
  if (best.length > 0) return 0;
  process.stderr.write(`Nothing matches "${query.text}" in ${counted(searched, 'workspace', 'workspaces')}.\n`);
  return searched < places.length ? 1 : 3;
}

/** Why the named model finds nothing here; null where it does, or none is named. */
async function withoutVectors(store: Pick<SessionStore, 'vectorStatus'>, flags: Flags): Promise<string | null> {
  const choice = embeddingChoice(flags);
  if (choice === null || (await store.vectorStatus()).space === embeddingSpace(choice)) return null;
  return `This model has not read the history: threadkeeper embed --embeddings ${choice.provider}/${choice.model} has it do so.`;
}

function roleOf(role: string | undefined): Pick<SearchQuery, 'role'> {
  if (role === undefined) return {};
  if (role === 'user' || role === 'assistant' || role === 'tool') return { role };
  throw new UsageError('--role is user, assistant or tool.');
}

function sessionsOf({ tag, model, meta }: Flags): Pick<SearchQuery, 'tag' | 'model' | 'metadata'> {
  const { metadata } = meta === undefined ? {} : parseSearchText(`meta:"${meta}"`).filters;
  if (meta !== undefined && metadata === undefined) throw new UsageError('--meta is KEY=VALUE, for example ticket=7.');
  return {
    ...(tag === undefined ? {} : { tag }),
    ...(model === undefined ? {} : { model }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** Milliseconds at which the local day begins, or, with `days` 1, the last one of it. */
function dayOf(name: 'from' | 'to', value: string | undefined, days: 0 | 1): Pick<SearchQuery, 'from' | 'to'> {
  if (value === undefined) return {};
  const start = dayStart(value);
  if (start === null) throw new UsageError(`--${name} is a day like 2026-11-20.`);
  const day = new Date(start);
  return { [name]: new Date(day.getFullYear(), day.getMonth(), day.getDate() + days).getTime() - days };
}

function toOutput({ entry, sessionId, role, at, score, text, beside, meant, dates }: SearchHit): object {
  return {
    entryId: entry,
    sessionId,
    role,
    time: new Date(at).toISOString(),
    score: Number(score.toFixed(4)),
    text,
    ...(beside === null ? {} : { beside }),
    ...(meant ? { meant } : {}),
    ...(dates.length === 0 ? {} : { dates }),
  };
}

function forPeople(hit: SearchHit, { terms }: SearchResult, query: string): string {
  const title = plain(hit.sessionTitle);
  const origin = `${hit.entry}  ${hit.sessionId}${title ? ` ${title}` : ''}  ${hit.speaker}`;
  const dates = [timeText(hit.at), ...hit.dates.map(({ said, day }) => `${plain(said)}: ${day}`)].join('; ');
  const head = asksWhen(query) ? `${dates}  ${origin}` : `${origin}  ${dates}`;
  const why = hit.meant
    ? '  (has none of the words; found by its meaning)'
    : hit.beside === null
      ? ''
      : `  (has none of the words; said next to #${hit.beside}, which has)`;
  return `${head}  ${hit.score.toFixed(2)}${why}\n    ${plain(hitSnippet(hit, terms))}`;
}
