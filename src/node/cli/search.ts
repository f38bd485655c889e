import { join } from 'node:path';
import { timeText } from '../../core/recall/dateText';
import { snippet } from '../../core/recall/snippet';
import type { SearchHit, SearchResult } from '../../core/ports';
import { openStore } from '../store/openStore';
import { flagHelp, parseFlags, positiveInteger, splitWords, UsageError, type FlagSpec } from './flags';
import { plain } from './plain';
import { sessionNamed } from './sessionNamed';
import { stderrLogger } from './stderrLogger';

const specs: readonly FlagSpec[] = [
  { name: 'store', value: 'DIR', required: true, help: 'folder of the history' },
  { name: 'session', value: 'ID', help: 'only this session (YYYYMMDD_NNN or its uuid), with what it shares when it is a fork' },
  { name: 'all', help: 'every session that is not in the trash; so it is without --session' },
  { name: 'k', value: 'N', help: 'at most this many results; default 10' },
  { name: 'json', help: 'one JSON object a line: entryId, sessionId, role, time, score, text' },
];

const defaultResults = 10;

export const searchHelp = `threadkeeper search <query>: finds what was said, in every branch, compacted or not.

${flagHelp(specs)}

Any of the words is enough, the best results come first; text in JSON is a passage, verbatim. What follows -- is query, not flags.
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
  const store = await openStore({ folder: flags['store']!, workerFile: join(__dirname, 'storeWorker.js'), label: 'threadkeeper search', readonly: true, logger: stderrLogger([]) });
  try {
    const session = flags['session'] === undefined ? undefined : (await sessionNamed(store, flags['session'])).uuid;
    const result = await store.search({ text, limit, ...(session === undefined ? {} : { session }) });
    for (const hit of result.hits) process.stdout.write(flags['json'] === undefined ? `${forPeople(hit, result)}\n` : `${JSON.stringify(toOutput(hit))}\n`);
    if (!result.complete) process.stderr.write('Not all of the history was searched: its index is not ready yet.\n');
    if (result.hits.length > 0) return 0;
    process.stderr.write(result.terms.length === 0 ? `"${text}" has no words to search for.\n` : `Nothing matches "${text}".\n`);
    return 3;
  } finally {
    await store.close();
  }
}

function toOutput({ entry, sessionId, role, at, score, text }: SearchHit): object {
  return { entryId: entry, sessionId, role, time: new Date(at).toISOString(), score: Number(score.toFixed(4)), text };
}

function forPeople(hit: SearchHit, { terms }: SearchResult): string {
  const title = plain(hit.sessionTitle);
  return `${hit.entry}  ${hit.sessionId}${title ? ` ${title}` : ''}  ${hit.speaker}  ${timeText(hit.at)}  ${hit.score.toFixed(2)}\n    ${plain(snippet(hit.text, terms))}`;
}
