import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { CancelledError, errorText, StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { StoreStatus } from '../../../core/ports';
import { openCopied, mayPass } from '../copies/copiedStore';
import type { BridgeFs } from '../wasm/fileBridge';
import { HoldingsRecord, type HostEvents, type OpenedStore } from './storeService';
import { acquireLease, defaultTiming, holderOf, Lease } from '../sharing/lease';
import type { LeaseRecord, LeaseTiming } from '../sharing/lease';
import { StoreOwner } from './storeOwner';
import type { IdleDelays } from './idleTask';
import { findSilentDamage } from '../database/logDamage';
import { newPeerAddress, sharingVersion } from '../sharing/peerAddress';
import { OwnerGoneError, PeerConnection } from '../sharing/peerConnection';
import { loadSqlite } from '../wasm/sqlite';
import type { Sqlite } from '../wasm/sqlite';
import { systemClock } from '../../runtime/systemClock';
import { checkDatabaseFile, sizeOf, storeFiles } from '../database/storeFiles';
import type { StoreFiles } from '../database/storeFiles';
import { toStoreError } from '../database/connection';
import type { CallArguments, CallResult, StoreCall } from '../client/storeCalls';

export interface HostOptions {
  readonly folder: string;
  readonly wasmFile: string;
  /** How long to try to own the store or to reach its owner. */
  readonly waitForOwnerMs: number;
  readonly label: string;
  readonly readonly: boolean | 'join';
  /** Builds the store anew from what can be read of it, whether or not it can be opened. */
  readonly repair?: boolean;
  readonly timing?: LeaseTiming;
  readonly fs?: BridgeFs;
  /** Every entry is checked at this pace while the store is idle. */
  readonly verifyPace?: IdleDelays;
  /** How often a read-only copy looks for new writes. */
  readonly pollMs?: number;
  /** How often a read-only copy tries to reach the owner, or to own the store. */
  readonly pursuitPollMs?: number;
  /** How long, after the owner has gone, what was asked is kept until there is an owner again; 10 s by default. */
  readonly reopenMs?: number;
}

/**
 * The store in its own thread: decides how it is open, and stays open when the owner changes.
 *
 *   open ──lease──▶ owner ──lease lost, or to be handed over────▶ (open again)
 *        ├─held, owner answers──▶ shared ──connection broken────▶ (open again; what was asked is asked again)
 *        ├─folder read-only, newer schema──▶ copy ──refresh──▶ (open again, or copy)
 *        └─held but out of reach──▶ copy, and all the while ──lease, or owner answers──▶ owner, shared
 */
export class StoreSupervisor {
  private ready: Promise<void> = Promise.resolve();
  private opened: OpenedStore | undefined;
  private failure: StoreError | undefined;
  private readonly holdings = new HoldingsRecord();
  private readonly closing = new AbortController();
  /** Owners know this window by it, each of them. */
  private readonly id = randomUUID();
  private repairAsked: boolean;
  /** These could not be used any more before they were in use. */
  private readonly lost = new WeakSet<OpenedStore>();
  /** A window that reads a copy has one: it ends when the window no longer does, or closes. */
  private pursuit: Promise<void> = Promise.resolve();

  private constructor(
    private readonly sqlite: Sqlite,
    private readonly options: HostOptions,
    private readonly events: HostEvents,
  ) {
    this.repairAsked = options.repair ?? false;
  }

  /** Rejects with a `StoreError` and nothing changed, or with `CancelledError` when aborted while waiting for the owner. */
  static async open(options: HostOptions, events: HostEvents, signal?: AbortSignal): Promise<StoreSupervisor> {
    const host = new StoreSupervisor(await loadSqlite(options.wasmFile, options.fs), options, events);
    host.use(await host.openStore(options.waitForOwnerMs, false, signal));
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
      // What was opened may be lost again before those who wait for it are told.
      for (let awaited: unknown; awaited !== this.ready; ) await (awaited = this.ready);
      const store = this.current();
      try {
        const result = (await store.call(method, args)) as CallResult<K>;
        this.holdings.note(method, args, result);
        return result;
      } catch (error) {
        // Either way nothing of it has been written, or all of it and it may be written again (core/ports.ts).
        const mayRepeat = OwnerGoneError.is(error) || (StoreError.is(error) && error.reason === 'lease_lost');
        if (!mayRepeat && StoreError.is(error) && ['disk_full', 'permission'].includes(error.reason) && mayPass(store.status.note))
          this.reopen(store);
        if (!mayRepeat) throw toStoreError(error, undefined, this.options.folder);
        if (this.closing.signal.aborted) throw closed(this.options.folder);
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
    await this.pursuit;
    const store = this.opened;
    this.opened = undefined;
    this.failure = closed(this.options.folder);
    store?.close();
  }

  private current(): OpenedStore {
    if (this.opened) return this.opened;
    throw this.failure ?? new StoreError('closed', english('{0}: the store is not open', this.options.folder));
  }

  /** Does nothing when that store has been replaced already. */
  private reopen(lost: OpenedStore, how: 'abandon' | 'close' = 'abandon'): void {
    if (this.opened !== lost) this.lost.add(lost);
    if (this.opened !== lost || this.closing.signal.aborted) return;
    this.opened = undefined;
    lost[how]();
    this.ready = this.openStore(this.options.reopenMs ?? 10_000, true, this.closing.signal).then(
      (store) => {
        this.use(store);
        this.tellAll(store);
      },
      (error: unknown) => {
        this.failure = CancelledError.is(error) ? undefined : toStoreError(error, undefined, this.options.folder);
      },
    );
  }

  private use(store: OpenedStore): void {
    this.opened = store;
    if (this.lost.has(store)) this.reopen(store);
    else if (isOutOfReach(store) && !this.options.readonly) this.pursuit = this.pursue(store);
  }

  private tellAll(store: OpenedStore): void {
    this.events.onStatus(store.status, store.nonce);
    this.events.onChange({ kind: 'all' });
  }

  /** Whoever reads a copy, because the owner did not answer in time, goes on trying to reach or to follow it. Never rejects. */
  private async pursue(copy: OpenedStore): Promise<void> {
    const { signal } = this.closing;
    while (this.opened === copy && !signal.aborted) {
      try {
        const found = await this.openLive({ waitMs: pursuitMs, pollMs: this.options.pursuitPollMs ?? 1_000, again: true, signal });
        if ('heldBy' in found) continue;
        // Nothing but this replaces a copy of this kind, save closing.
        this.use(found);
        copy.close();
        if (this.opened === found) this.tellAll(found);
      } catch (error) {
        if (CancelledError.is(error)) return;
        this.events.onLog('warn', 'store_still_read_only', { error: errorText(error) });
        await systemClock.sleep(pursuitMs, signal).catch(() => undefined);
      }
    }
  }

  private async openStore(waitMs: number, again: boolean, signal?: AbortSignal): Promise<OpenedStore> {
    const files = storeFiles(this.options.folder);
    if (this.options.readonly) {
      const holder = this.options.readonly === 'join' ? holderOf(files.lease) : null;
      const joined = holder && (await this.join(holder, signal));
      return joined ?? this.openCopy(files, { reason: 'other_owner', detail: english('Opened for reading only') });
    }
    try {
      const found = await this.openLive({ waitMs, again, signal });
      // What could not be repaired now is not repaired later, when nobody expects it.
      this.repairAsked = false;
      return 'heldBy' in found ? this.openCopy(files, { reason: 'other_owner', detail: describe(found.heldBy) }) : found;
    } catch (error) {
      if (CancelledError.is(error)) throw error;
      if (StoreError.is(error) && error.reason === 'newer_schema')
        return this.openCopy(files, { reason: 'newer_schema', detail: error.message });
      return this.openCopyInstead(files, toStoreError(error, undefined, files.main));
    }
  }

  /** Opens the store as its owner or over the owner's process; resolves with the owner when neither has come about in time. */
  private async openLive({ waitMs, pollMs, again, signal }: LiveOptions): Promise<OpenedStore | { readonly heldBy: LeaseRecord | null }> {
    const files = storeFiles(this.options.folder);
    const { label, timing = defaultTiming } = this.options;
    mkdirSync(files.folder, { recursive: true, mode: 0o700 });
    const address = newPeerAddress(files.folder);
    const join = (holder: LeaseRecord) => this.join(holder, signal);
    const lease = await acquireLease(files.lease, {
      label,
      waitMs,
      address,
      join,
      timing: { ...timing, pollMs: pollMs ?? timing.pollMs },
      ...(signal ? { signal } : {}),
    });
    if ('joined' in lease) return lease.joined;
    if (!(lease instanceof Lease)) return lease;
    try {
      let opened: OpenedStore | null = null;
      const owned = {
        address,
        me: { label, id: this.id, holdings: this.holdings.current },
        afterAnother: again,
        repair: this.repairAsked,
        verifyPace: this.options.verifyPace,
        comesBack: () => !this.closing.signal.aborted,
        onLost: () => opened && this.reopen(opened),
        onHandOver: () => opened && this.reopen(opened, 'close'),
      };
      return (opened = await StoreOwner.open(this.sqlite, files, lease, owned, this.events));
    } catch (error) {
      lease.release();
      throw error;
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
      const me = { label: this.options.label, id: this.id, hears: this.options.readonly !== 'join', holdings: () => this.holdings.current };
      const onChange = this.events.onChange.bind(this.events);
      const onStatus = () => shared && this.opened === shared && this.events.onStatus(shared.status, null);
      const connection = await PeerConnection.open(
        holder.address,
        me,
        { onChange, onStatus, onGone: () => shared && this.reopen(shared) },
        signal,
      );
      shared = {
        get status(): StoreStatus {
          return { ...connection.status, access: 'shared' };
        },
        nonce: null,
        call: (method, args) => connection.call(method, args),
        refresh: () => undefined,
        close: () => connection.close(),
        abandon: () => connection.close(),
      };
      if (connection.isGone) this.reopen(shared);
      return shared;
    } catch (error) {
      if (signal?.aborted) throw new CancelledError();
      // One that has only just begun does not listen yet, and one that has ended no longer does.
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (!['ENOENT', 'ECONNREFUSED'].includes(code))
        this.events.onLog('warn', 'store_owner_not_reached', { owner: holder.label, pid: holder.process.pid, error: errorText(error) });
      return undefined;
    }
  }

  private openCopy(files: StoreFiles, note: NonNullable<StoreStatus['note']>): OpenedStore {
    return openCopied(this.sqlite, files, note, this.events, this.options.pollMs);
  }
}

interface LiveOptions {
  readonly waitMs: number;
  readonly pollMs?: number;
  /** Other windows may have used the store under another owner until now. */
  readonly again: boolean;
  readonly signal: AbortSignal | undefined;
}

/** One round of tries takes longer than finding out that an owner gives no signs of life. */
const pursuitMs = 30_000;

function isOutOfReach({ status }: OpenedStore): boolean {
  return status.access === 'readonly' && status.note?.reason === 'other_owner';
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
  return new StoreError('closed', english('{0}: the store is closed', folder));
}

function describe(holder: LeaseRecord | null): string {
  if (!holder) return english('Another window owns this store');
  const { label, process, address } = holder;
  const sameVersion = !address || address.version === sharingVersion;
  return english(
    sameVersion
      ? 'Another window owns this store: {0}, process {1} on {2}'
      : 'Another window owns this store: {0}, process {1} on {2}, with another version of the program',
    label,
    process.pid,
    process.host,
  );
}
