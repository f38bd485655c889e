import * as z from 'zod/mini';
import { errorText } from '../../errors';
import { listed, t } from '../../l10n';
import type { Clock, Disposable } from '../../ports';
import { variablesIn } from './commandEnvironment';
import { assertAsked, locate, type Located } from '../guard/located';
import { ToolFault, toolInput, type ApprovalQuestion, type Tool, type ToolOutcome } from '../tool';
import type { ToolWorkspace } from '../toolWorkspace';
import { placeName } from '../guard/workspacePath';

/** Lets variables through to commands. */
const passSetting = 'threadkeeper.tools.passVariables';
/** How programs say that they lack a key. */
const refused = /publickey|authenti|unauthori[sz]ed|credential|\b40[13]\b|api.?key|token/i;

const usualSeconds = 120;
const mostSeconds = 600;
/** The model is sent the beginning and the end of a longer output. */
const shownTokens = 4_000;

const Input = z.object({
  command: z.string().check(z.minLength(1)),
  folder: z.optional(z.string()),
  timeout_seconds: z.optional(z.int().check(z.minimum(1), z.maximum(mostSeconds))),
});

export function createRunCommandTool(workspace: ToolWorkspace, start: NonNullable<ToolWorkspace['run']>, clock: Clock): Tool {
  const folderOf = async (path: string | undefined) => {
    const located = await locate(workspace, path ?? placeName({ folder: 0, path: '' }, workspace.folders));
    if ((await workspace.stat(located.place))?.kind !== 'folder') throw new ToolFault(`There is no folder ${located.name}.`);
    return located;
  };
  const questionOf = async ({ command, folder }: z.infer<typeof Input>): Promise<ApprovalQuestion> => {
    const located = await folderOf(folder);
    if (workspace.runsOneLine && command.trim().includes('\n'))
      throw new ToolFault('The shell here (cmd.exe) runs the first line only, and this command has several. Join them by "&&".');
    const missed = variablesIn(command, workspace.withheldVariables ?? []);
    const note =
      missed.length === 0 ? {} : { note: t('The command does not get {0}. A setting ({1}) lets it through.', listed(missed), passSetting) };
    const permission = permissionOf(command, located);
    return {
      kind: 'command',
      title: located.name === '.' ? t('Run a command in the workspace') : t('Run a command in {0}', located.shown),
      detail: command,
      ...note,
      everyTime: false,
      ...(permission === null ? {} : { permission }),
      change: null,
    };
  };
  return {
    name: 'run_command',
    description: `Run a command line in a folder of the workspace and get what it prints. The user may be asked. It gets no input, and is ended after ${usualSeconds} seconds unless you give more (at most ${mostSeconds}).`,
    inputSchema: {
      type: 'object',
      properties: {
        command: { type: 'string' },
        folder: { type: 'string', description: 'Where it runs; default: the workspace’s (first) folder.' },
        timeout_seconds: { type: 'integer', minimum: 1, maximum: mostSeconds },
      },
      required: ['command'],
      additionalProperties: false,
    },
    access: 'write',
    timeoutMs: (mostSeconds + 5) * 1_000,
    needsApproval: (value) => questionOf(toolInput(Input, value)),
    async run(value, signal, run): Promise<ToolOutcome> {
      const input = toolInput(Input, value);
      const { command, folder, timeout_seconds: seconds = usualSeconds } = input;
      assertAsked(await questionOf(input), run?.approved);
      const located = await folderOf(folder);
      const late = new AbortController();
      const timer = clock.after(seconds * 1_000, () => late.abort());
      const output = new CommandOutput(clock, (text) => run?.onOutput(text));
      const began = clock.now();
      try {
        const { code, signal: killed } = await start(
          command,
          located.place,
          (text) => output.add(text),
          AbortSignal.any([signal, late.signal]),
          run?.call,
        );
        const took = `${((clock.now() - began) / 1_000).toFixed(1)} s`;
        const end = signal.aborted
          ? `Stopped by the user after ${took}.`
          : late.signal.aborted
            ? `Ended after ${seconds} seconds, before it had finished.`
            : killed !== null
              ? `Ended by signal ${killed} after ${took}.`
              : code === null
                ? `Ended after ${took}; its shell did not say how.`
                : `Exit code ${code} after ${took}.`;
        const missed = code === 0 ? '' : missedText(command, output.text, workspace.withheldVariables ?? []);
        return {
          text: `${end}\n${output.text.trimEnd() || '(no output)'}${missed}`,
          status: code === 0 && !signal.aborted && !late.signal.aborted ? 'ok' : 'error',
          shownTokens,
        };
      } catch (error) {
        throw new ToolFault(`The command could not be started: ${errorText(error)}`);
      } finally {
        timer.dispose();
        output.dispose();
      }
    },
  };
}

/**
 * What a lasting permission is about: a command does something else in another folder, so that it is named as well. Null where a link leads
 * there, or a name could pass for a part of the command.
 */
function permissionOf(command: string, { name, place, isLinked }: Located): string | null {
  if (isLinked) return null;
  if (place.folder === 0 && place.path === '') return command;
  return /^[\p{L}\p{N}._/-]+$/u.test(name) ? `cd ${name} && ${command}` : null;
}

/** Told only where a command has failed and may have missed a variable: nobody could guess otherwise why. */
function missedText(command: string, output: string, withheld: readonly string[]): string {
  const named = variablesIn(`${command}\n${output.slice(-20_000)}`, withheld);
  const names = named.length > 0 ? named : refused.test(output.slice(-20_000)) ? withheld : [];
  return names.length === 0
    ? ''
    : `\n[Commands do not get these variables, because they look like secrets: ${names.join(', ')}. The user can let one through with the setting ${passSetting}.]`;
}

/** Characters that are kept of the beginning and of the end of an output. */
const keptEach = 2_000_000;
/** What is shown while a command runs: at most so much at once, so often. */
const shownAtOnce = 20_000;
const everyMs = 100;

/** What a command prints: all of it up to a size, and in calm steps for whoever watches. */
class CommandOutput implements Disposable {
  private head = '';
  private tail = '';
  private length = 0;
  private waiting = '';
  private timer: Disposable | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly show: (text: string) => void,
  ) {}

  add(text: string): void {
    this.length += text.length;
    const room = keptEach - this.head.length;
    this.head += text.slice(0, Math.max(0, room));
    this.tail += text.slice(Math.max(0, room));
    // Cut now and then, not at every piece: that would copy it all each time.
    if (this.tail.length > 2 * keptEach) this.tail = this.tail.slice(-keptEach);
    this.waiting = (this.waiting + text).slice(-shownAtOnce);
    this.timer ??= this.clock.after(everyMs, () => this.flush());
  }

  get text(): string {
    const tail = this.tail.slice(-keptEach);
    const lost = this.length - this.head.length - tail.length;
    return lost > 0 ? `${this.head}\n\n[… ${lost} characters of output were not kept …]\n\n${tail}` : this.head + tail;
  }

  dispose(): void {
    this.flush();
  }

  private flush(): void {
    this.timer?.dispose();
    this.timer = undefined;
    if (this.waiting !== '') this.show(this.waiting);
    this.waiting = '';
  }
}
