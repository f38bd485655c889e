import type { PartialChunk, StoreChange } from '../../../core/session/storage';
import {
  windowCalls,
  type CallArguments,
  type CallResult,
  type CoreCall,
  type CoreStore,
  type StoreCall,
  type Operation,
  type Operations,
} from '../client/storeCalls';
import type { Connection } from '../database/connection';
import { Seals } from '../database/seals';
import { analyticsOperations } from '../rows/analyticsRows';
import { appendOperations } from '../rows/appending';
import { BlobFiles } from '../rows/blobFiles';
import { branchOperations } from '../rows/branches';
import { draftOperations, DraftRows } from '../rows/draftRows';
import { editOperations } from '../rows/editRows';
import { entryOperations, EntryRows } from '../rows/entryRows';
import { FileContents, fileContentOperations } from '../rows/fileContents';
import { partialOperations, PartialRows } from '../rows/partialRows';
import { Purge, purgeOperations } from '../rows/purge';
import { sessionOperations, SessionRows } from '../rows/sessionRows';
import {
  calibrationOperations,
  MemoryWriteRows,
  pinOperations,
  PinRows,
  summaryRetryOperations,
  SummaryRetryRows,
  transferOperations,
  TransferRows,
} from '../rows/smallTables';
import { TreeRows } from '../rows/treeRows';
import { usageOperations, UsageRows } from '../rows/usageRows';
import { SearchIndex } from '../search/searchIndex';
import { searchOperations, SearchRows } from '../search/searchRows';
import { vectorOperations, VectorRows } from '../search/vectorRows';
import { attachmentOperations, AttachmentRows } from '../sync/attachmentRows';
import { NoteRows } from '../sync/noteRows';
import { renewTriggers } from '../sync/outbox';
import { StandIns } from '../sync/standIns';
import { syncOperations, SyncRows } from '../sync/syncRows';

/** One open database, as the operations use it. */
type OpenRows = ReturnType<typeof openRows>;

/**
 * Every operation on the database that the port names: the compiler asks for one that is missing, and whatever stands here is served to
 * every thread and window.
 */
const operations: Operations<OpenRows> = {
  ...sessionOperations,
  ...appendOperations,
  ...entryOperations,
  ...editOperations,
  ...branchOperations,
  ...partialOperations,
  ...draftOperations,
  ...pinOperations,
  ...summaryRetryOperations,
  ...transferOperations,
  ...usageOperations,
  ...calibrationOperations,
  ...analyticsOperations,
  ...searchOperations,
  ...vectorOperations,
  ...purgeOperations,
  ...fileContentOperations,
  ...syncOperations,
  ...attachmentOperations,
};
const coreCalls = Object.keys(operations) as readonly CoreCall[];
export const storeCalls: readonly StoreCall[] = [...coreCalls, ...windowCalls];

export function isStoreCall(name: string): name is StoreCall {
  return isCoreCall(name) || (windowCalls as readonly string[]).includes(name);
}

export function isCoreCall(name: string): name is CoreCall {
  return Object.hasOwn(operations, name);
}

/** What a call that was carried out has changed for other windows. `claim`, `release` and `requestStop` are told by their service. */
export function changeOf<K extends CoreCall>(method: K, args: CallArguments<K>, result: CallResult<K>): StoreChange | null {
  const operation: Operation<K, OpenRows> = operations[method];
  return 'tells' in operation ? operation.tells(result, ...args) : null;
}

export interface StoreOperations extends CoreStore {
  readonly index: SearchIndex;
  /** What streams in the session, each block as one chunk with all of its text. */
  streaming(session: string): PartialChunk[];
}

/**
 * The operations on one open database. `folder` is that of the store, whose `blobs` belong to the database; the original's when the
 * database is a copy.
 */
export function openOperations(
  connection: Connection,
  folder: string,
  access: 'owner' | 'reader',
  blobs = new BlobFiles(folder),
): StoreOperations {
  const open = openRows(connection, folder, access, blobs);
  if (access === 'owner') {
    open.purges.removeLeftovers();
    renewTriggers(connection);
  }
  const bound = <K extends CoreCall>(method: K) => {
    const operation: Operation<K, OpenRows> = operations[method];
    const run = typeof operation === 'function' ? operation : operation.run;
    return [method, (...args: CallArguments<K>) => run(open, ...args)] as const;
  };
  const core = Object.fromEntries(coreCalls.map(bound)) as unknown as CoreStore;
  return { ...core, index: open.index, streaming: (session) => open.partials.streaming(session) };
}

function openRows(connection: Connection, folder: string, access: 'owner' | 'reader', blobs: BlobFiles) {
  const sessions = new SessionRows(connection);
  const entries = new EntryRows(connection, blobs);
  const vectors = new VectorRows(connection, entries);
  const index = new SearchIndex(connection, entries, vectors);
  const tree = new TreeRows(connection);
  return {
    connection,
    blobs,
    sessions,
    entries,
    index,
    vectors,
    seals: new Seals(connection, sessions),
    partials: new PartialRows(connection, access),
    usage: new UsageRows(connection),
    tree,
    drafts: new DraftRows(connection),
    pins: new PinRows(connection),
    retries: new SummaryRetryRows(connection),
    memory: new MemoryWriteRows(connection),
    transfers: new TransferRows(connection),
    purges: new Purge(connection, blobs, index, vectors),
    searches: new SearchRows(connection, index, entries, sessions, vectors),
    fileContents: new FileContents(connection, folder),
    sync: new SyncRows(connection),
    notes: new NoteRows(connection),
    attachments: new AttachmentRows(connection, blobs, entries),
    standIns: new StandIns(connection, entries, tree, index),
  };
}
