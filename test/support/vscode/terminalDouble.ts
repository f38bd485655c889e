import { spawn } from 'node:child_process';

type Listener = (event: unknown) => void;
const started = new Set<Listener>();
const ended = new Set<Listener>();
const closed = new Set<Listener>();
const TerminalExitReason = { Process: 2, Extension: 4 };
const on = (set: Set<Listener>) => (listener: Listener) => (set.add(listener), { dispose: () => set.delete(listener) });
/** So many terminals have been made. */
let made = 0;
/** Commands, each the last one of a terminal that was brought to the front. */
const shown: string[] = [];
let newest: { readonly isOpen: boolean; dispose(): void } | null = null;
/** The shells of so many terminals do not tell of themselves. */
let silent = 0;

/**
 * A terminal of VS Code with a real bash in it, which reads as if somebody typed. Its prompts go nowhere, and the signal that ends it
 * reaches its own jobs alone.
 */
function createTerminal({ cwd }: { cwd: string }) {
  made++;
  const bash = spawn('bash', ['--norc', '-i'], { cwd, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  let out = '';
  bash.stdout.setEncoding('utf8').on('data', (data: string) => (out += data));
  let count = 0;
  let last = '';
  const terminal = {
    exitStatus: undefined as { readonly code: number | undefined; readonly reason: number } | undefined,
    sendText: () => undefined,
    show: () => void shown.push(last),
    dispose: () => void bash.kill('SIGHUP'),
    get isOpen() {
      return !bash.killed;
    },
    shellIntegration: {
      cwd: { fsPath: cwd },
      executeCommand(command: string) {
        const mark = `__end${++count}__`;
        out = '';
        last = command;
        for (const one of started) one({ terminal });
        bash.stdin.write(`${command}\necho ${mark}$?\n`);
        const said = new Promise<string>((resolve) => {
          const timer = setInterval(() => {
            if (terminal.exitStatus) {
              clearInterval(timer);
              return resolve(out);
            }
            const at = out.indexOf(mark);
            if (at < 0 || !out.includes('\n', at)) return;
            clearInterval(timer);
            resolve(out.slice(0, at));
            for (const one of ended) one({ execution, exitCode: Number(out.slice(at + mark.length).trim()) });
          }, 10);
        });
        const execution = {
          async *read() {
            yield await said;
          },
        };
        return execution;
      },
    },
  };
  bash.once('close', (code) => {
    // As VS Code has it: one that was ended by a signal has the code 0.
    terminal.exitStatus = bash.killed
      ? { code: undefined, reason: TerminalExitReason.Extension }
      : { code: code ?? 0, reason: TerminalExitReason.Process };
    for (const one of closed) one(terminal);
  });
  newest = terminal;
  return silent-- > 0 ? { ...terminal, shellIntegration: undefined } : terminal;
}

/** As much of `vscode` as a `TerminalRunner` needs, with a real bash in each terminal. */
export const terminalDouble = {
  get made() {
    return made;
  },
  shown,
  get newest() {
    return newest;
  },
  /** Its user runs something in the newest terminal. */
  use() {
    for (const one of started) one({ terminal: newest });
    return newest!;
  },
  silence(count: number) {
    silent = count;
  },
  env: { shell: '/bin/bash' },
  ThemeIcon: class {},
  TerminalExitReason,
  window: {
    createTerminal,
    onDidCloseTerminal: on(closed),
    onDidStartTerminalShellExecution: on(started),
    onDidEndTerminalShellExecution: on(ended),
    onDidChangeTerminalShellIntegration: on(new Set()),
  },
  workspace: { getConfiguration: () => ({ get: (name: string) => (name.endsWith('.timeout') ? 1 : true) }) },
};
