import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { Emitter } from '../../core/base/event';
import { errorText, StoreError } from '../../core/errors';
import { english, shown, t } from '../../core/l10n';
import type { Logger, SessionStore } from '../../core/ports';
import type { StoreChange } from '../../core/session/storage';

export interface ReopenOptions {
  /** Runs while no window has the store open, save one that cannot be asked to let it go. */
  readonly between?: () => Promise<void>;
  /** Whether to build the store anew from what can be read of it; asked when `between` has run. */
  readonly repair?: () => boolean;
}

/*
 *   closed ──get──▶ opening ──▶ open ──worker gone──▶ failed
 *                      └── fails ──▶ failed ──get──▶ opening
 *
 * Opened by whoever needs it first; a failure stays visible until an attempt succeeds.
 */
export class StoreAccess implements Disposable {
  private readonly _onDidChange = new Emitter<void>();
  /** Access, durability or failure have changed, or another window has written something new. */
  readonly onDidChange = this._onDidChange.event;
  private readonly _onDidChangeContent = new Emitter<StoreChange>();
  /** Another window has changed something in the store. */
  readonly onDidChangeContent = this._onDidChangeContent.event;
  private readonly _onDidOpen = new Emitter<SessionStore>();
  /** It is open, for the first time or anew. */
  readonly onDidOpen = this._onDidOpen.event;
  private opening: Promise<SessionStore> | null = null;
  private store: SessionStore | null = null;
  private lastFailure: unknown = null;
  private subscription: Disposable | null = null;
  private closed = false;
  /** Companions have let the store go and wait until it is open again. */
  private arePaused = false;
  /** What else in this window has the store open: it lets it go while the store is opened anew, and before the window closes. */
  readonly companions: { pause(): Promise<void>; resume(): void }[] = [];

  constructor(
    private readonly open: (options: { readonly repair: boolean }) => Promise<SessionStore>,
    private readonly log: Logger,
    /** Keeps other windows from taking the store over while it is opened anew. */
    private readonly reserve: () => Promise<{ release(): void }> = () => Promise.resolve({ release: () => undefined }),
  ) {}

  get current(): SessionStore | null {
    return this.store;
  }

  /** Null when all is well. */
  get failure(): unknown {
    return this.lastFailure;
  }

  /** Rejects with what opening failed with; the next call tries again. */
  get(): Promise<SessionStore> {
    if (this.closed) return Promise.reject(new StoreError('closed', english('The window is closing.')));
    return (this.opening ??= this.attempt().finally(() => this.resumeOthers()));
  }

  /**
   * Where the store can only be read: tries to write it, if what hindered that may have passed, or reads what another window has
   * written. Never rejects.
   */
  async catchUp(): Promise<void> {
    const { store } = this;
    if (!store || store.status.access !== 'readonly' || this.closed) return;
    try {
      await store.refresh();
    } catch (error) {
      this.log.warn('store_not_refreshed', { detail: errorText(error) });
    }
  }

  /** After a failed call: finds out whether the store is gone, so that the next `get` opens it again. */
  async check(): Promise<void> {
    const { store } = this;
    if (!store || this.closed) return;
    try {
      await store.listSessions({ limit: 1 });
    } catch (error) {
      if (this.store !== store) return;
      this.log.error('store_gone', { detail: errorText(error) });
      this.forget();
      this.lastFailure = error;
      await store.close().catch(() => undefined);
      this._onDidChange.fire();
    }
  }

  /**
   * Closes the store and opens it again, as its owner if that is possible; whoever asks for it meanwhile waits. Rejects with what `between`
   * failed with, and then has opened it as it is, or with what opening failed with: companions go on once a later `get` has opened it.
   */
  async reopen({ repair, between }: ReopenOptions): Promise<SessionStore> {
    if (this.closed) throw new StoreError('closed', english('The window is closing.'));
    const before = this.opening;
    this.forget();
    let failure: { readonly error: unknown } | null = null;
    this.opening = (async () => {
      // Where nothing can be written, nobody takes over either.
      const reservation = await this.reserve().catch((error: unknown) =>
        this.log.debug('store_not_reserved', { detail: errorText(error) }),
      );
      try {
        await this.pauseOthers();
        const store = await before;
        if (store?.status.access === 'shared')
          await store.takeOver().catch((error: unknown) => this.log.warn('store_not_taken_over', { detail: errorText(error) }));
        await store?.close();
      } catch (error) {
        this.log.debug('store_not_closed', { detail: errorText(error) });
      }
      try {
        await between?.();
      } catch (error) {
        failure = { error };
      }
      return this.attempt(failure === null && repair?.() === true).finally(() => reservation?.release());
    })();
    const store = await this.opening;
    this.resumeOthers();
    this._onDidChange.fire();
    if (failure !== null) throw (failure as { readonly error: unknown }).error;
    return store;
  }

  /** Never rejects; nothing durable depends on it. */
  async close(): Promise<void> {
    this.closed = true;
    const opening = this.opening;
    this.forget();
    this._onDidChange.dispose();
    this._onDidChangeContent.dispose();
    this._onDidOpen.dispose();
    try {
      await this.pauseOthers();
      await (await opening)?.close();
    } catch (error) {
      this.log.debug('store_not_closed', { detail: errorText(error) });
    }
  }

  dispose(): void {
    void this.close();
  }

  /** One that cannot let go keeps neither the others nor the store open. Never rejects. */
  private async pauseOthers(): Promise<void> {
    this.arePaused = true;
    const pause = (one: { pause(): Promise<void> }) =>
      one.pause().catch((error: unknown) => this.log.warn('store_not_let_go', { detail: errorText(error) }));
    await Promise.all(this.companions.map(pause));
  }

  private resumeOthers(): void {
    if (!this.arePaused || this.closed || !this.store) return;
    this.arePaused = false;
    for (const one of this.companions) one.resume();
  }

  private async attempt(repair = false): Promise<SessionStore> {
    const started = Date.now();
    try {
      const store = await this.open({ repair });
      if (this.closed) return store;
      this.adopt(store);
      this.log.info('store_opened', { ...store.status, durationMs: Date.now() - started });
      const recovered = this.lastFailure !== null;
      this.lastFailure = null;
      if (recovered) this._onDidChange.fire();
      return store;
    } catch (error) {
      this.opening = null;
      this.lastFailure = error;
      this.log.error('store_not_opened', { reason: StoreError.is(error) ? error.reason : 'internal', detail: errorText(error) });
      this._onDidChange.fire();
      throw error;
    }
  }

  private adopt(store: SessionStore): void {
    this.subscription?.dispose();
    this.store = store;
    this.opening = Promise.resolve(store);
    const subscriptions = new DisposableStore();
    subscriptions.add(
      store.onDidChangeStatus((status) => {
        this.log.debug('store_status', { ...status });
        this._onDidChange.fire();
      }),
    );
    subscriptions.add(store.onDidChange((change) => this._onDidChangeContent.fire(change)));
    this.subscription = subscriptions;
    this._onDidOpen.fire(store);
  }

  private forget(): void {
    this.subscription?.dispose();
    this.subscription = null;
    this.store = null;
    this.opening = null;
  }
}

/** Why something that a command was to do with the history was not done. Of a message that was not sent, `storeTurnError` speaks. */
export function storeActionText({ reason, message }: StoreError): string {
  switch (reason) {
    case 'readonly':
      return t('The history is read-only in this window because another program is using it. Nothing was changed.');
    case 'disk_full':
      return t('The disk is full, so nothing was changed. Free some space and try again.');
    case 'permission':
      return t('The history may not be written, so nothing was changed. Check the permissions of its folder. {0}', shown(message));
    case 'conflict':
      return t('Another window has changed this session in the meantime, or is working in it. Nothing was changed; try again.');
    case 'lease_lost':
      return t('Another window has taken over this history. Reload this window to continue; nothing of it is lost.');
    case 'invalid':
      return t('This cannot be done, and nothing was changed. {0}', shown(message));
    case 'corrupt':
      return t('The history is damaged. Run “Threadkeeper: Verify and Repair History”. {0}', shown(message));
    case 'newer_schema':
    case 'closed':
    case 'io':
      return t('The history could not be read or changed. {0}', shown(message));
  }
}
