import nodeFs, { mkdirSync } from 'node:fs';
import type { ContentOf, NewEntry } from '../../../src/core/session/entry';
import type { BridgeFs } from '../../../src/node/store/wasm/fileBridge';
import { loadSqlite } from '../../../src/node/store/wasm/sqlite';
import { openOperations, type StoreOperations } from '../../../src/node/store/owner/storeOperations';
import { openForWriting } from '../../../src/node/store/database/storeDatabase';
import type { StoreDatabase } from '../../../src/node/store/database/storeDatabase';
import { storeFiles } from '../../../src/node/store/database/storeFiles';
import { wasmFile } from '../../support/store/storeTemp';
import { prose } from './prose';

/** The session that holds the bulk. */
export const grown = 'grown';
/** Characters of one message in the rows about commits. */
export const messageCharacters = 2600;

/** A store in this thread, without the worker and without the timer that indexes: what is measured is the store alone. */
export class BenchStore {
  private constructor(
    readonly database: StoreDatabase,
    readonly core: StoreOperations,
    private readonly counter: { bytes: number },
  ) {}

  static async open(folder: string): Promise<BenchStore> {
    mkdirSync(folder, { recursive: true });
    const counter = { bytes: 0 };
    const fs: BridgeFs = {
      ...nodeFs,
      writeSync: ((...args: Parameters<typeof nodeFs.writeSync>) => {
        const written = nodeFs.writeSync(...args);
        counter.bytes += written;
        return written;
      }) as BridgeFs['writeSync'],
    };
    const database = openForWriting(await loadSqlite(wasmFile, fs), storeFiles(folder), () => undefined, 'file');
    return new BenchStore(database, openOperations(database.connection, folder, 'owner'), counter);
  }

  get bytesWritten(): number {
    return this.counter.bytes;
  }

  session(uuid: string): string {
    return this.core.createSession({ uuid, key: `cli:${uuid}`, channel: 'cli', title: uuid, createdAt: 1_763_800_000_000 }).uuid;
  }

  /** Appends `count` messages after the session's leaf, `perCommit` in each transaction. */
  say(session: string, count: number, characters: number, perCommit = 1): void {
    let parent = this.core.session(session)?.leaf ?? null;
    for (let done = 0; done < count; done += perCommit) {
      const entries = Array.from({ length: Math.min(perCommit, count - done) }, () => {
        const entry = message(session, parent, characters);
        parent = entry.uuid;
        return entry;
      });
      this.core.append(session, { entries });
    }
  }

  /** Messages in one session, until the texts of the store have this size. */
  growTo(bytes: number): void {
    const has = Number(this.database.connection.get('SELECT count(*) AS n FROM entries')?.['n']) * messageCharacters;
    this.say(this.session(grown), Math.ceil(Math.max(0, bytes - has) / messageCharacters), messageCharacters, 200);
  }

  /** Folds everything in the session but its last messages, and adds some. */
  compact(session: string): void {
    const leaf = this.core.session(session)?.leaf ?? null;
    const entry = message(session, leaf, 1);
    const content: ContentOf<'compaction'> = {
      type: 'compaction',
      operationId: entry.uuid,
      summaryText: prose(4000),
      firstKeptEntry: leaf,
      coversFrom: null,
      tokensBefore: 100_000,
      tokensAfter: 10_000,
      messagesBefore: 400,
      messagesAfter: 40,
      trigger: 'automatic',
      rung: 'model',
      model: 'm',
      durationMs: 1,
      heldMs: 0,
      needsSummaryRetry: false,
    };
    this.core.append(session, { entries: [{ ...entry, content }] });
    this.say(session, 40, messageCharacters, 40);
  }

  /** Everything, as the idle timer would; returns the seconds it took. */
  index(): number {
    const started = performance.now();
    while (this.core.index.indexBatch(15));
    return (performance.now() - started) / 1000;
  }

  close(): void {
    this.database.close();
  }
}

let counter = 0;

/** With a uuid that sorts by time and differs between processes, as a UUID v7 does. */
export function message(session: string, parent: string | null, characters: number): NewEntry {
  const uuid = `${Date.now()
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-')}-7${(++counter)
    .toString(16)
    .padStart(11, '0')
    .replace(/^(.{3})(.{4})/, '$1-$2-')}${process.pid.toString(16).padStart(8, '0')}`;
  return {
    uuid,
    session,
    parent,
    createdAt: Date.now(),
    modelFacing: true,
    display: true,
    tokenEstimate: Math.round(characters / 4),
    content: { type: 'message', role: counter % 2 === 1 ? 'user' : 'assistant', text: prose(characters) },
  };
}
