import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { StoreError, errorText } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { Emitter } from '../../../core/base/event';
import type { Logger, SessionStore, StoreStatus } from '../../../core/ports';
import type { StoreChange } from '../../../core/session/storeChange';
import { releaseLease } from '../sharing/lease';
import { PendingCalls } from './pendingCalls';
import { storeFiles } from '../database/storeFiles';
import type { CallArguments, CallResult, Request, Response, StoreCall } from './storeProtocol';

/** The worker's port as the rest of the program sees it. */
export class StoreClient implements SessionStore {
  private readonly pending: PendingCalls;
  private readonly statusChanged = new Emitter<StoreStatus>();
  readonly onDidChangeStatus = this.statusChanged.event;
  private readonly changed = new Emitter<StoreChange>();
  readonly onDidChange = this.changed.event;
  private ended: StoreError | undefined;
  private closing: Promise<void> | undefined;

  /** `worker` has reported that the store is open. */
  constructor(
    private readonly worker: Worker,
    private readonly folder: string,
    private currentStatus: StoreStatus,
    private nonce: string | null,
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

  readonly createSession = this.forward('createSession');
  readonly session = this.forward('session');
  readonly listSessions = this.forward('listSessions');
  readonly countSessions = this.forward('countSessions');
  readonly takeOver = this.forward('takeOver');
  readonly updateSession = this.forward('updateSession');
  readonly purgePreview = this.forward('purgePreview');
  readonly purge = this.forward('purge');
  readonly append = this.forward('append');
  readonly moveLeaf = this.forward('moveLeaf');
  readonly forkSession = this.forward('forkSession');
  readonly branches = this.forward('branches');
  readonly commonAncestor = this.forward('commonAncestor');
  readonly liveBranch = this.forward('liveBranch');
  readonly page = this.forward('page');
  readonly branchSteps = this.forward('branchSteps');
  readonly entries = this.forward('entries');
  readonly entriesBySeq = this.forward('entriesBySeq');
  readonly saveTokenCounts = this.forward('saveTokenCounts');
  readonly search = this.forward('search');
  readonly writePartial = this.forward('writePartial');
  readonly recoverPartials = this.forward('recoverPartials');
  readonly draft = this.forward('draft');
  readonly saveDraft = this.forward('saveDraft');
  readonly queue = this.forward('queue');
  readonly saveQueue = this.forward('saveQueue');
  readonly putBlob = this.forward('putBlob');
  readonly blob = this.forward('blob');
  readonly pins = this.forward('pins');
  readonly savePin = this.forward('savePin');
  readonly removePin = this.forward('removePin');
  readonly summaryRetries = this.forward('summaryRetries');
  readonly saveSummaryRetry = this.forward('saveSummaryRetry');
  readonly removeSummaryRetry = this.forward('removeSummaryRetry');
  readonly memoryWrites = this.forward('memoryWrites');
  readonly usageTotals = this.forward('usageTotals');
  readonly entrySeqs = this.forward('entrySeqs');
  readonly usageRecords = this.forward('usageRecords');
  readonly restoreSession = this.forward('restoreSession');
  readonly knownSources = this.forward('knownSources');
  readonly importEntries = this.forward('importEntries');
  readonly analyticsRows = this.forward('analyticsRows');
  readonly claim = this.forward('claim');
  readonly release = this.forward('release');
  readonly activity = this.forward('activity');
  readonly requestStop = this.forward('requestStop');
  readonly calibration = this.forward('calibration');
  readonly saveCalibration = this.forward('saveCalibration');

  /** Another thread is handed this port, for a `StorePort`. */
  openPort(): MessagePort {
    if (this.ended) throw this.ended;
    const { port1, port2 } = new MessageChannel();
    this.worker.postMessage({ type: 'join', port: port1 } satisfies Request, [port1]);
    return port2;
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

  private forward<K extends StoreCall>(method: K): (...args: CallArguments<K>) => Promise<CallResult<K>> {
    return (...args) => this.call(method, args);
  }

  private call<K extends StoreCall>(method: K, args: CallArguments<K>): Promise<CallResult<K>> {
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
