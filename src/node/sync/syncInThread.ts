import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../core/ports';
import type { SyncState } from '../../core/sync/syncState';
import { workerLimits } from '../runtime/workerLimits';
import type { WakeReason } from './syncLoop';

export interface SyncRequest {
  /** The store lies there. */
  readonly folder: string;
  /** Where the workers lie. */
  readonly distDir: string;
  /** What the recovery phrase stands for. */
  readonly entropy: Uint8Array;
  /** The database asks for it; null: it asks for none, or the client knows it from elsewhere. */
  readonly password: string | null;
  /** What other devices call this one. */
  readonly deviceName: string;
}

export interface NamedDevice {
  readonly id: string;
  /** Empty: it has not said. */
  readonly name: string;
}

export type SyncQuestion = { readonly type: 'wake'; readonly reason: WakeReason } | { readonly type: 'cancel' } | { readonly type: 'stop' };

export type SyncAnswer =
  | { readonly type: 'begun'; readonly engine: string; readonly name: string }
  | { readonly type: 'state'; readonly state: SyncState }
  | { readonly type: 'devices'; readonly own: string; readonly devices: readonly NamedDevice[] }
  | { readonly type: 'log'; readonly level: keyof Logger; readonly event: string; readonly data: Readonly<Record<string, unknown>> }
  | { readonly type: 'ended'; readonly failure: string | null };

/** A worker that does not end by itself by then is ended. */
const patienceMs = 5_000;

/** A store that is kept synchronized by a thread of its own. */
export class SyncThread {
  private readonly worker: Worker;
  private readonly ended: Promise<void>;

  constructor(request: SyncRequest, heard: (answer: SyncAnswer) => void) {
    this.worker = new Worker(join(request.distDir, 'syncWorker.js'), { workerData: request, resourceLimits: workerLimits });
    this.ended = new Promise((resolve) => {
      this.worker.on('message', (answer: SyncAnswer) => {
        heard(answer);
        if (answer.type === 'ended') resolve();
      });
      this.worker.on('error', (error) => {
        heard({ type: 'ended', failure: error.message });
        resolve();
      });
      this.worker.on('exit', () => resolve());
    });
    this.worker.unref();
  }

  wake(reason: WakeReason): void {
    this.ask({ type: 'wake', reason });
  }

  cancel(): void {
    this.ask({ type: 'cancel' });
  }

  /** Resolves when it has let the store go. */
  async stop(): Promise<void> {
    this.ask({ type: 'stop' });
    const patience = new Promise<void>((resolve) => void setTimeout(resolve, patienceMs).unref());
    await Promise.race([this.ended, patience]);
    await this.worker.terminate();
  }

  private ask(question: SyncQuestion): void {
    this.worker.postMessage(question);
  }
}
