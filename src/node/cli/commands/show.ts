import type { Session } from '../../../core/session/session';
import type { StoredEntry } from '../../../core/session/entry';
import type { SessionStore } from '../../../core/ports';
import { exportMarkdown } from '../../transfer/export/exportTranscript';
import { flagHelp, parseFlags, positiveInteger, splitWords, UsageError, type FlagSpec } from '../flags';
import { plainText } from '../terminalText';
import { sessionNamed } from '../sessionNamed';
import { storeFlag, withReader } from '../storeFlags';

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'all', help: 'every entry on every branch, also those that no transcript shows; only with --json' },
  { name: 'last', value: 'N', help: 'only the newest N entries; only with --json' },
  { name: 'json', help: 'one JSON object a line: the session, then its entries, oldest first' },
];

export const showHelp = `threadkeeper show <session>: what was said in a session, compacted messages included.

${flagHelp(specs)}

The session is named by its id (YYYYMMDD_NNN) or its uuid. Without --json it is Markdown of the branch that the session stands on. The
store may be in use: a copy is read. Exit code 2 for a command line that cannot be run, 1 when the store cannot be read or the session
does not exist.`;

const pageEntries = 200;

/** Resolves with the exit code. */
export async function show(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) throw new UsageError('Name one session.');
  const json = flags['json'] !== undefined;
  const last = positiveInteger(flags, 'last');
  if (!json && (last !== undefined || flags['all'] !== undefined)) throw new UsageError('--all and --last go with --json.');
  return withReader(flags['store']!, 'show', async (store) => {
    const session = await sessionNamed(store, name);
    if (json) await writeJson(store, session, flags['all'] !== undefined, last);
    else for await (const piece of exportMarkdown(store, [session], { redact: false })) process.stdout.write(plainText(piece));
    return 0;
  });
}

async function writeJson(store: SessionStore, session: Session, all: boolean, last: number | undefined): Promise<void> {
  const write = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
  write({ type: 'session', ...session });
  if (all) {
    const seqs = await store.entrySeqs(session.uuid);
    const wanted = last === undefined ? seqs : seqs.slice(-last);
    for (let from = 0; from < wanted.length; from += pageEntries) {
      for (const entry of await store.entriesBySeq(wanted.slice(from, from + pageEntries))) write({ type: 'entry', ...entry });
    }
    return;
  }
  const pages: (readonly StoredEntry[])[] = [];
  let before: string | undefined;
  for (let count = 0, hasMore = true; hasMore && count < (last ?? Infinity); ) {
    const page = await store.page(session.uuid, { limit: pageEntries, ...(before === undefined ? {} : { before }) });
    pages.push(page.entries);
    count += page.entries.length;
    before = page.entries[0]?.uuid;
    hasMore = page.hasMore && before !== undefined;
  }
  const entries = pages.reverse().flat();
  for (const entry of last === undefined ? entries : entries.slice(-last)) write({ type: 'entry', ...entry });
}
