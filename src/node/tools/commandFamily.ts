import { listProcesses, type ProcessRow } from './processTable';

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
