import { rmSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { dirname, join } from 'node:path';
import { CancelledError, StoreError } from '../../core/errors';
import type { TaskProgress, VerifyReport } from '../../core/session/verifyReport';
import { privateFolder } from './readonlyCopy';
import { storeFiles, type StoreFiles } from './storeFiles';
import { fromWire, type WireError } from './storeProtocol';

export interface TaskOptions {
  /** `dist/storeTaskWorker.js`; `sql-wasm.wasm` lies beside it. */
  readonly workerFile: string;
  readonly onProgress?: (progress: TaskProgress) => void;
  readonly signal?: AbortSignal;
}

/** What the worker is started with. Whatever it leaves in `scratch` is removed when it ends, however it ends. */
export type StoreTask = { readonly kind: 'verify'; readonly files: StoreFiles; readonly scratch: string };

export interface TaskData {
  readonly task: StoreTask;
  readonly wasmFile: string;
}

export type TaskMessage =
  | { readonly type: 'progress'; readonly progress: TaskProgress }
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'failed'; readonly error: WireError };

/**
 * Checks the store of a folder, in a thread of its own and on a copy: the store may be in use by any process, and its calls wait
 * for nothing. Rejects with a `StoreError` when it cannot be looked at (damage is a result), or `CancelledError`.
 */
export function verifyFolder(folder: string, options: TaskOptions): Promise<VerifyReport> {
  return run({ kind: 'verify', files: storeFiles(folder), scratch: privateFolder() }, options) as Promise<VerifyReport>;
}

function run(task: StoreTask, { workerFile, onProgress, signal }: TaskOptions): Promise<unknown> {
  if (signal?.aborted) return Promise.reject(new CancelledError());
  const workerData: TaskData = { task, wasmFile: join(dirname(workerFile), 'sql-wasm.wasm') };
  const worker = new Worker(workerFile, { workerData });
  const cleanUp = () => rmSync(task.scratch, { recursive: true, force: true });
  return new Promise<unknown>((resolve, reject) => {
    worker.on('message', (message: TaskMessage) => {
      if (message.type === 'progress') onProgress?.(message.progress);
      else if (message.type === 'done') resolve(message.value);
      else reject(fromWire(message.error));
    });
    worker.on('error', (cause) => reject(new StoreError('io', `The worker failed: ${cause.message}`, { cause })));
    worker.on('exit', (code) => reject(new StoreError('io', `The worker ended with code ${code}`)));
    signal?.addEventListener('abort', () => reject(new CancelledError()), { once: true });
  }).finally(async () => {
    await worker.terminate();
    cleanUp();
  });
}
