import { Serial } from '../../core/base/serial';
import { Emitter } from '../../core/base/event';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { errorText } from '../../core/errors';
import { t } from '../../core/l10n';
import type { Clock, Logger } from '../../core/ports';
import { noSyncYet, type SyncFailure, type SyncState } from '../../core/sync/syncState';
import type { NamedDevice, SyncAnswer, SyncRequest, SyncThread } from '../../node/sync/syncInThread';
import type { SyncSecrets } from './syncSecrets';

type Thread = ReturnType<SyncingDeps['begin']>;

export interface SyncingDeps {
  /** Where this workspace keeps its sessions. */
  readonly folder: () => Promise<string>;
  /** Where the workers lie. */
  readonly distDir: string;
  readonly secrets: SyncSecrets;
  /** Which history this workspace belongs to, and over which engine it is exchanged; null: none, or the workspace is not trusted. */
  readonly wanted: () => { readonly history: string; readonly engine: string } | null;
  /** What other devices call this one. */
  readonly deviceName: () => string;
  readonly begin: (request: SyncRequest, heard: (answer: SyncAnswer) => void) => Pick<SyncThread, 'wake' | 'cancel' | 'stop'>;
  /** Nothing is set up in the store: somebody has left, or brought back a backup from before. Nothing is wanted from then on. */
  readonly notSetUp: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds until a thread that failed is begun anew: twice as long each time, until it has synchronized once. */
const firstPause = 1_000;
const mostPause = 300_000;

/** Keeps this workspace's history and its engine together while the window is open: starts the thread that does, and says how it stands. */
export class Syncing implements Disposable {
  private readonly owned = new DisposableStore();
  private readonly changed = this.owned.add(new Emitter<void>());
  readonly onDidChange = this.changed.event;
  private thread: Thread | null = null;
  private failures = 0;
  private again: Disposable | null = null;
  private current: SyncState = noSyncYet;
  private named: readonly NamedDevice[] = [];
  private own = '';
  /** Starting and stopping happen one after the other. */
  private readonly serial = new Serial();
  private paused = false;

  constructor(private readonly deps: SyncingDeps) {}

  get state(): SyncState {
    return this.current;
  }

  /** Of this device; empty until it is known. */
  get device(): string {
    return this.own;
  }

  get devices(): readonly NamedDevice[] {
    return this.named;
  }

  /** What people call a device; undefined: it has not said. */
  nameOf(device: string): string | undefined {
    return this.named.find(({ id }) => id === device)?.name || undefined;
  }

  /** Begins or ends it, as what is wanted says. Never rejects. */
  apply(): Promise<void> {
    this.again?.dispose();
    return this.serial
      .run(async () => {
        const wanted = this.paused ? null : this.deps.wanted();
        if ((wanted === null) === (this.thread === null)) return;
        if (!wanted) return this.end();
        const entropy = await this.deps.secrets.key(wanted.history);
        if (!entropy) return this.failed('phrase', t('The recovery phrase is not on this machine.'));
        const password = (await this.deps.secrets.password(wanted.engine)) ?? null;
        // When it was the last time is known also where the thread has to begin anew.
        this.current = { ...noSyncYet, at: this.current.at };
        const { distDir, deviceName } = this.deps;
        const request = { folder: await this.deps.folder(), distDir, entropy, password, deviceName: deviceName() };
        const thread: Thread = this.deps.begin(request, (answer) => {
          if (this.thread === thread) this.heard(answer);
        });
        this.thread = thread;
        this.deps.log.info('sync_begun');
      })
      .catch((error: unknown) => this.failed('ended', errorText(error)));
  }

  wake(reason: 'asked' | 'looked'): void {
    this.thread?.wake(reason);
  }

  /** Ends what is coming in; *Sync Now* goes on. */
  cancel(): void {
    this.thread?.cancel();
  }

  /** While the store is being opened anew nothing else may have it open. */
  async pause(): Promise<void> {
    this.paused = true;
    this.again?.dispose();
    await this.serial.run(() => this.end());
  }

  resume(): void {
    this.paused = false;
    void this.apply();
  }

  dispose(): void {
    void this.pause();
    this.owned.dispose();
  }

  private async end(): Promise<void> {
    const { thread } = this;
    this.thread = null;
    await thread?.stop();
    this.changed.fire();
  }

  private heard(answer: SyncAnswer): void {
    switch (answer.type) {
      case 'state':
        if (answer.state.phase === 'idle' && answer.state.failure === null) this.failures = 0;
        this.current = answer.state;
        return this.changed.fire();
      case 'devices':
        this.own = answer.own;
        this.named = answer.devices;
        return this.changed.fire();
      case 'log':
        return this.deps.log[answer.level](answer.event, answer.data);
      case 'begun':
        return;
      case 'ended':
        void this.ended(answer.failure);
    }
  }

  /** A thread has ended by itself: without a failure because there is nothing set up. */
  private async ended(failure: string | null): Promise<void> {
    const { thread } = this;
    this.thread = null;
    void this.serial.run(async () => thread?.stop()).catch(() => undefined);
    if (failure === null) {
      this.current = noSyncYet;
      this.deps.log.warn('sync_not_set_up');
      await this.deps.notSetUp().catch((error: unknown) => this.failed('ended', errorText(error)));
      return this.changed.fire();
    }
    const pause = Math.min(mostPause, firstPause * 2 ** this.failures++);
    this.failed('ended', failure, this.deps.clock.now() + pause);
    this.again?.dispose();
    if (!this.paused) this.again = this.deps.clock.after(pause, () => void this.apply());
  }

  private failed(reason: SyncFailure, message: string, again: number | null = null): void {
    this.deps.log.warn('sync_failed', { detail: message });
    this.current = { ...this.current, phase: 'idle', progress: null, failure: { reason, message, again } };
    this.changed.fire();
  }
}
