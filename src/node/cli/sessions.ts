import { counted } from '../../core/session/verifyReport';
import { timeText } from '../../core/recall/dateText';
import type { Session } from '../../core/session/session';
import type { SessionQuery } from '../../core/session/sessionQuery';
import { flagHelp, parseFlags, positiveInteger, type Flags, type FlagSpec } from './flags';
import { plain } from './plain';
import { storeFlag, withReader } from './storeFlags';

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'text', value: 'TEXT', help: 'only those with this in their title or id' },
  { name: 'tag', value: 'TAG', help: 'only those with this tag' },
  { name: 'archived', help: 'those that are archived, too' },
  { name: 'trashed', help: 'those in the trash instead' },
  { name: 'limit', value: 'N', help: 'at most this many' },
  { name: 'json', help: 'one JSON object a line, with everything that is known of a session' },
];

export const sessionsHelp = `threadkeeper sessions: lists the sessions of a history, the one that was used last first.

${flagHelp(specs)}

The store may be in use: a copy is read. Exit code 0, also when there are none; 2 for a command line that cannot be run, 1 when the store
cannot be read.`;

/** Resolves with the exit code. */
export async function sessions(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, specs);
  const query = queryOf(flags);
  const found = await withReader(flags['store']!, 'sessions', (store) => store.listSessions(query));
  for (const session of found) process.stdout.write(`${flags['json'] === undefined ? forPeople(session) : JSON.stringify(session)}\n`);
  if (found.length === 0) process.stderr.write('No sessions.\n');
  return 0;
}

function queryOf(flags: Flags): SessionQuery {
  const { text, tag } = flags;
  const limit = positiveInteger(flags, 'limit');
  return {
    ...(text === undefined ? {} : { text }),
    ...(tag === undefined ? {} : { tag }),
    ...(flags['trashed'] === undefined ? {} : { trashed: true }),
    ...(flags['archived'] === undefined && flags['trashed'] === undefined ? { archived: false } : {}),
    ...(limit === undefined ? {} : { limit }),
  };
}

function forPeople({ id, title, updatedAt, messageCount, totalTokens, archivedAt }: Session): string {
  // Of imported sessions nothing was counted here.
  const counts = [counted(messageCount, 'message', 'messages'), ...(totalTokens > 0 ? [counted(totalTokens, 'token', 'tokens')] : [])].join(', ');
  return [id, timeText(updatedAt), plain(title) || 'Untitled', counts, ...(archivedAt === null ? [] : ['archived'])].join('  ');
}
