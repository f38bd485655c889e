import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import type { ProgramId, ProgramStatus } from '../../../src/core/transfer/programs';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { importFiles } from '../../../src/node/transfer/import/importFiles';
import { storeFiles } from '../../../src/node/store/database/storeFiles';
import { AgentWatch, type Pace } from '../../../src/node/transfer/watch/agentWatch';
import { places, type Machine } from '../../../src/node/transfer/watch/places';
import { wantedIn } from '../../../src/node/transfer/watch/watchTask';
import { WatchMemory } from '../../../src/node/transfer/watch/watchMemory';
import { brief } from './importRig';
import { openTestStore, tempFolder, wasmFile, type TempFolder } from './storeTemp';

export const fast: Partial<Pace> = { quietMs: 2, settleMs: 20, hotMs: 60_000, scanMs: 3_600_000, retryMs: 10 };

/** A home folder with programs in it, and a store that follows them. */
export class WatchRig {
  watch: AgentWatch | null = null;
  readonly added: string[] = [];
  status: readonly ProgramStatus[] = [];

  private constructor(
    readonly temp: TempFolder,
    public store: SessionStore,
    private readonly memory: string,
  ) {}

  static async open(): Promise<WatchRig> {
    const temp = tempFolder();
    mkdirSync(join(temp.path, 'home'));
    const folder = join(temp.path, 'store');
    return new WatchRig(temp, await openTestStore(folder), storeFiles(folder).watched);
  }

  /** Another window on the same home folder and the same store; it is closed before this one. */
  async beside(): Promise<WatchRig> {
    const temp = { path: this.temp.path, remove: () => undefined };
    return new WatchRig(temp, await openTestStore(this.folder, 'beside'), join(temp.path, 'beside.json'));
  }

  get home(): string {
    return join(this.temp.path, 'home');
  }

  /** Of the store. */
  get folder(): string {
    return join(this.temp.path, 'store');
  }

  get machine(): Machine {
    return { home: this.home, platform: 'linux', env: {}, folders: [join(this.home, 'work')] };
  }

  async start(programs: readonly ProgramId[], folders: readonly string[] | null = null, pace: Partial<Pace> = fast): Promise<AgentWatch> {
    const memory = new WatchMemory(this.memory, JSON.stringify(folders));
    await memory.load();
    this.watch = new AgentWatch({
      places: programs.flatMap((program) => places[program](this.machine).map((place) => ({ program, place }))),
      store: this.store,
      ids: new UuidV7(),
      now: Date.now,
      wasmFile,
      memory,
      isWanted: wantedIn(folders),
      added: (session) => this.added.push(session),
      told: (status) => (this.status = status),
      pace,
    });
    await this.watch.start();
    return this.watch;
  }

  /** Everything as it stands now has been read. */
  async caughtUp(): Promise<void> {
    await this.watch!.scan();
    await this.watch!.settled();
  }

  async stop(): Promise<void> {
    await this.watch?.stop();
    this.watch = null;
  }

  /** Something is done to the store while nobody has it open. */
  async whileClosed(run: () => Promise<void>): Promise<void> {
    await this.stop();
    await this.store.close();
    await run();
    this.store = await openTestStore(this.folder);
  }

  /** The texts of the only session. */
  async texts(): Promise<string[]> {
    const [session] = await this.store.listSessions();
    return session ? (await this.store.liveBranch(session.uuid)).entries.map(brief) : [];
  }

  async close(): Promise<void> {
    await this.stop();
    await this.store.close();
    this.temp.remove();
  }
}

/** Every imported entry of a store: where it comes from, what it says and what it follows. */
export async function importedEntries(store: SessionStore): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { uuid } of await store.listSessions({ limit: 1000 })) {
    const entries = await store.entriesBySeq(await store.entrySeqs(uuid));
    const sources = new Map(entries.map((entry) => [entry.uuid, entry.sourceId]));
    for (const entry of entries)
      found.set(entry.sourceId ?? entry.uuid, `${entry.parent === null ? '' : sources.get(entry.parent)} → ${brief(entry)}`);
  }
  return found;
}

/** What an import of these files gives in a store that knows nothing of them. */
export async function freshImport(files: readonly string[]): Promise<Map<string, string>> {
  const temp = tempFolder();
  const store = await openTestStore(join(temp.path, 'store'));
  try {
    await importFiles(files, { store, ids: new UuidV7(), now: Date.now, wasmFile });
    return await importedEntries(store);
  } finally {
    await store.close();
    temp.remove();
  }
}
