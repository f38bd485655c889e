import * as z from 'zod/mini';
import { CancelledError } from '../errors';
import { english } from '../l10n';
import { isForked } from './repairLogs';
import type { Opened, SealedRecord, Sealer, SessionKey } from './sealedRecord';
import type { EngineHead, SyncEngine } from './syncEngine';
import type { Held, ReceivedRow, SyncReplica } from './syncReplica';

/**
 * What is wrong with a log as the engine gives it. Nothing of the log from there on is merged until it has come whole; what is here
 * stays. `newer` and `no_key` are carried on unread.
 */
export const Problem = z.object({
  kind: z.enum(['missing', 'damaged', 'forked', 'no_key', 'newer', 'key_refused']),
  device: z.string(),
  index: z.number(),
  detail: z.string(),
});
export type Problem = z.infer<typeof Problem>;

export interface PullDeps {
  readonly replica: SyncReplica;
  readonly engine: SyncEngine;
  readonly sealer: Sealer;
  readonly onProgress?: (progress: { readonly pulled: number; readonly of: number }) => void;
  /** Ends it between two answers of the engine. */
  readonly signal?: AbortSignal;
}

/** Takes over what other devices have added; returns how many rows. */
export async function pullLogs(deps: PullDeps, heads: readonly EngineHead[], problems: Problem[]): Promise<number> {
  const held = await deps.replica.held();
  const nextOf = (device: string) => held.logs.find((log) => log.device === device)?.next ?? 0;
  const others = heads.filter(({ device }) => device !== held.device);
  const of = others.reduce((sum, head) => sum + Math.max(0, head.next - nextOf(head.device)), 0);
  let pulled = await readAgain(deps, held, problems);
  for (const head of others) {
    const log = held.logs.find(({ device }) => device === head.device) ?? { device: head.device, next: 0, mark: 0 };
    if (head.next <= log.next) {
      if (await isForked(deps.replica, head, log.next))
        problems.push({
          kind: 'forked',
          device: head.device,
          index: head.next - 1,
          detail: english('the engine has other records than it had'),
        });
      continue;
    }
    pulled += await pullLog(deps, head, log, problems, (rows) => deps.onProgress?.({ pulled: pulled + rows, of }));
  }
  return pulled;
}

async function pullLog(
  deps: PullDeps,
  head: EngineHead,
  log: { readonly next: number; readonly mark: number },
  problems: Problem[],
  onProgress: (rows: number) => void,
): Promise<number> {
  const { replica, engine, sealer, signal } = deps;
  const { device } = head;
  let { next, mark } = log;
  const problem = (kind: Problem['kind'], index: number, detail: string) => problems.push({ kind, device, index, detail });
  while (next < head.next) {
    if (signal?.aborted) throw new CancelledError();
    const answer = await engine.pull({ device, from: next, to: head.next });
    if (answer.length === 0) {
      problem('missing', next, english('the engine does not give the records that it says it has'));
      break;
    }
    const { opened: contents, keys } = await openAll(deps, answer, problems);
    const good: ReceivedRow[] = [];
    let isWhole = true;
    for (const [position, row] of answer.entries()) {
      const opened = contents[position]!;
      const fault = faultOf(row, device, next, mark, sealer) ?? (opened.kind === 'damaged' ? opened : null);
      if (fault) {
        problem(fault.kind, next, fault.detail);
        isWhole = false;
        break;
      }
      if (opened.kind === 'newer') noteNewer(problems, device, row.index);
      good.push({
        row,
        change: opened.kind === 'change' ? opened.change : null,
        ...(opened.kind === 'no_key' ? { unread: { session: opened.session, keyId: opened.keyId } } : {}),
        ...(opened.kind === 'newer' ? { unread: { session: '', keyId: '' } } : {}),
      });
      next = row.index + 1;
      mark = row.mark;
    }
    if (good.length > 0 || keys.length > 0) await replica.receive(good, keys);
    onProgress(next - log.next);
    if (!isWhole) break;
  }
  return next - log.next;
}

function faultOf(
  row: SealedRecord,
  device: string,
  next: number,
  mark: number,
  sealer: Sealer,
): { readonly kind: 'missing' | 'damaged'; readonly detail: string } | null {
  if (row.device !== device) return { kind: 'damaged', detail: english('it belongs to another log') };
  if (row.index > next) return { kind: 'missing', detail: english('{0} records are not there', row.index - next) };
  if (row.index < next) return { kind: 'damaged', detail: english('it comes twice or out of order') };
  if (sealer.mark(mark, row) !== row.mark) return { kind: 'damaged', detail: english('it does not follow the record before it') };
  return null;
}

/** Opens the rows, as far as their keys are here. */
export async function openHere(
  { replica, sealer }: Pick<PullDeps, 'replica' | 'sealer'>,
  rows: readonly SealedRecord[],
): Promise<readonly Opened[]> {
  const opened = rows.map((row) => sealer.open(row));
  const ids = new Set(opened.flatMap((one) => (one.kind === 'no_key' ? [one.keyId] : [])));
  if (ids.size === 0) return opened;
  sealer.addKeys(await replica.keys({ ids: [...ids] }));
  return opened.map((one, position) => (one.kind === 'no_key' ? sealer.open(rows[position]!) : one));
}

/** Opens the rows, with keys of the engine's where a row needs one that nobody here has seen yet; those come back. */
export async function openAll(
  deps: Pick<PullDeps, 'replica' | 'engine' | 'sealer'>,
  rows: readonly SealedRecord[],
  problems: Problem[],
): Promise<{ readonly opened: readonly Opened[]; readonly keys: readonly SessionKey[] }> {
  const { engine, sealer } = deps;
  const first = await openHere(deps, rows);
  const wanted = new Map(first.flatMap((opened, position) => (opened.kind === 'no_key' ? [[opened.keyId, rows[position]!] as const] : [])));
  if (wanted.size === 0) return { opened: first, keys: [] };
  const { accepted, refused } = sealer.addKeys(await engine.keys([...wanted.keys()]));
  for (const id of refused) {
    const { device, index } = wanted.get(id) ?? { device: '', index: -1 };
    problems.push({ kind: 'key_refused', device, index, detail: english('the key of its session was changed') });
  }
  const opened = first.map((one, position) => (one.kind === 'no_key' ? sealer.open(rows[position]!) : one));
  return { opened, keys: accepted };
}

/** Rows that were carried on unread: their keys may have come by now. Returns how many can be read. */
async function readAgain(deps: PullDeps, held: Held, problems: Problem[]): Promise<number> {
  if (held.unread.length === 0) return 0;
  const { replica } = deps;
  const rows: SealedRecord[] = [];
  for (const range of rangesOf(held.unread)) {
    while (range.from < range.to) {
      const found = await replica.rows(range);
      if (found.length === 0) break;
      rows.push(...found);
      range.from += found.length;
    }
  }
  const { opened: contents, keys } = await openAll(deps, rows, problems);
  const read: ReceivedRow[] = [];
  for (const [position, row] of rows.entries()) {
    const opened = contents[position]!;
    if (opened.kind === 'change') read.push({ row, change: opened.change });
    else if (opened.kind === 'newer') noteNewer(problems, row.device, row.index);
    else problems.push({ kind: 'no_key', device: row.device, index: row.index, detail: english('the key of its session is not there') });
  }
  // Keys are kept for later also where nothing could be read with them.
  if (read.length > 0 || keys.length > 0) await replica.receive(read, keys);
  return read.length;
}

/** One for each log, however much of it a newer program has written: all of it is read after one update. */
function noteNewer(problems: Problem[], device: string, index: number): void {
  if (problems.some((one) => one.kind === 'newer' && one.device === device)) return;
  problems.push({ kind: 'newer', device, index, detail: english('a newer version of Threadkeeper has written it: update to read it') });
}

function rangesOf(places: Held['unread']): readonly { device: string; from: number; to: number }[] {
  const ranges: { device: string; from: number; to: number }[] = [];
  for (const { device, index } of places) {
    const last = ranges.at(-1);
    if (last?.device === device && last.to === index) last.to++;
    else ranges.push({ device, from: index, to: index + 1 });
  }
  return ranges;
}
