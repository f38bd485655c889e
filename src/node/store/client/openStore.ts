import { join, dirname } from 'node:path';
import { Worker, MessageChannel } from 'node:worker_threads';
import { CancelledError, StoreError, errorText } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { Logger, SessionStore, StoreStatus } from '../../../core/ports';
import { workerLimits } from '../../runtime/workerLimits';
import { fromWire, type Request, type Response, type WorkerOptions } from './storeProtocol';
import { Emitter } from '../../../core/base/event';
import type { StoreChange } from '../../../core/session/storage';
import { releaseLease } from '../sharing/lease';
import { PendingCalls, type JoinedPort } from './storePort';
import { storeFiles } from '../database/storeFiles';
import { callsOver, type CallArguments, type CallResult, type StoreCall, type StoreCalls } from './storeCalls';

export interface OpenStoreOptions {
  readonly folder: string;
  /** `dist/storeWorker.js`; `sql-wasm.wasm` lies beside it. */
  readonly workerFile: string;
  /** Names this window to others that find the store owned. */
  readonly label: string;
  /** How long to wait for an owner that may be about to end, as the old extension host after a reload is. 5 s by default. */
  readonly waitForOwnerMs?: number;
  /**
   * Does not even try to own the store. `join`: asks the window that owns it, which has it as it is at that moment and copies nothing;
   * where none does, a copy is read. `onDidChange` tells nothing.
   */
  readonly readonly?: boolean | 'join';
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
    const store = storeInWorker(worker, options.folder, opened, options.logger);
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
function firstAnswer(worker: Worker, options: OpenStoreOptions): Promise<Opened> {
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

type Opened = Extract<Response, { type: 'opened' }>;

/** A store whose file belongs to a worker, or to another process: every call of the port is a message. */
type StoreInWorker = StoreClient & StoreCalls;

/** The worker has opened the store and can be asked for `calls`. */
export function storeInWorker(worker: Worker, folder: string, { status, nonce, calls }: Opened, logger: Logger | undefined): StoreInWorker {
  const client = new StoreClient(worker, folder, status, nonce, calls, logger);
  return Object.assign(
    client,
    callsOver(calls, (method, args) => client.call(method, args)),
  );
}

/** The worker's end of the port as the rest of the program sees it; the operations themselves are put beside it. */
export class StoreClient implements Omit<SessionStore, StoreCall> {
  private readonly pending: PendingCalls;
  private readonly statusChanged = new Emitter<StoreStatus>();
  readonly onDidChangeStatus = this.statusChanged.event;
  private readonly changed = new Emitter<StoreChange>();
  readonly onDidChange = this.changed.event;
  private ended: StoreError | undefined;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly worker: Worker,
    private readonly folder: string,
    private currentStatus: StoreStatus,
    private nonce: string | null,
    private readonly calls: readonly StoreCall[],
    private readonly logger: Logger | undefined,
  ) {
    this.pending = new PendingCalls((request) => worker.postMessage(request));
    worker.on('message', (response: Response) => this.receive(response));
    worker.on('error', (error) =>
      this.end(new StoreError('io', english("{0}: the store's worker failed: {1}", folder, error.message), { cause: error })),
    );
    worker.on('exit', (code) => this.end(new StoreError('io', english("{0}: the store's worker ended with code {1}", folder, code))));
    // An idle store does not keep a program alive; a call does until it is answered.
    worker.unref();
  }

  get status(): StoreStatus {
    return this.currentStatus;
  }

  /** Another thread is handed this, for `joinStore`. */
  openPort(): JoinedPort {
    if (this.ended) throw this.ended;
    const { port1, port2 } = new MessageChannel();
    this.worker.postMessage({ type: 'join', port: port1 } satisfies Request, [port1]);
    return { port: port2, calls: this.calls };
  }

  refresh(): Promise<void> {
    return this.request((id) => ({ type: 'refresh', id })) as Promise<void>;
  }

  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  private async closeOnce(): Promise<void> {
    try {
      if (!this.ended) await this.request((id) => ({ type: 'close', id }));
    } finally {
      this.end(new StoreError('closed', english('{0}: the store is closed', this.folder)));
      await this.worker.terminate();
      this.statusChanged.dispose();
      this.changed.dispose();
    }
  }

  call<K extends StoreCall>(method: K, args: CallArguments<K>): Promise<CallResult<K>> {
    return this.request((id) => ({ type: 'call', id, method, args })) as Promise<CallResult<K>>;
  }

  private request(make: (id: number) => Request): Promise<unknown> {
    if (this.ended) return Promise.reject(this.ended);
    this.worker.ref();
    return this.pending.ask(make);
  }

  private receive(response: Response): void {
    switch (response.type) {
      case 'part':
      case 'done':
      case 'failed':
        this.pending.receive(response);
        if (this.pending.isEmpty) this.worker.unref();
        return;
      case 'status':
        this.currentStatus = response.status;
        this.nonce = response.nonce;
        this.statusChanged.fire(response.status);
        return;
      case 'change':
        return this.changed.fire(response.change);
      case 'log':
        this.logger?.[response.level](response.event, response.data);
        return;
      case 'opened':
      case 'openFailed':
        return;
    }
  }

  /** From now on every request is rejected with this error, the waiting ones at once. */
  private end(error: StoreError): void {
    if (this.ended) return;
    this.ended = error;
    this.pending.fail(error);
    if (error.reason === 'closed') return;
    this.logger?.error('store_worker_ended', { message: error.message });
    // Our process lives on, so nobody else would take the lease of its dead worker for abandoned.
    try {
      if (this.nonce !== null) releaseLease(storeFiles(this.folder).lease, this.nonce);
    } catch (cause) {
      this.logger?.warn('store_lease_left', { cause: errorText(cause) });
    }
  }
}
