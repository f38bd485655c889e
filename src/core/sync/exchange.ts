import type { Change } from './change';
import { versionOf } from './change';
import { openHere, pullLogs, type Problem } from './pullLogs';
import { pullNewest } from './pullNewest';
import { forkPoint, isForked, refill } from './repairLogs';
import type { SealedRecord, Sealer, SessionKey, WrappedKey } from './sealedRecord';
import type { EngineHead, SyncEngine } from './syncEngine';
import type { SyncReplica } from './syncReplica';

/** Rows and bytes that go to the engine, or come from it, at once. */
const mostRows = 500;
const mostBytes = 1024 * 1024;

export interface SyncDeps {
  readonly replica: SyncReplica;
  readonly engine: SyncEngine;
  readonly sealer: Sealer;
  /** UUIDs, of records and of a device that begins anew. */
  readonly newId: () => string;
  readonly onProgress?: (progress: { readonly pulled: number; readonly of: number }) => void;
  /** Called when what was said last can be read, while the rest of a history that is new here is still to come. */
  readonly onUsable?: () => void;
  /** Ends it with `CancelledError` between two answers of the engine. */
  readonly signal?: AbortSignal;
}

export interface SyncReport {
  readonly pulled: number;
  readonly pushed: number;
  /** Rows that the engine had lost and has again. */
  readonly refilled: number;
  /** It had lost rows of this device that stand at the end of its log: attachments may be gone with them. */
  readonly hadLost?: true;
  /** The store was older than the engine's copy of its log, or a copy of another: it goes on as another device. */
  readonly renewed: boolean;
  readonly problems: readonly Problem[];
}

/**
 * Brings one replica and the engine to the same rows. It may end anywhere, by a crash or by the engine: what was done stays, and the next
 * call does the rest. Where nothing is new it asks the engine once, for a turn that was said twice. Rejects with `EngineError` or
 * `StoreError`.
 */
export async function syncOnce(deps: SyncDeps): Promise<SyncReport> {
  const { replica, engine } = deps;
  const heads = await engine.heads();
  const before = await replica.held();
  const renewed = await renewIfForked(deps, heads);
  if (before.waitsForTurn) await replica.receive([], []);
  const problems: Problem[] = [];
  const others = heads.filter(({ device }) => device !== before.device);
  const isNewHere = !before.logs.some(({ device }) => device !== before.device);
  if (isNewHere && (await pullNewest(deps, others)) > 0) deps.onUsable?.();
  const pulled = await pullLogs(deps, heads, problems);
  await drain(deps);
  const held = await replica.held();
  let pushed = 0;
  const own = held.logs.find(({ device }) => device === held.device);
  const there = heads.find(({ device }) => device === held.device)?.next ?? 0;
  // Where rows of an earlier time are not there, the engine may have lost them, and keys with them.
  const mayLack = before.logs.some(({ device, next }) => device === held.device && there < next);
  if (own)
    pushed = await pushRange(
      deps,
      { device: own.device, from: there, to: own.next },
      mayLack ? await replica.keys('all') : held.keysToPush,
    );
  const refilled = await refill(heads, held, engine, async (range) => {
    // An engine that has lost rows may have lost keys, and have keys again that were let go.
    await engine.push([], (await replica.keys('all')).map(bare));
    if (held.droppedKeys.length > 0) await engine.dropKeys(held.droppedKeys);
    return pushRange(deps, range, []);
  });
  if (held.keysToDrop.length > 0) {
    await engine.dropKeys(held.keysToDrop);
    await replica.settleKeys([], held.keysToDrop);
  }
  return { pulled, pushed, refilled, ...(mayLack ? { hadLost: true } : {}), renewed, problems };
}

/** Seals what has changed here into the device's own log. It needs no engine. */
export async function drain({ replica, sealer, newId }: Pick<SyncDeps, 'replica' | 'sealer' | 'newId'>): Promise<void> {
  for (;;) {
    const { changes, receipt, isLast } = await replica.pending(mostRows);
    if (receipt) {
      const { device, logs } = await replica.held();
      const own = logs.find((log) => log.device === device);
      sealer.addKeys(await replica.keys({ sessions: [...new Set(changes.map(({ session }) => session))] }));
      const { rows, keys } = sealAll(sealer, changes, { device, next: own?.next ?? 0, mark: own?.mark ?? 0 }, newId);
      await replica.write(rows, keys, receipt);
    }
    if (isLast) return;
  }
}

function sealAll(
  sealer: Sealer,
  changes: readonly Change[],
  log: { readonly device: string; readonly next: number; readonly mark: number },
  newId: () => string,
): { readonly rows: readonly SealedRecord[]; readonly keys: readonly SessionKey[] } {
  const rows: SealedRecord[] = [];
  const keys: SessionKey[] = [];
  let { mark, next } = log;
  for (const change of changes) {
    const place = { device: log.device, index: next++, id: newId(), version: versionOf(change) };
    const { sealed, newKey } = sealer.seal(place, change);
    if (newKey) keys.push(newKey);
    mark = sealer.mark(mark, { ...place, sealed });
    rows.push({ ...place, mark, sealed });
  }
  return { rows, keys };
}

/** Rows of the own log that the engine has otherwise are told again by a device that begins now; none of either is lost. */
async function renewIfForked({ replica, engine, sealer, newId }: SyncDeps, heads: readonly EngineHead[]): Promise<boolean> {
  const held = await replica.held();
  const head = heads.find(({ device }) => device === held.device);
  const own = held.logs.find(({ device }) => device === held.device);
  if (!head || !(await isForked(replica, head, own?.next ?? 0))) return false;
  const from = await forkPoint(replica, engine, held.device, Math.min(head.next, own?.next ?? 0));
  const changes: Change[] = [];
  for (let at = from; at < (own?.next ?? 0); ) {
    const rows = await replica.rows({ device: held.device, from: at, to: own?.next ?? 0 });
    for (const opened of await openHere({ replica, sealer }, rows)) if (opened.kind === 'change') changes.push(opened.change);
    at += rows.length;
    if (rows.length === 0) break;
  }
  const device = newId();
  const { rows, keys } = sealAll(sealer, changes, { device, next: 0, mark: 0 }, newId);
  await replica.renew(device, from, rows, keys);
  return true;
}

async function pushRange(
  { replica, engine }: SyncDeps,
  { device, from, to }: { readonly device: string; readonly from: number; readonly to: number },
  keys: readonly SessionKey[],
): Promise<number> {
  let unsent = keys;
  let pushed = 0;
  for (let at = from; at < to; ) {
    const rows = bounded(await replica.rows({ device, from: at, to }));
    if (rows.length === 0) break;
    await engine.push(rows, unsent.map(bare));
    if (unsent.length > 0)
      await replica.settleKeys(
        unsent.map(({ id }) => id),
        [],
      );
    unsent = [];
    at += rows.length;
    pushed += rows.length;
  }
  return pushed;
}

function bounded(rows: readonly SealedRecord[]): readonly SealedRecord[] {
  let bytes = 0;
  const end = rows.findIndex(({ sealed }, index) => (bytes += sealed.length) > mostBytes && index > 0);
  return rows.slice(0, Math.min(mostRows, end === -1 ? rows.length : end));
}

/** The engine is not told whose a key is. */
function bare({ id, wrapped }: SessionKey): WrappedKey {
  return { id, wrapped };
}
