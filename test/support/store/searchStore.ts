import { loadSqlite } from '../../../src/node/store/wasm/sqlite';
import { openOperations, type StoreOperations } from '../../../src/node/store/owner/storeOperations';
import { openForWriting, type StoreDatabase } from '../../../src/node/store/database/storeDatabase';
import { storeFiles } from '../../../src/node/store/database/storeFiles';
import type { EntryContent } from '../../../src/core/session/entry';
import { testUuid, userMessage, wasmFile } from './storeTemp';

/** The operations on a real file in this thread, without the timer that indexes while idle. */
export class SearchStore {
  private constructor(
    readonly database: StoreDatabase,
    readonly core: StoreOperations,
  ) {}

  static async open(folder: string): Promise<SearchStore> {
    const database = openForWriting(await loadSqlite(wasmFile), storeFiles(folder), () => undefined, 'file');
    return new SearchStore(database, openOperations(database.connection, folder, 'owner'));
  }

  session(uuid: string, title = ''): string {
    return this.core.createSession({ uuid, key: `cli:${uuid}`, channel: 'cli', title, createdAt: 1_763_800_000_000 }).uuid;
  }

  /** Appends after the session's leaf; the uuid. */
  say(session: string, text: string, content: EntryContent = { type: 'message', role: 'user', text }, createdAt?: number): string {
    const parent = this.core.session(session)?.leaf ?? null;
    const entry = userMessage(session, parent, text, { uuid: testUuid(), content, ...(createdAt === undefined ? {} : { createdAt }) });
    this.core.append(session, { entries: [entry] });
    return entry.uuid;
  }

  /** Indexes everything; the milliseconds of each batch. */
  index(budgetMs = 15): number[] {
    const batches: number[] = [];
    for (let more = true; more; ) {
      const started = performance.now();
      more = this.core.index.indexBatch(budgetMs);
      batches.push(performance.now() - started);
    }
    return batches;
  }

  texts(text: string, more: { readonly session?: string; readonly limit?: number } = {}): string[] {
    return this.core.search({ text, limit: 20, ...more }).hits.map((hit) => hit.text);
  }
}
