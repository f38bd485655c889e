import {
  closeSync,
  futimesSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createHash, randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { CancelledError, StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { isReservedByAnother } from './leaseReservation';
import { PeerAddress } from './peerAddress';
import { livenessOf, ProcessIdentity, thisProcess } from './processIdentity';
import type { Liveness } from './processIdentity';
import { patientSync } from '../../runtime/patientRename';
import { systemClock } from '../../runtime/systemClock';

const LeaseRecord = z.object({
  /** It becomes part of a file's name. A file with anything else in its place is a damaged lease. */
  nonce: z.string().check(z.regex(/^[A-Za-z0-9-]{1,64}$/)),
  label: z.string(),
  since: z.number(),
  process: ProcessIdentity,
  /** Where the holder serves other windows; missing when it does not. */
  address: z.optional(PeerAddress),
});
export type LeaseRecord = z.infer<typeof LeaseRecord>;

export interface LeaseTiming {
  readonly beatMs: number;
  /** A holder that cannot be looked up by pid counts as dead after this many missed beats. */
  readonly missedBeats: number;
  /** The same of one whose pid is there, but may be another process's. */
  readonly missedWhenThere: number;
  readonly pollMs: number;
}

/**
 * What is done in one go, such as a repair, holds the heart up: 24 s for a process that most likely is the holder, which is less than
 * a window keeps watching before it begins anew (storeSupervisor.ts).
 */
export const defaultTiming: LeaseTiming = { beatMs: 1500, missedBeats: 5, missedWhenThere: 16, pollMs: 50 };

export interface AcquireOptions<J> {
  readonly label: string;
  /** Where the holder will be reached. */
  readonly address?: PeerAddress | null;
  /** Asked again and again while another process holds the lease; waiting ends when it resolves with something. */
  readonly join?: (holder: LeaseRecord) => Promise<J | undefined>;
  /** How long to wait for the holder to end; 0 looks once. */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
  readonly timing?: LeaseTiming;
  /** Whoever asks again and again with `waitMs` 0 keeps one watch: a single look cannot tell a silent holder from a dead one. */
  readonly watch?: HeartbeatWatch;
  /** Tests pass ones that fail as where there are no hard links, and as Windows does. */
  readonly link?: typeof linkSync;
  readonly read?: Read;
  readonly open?: typeof openSync;
}

type Read = (file: string) => string;

/**
 * The right to write a store, held by one process at a time. The lease is a file with the holder's nonce in it:
 *
 *   free ──link(own file, lease)──────────────────────────────▶ held ──release: unlink──▶ free
 *   held by a dead process (nonce N) ──link(own file, heir-N)──▶ sole heir ──rename(own file, lease)──▶ held
 *
 * A complete private file is linked into place, so the lease is never seen half-written. `heir-N` can be created once only,
 * so one racer of any number wins; an heir that died in between has a nonce of its own and is inherited from the same way.
 * Measured over 40 five-process races for a stale lease: unlink-and-retry had two winners in 10 of them, this in none.
 */
export class Lease {
  private readonly heartbeat: NodeJS.Timeout;
  private released = false;
  private lastBeat = performance.now();

  constructor(
    private readonly file: string,
    private readonly fd: number,
    readonly nonce: string,
    private readonly content: string,
    /** The holder before had died without releasing it. */
    readonly inherited: boolean,
    private readonly timing: LeaseTiming,
  ) {
    this.heartbeat = setInterval(() => this.beat(), timing.beatMs);
    this.heartbeat.unref();
  }

  /** Throws `lease_lost` when another process has taken over; called before every commit. */
  verify(): void {
    if (patientSync(() => readIfThere(this.file, readWhole)) !== this.content)
      throw new StoreError('lease_lost', english('{0}: another process has taken over', this.file));
  }

  /** Idempotent. A lease that was lost is left to its new holder. */
  release(): void {
    if (this.released) return;
    this.released = true;
    clearInterval(this.heartbeat);
    // First: Windows keeps the name of an open file until it is closed.
    closeSync(this.fd);
    releaseLease(this.file, this.nonce);
  }

  /** For the midst of work that lets no timer run. Never throws. */
  beatIfDue(): void {
    if (!this.released && performance.now() - this.lastBeat >= this.timing.beatMs) this.beat();
  }

  /** Touches the file by descriptor: a lease that was lost meanwhile is another file. */
  private beat(): void {
    this.lastBeat = performance.now();
    try {
      const now = Date.now() / 1000;
      futimesSync(this.fd, now, now);
    } catch {
      // The next commit finds out what is wrong.
    }
  }
}

/** Removes the lease if it still bears this nonce; also for a process whose store worker has died. */
export function releaseLease(file: string, nonce: string, read: Read = readWhole): void {
  patientSync(() => {
    const content = readIfThere(file, read);
    if (content !== null && parseRecord(content)?.nonce === nonce) rmSync(file, { force: true });
  });
}

/**
 * Takes the lease, or joins its holder, trying for up to `waitMs`. Resolves with the holder when neither has come about by then.
 * Rejects with the file system's error when the folder cannot be written, with `CancelledError` when aborted.
 */
export async function acquireLease<J = never>(
  file: string,
  options: AcquireOptions<J>,
): Promise<Lease | { joined: J } | { heldBy: LeaseRecord | null }> {
  const timing = options.timing ?? defaultTiming;
  const nonce = randomUUID();
  const record: LeaseRecord = {
    nonce,
    label: options.label,
    since: Date.now(),
    process: thisProcess(),
    ...(options.address ? { address: options.address } : {}),
  };
  const own = `${file}.${nonce}`;
  const watch = options.watch ?? new HeartbeatWatch(timing);
  const deadline = performance.now() + options.waitMs;
  const content = JSON.stringify(record);
  writeWhole(own, content);
  try {
    for (;;) {
      if (options.signal?.aborted) throw new CancelledError();
      const holder = tryAcquire(file, own, nonce, watch, options.link ?? linkSync, options.read);
      if (holder === 'won' || holder === 'inherited') {
        const fd = openWon(file, nonce, options.open ?? openSync);
        return new Lease(file, fd, nonce, content, holder === 'inherited', timing);
      }
      const joined = holder && (await options.join?.(holder));
      if (joined) return { joined };
      const waitOver = performance.now() >= deadline;
      if (waitOver && (options.waitMs === 0 || !watch.undecided)) return { heldBy: holder };
      await systemClock.sleep(timing.pollMs, options.signal);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/** One that cannot be opened is given back: as long as this process lives it would keep everybody out, this process as well. */
function openWon(file: string, nonce: string, open: typeof openSync): number {
  try {
    return patientSync(() => open(file, 'r+'));
  } catch (error) {
    releaseLease(file, nonce);
    throw error;
  }
}

function tryAcquire(
  file: string,
  own: string,
  nonce: string,
  watch: HeartbeatWatch,
  link: typeof linkSync,
  read?: Read,
): 'won' | 'inherited' | LeaseRecord | null {
  if (isReservedByAnother(file)) return readLease(file, read)?.record ?? null;
  if (linkExclusively(own, file, link)) return 'won';
  const found = readLease(file, read);
  if (!found) return null;
  if (watch.liveness(found) !== 'dead') return found.record;

  let heirFile = '';
  for (let dead = found; ; ) {
    heirFile = `${file}.heir-${dead.id}`;
    if (linkExclusively(own, heirFile, link)) break;
    const heir = readLease(heirFile, read);
    if (!heir || watch.liveness(heir) !== 'dead') return found.record;
    dead = heir;
  }
  // Whoever inherited before us has renamed by now: the lease then bears another nonce.
  if (readLease(file, read)?.id !== found.id) {
    rmSync(heirFile, { force: true });
    return found.record;
  }
  try {
    renameSync(own, file);
  } catch (error) {
    rmSync(heirFile, { force: true });
    // Windows: someone is reading the lease this very moment.
    if (['EPERM', 'EACCES', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '')) return found.record;
    throw error;
  }
  // All of these belong to earlier rounds: a racer that creates one again finds our nonce in the lease and gives up.
  const prefix = `${basename(file)}.heir-`;
  for (const name of readdirSync(dirname(file))) {
    if (name.startsWith(prefix) && name !== `${prefix}${nonce}`) rmSync(join(dirname(file), name), { force: true });
  }
  return 'inherited';
}

interface FoundLease {
  /** The nonce, or a hash of content that is not a lease (a file system without hard links shows half-written ones). */
  readonly id: string;
  readonly record: LeaseRecord | null;
  readonly lastSign: number;
}

/** Windows answers so for a file that is just being removed, or that a virus scanner has to itself. */
const notNow = ['EPERM', 'EBUSY'];

/** Who has the lease or had it last, dead or alive; null when nobody has, or it cannot be known at the moment. */
export function holderOf(file: string): LeaseRecord | null {
  return readLease(file)?.record ?? null;
}

/** Undefined: there is none, or it cannot be known at the moment. */
function readLease(file: string, read: Read = readWhole): FoundLease | undefined {
  try {
    const content = read(file);
    const lastSign = statSync(file).mtimeMs;
    const record = parseRecord(content);
    return { id: record?.nonce ?? createHash('sha256').update(content).digest('hex').slice(0, 32), record, lastSign };
  } catch (error) {
    if (['ENOENT', ...notNow].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function readWhole(file: string): string {
  return readFileSync(file, 'utf8');
}

/** Read without looking first: it may be removed at any moment. */
function readIfThere(file: string, read: Read): string | null {
  try {
    return read(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}

function parseRecord(content: string): LeaseRecord | null {
  try {
    return LeaseRecord.parse(JSON.parse(content));
  } catch {
    return null;
  }
}

/** Watches by our own clock whether a holder gives signs of life; clocks of containers and network drives differ. */
export class HeartbeatWatch {
  private readonly seen = new Map<string, { sign: number; since: number; beaten: boolean }>();
  /** A holder has neither given a sign nor missed enough of them yet. */
  undecided = false;

  constructor(private readonly timing: LeaseTiming = defaultTiming) {}

  liveness(lease: FoundLease): Liveness {
    this.undecided = false;
    const known = lease.record ? livenessOf(lease.record.process, lease.lastSign) : 'unknown';
    if (known === 'alive' || known === 'dead') return known;
    const now = performance.now();
    const before = this.seen.get(lease.id);
    if (!before || before.sign !== lease.lastSign) {
      this.seen.set(lease.id, { sign: lease.lastSign, since: now, beaten: before !== undefined });
    } else if (now - before.since > this.timing.beatMs * (known === 'there' ? this.timing.missedWhenThere : this.timing.missedBeats)) {
      return 'dead';
    }
    // One that most likely lives is not worth the wait.
    this.undecided = known === 'unknown' && this.seen.get(lease.id)?.beaten !== true;
    return 'unknown';
  }
}

/** Systems without hard links answer so; EISDIR comes from Windows on exFAT and FAT32. */
const noHardLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EISDIR'];

/** False when the target exists. Where there are no hard links the file is written in place instead. */
function linkExclusively(own: string, target: string, link: typeof linkSync): boolean {
  try {
    try {
      link(own, target);
    } catch (error) {
      if (!noHardLinks.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      writeWhole(target, readFileSync(own, 'utf8'));
    }
    return true;
  } catch (error) {
    // `own` could be written, so the folder can: Windows refuses the name of a file that is just being removed.
    if (['EEXIST', 'EPERM', 'EACCES', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** It is not synced: after a power cut the holder is gone anyway. */
function writeWhole(file: string, content: string): void {
  writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
}
