import { timeText } from '../../../core/recall/dateText';
import { lastUsed, sessionsToCleanUp } from '../../../core/maintenance/cleanUp';
import type { Session } from '../../../core/session/session';
import { counted } from '../../../core/maintenance/reports';
import { flagHelp, parseFlags, positiveInteger, UsageError, type FlagSpec } from '../flags';
import { plain } from '../terminal';
import { storeFlag, withReader, withWriter } from '../storeFlags';

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'days', value: 'N', required: true, help: 'sessions that have not been used for more than so many days' },
  { name: 'dry-run', help: 'list them, and move none' },
  { name: 'json', help: 'one JSON object a line for each session' },
];

export const cleanUpHelp = `threadkeeper clean-up: moves sessions that nobody uses any more to the trash, from where they can be restored.

${flagHelp(specs)}

A session that is pinned, or in which another program is working, stays. Nothing is deleted for good. The store may be in use. Exit code 0,
also when there is nothing to do; 2 for a command line that cannot be run, 1 when the store cannot be opened.`;

/** Resolves with the exit code. */
export async function cleanUp(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, specs);
  const days = positiveInteger(flags, 'days');
  if (days === undefined) throw new UsageError('--days is missing.');
  const dry = flags['dry-run'] !== undefined;
  const now = Date.now();
  const moved = await (dry ? withReader : withWriter)(flags['store']!, 'clean-up', async (store) => {
    const due = await sessionsToCleanUp(store, { days, now, open: [] });
    if (!dry) for (const { uuid } of due) await store.updateSession(uuid, { deletedAt: now });
    return due;
  });
  for (const session of moved) process.stdout.write(`${flags['json'] === undefined ? forPeople(session) : JSON.stringify(session)}\n`);
  const what = counted(moved.length, 'session', 'sessions');
  process.stderr.write(
    moved.length === 0 ? 'There is nothing to clean up.\n' : dry ? `${what} would go to the trash.\n` : `${what} moved to the trash.\n`,
  );
  return 0;
}

function forPeople(session: Session): string {
  const { id, title, messageCount } = session;
  return [id, timeText(lastUsed(session)), plain(title) || 'Untitled', counted(messageCount, 'message', 'messages')].join('  ');
}
