import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { Worker, type MessagePort } from 'node:worker_threads';
import { dirname, join } from 'node:path';
import { CancelledError, StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { ReportBuilder, type ImportOutcome, type ImportReport } from '../../../core/transfer/importReport';
import type { ImportProgress } from '../../transfer/import/importFiles';
import type { ImportRequest } from '../../transfer/import/importTask';
import type { WatchEvent, WatchRequest } from '../../transfer/watch/watchTask';
import type { TaskProgress, VerifyReport } from '../../../core/maintenance/reports';
import type { BackupRequest } from '../copies/backupStore';
import { privateFolder } from '../copies/readonlyCopy';
import type { Restored, RestoreRequest } from '../repair/restoreStore';
import { besides, storeFiles, type StoreFiles } from '../database/storeFiles';
import type { JoinedPort } from './storePort';
import { fromWire, type WireError } from './storeProtocol';

export interface TaskOptions<Progress = TaskProgress> {
  /** `dist/storeTaskWorker.js`; `sql-wasm.wasm` lies beside it. */
  readonly workerFile: string;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

/** What the worker is started with. `scratch`, and whatever it has begun to write, is removed when it ends, however it ends. */
export type StoreTask =
  | { readonly kind: 'verify'; readonly files: StoreFiles; readonly scratch: string }
  | { readonly kind: 'backup'; readonly request: BackupRequest }
  | { readonly kind: 'restore'; readonly request: RestoreRequest }
  | { readonly kind: 'import'; readonly request: ImportRequest }
  | { readonly kind: 'watch'; readonly request: WatchRequest };

export interface TaskData {
  readonly task: StoreTask;
  readonly wasmFile: string;
}

export type TaskMessage =
  | { readonly type: 'progress'; readonly progress: TaskProgress | ImportProgress }
  | { readonly type: 'outcome'; readonly outcome: ImportOutcome }
  | { readonly type: 'watched'; readonly event: WatchEvent }
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'failed'; readonly error: WireError };

/**
 * Checks the store of a folder, in a thread of its own and on a copy: the store may be in use by any process, and its calls wait
 * for nothing. Rejects with a `StoreError` when it cannot be looked at (damage is a result), or `CancelledError`.
 */
export function verifyFolder(folder: string, options: TaskOptions): Promise<VerifyReport> {
  return verify(storeFiles(folder), options);
}

/** The same for a backup. */
export function verifyFile(file: string, options: TaskOptions): Promise<VerifyReport> {
  return verify(besides(file), options);
}

/** Backs the store of a folder up (backupStore.ts). Rejects also with `CancelledError`; then nothing was written. */
export function backUpFolder(
  folder: string,
  target: string,
  options: TaskOptions & { readonly overwrite: boolean },
): Promise<VerifyReport> {
  const temporary = `${target}.${randomUUID()}.tmp`;
  const request: BackupRequest = { files: storeFiles(folder), target, temporary, overwrite: options.overwrite };
  return run({ kind: 'backup', request }, options, [temporary, `${temporary}.live`, `${temporary}.undo`]) as Promise<VerifyReport>;
}

/** Puts a backup in place of the store of a folder (restoreStore.ts). Not to be cancelled: an exchange of files is not left half-way. */
export function restoreFile(
  folder: string,
  backup: string,
  options: Omit<TaskOptions, 'signal'> & Pick<RestoreRequest, 'label' | 'salvage'>,
): Promise<Restored> {
  const files = storeFiles(folder);
  const request: RestoreRequest = {
    backup,
    files,
    temporary: `${files.main}.${randomUUID()}.tmp`,
    label: options.label,
    salvage: options.salvage ?? false,
  };
  return run({ kind: 'restore', request }, options, []) as Promise<Restored>;
}

/**
 * So long an import may take to come to its own end once it is stopped, in milliseconds: reading a large file into memory takes seconds.
 */
const ownEndMs = 5_000;

/**
 * Imports through a port of the store (importTask.ts). When aborted it comes to an end by itself, with a report of what is stored by then;
 * if it does not, its thread is ended. A thread that dies of a file (of memory, above all) leaves the report that it has told so far.
 */
export async function importThrough(
  store: JoinedPort,
  request: Omit<ImportRequest, 'store'>,
  options: TaskOptions<ImportProgress>,
): Promise<ImportReport> {
  const builder = new ReportBuilder();
  const told = { ports: [store.port], ownEndMs, onOutcome: (outcome: ImportOutcome) => builder.add(outcome) };
  try {
    return (await run({ kind: 'import', request: { ...request, store } }, options, [], told)) as ImportReport;
  } catch (error) {
    if (CancelledError.is(error)) return builder.report(true);
    const source = builder.current;
    if (!(error instanceof ThreadDied) || source === null) throw error;
    builder.add({
      type: 'failed',
      source,
      reason: english('Reading it has ended the import: {0}. What comes after it was not looked at.', error.message),
    });
    return builder.report(false);
  }
}

/** Follows other programs through a port of the store (watchTask.ts) until it is stopped. Rejects when its thread cannot go on. */
export async function watchThrough(
  store: JoinedPort,
  request: Omit<WatchRequest, 'store'>,
  options: TaskOptions & { readonly onEvent: (event: WatchEvent) => void },
): Promise<void> {
  const told = { ports: [store.port], ownEndMs, onWatched: options.onEvent };
  await run({ kind: 'watch', request: { ...request, store } }, options, [], told).catch((error: unknown) => {
    if (!CancelledError.is(error)) throw error;
  });
}

/** The work it was at ended it, and not its own decision. */
class ThreadDied extends StoreError {}

function verify(files: StoreFiles, options: TaskOptions): Promise<VerifyReport> {
  const scratch = privateFolder();
  return run({ kind: 'verify', files, scratch }, options, [scratch]) as Promise<VerifyReport>;
}

async function run<Progress>(
  task: StoreTask,
  { workerFile, onProgress, signal }: TaskOptions<Progress>,
  leftovers: readonly string[],
  {
    ports = [],
    ownEndMs = 0,
    onOutcome,
    onWatched,
  }: {
    readonly ports?: readonly MessagePort[];
    readonly ownEndMs?: number;
    readonly onOutcome?: (outcome: ImportOutcome) => void;
    readonly onWatched?: (event: WatchEvent) => void;
  } = {},
): Promise<unknown> {
  if (signal?.aborted) throw new CancelledError();
  const workerData: TaskData = { task, wasmFile: join(dirname(workerFile), 'sql-wasm.wasm') };
  let patience: NodeJS.Timeout | undefined;
  const worker = new Worker(workerFile, { workerData, transferList: [...ports] });
  return new Promise<unknown>((resolve, reject) => {
    worker.on('message', (message: TaskMessage) => {
      if (message.type === 'progress') onProgress?.(message.progress as Progress);
      else if (message.type === 'outcome') onOutcome?.(message.outcome);
      else if (message.type === 'watched') onWatched?.(message.event);
      else if (message.type === 'done') resolve(message.value);
      else reject(fromWire(message.error));
    });
    worker.on('error', (cause) => reject(new ThreadDied('io', english('The worker failed: {0}', cause.message), { cause })));
    worker.on('exit', (code) => reject(new ThreadDied('io', english('The worker ended with code {0}', code))));
    const stop = () => {
      if (ownEndMs > 0) worker.postMessage('stop');
      patience = setTimeout(() => reject(new CancelledError()), ownEndMs);
    };
    signal?.addEventListener('abort', stop, { once: true });
  }).finally(async () => {
    clearTimeout(patience);
    await worker.terminate();
    for (const path of leftovers) rmSync(path, { recursive: true, force: true });
  });
}
