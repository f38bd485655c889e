import type { Session } from '../../../core/session/session';
import { isUserMessage, type StoredEntry } from '../../../core/session/entry';
import type { FileChanges } from '../../../core/rewind/fileChanges';
import type { FileMark } from '../../../core/rewind/fileHistory';
import { fileChangeList } from '../../../core/rewind/fileTexts';
import { summedEdits } from '../../../core/rewind/turnReview';
import type { SessionStore } from '../../../core/ports';
import { exportMarkdown } from '../../transfer/export/exportSessions';
import { flagHelp, parseFlags, positiveInteger, splitWords, UsageError, type FlagSpec } from '../flags';
import { plainText } from '../terminal';
import { storeFlag, withReader, sessionNamed } from '../storeFlags';

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'all', help: 'every entry on every branch, also those that no transcript shows; only with --json' },
  { name: 'last', value: 'N', help: 'only the newest N entries; only with --json' },
  { name: 'files', help: 'the messages behind which tools have changed files, with those files' },
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
    if (flags['files'] !== undefined) await writeFiles(store, session, json);
    else if (json) await writeJson(store, session, flags['all'] !== undefined, last);
    else {
      const pieces = exportMarkdown(store, [session], { redact: false, isForNow: true });
      for await (const piece of pieces) process.stdout.write(plainText(piece));
    }
    return 0;
  });
}

/** By message of the user, on whatever branch it is: each file once, as it was before and as it was left. */
async function writeFiles(store: SessionStore, { uuid }: Session, json: boolean): Promise<void> {
  const marks = (await store.fileMarks(uuid)).filter(({ content }) => content.source === 'tool');
  const said = new Map<string, { readonly entry: StoredEntry; readonly marks: FileMark[] }>();
  for (const mark of marks) {
    const entry = await messageBefore(store, mark.on);
    if (!entry) continue;
    const known = said.get(entry.uuid);
    if (known) known.marks.push(mark);
    else said.set(entry.uuid, { entry, marks: [mark] });
  }
  for (const { entry, marks: own } of said.values()) {
    const files = summedEdits(own);
    const uncovered = own.flatMap(({ content }) => content.uncovered ?? []);
    if (json) process.stdout.write(`${JSON.stringify({ type: 'files', message: entry.uuid, seq: entry.seq, files, uncovered })}\n`);
    else {
      const text = entry.content.type === 'message' ? entry.content.text.split('\n', 1)[0]!.slice(0, 80) : '';
      const changes: FileChanges = { type: 'file_changes', source: 'tool', files, uncovered };
      process.stdout.write(plainText(`#${entry.seq} ${text}\n${fileChangeList(changes)}\n\n`));
    }
  }
}

async function messageBefore(store: SessionStore, entry: string): Promise<StoredEntry | null> {
  for (let at: string | null = entry; at !== null; ) {
    const [found]: StoredEntry[] = await store.entries([at]);
    if (!found) return null;
    if (isUserMessage(found)) return found;
    at = found.parent;
  }
  return null;
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
