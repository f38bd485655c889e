import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { counted } from '../../../core/maintenance/reports';
import { handoverProgram, handoverPrograms } from '../../../core/transfer/handover/handoverPrograms';
import { UuidV7 } from '../../runtime/ids';
import { carryOut, commandLine, prepareHandover, type Handover } from '../../transfer/handover/handOver';
import { thisMachine } from '../../transfer/watch/thisMachine';
import { exportJson } from '../../transfer/export/exportJson';
import { writeExport } from '../../transfer/export/exportSessions';
import { sealed } from '../../transfer/export/sealedBundle';
import { flagHelp, parseFlags, splitWords, UsageError, type Flags, type FlagSpec } from '../flags';
import { passphrase, passphraseVariable } from '../passphrase';
import { plain } from '../terminal';
import { sessionNamed, storeFlag, withReader, withWriter } from '../storeFlags';

const specs: readonly FlagSpec[] = [
  storeFlag,
  {
    name: 'to',
    value: 'PROGRAM',
    choices: [...handoverPrograms.map(({ id }) => id), 'colleague'],
    required: true,
    help: 'where the session goes on',
  },
  { name: 'out', value: 'PATH', help: 'opencode: folder of the file that it imports (default: this one); colleague: the sealed file' },
  { name: 'dry-run', help: 'say what would be written, and write nothing' },
  { name: 'json', help: 'one JSON object: program, session, cwd, files, messages, tokens, folded, unreadable, command, written' },
];

export const handOverHelp = `threadkeeper hand-over <session>: goes on with a session in another program.

${flagHelp(specs)}

With --to colleague the session is exported without keys, tokens, passwords, names of home folders and attachments, and sealed with the
passphrase in ${passphraseVariable}, or the one that is typed in; threadkeeper import opens it. The session is named by its id (YYYYMMDD_NNN) or its uuid. A new session file of the program is written, which begins with a summary where
the history is longer than the program is to hold; no file that is there is changed. Prints the command that goes on with it. What is said
there comes back into this session when the program is watched or its file is imported. The store may be in use. Exit code 2 for a command
line that cannot be run, 1 when nothing was written.`;

/** Resolves with the exit code. */
export async function handOverCommand(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) throw new UsageError('Name one session.');
  if (flags['to'] === 'colleague') return sealFor(flags, name);
  const program = handoverProgram(flags['to']!)!;
  if (flags['out'] !== undefined && program.id !== 'opencode') throw new UsageError('--out goes with --to opencode.');
  const isDry = flags['dry-run'] !== undefined;
  const now = Date.now();
  const handover = await (isDry ? withReader : withWriter)(flags['store']!, 'hand-over', async (store) => {
    const session = await sessionNamed(store, name);
    const prepared = await prepareHandover(session, program, {
      store,
      machine: thisMachine([]),
      now,
      folder: process.cwd(),
      exportFolder: resolve(flags['out'] ?? '.'),
    });
    if (!isDry) await carryOut(prepared, session, store, new UuidV7(), now);
    return prepared;
  });
  process.stdout.write(flags['json'] === undefined ? told(handover, isDry) : `${JSON.stringify(asJson(handover, isDry))}\n`);
  return 0;
}

async function sealFor(flags: Flags, name: string): Promise<number> {
  if (flags['out'] === undefined) throw new UsageError('--to colleague needs --out FILE.');
  const file = resolve(flags['out']);
  if (existsSync(file)) throw new Error(`${file} exists already. Name another file.`);
  return withReader(flags['store']!, 'hand-over', async (store) => {
    const session = await sessionNamed(store, name);
    const isDry = flags['dry-run'] !== undefined;
    if (!isDry) await writeExport(sealed(exportJson(store, [session], { redact: true }), await passphrase()), file);
    const done = { program: 'colleague', session: session.id, files: [file], written: !isDry };
    process.stdout.write(flags['json'] === undefined ? `${isDry ? 'Would seal' : 'Sealed'}: ${file}\n` : `${JSON.stringify(done)}\n`);
    return 0;
  });
}

function told({ name, history, files, cwd, missing, resume }: Handover, isDry: boolean): string {
  const size = `${counted(history.steps.length, 'message', 'messages')}, about ${counted(history.tokens, 'token', 'tokens')}`;
  return [
    `${isDry ? 'Would write' : 'Written'} for ${name}: ${size}${history.isFolded ? ', beginning with a summary' : ''}`,
    ...files.map(({ file }) => `  ${file}`),
    ...(history.unreadable === 0
      ? []
      : [`Damaged or missing, and left out: ${counted(history.unreadable, 'entry or attached text', 'entries and attached texts')}`]),
    ...(missing === null ? [] : [`The folder of the session is not here: ${plain(missing)}`]),
    `Go on in ${cwd}:`,
    ...commandLine(resume, process.platform)
      .split('\n')
      .map((line) => `  ${line}`),
    '',
  ].join('\n');
}

function asJson({ program, session, cwd, files, history, resume }: Handover, isDry: boolean): object {
  return {
    program: program.id,
    session,
    cwd,
    files: files.map(({ file }) => file),
    messages: history.steps.length,
    tokens: history.tokens,
    folded: history.isFolded,
    unreadable: history.unreadable,
    command: commandLine(resume, process.platform),
    written: !isDry,
  };
}
