import { join } from 'node:path';
import { counted } from '../../../core/maintenance/reports';
import type { ImportedSession, ImportReport } from '../../../core/transfer/importReport';
import { importFormats, type ImportFormat } from '../../transfer/import/importFormats';
import { importInThread } from '../../transfer/import/importInThread';
import { flagHelp, parseFlags, splitWords, UsageError, type FlagSpec } from '../flags';
import { passphrase, passphraseVariable } from '../passphrase';
import { isSealed } from '../../transfer/export/sealedBundle';
import { plain } from '../terminal';
import { storeFlag, withWriter } from '../storeFlags';

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'format', value: 'FORMAT', choices: importFormats, help: 'what the files are, instead of what their content says' },
  { name: 'json', help: 'one JSON object: sessions, failed, passedOver' },
];

export const importHelp = `threadkeeper import FILE…: brings sessions of other programs, or of an export, into a history.

${flagHelp(specs)}

A FILE may be a folder: everything in it that is a session is imported. Sources are only read. Importing the same again adds what is new,
or nothing. A sealed file is opened with the passphrase in ${passphraseVariable}, or the one that is typed in. Prints the id of each session that is new or has grown. The store may be in use. Standard error names every file that was not
imported, and why. Exit code 0 when everything that was named, and in a folder every session file that is whole, has been imported; 1
when some or all could not be, a .jsonl file of no known format among them; 2 for a command line that cannot be run.`;

/** Resolves with the exit code. */
export async function importCommand(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  if (words.length === 0) throw new UsageError('Name a file or a folder to import.');
  const format = flags['format'] as ImportFormat | undefined;
  const isOneSealed = (await Promise.all(words.map(isSealed))).includes(true);
  // A folder may hold sealed files, too; whether one does is known only when it is read.
  const secret = isOneSealed ? await passphrase() : process.env[passphraseVariable];
  const report = await withWriter(flags['store']!, 'import', (store) =>
    importInThread(store, words, {
      workerFile: join(__dirname, 'storeTaskWorker.js'),
      ...(format === undefined ? {} : { format }),
      ...(secret === undefined ? {} : { passphrase: secret }),
    }),
  );
  if (flags['json'] !== undefined) process.stdout.write(`${JSON.stringify(report)}\n`);
  else for (const session of report.sessions) if (session.outcome !== 'known') process.stdout.write(`${session.id}\n`);
  if (flags['json'] === undefined) for (const line of remarks(report)) process.stderr.write(`${plain(line)}\n`);
  return report.failed.length > 0 ? 1 : 0;
}

function remarks({ sessions, failed, passedOver }: ImportReport): string[] {
  const known = sessions.filter(({ outcome }) => outcome === 'known').length;
  return [
    ...sessions.filter(({ outcome }) => outcome !== 'known').map(sessionText),
    ...(known > 0 ? [`${counted(known, 'session was', 'sessions were')} here already, and nothing is new.`] : []),
    ...passedOver.map(({ source, reason }) => `${source} was passed over: ${reason}`),
    ...failed.map(({ source, reason }) => `${source}: ${reason}`),
  ];
}

function sessionText({ id, title, format, entriesAdded, keptRaw, repaired, unpinned, trashed }: ImportedSession): string {
  const list = (kinds: ImportedSession['keptRaw']) => kinds.map(({ kind, count }) => `${kind} ×${count}`).join(', ');
  return [
    `${id} ${title || 'Untitled'} (${format}): ${counted(entriesAdded, 'entry', 'entries')}`,
    ...(keptRaw.length > 0 ? [`kept as they are: ${list(keptRaw)}`] : []),
    ...(repaired.length > 0 ? [`repaired: ${list(repaired)}`] : []),
    ...(unpinned ? [`no longer pinned: ${unpinned.join(', ')}`] : []),
    ...(trashed ? ['it is in the trash'] : []),
  ].join('; ');
}
