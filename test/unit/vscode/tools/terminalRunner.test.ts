import { deepStrictEqual } from 'node:assert';
import { spawn } from 'node:child_process';
import Module from 'node:module';
import { tmpdir } from 'node:os';

type Listener = (event: unknown) => void;
const ended = new Set<Listener>();
const on = (set: Set<Listener>) => (listener: Listener) => (set.add(listener), { dispose: () => set.delete(listener) });
let made = 0;

/** A terminal of VS Code with a real bash in it. */
function createTerminal({ cwd }: { cwd: string }) {
  made++;
  const bash = spawn('bash', ['--norc'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  bash.stdout.setEncoding('utf8').on('data', (data: string) => (out += data));
  let count = 0;
  const terminal = {
    exitStatus: undefined,
    sendText: () => undefined,
    show: () => undefined,
    dispose: () => void bash.kill(),
    shellIntegration: {
      cwd: { fsPath: cwd },
      executeCommand(command: string) {
        const mark = `__end${++count}__`;
        out = '';
        bash.stdin.write(`${command}\necho ${mark}$?\n`);
        const said = new Promise<string>((resolve) => {
          const timer = setInterval(() => {
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
  return terminal;
}

const vscode = {
  env: { shell: '/bin/bash' },
  ThemeIcon: class {},
  window: {
    createTerminal,
    onDidCloseTerminal: on(new Set()),
    onDidEndTerminalShellExecution: on(ended),
    onDidChangeTerminalShellIntegration: on(new Set()),
  },
  workspace: { getConfiguration: () => ({ get: () => true }) },
};
const loader = Module as unknown as { _load: (request: string, ...rest: unknown[]) => unknown };
const load = loader._load;

describe('a terminal that runs several commands', function () {
  this.timeout(20_000);
  before(function () {
    if (process.platform === 'win32') this.skip();
    loader._load = (request, ...rest) => (request === 'vscode' ? vscode : load(request, ...rest));
  });
  after(() => void (loader._load = load));

  it('is left after one that may have changed its shell: what is allowed for good runs what it names', async () => {
    const { TerminalRunner } = await import('../../../../src/vscode/tools/terminalRunner');
    const runner = new TerminalRunner({ claim: () => ({ environment: {}, unwanted: ['NOTHING'], end: () => undefined }) }, () => true);
    const run = async (command: string) => {
      let text = '';
      await runner.run(command, tmpdir(), (part) => (text += part), new AbortController().signal);
      return text.trim();
    };
    const before = await run('git --version');
    // The user allows this once …
    await run('git() { echo something else; }');
    // … and `git --version` is allowed by a rule.
    const after = await run('git --version');
    runner.dispose();
    deepStrictEqual([made, after === before, after], [made, true, before]);
  });
});
