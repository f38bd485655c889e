import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../core/errors';
import type { StoreStatus } from '../../core/ports';
import type { BridgeFs } from './fileBridge';
import { IdleIndexer } from './idleIndexer';
import { acquireLease, Lease } from './lease';
import type { LeaseRecord, LeaseTiming } from './lease';
import { copyStore, storeVersion } from './readonlyCopy';
import { describeRecovery, finishRecovery, isDamage, recoverStore } from './recoverStore';
import type { Recovery } from './recoverStore';
import { scratchPrefix, selfTest } from './selfTest';
import { loadSqlite } from './sqlite';
import type { Sqlite } from './sqlite';
import { StoreCore } from './storeCore';
import { openCopy, openForWriting } from './storeDatabase';
import type { StoreDatabase } from './storeDatabase';
import { readGeneration, sizeOf, storeFiles } from './storeFiles';
import type { StoreFiles } from './storeFiles';
import { toStoreError } from './storeFault';
import type { CallArguments, CallResult, StoreCall } from './storeProtocol';

export interface HostOptions {
  readonly folder: string;
  readonly wasmFile: string;
  readonly waitForOwnerMs: number;
  readonly label: string;
  readonly readonly: boolean;
  /** Builds the store anew from what can be read of it, whether or not it can be opened. */
  readonly repair?: boolean;
  readonly timing?: LeaseTiming;
  readonly fs?: BridgeFs;
  /** How often a read-only store looks for new writes. */
  readonly pollMs?: number;
}

export interface HostEvents {
  onStatus(status: StoreStatus, nonce: string | null): void;
  onLog(level: 'info' | 'warn', event: string, data: Readonly<Record<string, unknown>>): void;
}

/** An open store with one way to write it, or only to read it. */
interface Session {
  readonly status: StoreStatus;
  readonly core: StoreCore;
  readonly nonce: string | null;
  /** Null where nothing can be written, or where every commit writes the whole file. */
  readonly indexer: IdleIndexer | null;
  refresh(): void;
  close(): void;
  /** Lets go without writing: the lease is lost. */
  abandon(): void;
}

/**
 * The store in its own thread: decides whether it owns the database or reads a copy, and runs the operations.
 *
 *   open ──lease──▶ owner ──lease lost──▶ (open again, without waiting) ──▶ owner | reader
 *        └─held, folder read-only, newer schema──▶ reader ──refresh──▶ reader on a new copy
 */
export class StoreHost {
  private ready: Promise<void> = Promise.resolve();
  private session: Session | undefined;
  private failure: StoreError | undefined;
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
    host.session = await host.openSession(options.waitForOwnerMs, signal);
    return host;
  }

  get status(): StoreStatus {
    return this.current().status;
  }

  get nonce(): string | null {
    return this.current().nonce;
  }

  async call<K extends StoreCall>(method: K, args: CallArguments<K>): Promise<CallResult<K>> {
    await this.ready;
    try {
      const { core, indexer } = this.current();
      indexer?.touch();
      return (core[method] as (...args: CallArguments<K>) => CallResult<K>).apply(core, args);
    } catch (error) {
      const known = toStoreError(error, undefined, this.options.folder);
      if (known.reason === 'lease_lost') this.reopen();
      throw known;
    }
  }

  async refresh(): Promise<void> {
    await this.ready;
    this.current().refresh();
  }

  async close(): Promise<void> {
    await this.ready;
    const session = this.session;
    this.session = undefined;
    this.failure = new StoreError('closed', `${this.options.folder}: the store is closed`);
    session?.close();
  }

  private current(): Session {
    if (this.session) return this.session;
    throw this.failure ?? new StoreError('closed', `${this.options.folder}: the store is not open`);
  }

  private indexingFailed(error: unknown): void {
    const known = toStoreError(error, undefined, this.options.folder);
    this.events.onLog('warn', 'store_indexing_failed', { error: known.message });
    if (known.reason === 'lease_lost') this.reopen();
  }

  private reopen(): void {
    const lost = this.session;
    if (!lost) return;
    this.session = undefined;
    lost.abandon();
    this.ready = this.openSession(0).then(
      (session) => {
        this.session = session;
        this.events.onStatus(session.status, session.nonce);
      },
      (error: unknown) => {
        this.failure = toStoreError(error, undefined, this.options.folder);
      },
    );
  }

  private async openSession(waitMs: number, signal?: AbortSignal): Promise<Session> {
    const files = storeFiles(this.options.folder);
    if (this.options.readonly) return this.openReader(files, { reason: 'other_owner', detail: 'Opened for reading only' });
    let lease: Lease | { heldBy: LeaseRecord | null };
    try {
      mkdirSync(files.folder, { recursive: true });
      const { label, timing } = this.options;
      lease = await acquireLease(files.lease, { label, waitMs, ...(timing ? { timing } : {}), ...(signal ? { signal } : {}) });
    } catch (error) {
      const known = toStoreError(error, undefined, files.folder);
      if ((error as Error).name === 'CancelledError') throw error;
      if (known.reason !== 'permission' || sizeOf(files.main) === 0) throw known;
      return this.openReader(files, { reason: 'folder_readonly', detail: known.message });
    }
    if (!(lease instanceof Lease)) return this.openReader(files, { reason: 'other_owner', detail: describe(lease.heldBy) });
    try {
      return this.openOwner(files, lease);
    } catch (error) {
      lease.release();
      if (StoreError.is(error) && error.reason === 'newer_schema') {
        return this.openReader(files, { reason: 'newer_schema', detail: error.message });
      }
      throw toStoreError(error, undefined, files.main);
    }
  }

  private openOwner(files: StoreFiles, lease: Lease): Session {
    finishRecovery(files);
    removeLeftovers(files);
    const problem = selfTest(this.sqlite, files.folder);
    const durability = problem === null ? 'file' : 'export';
    if (problem !== null) this.events.onLog('warn', 'store_self_test_failed', { problem });
    const { database, recovery } = this.openOrRecover(files, lease, durability);
    if (database.olderThanExpected) this.events.onLog('warn', 'store_older_than_expected', { file: files.main });
    const core = new StoreCore(database.connection, files.folder, 'owner');
    const indexer = durability === 'file' ? new IdleIndexer(core.index, (error) => this.indexingFailed(error)) : null;
    const status: StoreStatus = {
      access: 'owner',
      durability,
      note: recovery ? { reason: 'recovered', detail: describeRecovery(recovery) } : problem === null ? null : { reason: 'self_test_failed', detail: problem },
      file: files.main,
    };
    return {
      status,
      nonce: lease.nonce,
      core,
      indexer,
      refresh: () => undefined,
      close: () => {
        indexer?.stop();
        try {
          lease.verify();
          database.close();
        } catch (error) {
          this.events.onLog('warn', 'store_close_failed', { error: String(error) });
          database.abandon();
        } finally {
          lease.release();
        }
      },
      abandon: () => {
        indexer?.stop();
        database.abandon();
        lease.release();
      },
    };
  }

  /** Only damage is recovered from, and only once: what fails for another reason, or again, is left as it is. */
  private openOrRecover(files: StoreFiles, lease: Lease, durability: 'file' | 'export'): { database: StoreDatabase; recovery?: Recovery } {
    const open = () => openForWriting(this.sqlite, files, () => lease.verify(), durability);
    let reason = 'A repair was asked for';
    if (!this.repairAsked) {
      try {
        return { database: open() };
      } catch (error) {
        if (!isDamage(error)) throw error;
        reason = error.message;
      }
    }
    const recovery = recoverStore(this.sqlite, files, reason, () => lease.verify());
    this.repairAsked = false;
    this.events.onLog('warn', 'store_recovered', { ...recovery });
    return { database: open(), recovery };
  }

  private openReader(files: StoreFiles, note: NonNullable<StoreStatus['note']>): Session {
    if (sizeOf(files.main) === 0 && readGeneration(files) === 0) throw new StoreError('io', `${files.main} does not exist yet`);
    const open = () => {
      const copy = copyStore(files);
      try {
        const database = openCopy(this.sqlite, copy.files);
        return { copy, core: new StoreCore(database.connection, files.folder, 'reader'), dispose: () => (database.abandon(), copy.dispose()) };
      } catch (error) {
        copy.dispose();
        throw error;
      }
    };
    let opened = open();
    let seen = opened.copy.version;
    const status: StoreStatus = { access: 'readonly', durability: 'file', note, file: files.main };
    const poll = setInterval(() => {
      const version = lookFor(files) ?? seen;
      if (version === seen) return;
      seen = version;
      this.events.onStatus(status, null);
    }, this.options.pollMs ?? 500);
    poll.unref();
    const close = () => {
      clearInterval(poll);
      opened.dispose();
    };
    return {
      status,
      nonce: null,
      indexer: null,
      get core() {
        return opened.core;
      },
      refresh: () => {
        if (storeVersion(files) === opened.copy.version) return;
        const before = opened;
        opened = open();
        seen = opened.copy.version;
        before.dispose();
      },
      close,
      abandon: close,
    };
  }
}

function lookFor(files: StoreFiles): string | undefined {
  try {
    return storeVersion(files);
  } catch {
    // The folder is out of reach for the moment; what was read before stays valid.
    return undefined;
  }
}

/** Scratch and lease files of processes that died halfway. Nobody else uses the former while we hold the lease. */
function removeLeftovers(files: StoreFiles): void {
  for (const name of readdirSync(files.folder)) {
    const path = join(files.folder, name);
    const isOldLease = /^owner\.lease\.[0-9a-f-]{36}$/.test(name) && (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < Date.now() - 3_600_000;
    if (name.startsWith(scratchPrefix) || isOldLease || /\.tmp(\.live|\.undo)?$/.test(name)) rmSync(path, { force: true });
  }
}

function describe(holder: LeaseRecord | null): string {
  if (!holder) return 'Another window owns this store';
  return `Another window owns this store: ${holder.label}, process ${holder.process.pid} on ${holder.process.host}`;
}
