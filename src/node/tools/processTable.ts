import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Null where the system does not say. */
  readonly session: number | null;
  /** It names one process for good, together with `pid`: numbers are given again. */
  readonly started: string;
  /** Variables that it was started with, perhaps with its arguments; empty where the system does not say. */
  readonly environment: string;
}

/**
 * The processes that run now, without those that have ended and were not asked about yet. Synchronous, so that it can be read while
 * a window closes. Empty where it cannot be read.
 */
export function listProcesses(platform: NodeJS.Platform = process.platform): ProcessRow[] {
  try {
    if (platform === 'win32') return [];
    if (platform === 'linux') return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? fromProc(Number(name)) : []));
    // `-E` is how the ps of macOS is asked for variables. It keeps those of Apple's own programs to itself.
    return parsePs(
      execFileSync('ps', ['-axEww', '-o', 'pid=,ppid=,pgid=,stat=,lstart=,command='], {
        encoding: 'utf8',
        maxBuffer: 256 * 1024 * 1024,
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    );
  } catch {
    return [];
  }
}

export function parsePs(output: string): ProcessRow[] {
  return output.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, started, environment] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+ +\S+ +\S+ +\S+ +\d{4})\s(.*)$/.exec(line) ?? [];
    if (pid === undefined || state!.startsWith('Z')) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: null,
        started: started!,
        environment: environment!.trimStart(),
      },
    ];
  });
}

function fromProc(pid: number): ProcessRow[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces and parentheses itself.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, parent, group, session] = fields;
    if (state === 'Z' || state === 'X') return [];
    return [
      {
        pid,
        parent: Number(parent),
        group: Number(group),
        session: Number(session),
        started: fields[19]!,
        environment: environmentOf(pid),
      },
    ];
  } catch {
    return [];
  }
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // It is somebody else's.
    return '';
  }
}
