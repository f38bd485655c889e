import { join, dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CancelledError, StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { Logger, SessionStore } from '../../../core/ports';
import { workerLimits } from '../../runtime/workerLimits';
import { StoreClient } from './storeClient';
import { fromWire } from './storeProtocol';
import type { Request, Response, WorkerOptions } from './storeProtocol';

export interface OpenStoreOptions {
  readonly folder: string;
  /** `dist/storeWorker.js`; `sql-wasm.wasm` lies beside it. */
  readonly workerFile: string;
  /** Names this window to others that find the store owned. */
  readonly label: string;
  /** How long to wait for an owner that may be about to end, as the old extension host after a reload is. 5 s by default. */
  readonly waitForOwnerMs?: number;
  /** Does not even try to own the store. */
  readonly readonly?: boolean;
  /** Builds the store anew from what can be read of it; `status.note` then is `recovered`. Nothing happens where it cannot be owned. */
  readonly repair?: boolean;
  readonly signal?: AbortSignal;
  readonly logger?: Logger;
}

/**
 * Opens the store of a folder in a worker thread, creating it when there is none. Where it cannot be owned it is opened for
 * reading, and `status.note` says why. Rejects with a `StoreError` (`corrupt`: the files are left as they are; `permission`,
 * `disk_full`, `io`) or with `CancelledError` when the signal is aborted.
 */
export async function openStore(options: OpenStoreOptions): Promise<SessionStore> {
  if (options.signal?.aborted) throw new CancelledError();
  const workerData: WorkerOptions = {
    folder: options.folder,
    wasmFile: join(dirname(options.workerFile), 'sql-wasm.wasm'),
    waitForOwnerMs: options.waitForOwnerMs ?? 5000,
    label: options.label,
    readonly: options.readonly ?? false,
    repair: options.repair ?? false,
  };
  const worker = new Worker(options.workerFile, { workerData, resourceLimits: workerLimits });
  const cancel = () => worker.postMessage({ type: 'cancelOpen' } satisfies Request);
  options.signal?.addEventListener('abort', cancel, { once: true });
  try {
    const opened = await firstAnswer(worker, options);
    const store = new StoreClient(worker, options.folder, opened.status, opened.nonce, options.logger);
    if (!options.signal?.aborted) return store;
    await store.close();
    throw new CancelledError();
  } catch (error) {
    await worker.terminate();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', cancel);
  }
}

/** Listeners are taken off one by one: `removeAllListeners` would take those with which a worker keeps its port open. */
function firstAnswer(worker: Worker, options: OpenStoreOptions): Promise<Extract<Response, { type: 'opened' }>> {
  return new Promise((resolve, reject) => {
    const onMessage = (response: Response) => {
      if (response.type === 'opened') settle(() => resolve(response));
      if (response.type === 'openFailed') settle(() => reject(fromWire(response.error)));
      if (response.type === 'log') options.logger?.[response.level](response.event, response.data);
    };
    const onError = (cause: Error) =>
      settle(() => reject(new StoreError('io', english("{0}: the store's worker failed: {1}", options.folder, cause.message), { cause })));
    const onExit = (code: number) =>
      settle(() => reject(new StoreError('io', english("{0}: the store's worker ended with code {1}", options.folder, code))));
    const settle = (then: () => void) => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      then();
    };
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  });
}
