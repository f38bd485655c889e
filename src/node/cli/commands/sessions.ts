import type { SessionStore } from '../../../core/ports';
import { counted } from '../../../core/maintenance/reports';
import { timeText } from '../../../core/recall/dateText';
import { sessionSorts, metadataValue, type Session, type SessionQuery, type SessionSort } from '../../../core/session/session';
import { flagHelp, pairsOf, parseFlags, positiveInteger, UsageError, type Flags, type FlagSpec } from '../flags';
import { plain } from '../terminal';
import { storeFlag, withReader } from '../storeFlags';

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'text', value: 'TEXT', help: 'only those with this in their title or id' },
  { name: 'tag', value: 'TAG', help: 'only those with this tag' },
  { name: 'meta', value: 'NAME=VALUE', repeats: true, help: 'only those with this value in their metadata' },
  { name: 'key', value: 'CHANNEL:CHAT', help: 'only the one with this key' },
  { name: 'sort', value: 'ORDER', choices: sessionSorts, help: 'by last use (default), creation, title, tokens said, or cost' },
  { name: 'archived', help: 'those that are archived, too' },
  { name: 'trashed', help: 'those in the trash instead' },
  { name: 'limit', value: 'N', help: 'at most this many' },
  { name: 'json', help: 'one JSON object a line, with everything that is known of a session' },
];

export const sessionsHelp = `threadkeeper sessions: lists the sessions of a history, the one that was used last first, or as --sort says.

${flagHelp(specs)}

The store may be in use: a copy is read. Exit code 0, also when there are none; 2 for a command line that cannot be run, 1 when the store
cannot be read.`;

/** Resolves with the exit code. */
export async function sessions(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, specs);
  const query = queryOf(flags);
  const found = await withReader(flags['store']!, 'sessions', async (store) => {
    const listed = await store.listSessions(query);
    return query.sort === 'cost'
      ? Promise.all(listed.map(async (session) => ({ ...session, cost: await costOf(store, session.uuid) })))
      : listed;
  });
  for (const session of found) process.stdout.write(`${flags['json'] === undefined ? forPeople(session) : JSON.stringify(session)}\n`);
  if (found.length === 0) process.stderr.write('No sessions.\n');
  return 0;
}

function queryOf(flags: Flags): SessionQuery {
  const { text, tag, key } = flags;
  const metadata = Object.fromEntries(
    pairsOf(flags, 'meta', 'user_id=user_123').map(([name, value]) => [name, queried(metadataValue(value))]),
  );
  const limit = positiveInteger(flags, 'limit');
  return {
    ...(text === undefined ? {} : { text }),
    ...(tag === undefined ? {} : { tag }),
    ...(key === undefined ? {} : { key }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(flags['sort'] === undefined ? {} : { sort: flags['sort'] as SessionSort }),
    ...(flags['trashed'] === undefined ? {} : { trashed: true }),
    ...(flags['archived'] === undefined && flags['trashed'] === undefined ? { archived: false } : {}),
    ...(limit === undefined ? {} : { limit }),
  };
}

function queried(value: unknown): string | number | boolean {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new UsageError('--meta compares texts, numbers, true and false.');
}

/** Adds up in US dollars the requests whose price is known. */
async function costOf(store: SessionStore, session: string): Promise<number> {
  return (await store.usageTotals({ session })).reduce((sum, { cost }) => sum + (cost ?? 0), 0);
}

function forPeople(session: Session & { readonly cost?: number }): string {
  const { id, title, updatedAt, messageCount, totalTokens, archivedAt, cost } = session;
  // Nothing was counted here for imported sessions.
  const counts = [
    counted(messageCount, 'message', 'messages'),
    ...(totalTokens > 0 ? [counted(totalTokens, 'token', 'tokens')] : []),
    ...(cost === undefined ? [] : [`$${cost.toFixed(4)}`]),
  ].join(', ');
  return [
    id,
    timeText(updatedAt),
    plain(title) || 'Untitled',
    counts,
    ...metadataOf(session),
    ...(archivedAt === null ? [] : ['archived']),
  ].join('  ');
}

/** What somebody has written there in so many words; where a session comes from is left to --json. */
function metadataOf({ metadata }: Session): string[] {
  const said = Object.entries(metadata).filter(([, value]) => typeof value !== 'object' || Array.isArray(value));
  return said.map(([name, value]) => plain(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`));
}
