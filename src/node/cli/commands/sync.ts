import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorText, StoreError, type StoreErrorReason } from '../../../core/errors';
import { counted } from '../../../core/maintenance/reports';
import type { SessionStore } from '../../../core/ports';
import type { SyncEngine } from '../../../core/sync/syncEngine';
import type { SyncSetup } from '../../../core/sync/syncStore';
import { EngineError } from '../../../core/sync/syncEngine';
import { HistoryDirectory } from '../../sync/historyDirectory';
import { historyKeys, newPhrase, phraseOf, readPhrase, type HistoryKeys } from '../../sync/historyKeys';
import { KeyFiles } from '../../sync/keyFiles';
import { removeHistory } from '../../sync/removeHistory';
import { engineAddress, openEngine, type EngineAccess } from '../../sync/openEngine';
import { syncStoreOnce, type StoreSyncReport } from '../../sync/syncStore';
import { flagHelp, parseFlags, UsageError, type Flags, type FlagSpec } from '../flags';
import { Pause } from '../pause';
import { storeFlag, withWriter } from '../storeFlags';
import { typedSecret } from '../typedSecret';

const phraseVariable = 'THREADKEEPER_SYNC_PHRASE';
const passwordVariable = 'THREADKEEPER_SYNC_PASSWORD';

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'new', value: 'ENGINE', help: 'begins a history there, and shows its recovery phrase once' },
  { name: 'join', value: 'ENGINE', help: `goes on with the history of a recovery phrase: of ${phraseVariable}, or typed in` },
  { name: 'name', value: 'NAME', help: 'of the history, where one phrase has several; "main" otherwise' },
  { name: 'once', help: 'synchronizes once; what is done without any other flag' },
  { name: 'watch', help: 'goes on until it is interrupted' },
  { name: 'status', help: 'what is set up and what waits, without asking the engine' },
  { name: 'leave', help: 'ends it for this store; everything that was said stays' },
  { name: 'remove', help: 'with --leave: removes the history at the engine too, for all devices; each keeps what it has' },
  { name: 'json', help: 'one JSON object a line' },
];

export const syncHelp = `threadkeeper sync: the same history on several machines, sealed on each of them.

${flagHelp(specs)}

ENGINE is a folder that something else carries from machine to machine (Syncthing, a network drive), or a database that speaks PostgreSQL's
protocol: postgres://user@host/database. Its password comes from ${passwordVariable}, PGPASSWORD or ~/.pgpass. Neither can read anything:
records are sealed with a key that comes from the recovery phrase of 24 words. Whoever has the phrase can read the history; without it
nobody can. The key is kept in ${new KeyFiles({ XDG_CONFIG_HOME: '~/.config' }).folder}, readable by this user only. The store may be in use.
Exit code 0, also when nothing was new; 1 when the engine or the store cannot be used, or a record is not as it was written; 2 for a
command line that cannot be run.`;

/** Resolves with the exit code. */
export async function sync(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, specs);
  const asked = ['new', 'join', 'once', 'watch', 'status', 'leave'].filter((name) => flags[name] !== undefined);
  const setsUp = flags['new'] ?? flags['join'];
  if (asked.filter((name) => name !== 'once' && name !== 'watch').length > 1 || (setsUp === undefined && asked.length > 1))
    throw new UsageError(`${asked.map((name) => `--${name}`).join(' and ')} do not go together.`);
  if (flags['remove'] !== undefined && flags['leave'] === undefined) throw new UsageError('--remove goes with --leave.');
  const keyFiles = new KeyFiles(process.env);
  return withWriter(flags['store']!, 'sync', async (store) => {
    if (flags['status'] !== undefined) return status(store, flags);
    if (flags['leave'] !== undefined) return leave(store, flags, keyFiles);
    const opened = setsUp === undefined ? await goOn(store, keyFiles) : await setUp(store, flags, setsUp, keyFiles);
    try {
      return await (flags['watch'] === undefined ? once(store, opened, flags) : watch(store, opened, flags));
    } finally {
      await opened.engine.close();
    }
  });
}

interface Opened {
  readonly engine: SyncEngine;
  readonly keys: HistoryKeys;
  readonly setup: SyncSetup;
}

/** Nothing is changed in the store until the engine has been opened: a phrase of another history is refused before. */
async function setUp(store: SessionStore, flags: Flags, wanted: string, keyFiles: KeyFiles): Promise<Opened> {
  const known = await store.syncSetup();
  if (known) throw new UsageError(`This store is synchronized with ${known.engine} already; --leave ends that.`);
  const address = engineAddress(wanted);
  if (address === null) throw new UsageError(`Leave the password out of the address: ${passwordVariable}, PGPASSWORD or ~/.pgpass has it.`);
  const isNew = flags['new'] !== undefined;
  const entropy = readPhrase(isNew ? newPhrase() : (process.env[phraseVariable] ?? (await typedPhrase())));
  const name = flags['name'] ?? (isNew ? 'main' : await onlyName(address, entropy));
  const keys = historyKeys(entropy, name);
  const setup = { history: keys.history, name, engine: address };
  const engine = await open(setup, isNew);
  const device = randomUUID();
  // First: a history whose key is nowhere, and whose phrase nobody has seen, can never be read.
  keyFiles.save(keys.history, entropy);
  await store.startSync(device, setup);
  if (isNew) {
    const shown = phraseOf(entropy);
    process.stdout.write(
      `${flags['json'] === undefined ? `Recovery phrase, shown this once. Write it down:\n\n${shown}\n\n` : `${JSON.stringify({ phrase: shown })}\n`}`,
    );
  }
  await list(setup, device, entropy).catch((error: unknown) =>
    process.stderr.write(`Other devices are not offered this history by its name: ${errorText(error)}\n`),
  );
  return { engine, keys, setup };
}

/** The history that the phrase has; "main" where it has none by a name. */
async function onlyName(address: string, entropy: Uint8Array): Promise<string> {
  const directory = await HistoryDirectory.open(address, entropy, { ...engineAccess(), create: false }).catch((error: unknown) => {
    if (EngineError.is(error) && error.reason === 'no_history') return null;
    throw error;
  });
  if (!directory) return 'main';
  const names = await directory.list().then(({ histories }) => histories.map((one) => one.name));
  await directory.close();
  if (names.length === 1) return names[0]!;
  if (names.length === 0 || names.includes('main')) return 'main';
  throw new UsageError(`This phrase has several histories: --name says which. There are ${names.map((one) => `"${one}"`).join(', ')}.`);
}

/** Where *Set Up Sync…* of VS Code finds it, and how this device is called. */
async function list({ engine, history, name }: SyncSetup, device: string, entropy: Uint8Array): Promise<void> {
  const directory = await HistoryDirectory.open(engine, entropy, { ...engineAccess(), create: true });
  try {
    const at = Date.now();
    const { histories } = await directory.list();
    if (!histories.some((one) => one.name === name)) await directory.noteHistory({ name, label: name, at });
    await directory.noteDevice({ history, device, name: hostname(), at });
  } finally {
    await directory.close();
  }
}

async function goOn(store: SessionStore, keyFiles: KeyFiles): Promise<Opened> {
  const setup = await store.syncSetup();
  if (!setup) throw new UsageError('This store is not synchronized: --new or --join sets it up.');
  const phrase = process.env[phraseVariable];
  const entropy = phrase === undefined ? keyFiles.read(setup.history) : readPhrase(phrase);
  if (!entropy)
    throw new StoreError('permission', `The key of this history is not in ${keyFiles.fileOf(setup.history)}: set ${phraseVariable}.`);
  const keys = historyKeys(entropy, setup.name);
  if (keys.history !== setup.history) throw new UsageError(`The recovery phrase in ${phraseVariable} is that of another history.`);
  return { engine: await open(setup, false), keys, setup };
}

function open({ engine, history }: SyncSetup, create: boolean): Promise<SyncEngine> {
  return openEngine(engine, { history, create, ...engineAccess() });
}

function engineAccess(): Pick<EngineAccess, 'bundles' | 'password'> {
  const password = process.env[passwordVariable];
  return { bundles: __dirname, ...(password === undefined ? {} : { password }) };
}

async function once(store: SessionStore, { engine, keys }: Opened, flags: Flags): Promise<number> {
  const report = await syncStoreOnce(store, engine, keys, {
    onProgress: ({ pulled, of }) => {
      if (of > 1_000) process.stderr.write(`${pulled.toLocaleString('en')} of ${of.toLocaleString('en')} records\n`);
    },
  });
  tell(report, flags);
  return report.problems.some(({ kind }) => kind !== 'newer') ? 1 : 0;
}

function tell(report: StoreSyncReport, flags: Flags): void {
  const { pulled, pushed, refilled, renewed, problems, notes } = report;
  if (flags['json'] !== undefined) return void process.stdout.write(`${JSON.stringify(report)}\n`);
  const parts = [`${counted(pulled, 'record', 'records')} received`, `${pushed.toLocaleString('en')} sent`];
  if (refilled > 0) parts.push(`${refilled.toLocaleString('en')} given back to the engine, which had lost them`);
  process.stdout.write(`${parts.join(', ')}.\n`);
  if (renewed) process.stdout.write('This store is a copy or was restored from a backup: it goes on as another device.\n');
  for (const { path, detail } of notes)
    process.stderr.write(`The note ${path} is kept in the store, but could not be written: ${detail}\n`);
  if (problems.some(({ kind }) => kind === 'newer'))
    process.stderr.write('A newer version of Threadkeeper has written some of it: it is kept, and can be read after an update.\n');
  for (const { device, index, detail } of problems.filter(({ kind }) => kind !== 'newer'))
    process.stderr.write(`Record ${index} of device ${device}: ${detail}. Nothing of it was taken over.\n`);
}

/** Milliseconds: what was said is sent so long after it, an engine is asked so often, and one that fails less and less. */
const pace = { afterChange: 1_000, ask: 30_000, mostAfterFailure: 300_000 };

/** What the store may say at one exchange and not at the next: it was changed meanwhile, or a file cannot be read or written now. */
const passing: ReadonlySet<StoreErrorReason> = new Set(['conflict', 'io', 'permission', 'disk_full'] as const);

async function watch(store: SessionStore, opened: Opened, flags: Flags): Promise<number> {
  const pause = new Pause();
  let isOver = false;
  const stop = () => {
    isOver = true;
    pause.call();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const changes = store.onDidChange(() => setTimeout(() => pause.call(), pace.afterChange));
  let { engine } = opened;
  let failures = 0;
  const listen = () => engine.listen(() => pause.call()).catch(() => false);
  await listen();
  while (!isOver) {
    try {
      if (failures > 0) {
        engine = await open(opened.setup, false);
        await listen();
      }
      const report = await syncStoreOnce(store, engine, opened.keys);
      if (report.pulled + report.pushed + report.refilled + report.problems.length > 0) tell(report, flags);
      failures = 0;
    } catch (error) {
      if (!EngineError.is(error) && !(StoreError.is(error) && passing.has(error.reason))) throw error;
      failures++;
      process.stderr.write(`${errorText(error)}\n`);
      await engine.close().catch(() => undefined);
    }
    if (isOver) break;
    await pause.take(failures === 0 ? pace.ask : Math.min(pace.mostAfterFailure, 1_000 * 2 ** failures));
  }
  changes.dispose();
  if (engine !== opened.engine) await engine.close().catch(() => undefined);
  return 0;
}

async function status(store: SessionStore, flags: Flags): Promise<number> {
  const setup = await store.syncSetup();
  if (!setup) {
    process.stdout.write(flags['json'] === undefined ? 'This store is not synchronized.\n' : '{"engine":null}\n');
    return 0;
  }
  const { device, logs, unread } = await store.syncHeld();
  const { receipt } = await store.syncPending(1);
  const records = logs.reduce((sum, { next }) => sum + next, 0);
  if (flags['json'] !== undefined) {
    process.stdout.write(
      `${JSON.stringify({ ...setup, device, devices: logs.length, records, waits: receipt !== null, unread: unread.length })}\n`,
    );
    return 0;
  }
  process.stdout.write(
    `History "${setup.name}" over ${setup.engine}\nThis device: ${device}\n${counted(records, 'record', 'records')} of ${counted(logs.length, 'device', 'devices')}\n`,
  );
  process.stdout.write(receipt === null ? 'Everything of this store stands in its log.\n' : 'There are changes to be sent.\n');
  if (unread.length > 0)
    process.stdout.write(
      `${counted(unread.length, 'record', 'records')} cannot be read yet: their key has not arrived, or a newer version wrote them.\n`,
    );
  return 0;
}

async function leave(store: SessionStore, flags: Flags, keyFiles: KeyFiles): Promise<number> {
  const setup = await store.syncSetup();
  if (!setup) throw new UsageError('This store is not synchronized.');
  // Where the engine does not let go of it, nothing else is changed.
  if (flags['remove'] !== undefined) await removeHistory(setup, keyFiles.read(setup.history) ?? null, engineAccess());
  await store.stopSync();
  keyFiles.remove(setup.history);
  const there =
    flags['remove'] === undefined
      ? `, and sealed in ${setup.engine}`
      : `. ${setup.engine} has nothing of it any more; its backups may, sealed`;
  process.stdout.write(`This store goes on by itself. What was said stays here${there}.\n`);
  return 0;
}

/** Read from standard input, so that it stands in no list of processes and in no history of the shell. A file may have it in lines. */
async function typedPhrase(): Promise<string> {
  const question = 'Recovery phrase: ';
  if (process.stdin.isTTY) return typedSecret(question);
  process.stderr.write(question);
  return readFileSync(0, 'utf8');
}
