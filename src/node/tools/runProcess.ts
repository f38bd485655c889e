import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import type { CommandEnd } from '../../core/tools/toolWorkspace';
import { utf8Command } from './utf8Command';

/** Between asking a process to end and ending it. */
const graceMs = 1_000;
/** What has been started in the background may hold the output open; it is not waited for longer than this. */
const pipesMs = 500;

/**
 * Runs a command line in the system's shell, without input. When the signal is aborted the process and all it has started are
 * ended. Rejects only when the shell cannot be started.
 */
export function runProcess(command: string, cwd: string, onOutput: (text: string) => void, signal: AbortSignal): Promise<CommandEnd> {
  return new Promise((resolve, reject) => {
    const isPosix = process.platform !== 'win32';
    // A group of its own, so that the whole tree can be ended.
    const child = spawn(utf8Command(command, process.platform, process.env['ComSpec']), { cwd, shell: true, detached: isPosix, windowsHide: true, stdio: ['ignore', 'pipe', 'pipe'], env: environment() });
    let force: NodeJS.Timeout | undefined;
    const end = () => {
      endTree(child, 'SIGTERM');
      force = setTimeout(() => endTree(child, 'SIGKILL'), graceMs);
    };
    const done = (outcome: CommandEnd) => {
      signal.removeEventListener('abort', end);
      child.stdout.destroy();
      child.stderr.destroy();
      if (signal.aborted) endTree(child, 'SIGKILL');
      clearTimeout(force);
      resolve(outcome);
    };
    child.stdout.setEncoding('utf8').on('data', onOutput);
    child.stderr.setEncoding('utf8').on('data', onOutput);
    child.once('error', (error) => {
      signal.removeEventListener('abort', end);
      reject(error);
    });
    child.once('exit', (code, killed) => {
      const outcome = { code, signal: killed };
      const open = setTimeout(() => done(outcome), pipesMs);
      child.once('close', () => {
        clearTimeout(open);
        done(outcome);
      });
    });
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}

function endTree(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') spawnSync('taskkill', ['/pid', String(child.pid), '/T', '/F'], { windowsHide: true });
    else process.kill(-child.pid, signal);
  } catch {
    // It has ended by itself.
  }
}

/** Of the user's shell, without our own keys and what VS Code's extension host has set for itself; programs that page or ask do neither. */
function environment(): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ANTHROPIC_|OPENAI_|VSCODE_|ELECTRON_|THREADKEEPER_)/i.test(name)));
  // Python asks no console when its output is a pipe.
  const python = process.platform === 'win32' ? { PYTHONIOENCODING: 'utf-8' } : {};
  return { ...python, ...env, PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', TERM: 'dumb' };
}
