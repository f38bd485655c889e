import { mkdirSync } from 'node:fs';
import { CancelledError, StoreError } from '../../core/errors';
import type { StoreStatus } from '../../core/ports';
import { openCopied } from './copiedStore';
import type { BridgeFs } from './fileBridge';
import { HoldingsRecord } from './holdingsRecord';
import { acquireLease, Lease } from './lease';
import type { LeaseRecord, LeaseTiming } from './lease';
import type { HostEvents, OpenedStore } from './openedStore';
import { openOwned } from './ownedStore';
import type { IdleDelays } from './idleTask';
import { findSilentDamage } from './logDamage';
import { mayPass } from './readerCopy';
import { newPeerAddress, sharingVersion } from './peerAddress';
import { OwnerGoneError, PeerConnection } from './peerConnection';
import { loadSqlite } from './sqlite';
import type { Sqlite } from './sqlite';
import { checkDatabaseFile, sizeOf, storeFiles } from './storeFiles';
import type { StoreFiles } from './storeFiles';
import { toStoreError } from './storeFault';
import type { CallArguments, CallResult, StoreCall } from './storeProtocol';

export interface HostOptions {
  readonly folder: string;
  readonly wasmFile: string;
  /** How long to try to own the store or to reach its owner. */
  readonly waitForOwnerMs: number;
  readonly label: string;
  readonly readonly: boolean;
  /** Builds the store anew from what can be read of it, whether or not it can be opened. */
  readonly repair?: boolean;
  readonly timing?: LeaseTiming;
  readonly fs?: BridgeFs;
  /** Of the check of every entry while the store is idle. */
  readonly verifyPace?: IdleDelays;
  /** How often a read-only copy looks for new writes. */
  readonly pollMs?: number;
  /** How long, after the owner has gone, what was asked is kept until there is an owner again; 10 s by default. */
  readonly reopenMs?: number;
}

/**
 * The store in its own thread: decides how it is open, and stays open when the owner changes.
 *
 *   open ──lease──▶ owner ──lease lost──────────────────────────▶ (open again)
 *        ├─held, owner answers──▶ shared ──connection broken────▶ (open again; what was asked is asked again)
 *        └─held but out of reach, folder read-only, newer schema──▶ copy ──refresh──▶ copy
 */
export class StoreHost {
  private ready: Promise<void> = Promise.resolve();
  private opened: OpenedStore | undefined;
  private failure: StoreError | undefined;
  private readonly holdings = new HoldingsRecord();
  private readonly closing = new AbortController();
  private repairAsked: boolean;

  private constructor(
    private readonly sqlite: Sqlite,
    private readonly options: HostOptions,
    private readonly events: HostEvents,
  ) {
    this.repairAsked = options.repair ?? false;
  }

  /** Rejects with a `StoreError` and nothing changed, or with `CancelledError` when aborted while waiting for the owner. */
  static async open(options: HostOptions, events: HostEvents, signal?: AbortSignal): Promise<StoreHost> {
    const host = new StoreHost(await loadSqlite(options.wasmFile, options.fs), options, events);
    host.opened = await host.openStore(options.waitForOwnerMs, false, signal);
    return host;
  }

  get status(): StoreStatus {
    return this.current().status;
  }

  get nonce(): string | null {
    return this.current().nonce;
  }

  async call<K extends StoreCall>(method: K, args: CallArguments<K>): Promise<CallResult<K>> {
    for (;;) {
      await this.ready;
      const store = this.current();
      try {
        const result = (await store.call(method, args)) as CallResult<K>;
        this.holdings.note(method, args, result);
        return result;
      } catch (error) {
        // Either way nothing of it has been written, or all of it and it may be written again (core/ports.ts).
        const mayRepeat = OwnerGoneError.is(error) || (StoreError.is(error) && error.reason === 'lease_lost');
        if (!mayRepeat && StoreError.is(error) && ['disk_full', 'permission'].includes(error.reason) && mayPass(store.status.note)) this.reopen(store);
        if (!mayRepeat || this.closing.signal.aborted) throw OwnerGoneError.is(error) ? closed(this.options.folder) : toStoreError(error, undefined, this.options.folder);
        this.reopen(store);
      }
    }
  }

  async refresh(): Promise<void> {
    await this.ready;
    const store = this.current();
    if (!mayPass(store.status.note)) return store.refresh();
    this.reopen(store);
    await this.ready;
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.ready;
    const store = this.opened;
    this.opened = undefined;
    this.failure = closed(this.options.folder);
    store?.close();
  }

  private current(): OpenedStore {
    if (this.opened) return this.opened;
    throw this.failure ?? new StoreError('closed', `${this.options.folder}: the store is not open`);
  }

  /** Does nothing when that store has been replaced already. */
  private reopen(lost: OpenedStore): void {
    if (this.opened !== lost || this.closing.signal.aborted) return;
    this.opened = undefined;
    lost.abandon();
    this.ready = this.openStore(this.options.reopenMs ?? 10_000, true, this.closing.signal).then(
      (store) => {
        this.opened = store;
        this.events.onStatus(store.status, store.nonce);
        this.events.onChange({ kind: 'all' });
      },
      (error: unknown) => {
        this.failure = CancelledError.is(error) ? undefined : toStoreError(error, undefined, this.options.folder);
      },
    );
  }

  private async openStore(waitMs: number, again: boolean, signal?: AbortSignal): Promise<OpenedStore> {
    const files = storeFiles(this.options.folder);
    if (this.options.readonly) return this.openCopy(files, { reason: 'other_owner', detail: 'Opened for reading only' });
    const address = newPeerAddress(files.folder);
    let lease: Lease | { joined: OpenedStore } | { heldBy: LeaseRecord | null };
    try {
      mkdirSync(files.folder, { recursive: true });
      const { label, timing } = this.options;
      const join = (holder: LeaseRecord) => this.join(holder, signal);
      lease = await acquireLease(files.lease, { label, waitMs, address, join, ...(timing ? { timing } : {}), ...(signal ? { signal } : {}) });
    } catch (error) {
      const known = toStoreError(error, undefined, files.folder);
      if (CancelledError.is(error)) throw error;
      return this.openCopyInstead(files, known);
    }
    if ('joined' in lease) return lease.joined;
    if (!(lease instanceof Lease)) return this.openCopy(files, { reason: 'other_owner', detail: describe(lease.heldBy) });
    try {
      let opened: OpenedStore | null = null;
      const owned = {
        address,
        me: { label: this.options.label, holdings: this.holdings.current },
        afterAnother: again,
        repair: this.repairAsked,
        verifyPace: this.options.verifyPace,
        onLost: () => opened && this.reopen(opened),
      };
      opened = await openOwned(this.sqlite, files, lease, owned, this.events);
      this.repairAsked = false;
      return opened;
    } catch (error) {
      lease.release();
      if (StoreError.is(error) && error.reason === 'newer_schema') {
        return this.openCopy(files, { reason: 'newer_schema', detail: error.message });
      }
      return this.openCopyInstead(files, toStoreError(error, undefined, files.main));
    }
  }

  /** A disk without room and a folder without permission keep nobody from reading what is sound. Throws `cause` for anything else. */
  private openCopyInstead(files: StoreFiles, cause: StoreError): OpenedStore {
    const reason = cause.reason === 'disk_full' ? 'disk_full' : cause.reason === 'permission' ? 'folder_readonly' : null;
    if (reason === null || sizeOf(files.main) === 0 || isSuspect(files)) throw cause;
    try {
      return this.openCopy(files, { reason, detail: cause.message });
    } catch {
      throw cause;
    }
  }

  /** Undefined when the holder of the lease cannot be reached, for now or for good. */
  private async join(holder: LeaseRecord, signal?: AbortSignal): Promise<OpenedStore | undefined> {
    // A repair is for the owner to make.
    if (holder.address?.version !== sharingVersion || this.repairAsked) return undefined;
    let shared: OpenedStore | undefined;
    try {
      const me = { label: this.options.label, holdings: () => this.holdings.current };
      const onChange = this.events.onChange.bind(this.events);
      const connection = await PeerConnection.open(holder.address, me, { onChange, onGone: () => shared && this.reopen(shared) }, signal);
      shared = {
        status: { ...connection.status, access: 'shared' },
        nonce: null,
        call: (method, args) => connection.call(method, args),
        refresh: () => undefined,
        close: () => connection.close(),
        abandon: () => connection.close(),
      };
      return shared;
    } catch {
      if (signal?.aborted) throw new CancelledError();
      return undefined;
    }
  }

  private openCopy(files: StoreFiles, note: NonNullable<StoreStatus['note']>): OpenedStore {
    return openCopied(this.sqlite, files, note, this.events, this.options.pollMs);
  }
}

/** Whether the files would not be opened for writing as they are: what SQLite makes of them is not to be trusted. */
function isSuspect(files: StoreFiles): boolean {
  try {
    return findSilentDamage(files, checkDatabaseFile(files).pageSize) !== null;
  } catch {
    return true;
  }
}

function closed(folder: string): StoreError {
  return new StoreError('closed', `${folder}: the store is closed`);
}

function describe(holder: LeaseRecord | null): string {
  if (!holder) return 'Another window owns this store';
  const { label, process, address } = holder;
  const version = address && address.version !== sharingVersion ? ', with another version of the program' : '';
  return `Another window owns this store: ${label}, process ${process.pid} on ${process.host}${version}`;
}
