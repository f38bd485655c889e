import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncOnce, type SyncDeps, type SyncReport } from '../../../src/core/sync/exchange';
import type { Sealer } from '../../../src/core/sync/sealedRecord';
import type { SyncEngine } from '../../../src/core/sync/syncEngine';
import { GcmSealer } from '../../../src/node/sync/gcmSealer';
import { historyKeys, newPhrase, readPhrase } from '../../../src/node/sync/historyKeys';
import { FileMemoryNotes } from '../../../src/node/memory/fileMemoryNotes';
import { NoteFiles, type NoteProblem } from '../../../src/node/sync/noteFiles';
import { syncStoreOnce } from '../../../src/node/sync/syncStore';
import { storeReplica } from '../../../src/node/sync/storeReplica';
import type { SessionStore } from '../../../src/core/ports';
import { storeFiles } from '../../../src/node/store/database/storeFiles';
import { loadSqlite } from '../../../src/node/store/wasm/sqlite';
import { openHost, openTestStore, tempFolder, testUuid, userMessage, wasmFile } from '../store/storeTemp';
import { waitFor } from '../waitFor';
import type { NewEntry } from '../../../src/core/session/entry';

const keys = historyKeys(readPhrase(newPhrase()), 'main');

/** A real store on one of several devices with one history. */
export class SyncDevice {
  readonly notes: FileMemoryNotes;

  private constructor(
    readonly store: SessionStore,
    private readonly temp: { readonly path: string; remove(): void },
  ) {
    this.notes = new FileMemoryNotes(this.notesFolder);
  }

  static async open(): Promise<SyncDevice> {
    const temp = tempFolder();
    return new SyncDevice(await openTestStore(join(temp.path, 'store')), temp);
  }

  /** The store is closed, something happens to its folder, and it is opened again. */
  async reopened(between: (folder: string) => Promise<void>): Promise<SyncDevice> {
    await this.store.close();
    const folder = join(this.temp.path, 'store');
    await between(folder);
    return new SyncDevice(await openTestStore(folder), this.temp);
  }

  /** Another window on the same store, which asks the one that owns it. */
  async window(): Promise<SyncDevice> {
    return new SyncDevice(await openTestStore(dirname(this.store.status.file), 'second window'), {
      path: dirname(dirname(this.store.status.file)),
      remove: () => undefined,
    });
  }

  join(): Promise<void> {
    return this.store.startSync(randomUUID(), { history: keys.history, name: 'main', engine: 'memory' });
  }

  get notesFolder(): string {
    return join(this.temp.path, 'store', 'notes');
  }

  /** By a program that opens records otherwise. */
  async syncAs(engine: SyncEngine, program: (sealer: Sealer) => Sealer): Promise<SyncReport> {
    return syncOnce({ replica: storeReplica(this.store), engine, sealer: program(new GcmSealer(keys)), newId: randomUUID });
  }

  /** With notes and attachments, as a window or the command line does it. */
  syncWhole(engine: SyncEngine, told: Parameters<typeof syncStoreOnce>[3] = {}): ReturnType<typeof syncStoreOnce> {
    return syncStoreOnce(this.store, engine, keys, told);
  }

  /** A message with something attached to it; the hash of that. */
  async attach(session: string, bytes: Uint8Array, more: Partial<NewEntry> = {}): Promise<string> {
    const hash = await this.store.putBlob(bytes, 'image/png');
    await this.say(session, '', {
      content: { type: 'message', role: 'user', text: 'See', attachments: [{ kind: 'image', name: 'a.png', hash, mime: 'image/png' }] },
      ...more,
    });
    return hash;
  }

  /** With the notes, as a device does it. */
  async syncAll(engine: SyncEngine): Promise<SyncReport & { readonly notes: readonly NoteProblem[] }> {
    const files = new NoteFiles(this.store, this.notes, this.notesFolder);
    await files.collect();
    return { ...(await this.sync(engine)), notes: await files.apply() };
  }

  async sync(engine: SyncEngine, told: Pick<SyncDeps, 'onProgress' | 'onUsable' | 'signal'> = {}): Promise<SyncReport> {
    return syncOnce({ replica: storeReplica(this.store), engine, sealer: new GcmSealer(keys), newId: randomUUID, ...told });
  }

  async begin(title: string): Promise<string> {
    return (await this.store.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1_763_800_000_000, title })).uuid;
  }

  /** At the end of the branch, or behind `parent`. */
  async say(session: string, text: string, more: Partial<NewEntry> = {}): Promise<string> {
    const parent = more.parent === undefined ? ((await this.store.session(session))?.leaf ?? null) : more.parent;
    const [entry] = await this.store.append(session, { entries: [userMessage(session, parent, text, more)] });
    return entry!.uuid;
  }

  /** What is said on the branch that the session is at. */
  async texts(session: string): Promise<string[]> {
    const { entries } = await this.store.liveBranch(session);
    return entries.flatMap(({ content }) => (content.type === 'message' ? [content.text] : []));
  }

  async close(): Promise<void> {
    await this.store.close();
    this.temp.remove();
  }
}

/** Of what two devices set within one millisecond without having met, their random ids decide which was last. */
export async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  await waitFor('the next millisecond', () => Date.now() > now, { interval: 1 });
}

/** Reading the file fails meanwhile, though it is there: as where a scanner has it, or too many files are open. */
export async function unreadable(file: string, work: () => Promise<unknown>): Promise<void> {
  renameSync(file, `${file}.away`);
  mkdirSync(file);
  try {
    await work();
  } finally {
    rmdirSync(file);
    renameSync(`${file}.away`, file);
  }
}

/** Changes the file of a store that nobody has open. */
export async function alterStore(folder: string, sql: string): Promise<void> {
  const { main } = storeFiles(folder);
  const database = (await loadSqlite(wasmFile)).openMemory(readFileSync(main));
  database.run(sql);
  writeFileSync(main, database.export());
  database.close();
}

/** Rows are gone from the file of a store, which is repaired and opened again. */
export function damaged(device: SyncDevice, sql: string): Promise<SyncDevice> {
  return device.reopened(async (folder) => {
    await alterStore(folder, sql);
    await (await openHost(folder, { repair: true })).close();
  });
}
