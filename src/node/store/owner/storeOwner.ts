import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorText, StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { StoreStatus } from '../../../core/ports';
import { type IdleDelays, type IdleTask, indexWhenIdle, verifyWhenIdle } from './idleTask';
import type { Lease } from '../sharing/lease';
import { isReservedByAnother } from '../sharing/leaseReservation';
import { StoreService, type Holdings, type StoreWindow, type HostEvents, type OpenedStore } from './storeService';
import { thisProcess } from '../sharing/processIdentity';
import { WindowList } from '../sharing/windowList';
import { removeDeadSockets } from '../sharing/peerAddress';
import type { PeerAddress } from '../sharing/peerAddress';
import { PeerServer } from '../sharing/peerServer';
import { describeRecovery, finishRecovery, isDamage, recoverStore } from '../repair/recoverStore';
import type { Recovery } from '../repair/recoverStore';
import { scratchPrefix, selfTestOnce } from '../wasm/selfTest';
import type { Sqlite } from '../wasm/sqlite';
import { isStoreCall, openOperations } from './storeOperations';
import { openForWriting } from '../database/storeDatabase';
import type { StoreDatabase } from '../database/storeDatabase';
import { toStoreError } from '../database/connection';
import type { StoreFiles } from '../database/storeFiles';
import type { StoreCall } from '../client/storeCalls';

export interface OwnedOptions {
  readonly address: PeerAddress | null;
  readonly me: { readonly label: string; readonly id: string; readonly holdings: Holdings };
  /** Other windows may have used the store under another owner until now. */
  readonly afterAnother: boolean;
  /** Builds the store anew from what can be read of it, whether or not it can be opened. */
  readonly repair: boolean;
  /** Every entry is checked at this pace while the store is idle. */
  readonly verifyPace: IdleDelays | undefined;
  /** Whether who lets go of the store goes on as one of the windows of its next owner. */
  readonly comesBack: () => boolean;
  /** The store cannot be used any more, because another process has taken over; it has been let go of. */
  readonly onLost: () => void;
  /** Another window is to own it. */
  readonly onHandOver: () => void;
}

interface Opened {
  readonly files: StoreFiles;
  readonly lease: Lease;
  readonly server: PeerServer | null;
  readonly database: StoreDatabase;
  readonly status: StoreStatus;
}

/** The store as its owner has it: open for writing, and served to other windows. */
export class StoreOwner implements OpenedStore {
  private readonly service: StoreService;
  private readonly idle: readonly IdleTask[];
  private readonly me: StoreWindow;
  private readonly windows: WindowList;
  private isLetGo = false;
  private current: StoreStatus;
  private isLost = false;

  private constructor(
    private readonly opened: Opened,
    private readonly options: OwnedOptions,
    private readonly events: HostEvents,
  ) {
    const { files, lease, server, database, status } = opened;
    this.current = status;
    const core = openOperations(database.connection, files.folder, 'owner');
    this.idle = [
      // Where every commit writes the whole file, the index is brought up to date by searches alone.
      ...(status.durability === 'file'
        ? [indexWhenIdle(core.index, (error) => events.onLog('warn', 'store_indexing_failed', { error: this.failed(error).message }))]
        : []),
      verifyWhenIdle(
        database.connection,
        {
          onDone: (damage, entries) => this.checked(damage, entries),
          onError: (error) => events.onLog('warn', 'store_check_failed', { error: errorText(error) }),
        },
        options.verifyPace,
      ),
    ];
    const { label, id, holdings } = options.me;
    const windows = new WindowList({
      file: files.windows,
      me: { id, process: thisProcess() },
      afterAnother: options.afterAnother || lease.inherited,
      isOurs: () => isHeld(lease),
    });
    this.windows = windows;
    const service = new StoreService(core, windows.returned);
    this.service = service;
    this.me = { label, notify: (change) => events.onChange(change) };
    service.join(this.me, holdings);
    server?.serve({
      isCall: isStoreCall,
      status: () => this.status,
      service: {
        join: (window, joined, listed) => {
          service.join(window, joined);
          if (listed) windows.joined(window, listed);
        },
        leave: (window) => {
          service.leave(window);
          windows.left(window);
        },
        call: (window, method, args) => this.callFor(window, method, args),
      },
    });
  }

  /** Throws with every file as it was, the lease still held. */
  static async open(sqlite: Sqlite, files: StoreFiles, lease: Lease, options: OwnedOptions, events: HostEvents): Promise<StoreOwner> {
    // Before the store is opened, which may take a while: other windows wait where they can see that they are not alone.
    const server = await listen(files, options.address, events);
    try {
      finishRecovery(files);
      removeLeftovers(files);
      const problem = selfTestOnce(sqlite, files.folder);
      const durability = problem === null ? 'file' : 'export';
      if (problem !== null) events.onLog('warn', 'store_self_test_failed', { problem });
      const { database, recovery } = openOrRecover(sqlite, files, lease, durability, options.repair, events);
      if (database.olderThanExpected) events.onLog('warn', 'store_older_than_expected', { file: files.main });
      const note: StoreStatus['note'] = recovery
        ? { reason: 'recovered', detail: describeRecovery(recovery) }
        : problem === null
          ? null
          : { reason: 'self_test_failed', detail: problem };
      return new StoreOwner(
        { files, lease, server, database, status: { access: 'owner', durability, note, file: files.main } },
        options,
        events,
      );
    } catch (error) {
      server?.close();
      throw error;
    }
  }

  get status(): StoreStatus {
    return this.current;
  }

  get nonce(): string {
    return this.opened.lease.nonce;
  }

  call(method: StoreCall, args: readonly unknown[]): unknown {
    return this.callFor(this.me, method, args);
  }

  refresh(): void {
    // The owner has what is newest.
  }

  close(): void {
    const { lease, database, server } = this.opened;
    this.letGo();
    try {
      lease.verify();
      database.close();
    } catch (error) {
      this.events.onLog('warn', 'store_close_failed', { error: String(error) });
      database.abandon();
    } finally {
      lease.release();
      // Last: whoever is cut off finds the store closed and free.
      server?.close();
    }
  }

  abandon(): void {
    const { lease, database, server } = this.opened;
    this.letGo();
    database.abandon();
    lease.release();
    server?.close();
  }

  private callFor(window: StoreWindow, method: StoreCall, args: readonly unknown[]): unknown {
    if (method === 'takeOver') return window === this.me ? undefined : this.handOver(window);
    for (const task of this.idle) task.touch();
    try {
      const result = this.service.call(window, method, args);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: unknown) => {
        throw this.failed(error);
      });
    } catch (error) {
      throw this.failed(error);
    }
  }

  private handOver(to: StoreWindow): void {
    const { lease } = this.opened.files;
    if (!isReservedByAnother(lease)) throw new StoreError('conflict', english('{0} is not reserved', lease));
    // It opens the store anew: nobody need wait for it under the name that it had.
    this.windows.left(to);
    this.options.onHandOver();
  }

  /** Every error of the store passes here, whoever asked. */
  private failed(error: unknown): StoreError {
    const { folder } = this.opened.files;
    // What was waiting for other windows finds the database closed: it is asked again where the store is open next.
    if (this.isLetGo) return new StoreError('lease_lost', english('{0}: the store is closed', folder));
    const known = toStoreError(error, undefined, folder);
    if (known.reason === 'lease_lost' && !this.isLost) {
      this.isLost = true;
      this.options.onLost();
    }
    return known;
  }

  /** Every entry has been compared with its checksum, or as many as could be read. */
  private checked(damage: string | null, entries: number): void {
    const { events, opened } = this;
    events.onLog(damage === null ? 'info' : 'warn', 'store_checked', { entries, damage });
    if (damage === null) return;
    this.current = { ...this.current, note: { reason: 'damage_found', detail: damage } };
    events.onStatus(this.current, opened.lease.nonce);
    opened.server?.tell(this.current);
  }

  /** While the lease still is ours: the next owner reads the list of windows as soon as it is not. */
  private letGo(): void {
    this.isLetGo = true;
    for (const task of this.idle) task.stop();
    this.windows.close(this.options.comesBack());
  }
}

function isHeld(lease: Lease): boolean {
  try {
    lease.verify();
    return true;
  } catch {
    return false;
  }
}

/** Null when other windows cannot be served: they read a copy then. */
async function listen(files: StoreFiles, address: PeerAddress | null, events: HostEvents): Promise<PeerServer | null> {
  if (!address) return null;
  try {
    removeDeadSockets(files.folder, address);
    return await PeerServer.listen(address, (event, data) => events.onLog('warn', event, data));
  } catch (error) {
    events.onLog('warn', 'store_not_shared', { error: errorText(error) });
    return null;
  }
}

/** Only damage is recovered from, and only once: what fails for another reason, or again, is left as it is. */
function openOrRecover(
  sqlite: Sqlite,
  files: StoreFiles,
  lease: Lease,
  durability: 'file' | 'export',
  repair: boolean,
  events: HostEvents,
): { database: StoreDatabase; recovery?: Recovery } {
  const open = () =>
    openForWriting(
      sqlite,
      files,
      () => lease.verify(),
      durability,
      () => lease.beatIfDue(),
    );
  let reason = 'A repair was asked for';
  if (!repair) {
    try {
      return { database: open() };
    } catch (error) {
      if (!isDamage(error)) throw error;
      reason = error.message;
    }
  }
  const recovery = recoverStore(sqlite, files, reason, () => lease.verify());
  events.onLog('warn', 'store_recovered', { ...recovery });
  return { database: open(), recovery };
}

/** Scratch and lease files of processes that died halfway. Nobody else uses the former while we hold the lease. */
function removeLeftovers(files: StoreFiles): void {
  for (const name of readdirSync(files.folder)) {
    const path = join(files.folder, name);
    const isOldLease =
      /^owner\.lease\.[0-9a-f-]{36}$/.test(name) && (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < Date.now() - 3_600_000;
    if (name.startsWith(scratchPrefix) || isOldLease || /\.tmp(\.live|\.undo)?$/.test(name)) rmSync(path, { force: true });
  }
}
