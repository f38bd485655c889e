import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorText } from '../../../core/errors';
import type { SessionStore } from '../../../core/ports';
import { entryText, type StoredEntry } from '../../../core/session/entry';
import { meantSession } from '../../../core/transfer/openClawKeys';
import { systemClock } from '../../runtime/systemClock';
import { UuidV7 } from '../../runtime/ids';
import { findOpenClaw, OpenClawFolder } from '../../transfer/openClaw/findOpenClaw';
import { importInThread } from '../../transfer/import/importInThread';
import { OpenClawDatabase } from '../../transfer/openClaw/openClawDatabase';
import { OpenClawWatch } from '../../transfer/openClaw/openClawWatch';
import { flagHelp, parseFlags, splitWords, UsageError, type Flags, type FlagSpec } from '../flags';
import { plainText, stderrWarnings } from '../terminal';
import { storeFlag, withWriter } from '../storeFlags';

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'openclaw', value: 'KEY', help: 'the session of OpenClaw with this key (main, or agent:main:main), instead of a FILE' },
  {
    name: 'openclaw-path',
    value: 'DIR',
    help: "OpenClaw's folder, or that of its agents, of one agent or of its sessions; default: ~/.openclaw/agents",
  },
  { name: 'json', help: 'one JSON object a line for each entry that is new' },
];

export const watchHelp = `threadkeeper watch FILE: follows a session of another program as it goes on, and prints what comes into the history.

${flagHelp(specs)}

A FILE is any that "import" takes: a session file that grows, a database, or a folder of them. What is there already is imported first. Sources
are only read. The store may be in use. It ends when it is interrupted. Exit code 2 for a command line that cannot be run, 1 when there is
nothing to follow or the store cannot be opened.`;

/** Half of what something new may take to be seen. */
const lookEveryMs = 400;

/** Runs until it is interrupted; resolves with the exit code. */
export async function watch(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  const key = flags['openclaw'];
  const namesFiles = words.length > 0;
  if (namesFiles === (key !== undefined)) throw new UsageError('Name what to follow: a FILE, or --openclaw KEY.');
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return withWriter(flags['store']!, 'watch', async (store) => {
    const feed = new Feed(store, flags['json'] !== undefined);
    const files = words.map((word) => resolve(word));
    if (key === undefined) await watchFiles(store, files, feed, interrupted.signal);
    else await watchOpenClaw(store, key, flags, feed, interrupted.signal);
    await feed.last;
    return 0;
  });
}

/** Imported again whenever something about them changes: an import adds what is new, and nothing twice. */
async function watchFiles(store: SessionStore, paths: readonly string[], feed: Feed, signal: AbortSignal): Promise<void> {
  let seen = '';
  let told = '';
  while (!signal.aborted) {
    const stamp = (await Promise.all(paths.flatMap((path) => [path, `${path}-wal`]).map(stampOf))).join();
    if (stamp !== seen) {
      seen = stamp;
      const { sessions, failed } = await importInThread(store, paths, { workerFile: join(__dirname, 'storeTaskWorker.js') });
      for (const { uuid, entriesAdded } of sessions) if (entriesAdded > 0) feed.print(uuid, entriesAdded);
      const trouble = failed.map(({ source, reason }) => `${source}: ${reason}\n`).join('');
      if (trouble !== told) process.stderr.write(trouble);
      told = trouble;
    }
    await systemClock.sleep(lookEveryMs, signal).catch(() => undefined);
  }
}

/** A folder is judged by the files in it: their own changes do not touch it. */
async function stampOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (!found) return '';
  return found.isDirectory() ? String(Math.floor(systemClock.now() / folderEveryMs)) : `${found.size} ${found.mtimeMs} ${found.ino}`;
}

/** How often everything in a folder is looked through. */
const folderEveryMs = 5_000;

async function watchOpenClaw(store: SessionStore, wanted: string, flags: Flags, feed: Feed, signal: AbortSignal): Promise<void> {
  const wasmFile = join(__dirname, 'sql-wasm.wasm');
  const { agents, paths, unreadable } = await findOpenClaw(flags['openclaw-path'] ?? '', wasmFile);
  const meant = meantSession(agents, wanted);
  if (!meant)
    throw new Error(
      `No agent of OpenClaw has a session with the key ${wanted} in ${paths.join(', ')}.${unreadable.map(({ agent, reason }) => ` ${agent}: ${reason}`).join('')}`,
    );
  const { agent, key } = meant;
  const { place } = agent;
  const source = place.type === 'database' ? new OpenClawDatabase(place.file, key, wasmFile) : new OpenClawFolder(place.folder, key);
  const watching = new OpenClawWatch({
    source,
    store,
    ids: new UuidV7(),
    now: Date.now,
    log: stderrWarnings(),
    added: (session, entries) => feed.print(session, entries),
  });
  await watching.start();
  await new Promise<void>((done) => (signal.aborted ? done() : signal.addEventListener('abort', () => done(), { once: true })));
  await watching.stop();
}

const pageEntries = 200;

/** Prints the entries of sessions that have come since it was last asked. */
class Feed {
  last: Promise<void> = Promise.resolve();
  private readonly printed = new Map<string, number>();

  constructor(
    private readonly store: SessionStore,
    private readonly json: boolean,
  ) {}

  /** So many entries have been added since it was watched; what the session had before was there already. */
  print(session: string, added: number): void {
    this.last = this.last
      .then(() => this.printNew(session, added))
      .catch((error: unknown) => void process.stderr.write(`${errorText(error)}\n`));
  }

  private async printNew(session: string, added: number): Promise<void> {
    const all = await this.store.entrySeqs(session);
    const from = this.printed.get(session) ?? all.at(-added - 1) ?? 0;
    const seqs = all.filter((seq) => seq > from);
    for (let i = 0; i < seqs.length; i += pageEntries)
      for (const entry of await this.store.entriesBySeq(seqs.slice(i, i + pageEntries))) this.write(entry);
    this.printed.set(session, seqs.at(-1) ?? from);
  }

  private write(entry: StoredEntry): void {
    const { content } = entry;
    if (this.json) process.stdout.write(`${JSON.stringify({ type: 'entry', ...entry })}\n`);
    else if (entry.display)
      process.stdout.write(plainText(`${content.type === 'message' ? content.role : content.type}: ${entryText(content)}\n`));
  }
}
