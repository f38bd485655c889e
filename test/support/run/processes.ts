import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { waitFor } from '../waitFor';

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** The running processes; zombies are left out. On Windows the list is empty: use `endTree`. */
function listProcesses(): ProcessInfo[] {
  if (process.platform === 'linux') return fromProc();
  return process.platform === 'win32' ? [] : fromPs();
}

/** Every process below `root`, parents before children, without `root` itself. */
export function descendants(root: number): ProcessInfo[] {
  const all = listProcesses();
  const found: ProcessInfo[] = [];
  const parents = [root];
  for (const parent of parents) {
    for (const info of all) {
      if (info.parent !== parent) continue;
      found.push(info);
      parents.push(info.pid);
    }
  }
  return found;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return process.platform !== 'linux' || statOf(pid)?.state !== 'Z';
}

/** SIGKILL for `root` and everything below it, at once. Safe in an exit handler; a dead `root` is no error. */
export function killTree(root: number): void {
  if (process.platform === 'win32') {
    attempt(() => execFileSync('taskkill', ['/T', '/F', '/PID', String(root)], { stdio: 'ignore' }));
    return;
  }
  for (const pid of [root, ...descendants(root).map((info) => info.pid)]) attempt(() => process.kill(pid, 'SIGKILL'));
}

/** SIGTERM for `root`; what is left of the tree after `grace` milliseconds is killed. Resolves when all are gone. */
export async function endTree(root: number, grace = 1_000): Promise<void> {
  const tree = [root, ...descendants(root).map((info) => info.pid)];
  const gone = () => tree.every((pid) => !isAlive(pid));
  attempt(() => process.kill(root, 'SIGTERM'));
  await waitFor('the processes to end', gone, { timeout: grace }).catch(() => killTree(root));
  // Children outlive a parent that was killed, so the list taken at the start is used and not the tree of now.
  for (const pid of tree) attempt(() => process.kill(pid, 'SIGKILL'));
  await waitFor('the processes to be gone', gone, { timeout: 10_000 });
}

function fromProc(): ProcessInfo[] {
  return readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    if (!stat || stat.state === 'Z') return [];
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return [{ pid: Number(name), parent: stat.parent, command }];
    } catch {
      return [];
    }
  });
}

function statOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces and parentheses itself.
    const [state = '', parent = ''] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function fromPs(): ProcessInfo[] {
  const lines = execFileSync('ps', ['-Ao', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid && parent ? [{ pid: Number(pid), parent: Number(parent), command: command ?? '' }] : [];
  });
}

function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // The process is gone already, which is what was wanted.
  }
}
