import { CancelledError, errorText, StoreError } from '../../core/errors';
import type { Clock, SessionStore } from '../../core/ports';
import { EngineError, type SyncEngine } from '../../core/sync/syncEngine';
import { noSyncYet, type SyncState } from '../../core/sync/syncState';
import type { SyncStore } from '../../core/sync/syncStore';
import type { HistoryKeys } from './historyKeys';
import { syncStoreOnce, type StoreSyncReport } from './syncStore';

/** `changed`: something was said here. `news`: the engine has something. `looked`: somebody looks. `asked`: the user wants it now. */
export type WakeReason = 'changed' | 'news' | 'looked' | 'asked';

export interface SyncLoopDeps {
  readonly store: SyncStore & Pick<SessionStore, 'onDidChange' | 'status'>;
  readonly keys: HistoryKeys;
  /** Rejects with `EngineError`. */
  readonly open: (signal: AbortSignal) => Promise<SyncEngine>;
  /** Whether this window is the one on the store that synchronizes it. */
  readonly leads: () => Promise<boolean>;
  /** What the window that does has noted; undefined: nothing. */
  readonly noted: () => SyncState | undefined;
  readonly tell: (state: SyncState) => void;
  /** After every exchange. */
  readonly after?: () => Promise<void>;
  readonly clock: Clock;
}

/**
 * Milliseconds. What was said goes out so long after the first word of it; an engine that tells of news is asked seldom, another one ever
 * more seldom while nothing comes, and one that fails less and less.
 */
export const pace = { afterChange: 1_000, ask: 30_000, mostQuiet: 300_000, mostAfterFailure: 300_000, lead: 10_000, look: 5_000 };

/** More records than this are told as progress. */
const fewRecords = 60;

/** Keeps a store and its engine together until it is stopped. */
export class SyncLoop {
  private state: SyncState = noSyncYet;
  private engine: SyncEngine | null = null;
  private hears = false;
  private failures = 0;
  /** The last exchange came as far as the attachments. */
  private hadTexts = false;
  private quiet = 0;
  private lastRun = -Infinity;
  private readonly reasons = new Set<WakeReason>();
  private rouse: () => void = () => undefined;
  private running: AbortController | null = null;
  /** Somebody has switched it off in the store. */
  private isOff = false;

  constructor(private readonly deps: SyncLoopDeps) {}

  wake(reason: WakeReason): void {
    if (reason === 'looked' && this.deps.clock.now() - this.lastRun < pace.look) return;
    this.reasons.add(reason);
    this.rouse();
  }

  /** Ends what is being received and receives nothing more until somebody asks for it. */
  cancel(): void {
    this.running?.abort();
  }

  /** Resolves when it has been stopped, or is switched off in the store. */
  async run(signal: AbortSignal): Promise<void> {
    const { deps } = this;
    let soon: { dispose(): void } | null = null;
    const changes = deps.store.onDidChange(({ kind }) => {
      if (kind === 'partial' || kind === 'draft' || kind === 'claim' || kind === 'stop') return;
      soon ??= deps.clock.after(pace.afterChange, () => {
        soon = null;
        this.wake('changed');
      });
    });
    const stop = () => {
      this.running?.abort();
      // Ends a question that the engine has not answered: it may take a minute, and the leases wait for it.
      this.letGo();
      this.rouse();
    };
    signal.addEventListener('abort', stop, { once: true });
    this.tell({ at: deps.noted()?.at ?? null });
    try {
      while (!signal.aborted && !this.isOff) {
        const reasons = new Set(this.reasons);
        this.reasons.clear();
        const pause = await this.turn(reasons);
        if (!signal.aborted && !this.isOff && this.reasons.size === 0) await this.sleep(pause, signal);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      changes.dispose();
      (soon as { dispose(): void } | null)?.dispose();
      this.letGo();
    }
  }

  /** Returns how long to wait. */
  private async turn(reasons: ReadonlySet<WakeReason>): Promise<number> {
    const { deps } = this;
    const isAsked = reasons.has('asked');
    // Who writes meanwhile does not make the engine answer sooner, and a wrong password is not tried at every word. Texts do not wait for
    // attachments that fail.
    const again = this.state.failure?.again ?? 0;
    const isAnswered = this.hadTexts && reasons.size > 0;
    if (this.failures > 0 && !isAsked && !isAnswered && deps.clock.now() < again) return again - deps.clock.now();
    if (this.state.phase === 'paused' && !isAsked) return pace.mostQuiet;
    if (!(await deps.leads()) && !isAsked) {
      this.letGo();
      const noted = deps.noted();
      this.tell({ ...(noted ?? {}), phase: 'elsewhere', progress: null });
      return pace.lead;
    }
    // What only this device knows of, and is on its way already, is no reason to ask.
    if (reasons.size === 1 && reasons.has('changed') && this.failures === 0 && (await this.hasNothingToDo())) return this.pauseNow();
    this.lastRun = deps.clock.now();
    const wasOpen = this.engine !== null;
    try {
      const report = await this.exchange();
      this.quiet = report.pulled + report.pushed > 0 ? 0 : this.quiet + 1;
      this.failures = 0;
      this.tellDone(report);
      return this.pauseNow();
    } catch (error) {
      this.letGo();
      // What this exchange has written itself: it would be tried again at once.
      this.reasons.delete('news');
      if (CancelledError.is(error)) {
        this.tell({ phase: 'paused', progress: null });
        return pace.mostQuiet;
      }
      if (StoreError.is(error) && error.reason === 'conflict') return pace.afterChange;
      if (StoreError.is(error) && error.reason === 'invalid' && (await this.wasSwitchedOff())) return 0;
      if (!EngineError.is(error) && !StoreError.is(error)) throw error;
      // Servers close connections that nobody uses: that is no failure yet.
      if (wasOpen && EngineError.is(error) && this.failures === 0) return this.again();
      // An engine that has taken the texts is asked for others as often as one that nothing fails at: it is closed, and tells of none.
      const most = this.hadTexts ? pace.ask : pace.mostAfterFailure;
      const pause = Math.min(most, 1_000 * 2 ** ++this.failures);
      const again = deps.clock.now() + pause;
      this.tell({
        phase: 'idle',
        progress: null,
        failure: { reason: EngineError.is(error) ? error.reason : 'store', message: errorText(error), again },
      });
      return pause;
    }
  }

  private async exchange(): Promise<StoreSyncReport> {
    const { store, keys, after, open } = this.deps;
    this.running = new AbortController();
    this.hadTexts = false;
    try {
      if (!this.engine) {
        this.engine = await open(this.running.signal);
        this.hears = await this.engine.listen(() => this.wake('news')).catch(() => false);
      }
      this.tell({ phase: 'syncing' });
      const report = await syncStoreOnce(store, this.engine, keys, {
        onProgress: (progress) => progress.of > fewRecords && this.tell({ progress }),
        onUsable: () => this.tell({ usable: true }),
        onTexts: (texts) => {
          this.hadTexts = true;
          this.tellDone(texts);
        },
        // What is said meanwhile goes before the bytes of attachments that were said earlier.
        isDue: () => this.reasons.size > 0,
        signal: this.running.signal,
      });
      await after?.();
      return report;
    } finally {
      this.running = null;
    }
  }

  private again(): number {
    this.reasons.add('news');
    this.failures = 0;
    return 0;
  }

  private async hasNothingToDo(): Promise<boolean> {
    const { store } = this.deps;
    if (await this.wasSwitchedOff()) return true;
    return (await store.syncPending(1)).receipt === null && (await store.syncAttachment()) === null;
  }

  private async wasSwitchedOff(): Promise<boolean> {
    this.isOff = (await this.deps.store.syncSetup()) === null;
    return this.isOff;
  }

  private tellDone({ problems, notes }: StoreSyncReport): void {
    this.tell({ phase: 'idle', at: this.deps.clock.now(), failure: null, problems, notes, progress: null, usable: true });
  }

  private pauseNow(): number {
    return this.hears ? pace.mostQuiet : Math.min(pace.mostQuiet, pace.ask * 2 ** Math.min(this.quiet, 10));
  }

  private letGo(): void {
    const { engine } = this;
    this.engine = null;
    this.hears = false;
    // A connection that broke may never say that it is closed.
    void engine?.close().catch(() => undefined);
  }

  private tell(change: Partial<SyncState>): void {
    this.state = { ...this.state, ...change };
    this.deps.tell(this.state);
  }

  private sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.deps.clock.after(ms, () => this.rouse());
      this.rouse = () => {
        timer.dispose();
        this.rouse = () => undefined;
        resolve();
      };
      if (signal.aborted) this.rouse();
    });
  }
}
