import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { StoreError } from '../../../core/errors';
import { counted, isUnusable, problemCount } from '../../../core/maintenance/reports';
import { restoreFile, verifyFile } from '../../store/client/storeTask';
import { flagHelp, parseFlags, splitWords, UsageError, type FlagSpec } from '../flags';
import { plain } from '../terminal';

const specs: readonly FlagSpec[] = [
  { name: 'store', value: 'DIR', required: true, help: 'folder of the history to replace; made when it is not there' },
  { name: 'json', help: 'one JSON object: restored, sessions, entries, keptAt' },
  {
    name: 'damaged',
    help: 'restore a backup that is damaged as well, or what can be read of it; repair it afterwards with threadkeeper verify --repair',
  },
];

export const restoreHelp = `threadkeeper restore FILE: puts a backup in place of a history. The history that was there is kept under another name.

${flagHelp(specs)}

FILE is checked first. Exit code 0 when it is in place; 2 for a command line that cannot be run, 1 when nothing was changed, and standard
error says why.`;

/** Resolves with the exit code. */
export async function restore(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  if (words.length !== 1) throw new UsageError('One FILE to restore is wanted.');
  const file = resolve(words[0]!);
  if ((await stat(file).catch(() => null))?.isDirectory() === true) throw new Error(`${file} is a folder, not a backup.`);
  const workerFile = join(__dirname, 'storeTaskWorker.js');
  const report = await verifyFile(file, { workerFile });
  for (const { where, meaning } of report.problems) process.stderr.write(`${plain(`${where}: ${meaning}`)}\n`);
  const damaged = flags['damaged'] !== undefined;
  if (!damaged && problemCount(report) > 0) {
    throw new StoreError(
      'corrupt',
      `The backup is damaged, so nothing was changed. --damaged restores ${isUnusable(report) ? 'what can be read of it' : 'it all the same'}.`,
    );
  }
  const { sessions, entries, keptAt, salvage } = await restoreFile(flags['store']!, file, {
    workerFile,
    label: 'threadkeeper restore',
    salvage: damaged,
  });
  for (const lost of salvage?.lost ?? []) process.stderr.write(`${plain(`Not readable: ${lost}`)}\n`);
  if (salvage !== null && salvage.damaged > 0)
    process.stderr.write(`The content of ${counted(salvage.damaged, 'entry', 'entries')} was lost or does not add up.\n`);
  if (flags['json'] !== undefined) {
    process.stdout.write(`${JSON.stringify({ restored: file, sessions, entries, keptAt })}\n`);
    return 0;
  }
  const kept = keptAt === null ? '' : ` What was there is kept as ${keptAt}.`;
  process.stdout.write(`${counted(entries, 'entry', 'entries')} in ${counted(sessions, 'session', 'sessions')} restored.${kept}\n`);
  return 0;
}
