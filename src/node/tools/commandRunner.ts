import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Disposable } from '../../core/base/disposable';
import { commandEnvironment, type VariableChoice } from '../../core/tools/command/commandEnvironment';
import type { CommandEnd } from '../../core/tools/toolWorkspace';
import { CommandFamily } from './commandFamily';

/** Between asking a process to end and ending it. */
const graceMs = 1_000;
/** What has been started in the background may hold the output open; it is not waited for longer than this. */
const pipesMs = 500;
/** Variable by which all that a command has started is found again. */
const markName = 'THREADKEEPER_COMMAND';

/**
 * Runs command lines in the system's shell, without input and without secrets. A command that is ended is ended with everything it has
 * started; what a command that ended by itself has left in the background runs on until this is disposed of.
 */
export class CommandRunner implements Disposable {
  private readonly mark = `${markName}=${randomUUID()}-`;
  private readonly running = new Map<ChildProcess, CommandFamily>();
  private started = 0;

  constructor(private readonly choice: () => VariableChoice = () => ({ pass: [], withhold: [] })) {}

  /** Names of the variables that no command gets at the moment. */
  get withheld(): readonly string[] {
    return commandEnvironment(process.env, this.choice()).withheld;
  }

  /** As `ToolWorkspace` has it. */
  get runsOneLine(): boolean {
    return isCmd(process.platform, process.env['ComSpec']);
  }

  /** When the signal is aborted the process and all it has started are ended. Rejects only when the shell cannot be started. */
  run(command: string, cwd: string, onOutput: (text: string) => void, signal: AbortSignal): Promise<CommandEnd> {
    return new Promise((resolve, reject) => {
      const isPosix = process.platform !== 'win32';
      const mark = `${this.mark}${++this.started}.`;
      // A session and a group of its own, so that the whole tree can be ended.
      const child = spawn(utf8Command(command, process.platform, process.env['ComSpec']), {
        cwd,
        shell: true,
        detached: isPosix,
        windowsHide: true,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: this.environment(mark),
      });
      const family = new CommandFamily(mark, child.pid ?? null);
      this.running.set(child, family);
      let force: NodeJS.Timeout | undefined;
      const kill = (how: NodeJS.Signals) => (isPosix ? family.end(how) : endOnWindows(child));
      const end = () => {
        kill('SIGTERM');
        force = setTimeout(() => kill('SIGKILL'), graceMs);
      };
      const forget = () => {
        signal.removeEventListener('abort', end);
        this.running.delete(child);
      };
      const done = (outcome: CommandEnd) => {
        forget();
        child.stdout.destroy();
        child.stderr.destroy();
        clearTimeout(force);
        if (signal.aborted) kill('SIGKILL');
        resolve(outcome);
      };
      child.stdout.setEncoding('utf8').on('data', onOutput);
      child.stderr.setEncoding('utf8').on('data', onOutput);
      child.once('error', (error) => {
        forget();
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

  /**
   * For a shell that another program starts: what it gets, what has to be taken out of it where that program adds variables of its own,
   * and how all it has started is ended; when this is disposed of, that ends as well.
   */
  claim(): { readonly environment: Readonly<Record<string, string>>; readonly unwanted: readonly string[]; readonly end: () => void } {
    const mark = `${this.mark}${++this.started}.`;
    const entries = Object.entries(this.environment(mark)).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const environment = Object.fromEntries(entries);
    const unwanted = Object.keys(process.env).filter((name) => !Object.hasOwn(environment, name));
    return { environment, unwanted, end: () => new CommandFamily(mark, null).end('SIGKILL') };
  }

  /** Ends at once whatever is left of all commands. Synchronous: a window that closes waits for nothing. */
  dispose(): void {
    if (this.started === 0) return;
    for (const [child, family] of this.running) {
      if (process.platform === 'win32') endOnWindows(child);
      else family.end('SIGKILL');
    }
    if (process.platform !== 'win32') new CommandFamily(this.mark, null).end('SIGKILL');
  }

  /** The user's own, without secrets; programs that page or ask do neither. */
  private environment(mark: string): NodeJS.ProcessEnv {
    // Python asks no console when its output is a pipe.
    const python = process.platform === 'win32' ? { PYTHONIOENCODING: 'utf-8' } : {};
    const { passed } = commandEnvironment(process.env, this.choice());
    return {
      ...python,
      ...passed,
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      GIT_TERMINAL_PROMPT: '0',
      TERM: 'dumb',
      [markName]: mark.slice(markName.length + 1),
    };
  }
}

function endOnWindows({ pid }: ChildProcess): void {
  if (pid !== undefined) spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true });
}

/**
 * The command line such that its output is UTF-8, which it is read as. Windows' own programs, PowerShell and most others write in the code
 * page of their console (850, 936, …), and so the console that is made for the command is given that of UTF-8 first. Not by decoding what
 * comes in the console's code page: git, Node, cargo and go write UTF-8 whatever that is, and would come out wrong.
 *
 * `shell`: what Node starts for `shell: true` there.
 */
export function utf8Command(command: string, platform: NodeJS.Platform, shell = 'cmd.exe'): string {
  if (platform !== 'win32') return command;
  // The exit code is that of the last command. A line end in front of it would leave nothing to run.
  if (isCmd(platform, shell)) return `chcp 65001 >nul 2>&1 & ${command.trim()}`;
  return /^(?:powershell|pwsh)(?:\.exe)?$/.test(programOf(shell))
    ? `[Console]::OutputEncoding = [Text.Encoding]::UTF8; ${command}`
    : command;
}

/**
 * Whether the shell is cmd.exe, which runs the first line of a command, leaves out the others without a word, and ends as the first one
 * did. `shell`: what Node starts for `shell: true` there.
 */
export function isCmd(platform: NodeJS.Platform, shell = 'cmd.exe'): boolean {
  return platform === 'win32' && /^cmd(?:\.exe)?$/.test(programOf(shell));
}

function programOf(shell: string): string {
  return shell.toLowerCase().split(/[\\/]/).at(-1)!;
}
