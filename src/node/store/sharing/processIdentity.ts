import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import * as z from 'zod/mini';

/** Tells one process from every other one, also from a later one with the same pid. Null: this system cannot say. */
export const ProcessIdentity = z.object({
  pid: z.number(),
  host: z.string(),
  /** Changes with every start of the machine. */
  bootId: z.nullable(z.string()),
  /** Containers share folders but count their processes apart. */
  pidNamespace: z.nullable(z.string()),
  startTime: z.nullable(z.string()),
});
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

/**
 * `unknown`: it may live where we cannot look; only watching its heartbeat can tell. `there`: a process with its pid runs, but this
 * system (Windows) does not say since when, so it may be another one.
 */
export type Liveness = 'alive' | 'there' | 'dead' | 'unknown';

let own: ProcessIdentity | undefined;

export function thisProcess(): ProcessIdentity {
  own ??= {
    pid: process.pid,
    host: hostname(),
    bootId: bootId(),
    pidNamespace: attempt(() => readlinkSync('/proc/self/ns/pid')),
    startTime: startTime(process.pid),
  };
  return own;
}

/**
 * Whether the process still runs. `lastSign` is when it last gave a sign of life. Our own pid is `unknown`, not `alive`: the
 * sign comes from a worker thread, which may have died alone.
 */
export function livenessOf(process: ProcessIdentity, lastSign: number, me: ProcessIdentity = thisProcess()): Liveness {
  const sameMachine = process.host === me.host && process.bootId === me.bootId;
  const beforeStart = lastSign < Date.now() - uptime() * 1000 - 5000;
  // The same machine before its last start, unless another one bears its name: that one would have given a sign since.
  if (!sameMachine) return process.host === me.host && process.bootId !== null && beforeStart ? 'dead' : 'unknown';
  if (process.bootId === null && beforeStart) return 'dead';
  if (process.pidNamespace !== me.pidNamespace) return 'unknown';
  if (process.pid === me.pid) return process.startTime === me.startTime ? 'unknown' : 'dead';
  if (!exists(process.pid)) return 'dead';
  const started = startTime(process.pid);
  if (started === null || process.startTime === null) return 'there';
  return started === process.startTime ? 'alive' : 'dead';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function bootId(): string | null {
  if (process.platform === 'linux') return attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  if (process.platform === 'darwin') return attempt(() => run('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']));
  return null;
}

/** `ended` for a process that its parent has not yet collected: it differs from every start time, as it should. */
export function startTime(pid: number, platform = process.platform): string | null {
  if (platform === 'linux') return attempt(() => linuxStartTime(readFileSync(`/proc/${pid}/stat`, 'utf8')));
  if (platform === 'darwin') return attempt(() => run('/bin/ps', ['-o', 'lstart=', '-p', String(pid)]));
  return null;
}

function linuxStartTime(stat: string): string {
  // The name in parentheses may hold spaces and parentheses itself. Fields after it: state, …, the 20th is the start time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const isZombie = fields[0] === 'Z' || fields[0] === 'X';
  return isZombie ? 'ended' : (fields[19] ?? '');
}

/** It runs in no language and no time zone: both windows of a traveller have to be told the same. */
function run(command: string, args: string[]): string {
  return execFileSync(command, args, {
    env: { LC_ALL: 'C', TZ: 'UTC' },
    encoding: 'utf8',
    timeout: 2000,
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

function attempt<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}
