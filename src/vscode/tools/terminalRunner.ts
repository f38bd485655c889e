import { basename } from 'node:path';
import { env, TerminalExitReason, ThemeIcon, window, workspace, type Terminal, type TerminalShellIntegration } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { leavesShell } from '../../core/tools/command/leavesShell';
import { PlainOutput } from '../../core/tools/command/plainOutput';
import type { CommandEnd } from '../../core/tools/toolWorkspace';
import type { CommandRunner } from '../../node/tools/commandRunner';

/** A shell that has not told of itself by then has no integration, save where the user's settings say how long that takes. */
const integrationMs = 10_000;
/** One may be late because the machine was busy; each costs its command the time that was waited. */
const mostMisses = 2;
/** Between Ctrl+C and the end of everything that the terminal has started. */
const graceMs = 1_000;

/**
 * Shells for which VS Code has an integration, with how they are prepared: to read a command as `sh -c` does, with no history in it and
 * nothing run of a comment (zsh takes those for words where somebody types), without zsh's mark behind the output, and without variables,
 * which follow.
 */
const preparations: Readonly<Record<string, string>> = {
  bash: 'set +H; shopt -s interactive_comments; unset',
  zsh: 'setopt interactivecomments nobanghist nopromptsp; unset',
  fish: 'set -e',
};

/** By these, programs in a terminal reach the editor, and Git asks it for passwords. */
const addedByEditor = [
  'VSCODE_IPC_HOOK_CLI',
  'VSCODE_GIT_IPC_HANDLE',
  'VSCODE_GIT_ASKPASS_NODE',
  'VSCODE_GIT_ASKPASS_MAIN',
  'VSCODE_GIT_ASKPASS_EXTRA_ARGS',
  'GIT_ASKPASS',
];

/** A command has an `&` that is neither `&&` nor a part of a redirection; one in quotes costs a terminal that stays open. */
const leavesJob = /(?:^|[^&>|])&(?![&>])/;

/** VS Code types a command into its shell, which takes these for keys: a tab completes what stands before it. */
const keys = /\p{Cc}/u;

/** A command whose terminal was closed. */
const hungUp: CommandEnd = { code: null, signal: 'SIGHUP' };

type Claim = ReturnType<CommandRunner['claim']>;

interface Own {
  readonly terminal: Terminal;
  readonly integration: TerminalShellIntegration;
  /** The names of the variables it was given, and of those that were taken out of it. */
  readonly variables: string;
  /** Ends all that the terminal has started, its shell included. */
  readonly end: () => void;
}

/**
 * Runs command lines in VS Code's own terminals, where their user sees them, can type into them and can stop them. The shell is the user's;
 * it is given the same variables as a command without a terminal, and what VS Code or its start-up files add of those that are withheld is
 * taken out before the first command (VS Code's server passes on its own variables, whatever `strictEnv` says).
 */
export class TerminalRunner implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly idle = new Set<Own>();
  /** What a command may have set in these would change what later ones do. */
  private readonly spent: Terminal[] = [];
  /** The call whose command each terminal has run last, or runs. */
  private readonly calls = new Map<Terminal, string | undefined>();
  /** Terminals in a row whose shell has not told of itself. */
  private misses = 0;

  constructor(
    private readonly commands: Pick<CommandRunner, 'claim'>,
    private readonly isWanted: () => boolean,
  ) {
    this.disposables.add(window.onDidCloseTerminal((closed) => this.forget(closed)));
    // What is started in a terminal in which no command runs is its user's: another one there, or its end, would interrupt that.
    this.disposables.add(window.onDidStartTerminalShellExecution(({ terminal }) => this.leave(terminal)));
  }

  /** Brings the terminal of a call to the front; false when it has none. What is typed there goes to the command of that call. */
  show(call: string): boolean {
    const [terminal] = [...this.calls].find(([, last]) => last === call) ?? [];
    terminal?.show(true);
    return terminal !== undefined;
  }

  /**
   * Null where no terminal can do it: the command has line ends or other control characters, the shell has no integration, or the user
   * does not want it. Nothing was run then. When the signal is aborted, the command is interrupted and ended with all it has started.
   */
  async run(
    command: string,
    cwd: string,
    onOutput: (text: string) => void,
    signal: AbortSignal,
    call?: string,
  ): Promise<CommandEnd | null> {
    if (!this.isWanted() || this.misses >= mostMisses || keys.test(command) || preparation() === undefined) return null;
    if (workspace.getConfiguration().get('terminal.integrated.shellIntegration.enabled') === false) return null;
    const claim = this.commands.claim();
    const own = this.take(cwd, call, variablesOf(claim)) ?? (await this.open(cwd, signal, call, claim));
    if (own === null) return null;
    // Whoever closes the terminal before the command has begun does not want it to run out of sight.
    if (own === 'closed') return hungUp;
    const end = await execute(own, command, onOutput, signal);
    if (signal.aborted || own.terminal.exitStatus !== undefined) return end;
    // Its output stays on show until the next one is opened.
    if (leavesShell(command)) this.idle.add(own);
    // What it has left running there would end with its terminal.
    else if (!leavesJob.test(command)) this.spent.push(own.terminal);
    return end;
  }

  dispose(): void {
    this.disposables.dispose();
    for (const { terminal } of this.idle) terminal.dispose();
    for (const terminal of this.spent) terminal.dispose();
  }

  /** A terminal that waits in this folder, with nothing left in it that could change what a command does there. */
  private take(cwd: string, call: string | undefined, variables: string): Own | undefined {
    // The settings have been changed since it was opened.
    for (const own of this.idle) if (own.variables !== variables && this.idle.delete(own)) this.spent.push(own.terminal);
    const own = [...this.idle].find(({ integration }) => integration.cwd?.fsPath === cwd);
    if (!own) return undefined;
    this.idle.delete(own);
    this.calls.set(own.terminal, call);
    return own;
  }

  private async open(cwd: string, signal: AbortSignal, call: string | undefined, claim: Claim): Promise<Own | 'closed' | null> {
    for (const terminal of this.spent.splice(0)) terminal.dispose();
    // Several that are opened in the same busy moment count once.
    const before = this.misses;
    const { environment, unwanted, end } = claim;
    const { TERM: _dumb, ...variables } = environment;
    const terminal = window.createTerminal({
      name: 'Threadkeeper',
      iconPath: new ThemeIcon('comment-discussion'),
      cwd,
      env: { ...variables, HISTFILE: '' },
      strictEnv: true,
      isTransient: true,
    });
    this.calls.set(terminal, call);
    const integration = await integrationOf(terminal, signal);
    if (!integration) {
      if (terminal.exitStatus !== undefined) return 'closed';
      terminal.dispose();
      this.calls.delete(terminal);
      if (!signal.aborted) this.misses = Math.max(this.misses, before + 1);
      return null;
    }
    this.misses = 0;
    const own = { terminal, integration, variables: variablesOf(claim), end };
    const names = [...unwanted, ...addedByEditor].filter((name) => /^[A-Za-z_]\w*$/.test(name));
    await execute(own, `${preparation()} ${names.join(' ')}; clear`, () => undefined, signal);
    return own;
  }

  private forget(closed: Terminal): void {
    this.leave(closed);
    this.calls.delete(closed);
  }

  private leave(terminal: Terminal): void {
    for (const own of this.idle) if (own.terminal === terminal) this.idle.delete(own);
    const at = this.spent.indexOf(terminal);
    if (at >= 0) this.spent.splice(at, 1);
  }
}

/** Names alone: the value of one differs from claim to claim. */
function variablesOf({ environment, unwanted }: Claim): string {
  return JSON.stringify([Object.keys(environment).sort(), [...unwanted].sort()]);
}

function preparation(): string | undefined {
  return process.platform === 'win32' ? undefined : preparations[basename(env.shell)];
}

function integrationOf(terminal: Terminal, signal: AbortSignal): Promise<TerminalShellIntegration | null> {
  if (terminal.shellIntegration) return Promise.resolve(terminal.shellIntegration);
  return new Promise((resolve) => {
    const done = (found: TerminalShellIntegration | null) => {
      clearTimeout(timer);
      listeners.dispose();
      signal.removeEventListener('abort', stop);
      resolve(found);
    };
    const stop = () => done(null);
    const chosen = workspace.getConfiguration().get('terminal.integrated.shellIntegration.timeout', -1);
    const timer = setTimeout(stop, chosen > 0 ? chosen : integrationMs);
    const listeners = new DisposableStore();
    listeners.add(
      window.onDidChangeTerminalShellIntegration(({ terminal: one, shellIntegration }) => one === terminal && done(shellIntegration)),
    );
    listeners.add(window.onDidCloseTerminal((closed) => closed === terminal && done(null)));
    signal.addEventListener('abort', stop, { once: true });
  });
}

/**
 * A command that has ended its shell (`… || exit 1`) has ended as that one; others have lost their terminal. VS Code says 0 also of a shell
 * that a signal has ended.
 */
function endOf({ exitStatus }: Terminal): CommandEnd {
  const code = exitStatus?.reason === TerminalExitReason.Process ? exitStatus.code : undefined;
  return code === undefined ? hungUp : { code: code === 0 ? null : code, signal: null };
}

async function execute(own: Own, command: string, onOutput: (text: string) => void, signal: AbortSignal): Promise<CommandEnd> {
  const { terminal, integration } = own;
  // Nothing would ever tell of an end in a terminal that was closed while it was set up.
  if (terminal.exitStatus !== undefined) return hungUp;
  const listeners = new DisposableStore();
  let force: NodeJS.Timeout | undefined;
  const kill = () => {
    own.end();
    terminal.dispose();
  };
  const stop = () => {
    terminal.sendText('\u0003', false);
    force = setTimeout(kill, graceMs);
  };
  try {
    const execution = integration.executeCommand(command);
    const ended = new Promise<CommandEnd>((resolve) => {
      listeners.add(
        window.onDidEndTerminalShellExecution(
          ({ execution: one, exitCode }) => one === execution && resolve({ code: exitCode ?? null, signal: null }),
        ),
      );
      listeners.add(window.onDidCloseTerminal((closed) => closed === terminal && resolve(endOf(closed))));
    });
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const output = new PlainOutput(onOutput);
    const read = (async () => {
      for await (const part of execution.read()) output.add(part);
      output.end();
    })();
    // What fails in it is told below, once the command has ended.
    read.catch(() => undefined);
    const end = await ended;
    // The last part may come behind the end; the stream of a terminal that was closed may never end.
    await Promise.race([read, new Promise((resolve) => setTimeout(resolve, graceMs))]);
    return end;
  } finally {
    signal.removeEventListener('abort', stop);
    clearTimeout(force);
    listeners.dispose();
    // What the command has left running goes with it when it was stopped.
    if (signal.aborted) kill();
  }
}
