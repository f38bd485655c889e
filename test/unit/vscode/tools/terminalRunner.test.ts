import { deepStrictEqual, strictEqual } from 'node:assert';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { terminalDouble } from '../../../support/vscode/terminalDouble';
import { waitFor } from '../../../support/waitFor';

const loader = Module as unknown as { _load: (request: string, ...rest: unknown[]) => unknown };
const load = loader._load;

describe('a terminal that runs several commands', function () {
  this.timeout(20_000);
  before(function () {
    if (process.platform === 'win32') this.skip();
    loader._load = (request, ...rest) => (request === 'vscode' ? terminalDouble : load(request, ...rest));
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
    const first = await run('git --version');
    // The user allows this once …
    await run('git() { echo something else; }');
    // … and `git --version` is allowed by a rule.
    const last = await run('git --version');
    runner.dispose();
    deepStrictEqual([terminalDouble.made, last], [2, first]);
  });

  it('reads a command as it was shown: with no history in it, and nothing of its comment', async () => {
    const { TerminalRunner } = await import('../../../../src/vscode/tools/terminalRunner');
    const runner = new TerminalRunner({ claim: () => ({ environment: {}, unwanted: ['NOTHING'], end: () => undefined }) }, () => true);
    let text = '';
    await runner.run('echo "one !e two" # and; echo three', tmpdir(), (part) => (text += part), new AbortController().signal);
    runner.dispose();
    strictEqual(text.trim(), 'one !e two');
  });

  it('is not given what its shell would take for keys: a tab completes, and others edit', async () => {
    const { TerminalRunner } = await import('../../../../src/vscode/tools/terminalRunner');
    const runner = new TerminalRunner({ claim: () => ({ environment: {}, unwanted: [], end: () => undefined }) }, () => true);
    const before = terminalDouble.made;
    const ends: unknown[] = [];
    for (const command of ['echo a\tb', 'echo a\nb', 'echo a\rb', 'echo a\u0015b', 'echo a\u009bb'])
      ends.push(await runner.run(command, tmpdir(), () => undefined, new AbortController().signal));
    runner.dispose();
    deepStrictEqual([ends, terminalDouble.made - before], [[null, null, null, null, null], 0]);
  });

  it('stays open where a command has left something running', async () => {
    const { TerminalRunner } = await import('../../../../src/vscode/tools/terminalRunner');
    const runner = new TerminalRunner({ claim: () => ({ environment: {}, unwanted: [], end: () => undefined }) }, () => true);
    const left: boolean[] = [];
    for (const command of ['sleep 60 >/dev/null 2>&1 &', 'A=1 && true >/dev/null 2>&1']) {
      await runner.run(command, tmpdir(), () => undefined, new AbortController().signal);
      const { newest } = terminalDouble;
      await runner.run('B=2', tmpdir(), () => undefined, new AbortController().signal);
      left.push(newest!.isOpen);
      if (newest!.isOpen) newest!.dispose();
    }
    runner.dispose();
    deepStrictEqual(left, [true, false]);
  });

  it('is used again only while commands get the same variables', async () => {
    const { TerminalRunner } = await import('../../../../src/vscode/tools/terminalRunner');
    let calls = 0;
    let claimed: { readonly environment: Record<string, string>; readonly unwanted: readonly string[] };
    const claim = () => ({ ...claimed, environment: { ...claimed.environment, CALL: String(++calls) }, end: () => undefined });
    const runner = new TerminalRunner({ claim }, () => true);
    const run = async (environment: Record<string, string>, unwanted: readonly string[]) => {
      claimed = { environment, unwanted };
      await runner.run('git --version', tmpdir(), () => undefined, new AbortController().signal);
      return terminalDouble.newest!;
    };
    const first = await run({ PLAIN: 'a' }, ['HOME_TOKEN']);
    const same = await run({ PLAIN: 'a' }, ['HOME_TOKEN']);
    const passed = await run({ PLAIN: 'a', HOME_TOKEN: 't' }, []);
    const withheld = await run({ HOME_TOKEN: 't' }, ['PLAIN']);
    const terminals = [first, same, passed, withheld];
    deepStrictEqual(
      terminals.map((one) => [terminals.indexOf(one), one.isOpen]),
      [
        [0, false],
        [0, false],
        [2, false],
        [3, true],
      ],
    );
    runner.dispose();
  });

  it('ends with the code of a command that ends its shell, and by a signal where it is closed', async () => {
    const { TerminalRunner } = await import('../../../../src/vscode/tools/terminalRunner');
    const runner = new TerminalRunner({ claim: () => ({ environment: {}, unwanted: [], end: () => undefined }) }, () => true);
    const folder = mkdtempSync(join(tmpdir(), 'terminals-'));
    let text = '';
    const run = (command: string) => runner.run(command, folder, (part) => (text += part), new AbortController().signal);
    try {
      const ends = [await run('echo one; false || exit 3'), await run('git --version && exit 0')];
      const running = run('touch begun; while :; do sleep 0.05; done');
      await waitFor('the command', () => existsSync(join(folder, 'begun')));
      terminalDouble.newest!.dispose();
      deepStrictEqual(
        [ends, await running, text.split('\n')[0]],
        [
          [
            { code: 3, signal: null },
            { code: null, signal: null },
          ],
          { code: null, signal: 'SIGHUP' },
          'one',
        ],
      );
    } finally {
      runner.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is left to its user, who runs something in it', async () => {
    const { TerminalRunner } = await import('../../../../src/vscode/tools/terminalRunner');
    const runner = new TerminalRunner({ claim: () => ({ environment: {}, unwanted: [], end: () => undefined }) }, () => true);
    const run = async (command: string) => (await runner.run(command, tmpdir(), () => undefined, new AbortController().signal))?.code;
    const before = terminalDouble.made;
    const codes = [await run('git --version'), await run('git --version')];
    const plain = terminalDouble.use();
    codes.push(await run('A=1'));
    const spent = terminalDouble.use();
    codes.push(await run('git --version'));
    runner.dispose();
    const theirs = [plain, spent];
    deepStrictEqual([codes, theirs.map(({ isOpen }) => isOpen), terminalDouble.made - before], [[0, 0, 0, 0], [true, true], 3]);
    for (const terminal of theirs) terminal.dispose();
  });

  it('is tried once more where a shell was late, and not again where a second one does not tell of itself either', async () => {
    const { TerminalRunner } = await import('../../../../src/vscode/tools/terminalRunner');
    const runner = new TerminalRunner({ claim: () => ({ environment: {}, unwanted: [], end: () => undefined }) }, () => true);
    // It leaves a shell that is not used again.
    const run = async () => (await runner.run('A=1', tmpdir(), () => undefined, new AbortController().signal))?.code;
    const before = terminalDouble.made;
    terminalDouble.silence(2);
    // Two that are late in the same moment count once.
    deepStrictEqual([await Promise.all([run(), run()]), await run()], [[undefined, undefined], 0]);
    terminalDouble.silence(3);
    deepStrictEqual([await run(), await run(), await run(), terminalDouble.made - before], [undefined, undefined, undefined, 5]);
    runner.dispose();
  });

  it('is shown for the call whose command it runs, whichever was opened last', async () => {
    const { TerminalRunner } = await import('../../../../src/vscode/tools/terminalRunner');
    const runner = new TerminalRunner({ claim: () => ({ environment: {}, unwanted: [], end: () => undefined }) }, () => true);
    const folder = mkdtempSync(join(tmpdir(), 'terminals-'));
    const run = (command: string, call: string) => runner.run(command, folder, () => undefined, new AbortController().signal, call);
    const waits = (name: string) => `sh -c 'touch ${name}; while [ ! -e go ]; do sleep 0.05; done'`;
    try {
      await run('git --version', 'before');
      // The first command has the terminal that waits, the second one opens its own.
      const both = [run(waits('a'), 'call a'), run(waits('b'), 'call b')];
      await waitFor('both commands', () => existsSync(join(folder, 'a')) && existsSync(join(folder, 'b')));
      const found = ['call a', 'call b', 'before', 'another'].map((call) => runner.show(call));
      deepStrictEqual(
        [found, terminalDouble.shown.slice(-2)],
        [
          [true, true, false, false],
          [waits('a'), waits('b')],
        ],
      );
      writeFileSync(join(folder, 'go'), '');
      await Promise.all(both);
    } finally {
      runner.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
