import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A process that starts others while it is ended is looked for again. */
const mostRounds = 20;

/**
 * The processes of one command, also those that have left its group and session or have lost their parent (`nohup`, `setsid`, a double
 * fork): whatever carries the command's mark among its variables, stands in its group or session, or descends from one of those. What
 * was seen once stays known, for its parent may be ended first.
 */
export class CommandFamily {
  private readonly known = new Set<string>();

  /** `mark`: `NAME=value`, the beginning of a variable. `shell`: null when it has ended, and its number may be another's. */
  constructor(
    private readonly mark: string,
    private readonly shell: number | null,
  ) {}

  /** Sends a signal to all of them; with `SIGKILL` until none is left. */
  end(signal: NodeJS.Signals): void {
    // Looked up first: once the shell has ended, what has left its session and its variables has no parent to be known by.
    let members = this.members();
    if (this.shell !== null) send(-this.shell, signal);
    for (let round = 0; round < mostRounds; round++) {
      for (const { pid } of members) send(pid, signal);
      if (signal !== 'SIGKILL') return;
      members = this.members();
      if (members.length === 0) return;
    }
  }

  private members(): readonly ProcessRow[] {
    const rows = listProcesses().filter(({ pid }) => pid !== process.pid);
    const found = new Set(rows.filter((row) => this.isMember(row)));
    const ids = new Set([...found].map(({ pid }) => pid));
    for (let size = -1; size !== found.size; ) {
      size = found.size;
      for (const row of rows) {
        if (!ids.has(row.parent)) continue;
        found.add(row);
        ids.add(row.pid);
      }
    }
    for (const row of found) this.known.add(nameOf(row));
    return [...found];
  }

  private isMember(row: ProcessRow): boolean {
    const { shell } = this;
    return (
      (shell !== null && (row.pid === shell || row.group === shell || row.session === shell)) ||
      row.environment.includes(this.mark) ||
      this.known.has(nameOf(row))
    );
  }
}

function nameOf({ pid, started }: ProcessRow): string {
  return `${pid} ${started}`;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

interface ProcessRow {
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
function listProcesses(platform: NodeJS.Platform = process.platform): ProcessRow[] {
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
