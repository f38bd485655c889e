import { CancelledError, errorText, StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { IdSource } from '../../../core/ports';
import { ReportBuilder, type ImportedSession, type ImportOutcome, type ImportReport } from '../../../core/transfer/importReport';
import type { SourceEvent } from '../../../core/transfer/sourceRecord';
import { isSealed, unsealed } from '../export/sealedBundle';
import { ColdArchives } from '../openClaw/coldArchives';
import { detectFormat, isDatabase, knownFormat } from './detectFormat';
import { isLineFormat, isWholeFormat, type ImportFormat } from './importFormats';
import { ForeignDatabase } from '../foreign/foreignDatabase';
import { findSources } from './findSources';
import { importExport } from './importExport';
import type { ImportStore, ImportContext } from './importStore';
import { OpenClawLists } from '../openClaw/openClawSessions';
import { readJsonLines } from '../foreign/readJsonLines';
import { databaseFormat, readSqlite } from '../foreign/readSqlite';
import { SessionWriter } from './sessionWriter';
import { readText, wholeFormats } from './wholeFiles';

export interface ImportOptions {
  readonly store: ImportStore;
  readonly ids: IdSource;
  readonly now: () => number;
  /** `sql-wasm.wasm`, for formats that are databases. */
  readonly wasmFile: string;
  /** Instead of what the content says. */
  readonly format?: ImportFormat;
  /** Opens sealed files. */
  readonly passphrase?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ImportProgress) => void;
  /** It is told as soon as it is known. */
  readonly onOutcome?: (outcome: ImportOutcome) => void;
  /** Has `signal` say what it cannot hear of while the thread comes to no rest. */
  readonly poll?: () => void;
}

export interface ImportProgress {
  /** Counted from 0. */
  readonly index: number;
  readonly files: number;
  /** It is the share of the file that has been read. */
  readonly fraction: number;
  /** Read so far, of all files. */
  readonly records: number;
}

class OtherDatabase extends Error {}

/**
 * Brings the sessions of files and folders into the store. The same twice adds nothing. Sources are only read. Rejects with a `StoreError`
 * when the store cannot go on; what is wrong with a file is in the report.
 */
export async function importFiles(paths: readonly string[], options: ImportOptions): Promise<ImportReport> {
  const found = await findSources(paths);
  const { sources } = found;
  const builder = new ReportBuilder();
  const tell = (outcome: ImportOutcome) => {
    builder.add(outcome);
    options.onOutcome?.(outcome);
  };
  for (const one of found.failed) tell({ type: 'failed', ...one });
  for (const one of found.passedOver) tell({ type: 'passedOver', ...one });
  let records = 0;
  const lists = new OpenClawLists();
  /** Each path that was named is told of once. */
  const told = new Set<string>();
  const otherDatabases: { readonly path: string; readonly source: string; readonly reason: string }[] = [];
  for (const [index, { file, path, named }] of sources.entries()) {
    const context: ImportContext = {
      source: file,
      ...(options.signal ? { signal: options.signal } : {}),
      ...(options.poll ? { poll: options.poll } : {}),
      onRecord: () => records++,
      onProgress: (done, total) =>
        options.onProgress?.({ index, files: sources.length, fraction: total === 0 ? 1 : done / total, records }),
    };
    const omit = (type: 'failed' | 'passedOver', reason: string) => {
      if (type === 'failed') told.add(path);
      tell({ type, source: file, reason });
    };
    try {
      tell({ type: 'begun', source: file });
      const format = options.format ?? (await detectFormat(file));
      if (format === null || format === 'empty') {
        // Whatever else a folder has of JSON, a list of lines is hardly anything but a session.
        const isMissed = named || (format === null && file.endsWith('.jsonl'));
        omit(
          isMissed ? 'failed' : 'passedOver',
          english(format === null || named ? 'It is none of the formats that can be imported.' : 'It is empty.'),
        );
        continue;
      }
      let count = 0;
      for await (const session of importFile(file, format, options, context, lists)) {
        count++;
        told.add(path);
        tell({ type: 'session', session });
      }
      if (count === 0) omit(named ? 'failed' : 'passedOver', english('There are no sessions in it.'));
    } catch (error) {
      if (isAbort(error, options.signal)) return builder.report(true);
      if (StoreError.is(error) && error.reason !== 'invalid') throw error;
      // Programs keep databases of other kinds beside their sessions.
      if (error instanceof OtherDatabase && !named) otherDatabases.push({ path, source: file, reason: errorText(error) });
      else omit('failed', errorText(error));
    }
    if (options.signal?.aborted) return builder.report(true);
  }
  for (const path of paths.filter((one) => !told.has(one))) {
    // Where there is nothing else, one of them may hold the sessions, in a form that is not known here.
    const others = otherDatabases.filter((one) => one.path === path);
    if (others.length === 0 && !found.failed.some(({ source }) => source === path))
      tell({ type: 'failed', source: path, reason: english('There are no sessions in it.') });
    for (const { source, reason } of others) tell({ type: 'failed', source, reason });
  }
  for (const { path, source, reason } of otherDatabases) if (told.has(path)) tell({ type: 'passedOver', source, reason });
  return builder.report(false);
}

async function* importFile(
  file: string,
  format: ImportFormat,
  options: ImportOptions,
  context: ImportContext,
  lists: OpenClawLists,
): AsyncGenerator<ImportedSession, void, void> {
  if (isLineFormat(format) && !(await isDatabase(file))) {
    const about = format === 'pi' || format === 'openclaw' ? await lists.about(file) : null;
    const known = await knownFormat(file, about && format === 'pi' ? 'openclaw' : format, options.store, context.signal);
    return yield* importEvents(readJsonLines(file, format, context, about), known, options, context);
  }
  if (format === 'threadkeeper') {
    const text = (await isSealed(file)) ? await unsealed(file, options.passphrase) : await readText(file);
    return yield* importExport(options.store, text, context);
  }
  if (isWholeFormat(format)) return yield* importEvents(await wholeFormats[format](file), format, options, context);
  const database = await ForeignDatabase.open(file, options.wasmFile, () => {
    context.poll?.();
    context.signal?.throwIfAborted();
  });
  try {
    const kind = databaseFormat(database);
    if (kind === null) throw new OtherDatabase(english('The database is none of the kinds that can be imported.'));
    const archives = kind === 'openclaw' ? new ColdArchives(database, file) : null;
    const unread: unknown[] = [];
    yield* importEvents(
      readSqlite(database, kind, context, archives, (error) => unread.push(error)),
      kind,
      options,
      context,
    );
    // It is said when the sessions that can be read are here.
    if (unread.length > 0) throw unread[0];
    const cold = archives?.unread ?? 0;
    if (cold > 0)
      throw new Error(
        english(
          cold === 1
            ? '{0} session is in OpenClaw’s cold storage and was not imported. Open it in OpenClaw, and import again.'
            : '{0} sessions are in OpenClaw’s cold storage and were not imported. Open them in OpenClaw, and import again.',
          cold,
        ),
      );
  } finally {
    database.close();
  }
}

/** Stores what a reader finds. After a stop the session that was being read is left in good order. */
async function* importEvents(
  events: AsyncIterable<SourceEvent> | Iterable<SourceEvent>,
  format: string,
  options: ImportOptions,
  { source, signal, onRecord }: ImportContext,
): AsyncGenerator<ImportedSession, void, void> {
  const { store, ids, now } = options;
  let writer: SessionWriter | null = null;
  try {
    for await (const event of events) {
      if (event.type === 'record') onRecord?.();
      if (event.type === 'session') {
        const done: ImportedSession | null | undefined = await writer?.finish();
        if (done) yield done;
        writer = new SessionWriter({ store, ids, now, format, source, session: event.session });
      } else if (writer) take(writer, event);
      if (!writer?.isFull) continue;
      signal?.throwIfAborted();
      await writer.flushAhead();
    }
  } catch (error) {
    // The store itself cannot go on. Otherwise what has been read is left in good order, and where that is nothing, nothing is left.
    if (StoreError.is(error) && error.reason !== 'invalid') throw error;
    try {
      const done = StoreError.is(error) ? null : await writer?.finish('partly');
      if (done) yield done;
    } finally {
      await writer?.discardEmpty();
    }
    throw error;
  }
  try {
    const done = await writer?.finish();
    if (done) yield done;
  } catch (error) {
    await writer?.discardEmpty();
    throw error;
  }
}

export function take(writer: SessionWriter, event: Exclude<SourceEvent, { type: 'session' }>): void {
  switch (event.type) {
    case 'record':
      return writer.add(event.record);
    case 'title':
      return writer.setTitle(event.title, event.rank);
    case 'cwd':
      return writer.setCwd(event.cwd);
    case 'leaf':
      return writer.setLeaf(event.record);
    case 'repaired':
      return writer.repaired(event.kind);
  }
}

function isAbort(error: unknown, signal: AbortSignal | undefined): boolean {
  return (
    CancelledError.is(error) ||
    (signal?.aborted === true && (error === signal.reason || (error instanceof Error && error.name === 'AbortError')))
  );
}
