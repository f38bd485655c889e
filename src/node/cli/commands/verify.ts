import { join } from 'node:path';
import { errorText, StoreError } from '../../../core/errors';
import { checkedText, contentsText, counted, problemCount, type VerifyReport } from '../../../core/maintenance/reports';
import { openStore } from '../../store/client/openStore';
import { verifyFolder } from '../../store/client/storeTask';
import { flagHelp, parseFlags, type FlagSpec } from '../flags';
import { plain, stderrLogger } from '../terminal';

const specs: readonly FlagSpec[] = [
  { name: 'store', value: 'DIR', required: true, help: 'folder of the history' },
  { name: 'repair', help: 'where damage is found, rebuild the history from what can be read; the damaged file is kept aside' },
  { name: 'json', help: 'one JSON object: file, checked, problems, more, and with --repair what it did' },
];

export const verifyHelp = `threadkeeper verify: checks a history for damage.

${flagHelp(specs)}

The store may be in use: a copy is read. Only --repair wants it for itself.
Exit code 0 when it is sound or has been repaired, 1 when damage was found and is still there, 2 for a command line that cannot be run,
3 when the store cannot be read.`;

/** Resolves with the exit code. The report goes to standard output, progress and errors to standard error. */
export async function verify(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, specs);
  const folder = flags['store']!;
  const asJson = flags['json'] !== undefined;
  let report: VerifyReport;
  try {
    report = await verifyFolder(folder, { workerFile: join(__dirname, 'storeTaskWorker.js') });
  } catch (error) {
    if (!StoreError.is(error)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 3;
  }
  const damaged = problemCount(report) > 0;
  const wanted = flags['repair'] !== undefined && report.problems.some(({ repairHelps }) => repairHelps);
  if (!asJson) write(forPeople(report));
  const repaired = wanted ? await repair(folder) : null;
  if (asJson) write(JSON.stringify({ ...report, ...(repaired === null ? {} : { repaired }) }));
  else if (repaired !== null) write(repaired);
  const stays = report.problems.some(({ repairHelps }) => !repairHelps);
  return damaged && (repaired === null || stays) ? 1 : 0;
}

/** What the repair did; null, and the reason on standard error, when there was none. */
async function repair(folder: string): Promise<string | null> {
  try {
    const store = await openStore({
      folder,
      workerFile: join(__dirname, 'storeWorker.js'),
      label: 'threadkeeper verify',
      repair: true,
      waitForOwnerMs: 0,
      logger: stderrLogger([]),
    });
    const { access, note } = store.status;
    await store.close();
    if (access === 'owner' && note?.reason === 'recovered') return note.detail;
    process.stderr.write(
      `Not repaired: ${note?.detail ?? 'the history could not be opened for writing'}. Close what uses the history, or run “Threadkeeper: Verify and Repair History” there.\n`,
    );
  } catch (error) {
    process.stderr.write(`Not repaired: ${errorText(error)}\n`);
  }
  return null;
}

function forPeople(report: VerifyReport): string {
  const { problems, more } = report;
  const contents = contentsText(report);
  const beside = contents === null ? '' : `\n${contents}`;
  if (problems.length === 0) return `${checkedText(report)} checked, no damage found.${beside}`;
  const lines = problems.map(
    ({ where, meaning, repairHelps }) => `- ${where}: ${meaning}${repairHelps ? '' : ' (A repair does not help.)'}`,
  );
  return [
    `${checkedText(report)} checked, ${counted(problemCount(report), 'problem', 'problems')} found:`,
    ...lines,
    ...(more > 0 ? [`- and ${more} more`] : []),
    ...(contents === null ? [] : [contents]),
  ]
    .map(plain)
    .join('\n');
}

function write(text: string): void {
  process.stdout.write(`${text}\n`);
}
