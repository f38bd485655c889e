import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { allSessions } from '../../transfer/export/exportJson';
import { exportFormats, exportSessions, writeExport, type ExportFormat } from '../../transfer/export/exportSessions';
import { flagHelp, parseFlags, splitWords, UsageError, type FlagSpec } from '../flags';
import { storeFlag, withReader, sessionNamed } from '../storeFlags';

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'all', help: 'every session, those in the trash included, instead of one' },
  {
    name: 'format',
    value: 'FORMAT',
    choices: exportFormats,
    help: 'json keeps everything and can be imported again (default); md and html are to be read',
  },
  {
    name: 'file-contents',
    help: 'with json: what stood in changed files before and after, so that they can be restored where it is imported',
  },
  { name: 'redact', help: 'take out keys, tokens, passwords, names of home folders, and attachments' },
  { name: 'out', value: 'FILE', help: 'write a file instead of standard output' },
  { name: 'overwrite', help: 'replace FILE when it exists' },
  { name: 'json', help: 'with --out: say what was written as one JSON object' },
];

export const exportHelp = `threadkeeper export <session>: writes a session into one file.

${flagHelp(specs)}

The session is named by its id (YYYYMMDD_NNN) or its uuid. JSON follows media/export.schema.json: every branch, compactions, usage,
pins, attachments and which files every turn has changed; drafts and queued messages are not in it. Redaction goes by shapes and names; look for yourself before you publish
what it leaves. The store may be in use: a copy is read. Exit code 2 for a command line that cannot be run, 1 when nothing was written.`;

/** Resolves with the exit code. */
export async function exportCommand(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  const [name, ...more] = words;
  if ((name === undefined) === (flags['all'] === undefined) || more.length > 0)
    throw new UsageError('Name one session, or all of them with --all.');
  const out = flags['out'] === undefined ? null : resolve(flags['out']);
  if (out !== null && flags['overwrite'] === undefined && existsSync(out))
    throw new Error(`${out} exists already. Name another file, or replace it with --overwrite.`);
  if (out !== null && !existsSync(dirname(out))) throw new Error(`There is no folder ${dirname(out)}.`);
  const format = (flags['format'] ?? 'json') as ExportFormat;
  const redact = flags['redact'] !== undefined;
  const fileContents = flags['file-contents'] !== undefined;
  if (fileContents && (redact || format !== 'json')) throw new UsageError('Contents of files are exported as JSON only, and not redacted.');
  return withReader(flags['store']!, 'export', async (store) => {
    const sessions = name === undefined ? await allSessions(store) : [await sessionNamed(store, name)];
    const pieces = exportSessions(store, sessions, format, { redact, fileContents });
    if (out === null) {
      for await (const piece of pieces)
        if (!process.stdout.write(piece)) await new Promise((drained) => process.stdout.once('drain', drained));
      return 0;
    }
    await writeExport(pieces, out);
    const done = { file: out, format, redacted: redact, sessions: sessions.map(({ id }) => id) };
    process.stdout.write(
      flags['json'] === undefined
        ? `${sessions.length === 1 ? 'One session' : `${sessions.length} sessions`} exported to ${out}.\n`
        : `${JSON.stringify(done)}\n`,
    );
    return 0;
  });
}
