import { errorText, StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { EntryContent, contentSize, type NewEntry } from '../../../core/session/entry';
import {
  ExportDocument,
  type ExportedEntry,
  type ExportedSession,
  exportFormat,
  exportVersion,
} from '../../../core/transfer/exportDocument';
import { parseForeignOrThrow, tooDeep, wordOf } from '../../../core/transfer/formats/foreignJson';
import { isObject } from '../../../core/base/json';
import { type ImportedSession, KindCounter } from '../../../core/transfer/importReport';
import { importedMetadata, importedPolicy } from '../../../core/transfer/importedSession';
import { Renumbering, inParentOrder } from '../../../core/transfer/renumbering';
import { unreadable, importedId, ownOperation } from '../../../core/transfer/sourceRecord';
import type { ImportStore, ImportContext } from './importStore';

/**
 * The sessions of a document that *Export* has written. Throws an `Error` that says what is wrong with it before anything is stored, and at
 * the end one that names the sessions which the store does not take.
 */
export async function* importExport(
  store: ImportStore,
  text: string,
  { source, signal, onRecord, onProgress }: ImportContext,
): AsyncGenerator<ImportedSession, void, void> {
  const { document, raw, cut } = parse(text);
  for (const { hash, mime, data } of document.blobs) {
    signal?.throwIfAborted();
    const stored = await store.putBlob(new Uint8Array(Buffer.from(data, 'base64')), mime);
    if (stored !== hash) throw new Error(english('{0}: the attachment {1} is damaged. Nothing that needs it was imported.', source, hash));
  }
  const total = document.sessions.reduce((sum, { entries }) => sum + entries.length, 0);
  const renumbering = new Renumbering();
  let done = 0;
  const onDone = (entries: number) => {
    done += entries;
    for (let i = 0; i < entries; i++) onRecord?.();
    onProgress?.(done, total);
  };
  const failed: string[] = [];
  for (const [index, one] of document.sessions.entries()) {
    const repaired = new KindCounter();
    for (let i = 0; i < cut && index === 0; i++) repaired.add(tooDeep());
    try {
      yield await importSession(store, one, { source, raw, repaired, renumbering, onDone, ...(signal ? { signal } : {}) });
    } catch (error) {
      if (!StoreError.is(error) || error.reason !== 'invalid') throw error;
      failed.push(english('{0}: {1}', one.session.title || one.session.id, errorText(error)));
    }
  }
  // It is said when the others are here.
  if (failed.length > 0) throw new Error(failed.join('\n'));
}

interface SessionContext {
  readonly source: string;
  readonly signal?: AbortSignal;
  /** Contents as they stand in the file, by entry. */
  readonly raw: ReadonlyMap<string, unknown>;
  readonly repaired: KindCounter;
  readonly renumbering: Renumbering;
  readonly onDone: (entries: number) => void;
}

async function importSession(
  store: ImportStore,
  one: ExportedSession,
  { source, signal, raw, repaired, renumbering, onDone }: SessionContext,
): Promise<ImportedSession> {
  const { leaf, ...record } = one.session;
  const { session, created } = await store.restoreSession({
    ...record,
    policy: importedPolicy(record.policy),
    metadata: importedMetadata(record.metadata),
  });
  const keptRaw = new KindCounter();
  const entries = inParentOrder(
    one.entries.map((entry) => checked(entry, raw, keptRaw)),
    (parent) => isKnown(store, parent),
    (kind) => repaired.add(kind),
  );
  let added = 0;
  for await (const batch of batches(entries)) {
    signal?.throwIfAborted();
    const known = new Map((await store.entries(batch.map(({ uuid }) => uuid))).map((entry) => [entry.uuid, entry]));
    const fresh = await withFreeNames(
      store,
      batch.filter(({ uuid }) => !known.has(uuid)),
    );
    const seqs = fresh.map(({ seq }) => seq);
    const stored = await store.append(session.uuid, { entries: fresh.map((entry) => toNew(entry, session.uuid, renumbering)), seqs });
    for (const { uuid, seq } of [...known.values(), ...stored])
      renumbering.note(batch.find((entry) => entry.uuid === uuid)?.seq ?? seq, seq);
    added += fresh.length;
    onDone(batch.length);
  }
  const unpinned = await finish(store, session.uuid, one, created ? leaf : await furtherLeaf(store, session.leaf, leaf));
  const { id, title, deletedAt } = (await store.session(session.uuid)) ?? session;
  return {
    uuid: session.uuid,
    id,
    title,
    source,
    format: 'threadkeeper',
    outcome: created ? 'new' : added > 0 ? 'extended' : 'known',
    entriesAdded: added,
    entriesKnown: one.entries.length - added,
    trashed: deletedAt !== null,
    keptRaw: keptRaw.list,
    repaired: repaired.list,
    ...(unpinned.length > 0 ? { unpinned } : {}),
  };
}

function parse(text: string): { readonly document: ExportDocument; readonly raw: ReadonlyMap<string, unknown>; readonly cut: number } {
  const { value, cut } = parseForeignOrThrow(text);
  const version = (value as { version?: unknown } | null)?.version;
  if (typeof version === 'number' && version > exportVersion)
    throw new Error(
      english(
        'The file was exported by a newer version of Threadkeeper (format {0}; this one reads up to {1}). Update Threadkeeper to import it.',
        version,
        exportVersion,
      ),
    );
  // Contents are checked one by one: one that cannot be read must not keep the others out, and none is to lose what only a later version
  // knows.
  const raw = new Map<string, unknown>();
  const sessions = (value as { sessions?: unknown } | null)?.sessions;
  for (const one of Array.isArray(sessions) ? (sessions as unknown[]) : []) {
    const entries = (one as { entries?: unknown } | null)?.entries;
    for (const entry of Array.isArray(entries) ? (entries as ({ uuid?: unknown; content?: unknown } | null)[]) : []) {
      if (!isObject(entry) || typeof entry.uuid !== 'string') continue;
      raw.set(entry.uuid, entry.content);
      if (!EntryContent.safeParse(entry.content).success) entry.content = unreadable('content', null);
    }
  }
  const parsed = ExportDocument.safeParse(value);
  if (parsed.success) return { document: parsed.data, raw, cut };
  const [issue] = parsed.error.issues;
  throw new Error(
    english('The file is no {0} of version {1}: {2}: {3}', exportFormat, exportVersion, issue?.path.join('.') ?? '', issue?.message ?? ''),
  );
}

/** The content stays as it stands in the file: validation strips properties that it does not know. */
function checked(entry: ExportedEntry, raw: ReadonlyMap<string, unknown>, keptRaw: KindCounter): ExportedEntry {
  const content = raw.get(entry.uuid);
  if (EntryContent.safeParse(content).success) return { ...entry, content: content as EntryContent };
  const type = wordOf((content as { type?: unknown } | null)?.type ?? 'entry');
  keptRaw.add(type);
  return { ...entry, modelFacing: false, content: unreadable(type, content) };
}

/** A source names one entry of a store, an operation one compaction; here they may be those of entries that were imported before. */
async function withFreeNames(store: ImportStore, entries: readonly ExportedEntry[]): Promise<ExportedEntry[]> {
  const named = entries.flatMap(({ sourceId }) => sourceId ?? []);
  const done = entries.flatMap(({ content }) => (content.type === 'compaction' ? [content.operationId] : []));
  const sources = new Set(named.length === 0 ? [] : (await store.knownSources(named)).map(({ sourceId }) => sourceId));
  const operations = new Set(done.length === 0 ? [] : await store.knownOperations(done));
  return entries.map((entry) => {
    const { uuid, content } = entry;
    const isKnown = typeof entry.sourceId === 'string' && sources.has(entry.sourceId);
    const isRecorded = content.type === 'compaction' && operations.has(content.operationId);
    if (typeof entry.sourceId === 'string') sources.add(entry.sourceId);
    if (content.type === 'compaction') operations.add(content.operationId);
    return {
      ...entry,
      ...(isKnown ? { sourceId: importedId(uuid) } : {}),
      ...(isRecorded ? { content: { ...content, operationId: ownOperation(content.operationId, uuid) } } : {}),
    };
  });
}

function toNew({ seq: _seq, ...entry }: ExportedEntry, session: string, renumbering: Renumbering): NewEntry {
  return { ...entry, session, sourceId: entry.sourceId ?? importedId(entry.uuid), content: renumbering.apply(entry.content) };
}

/**
 * The session is here already: what is new goes on from where it stands, or is another branch. It is always another one where the
 * branch ends with what was written here: whoever was given an export knows the session's ids, and could speak as the user in it.
 */
async function furtherLeaf(store: ImportStore, here: string | null, there: string | null): Promise<string | null> {
  if (here === null || there === null || !(await isKnown(store, there))) return here ?? there;
  const [end] = await store.entries([here]);
  if (typeof end?.sourceId !== 'string') return here;
  return (await store.commonAncestor(here, there)) === here ? there : here;
}

async function isKnown(store: ImportStore, uuid: string): Promise<boolean> {
  return (await store.entries([uuid])).length > 0;
}

/** What belongs to the session beside its entries, stored twice with the effect of once. Returns the files that are left unpinned. */
async function finish(
  store: ImportStore,
  session: string,
  { usage, pins, memoryWrites, retries }: ExportedSession,
  leaf: string | null,
): Promise<string[]> {
  await store.append(session, { entries: [], usage, memoryWrites });
  // Whatever a pinned file holds by then would be sent along with every compaction: which files those are is the user's to say.
  for (const pin of pins) if (pin.kind !== 'file') await store.savePin({ ...pin, session });
  const files = pins.filter(({ kind }) => kind === 'file').map(({ target }) => target);
  const pinned = new Set((files.length > 0 ? await store.pins(session) : []).map(({ kind, target }) => (kind === 'file' ? target : '')));
  for (const retry of retries) {
    await store.saveSummaryRetry(retry).catch((error: unknown) => {
      if (!StoreError.is(error) || error.reason !== 'invalid') throw error;
    });
  }
  if (leaf !== null && (await isKnown(store, leaf))) await store.moveLeaf(session, leaf);
  return files.filter((path) => !pinned.has(path));
}

const citing: ReadonlySet<string> = new Set(['compaction', 'checkpoint', 'branch_summary']);
const mostEntries = 200;
/** Characters; a message to another window may have 64 MB, and a character takes up to six bytes there. */
const mostCharacters = 4 * 1024 * 1024;

/** Cuts entries into what is stored at once. A summary begins a batch of its own: what it cites has its number by then. */
export async function* batches<T extends { readonly content: EntryContent }>(entries: AsyncIterable<T>): AsyncGenerator<T[], void, void> {
  let batch: T[] = [];
  let characters = 0;
  for await (const entry of entries) {
    const size = contentSize(entry.content);
    const cites = citing.has(entry.content.type);
    if (batch.length > 0 && (batch.length >= mostEntries || characters + size > mostCharacters || cites)) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(entry);
    characters += size;
  }
  if (batch.length > 0) yield batch;
}
