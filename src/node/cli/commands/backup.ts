import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkedText } from '../../../core/maintenance/reports';
import { backUpFolder } from '../../store/client/storeTask';
import { flagHelp, parseFlags, splitWords, UsageError, type FlagSpec } from '../flags';

const specs: readonly FlagSpec[] = [
  { name: 'store', value: 'DIR', required: true, help: 'folder of the history' },
  { name: 'overwrite', help: 'replace FILE when it exists' },
  { name: 'json', help: 'one JSON object: backup, checked, problems, more' },
];

export const backupHelp = `threadkeeper backup FILE: writes a whole history, attachments included, into one SQLite file.

${flagHelp(specs)}

The store may be in use. Exit code 0 when the backup is complete and on disk; 2 for a command line that cannot be run; 1 when nothing was
written, or attachments that are lost could not be, and standard error says why.`;

/** Resolves with the exit code. */
export async function backup(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  if (words.length !== 1) throw new UsageError('One FILE to write is wanted.');
  const target = resolve(words[0]!);
  const overwrite = flags['overwrite'] !== undefined;
  if (!overwrite && existsSync(target)) throw new Error(`${target} exists already. Name another file, or replace it with --overwrite.`);
  const report = await backUpFolder(flags['store']!, target, { workerFile: join(__dirname, 'storeTaskWorker.js'), overwrite });
  const { checked, problems, more } = report;
  process.stdout.write(
    flags['json'] === undefined
      ? `${checkedText(report)} backed up to ${target}.\n`
      : `${JSON.stringify({ backup: target, checked, problems, more })}\n`,
  );
  for (const { where, meaning } of problems) process.stderr.write(`Not in the backup: ${where}: ${meaning}\n`);
  return problems.length > 0 ? 1 : 0;
}
