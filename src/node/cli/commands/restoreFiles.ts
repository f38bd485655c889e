import { basename, resolve } from 'node:path';
import { changedText, planReasonText, uncoveredText } from '../../../core/rewind/fileTexts';
import type { SessionStore } from '../../../core/ports';
import { FileRestorer, type RestorePlan } from '../../rewind/fileRestorer';
import { rewindFolder } from '../../rewind/fileRecorder';
import { restoreProblemText } from '../../rewind/restoreFiles';
import { resumeRestores } from '../../rewind/resumeRestores';
import { UuidV7 } from '../../runtime/ids';
import { flagHelp, parseFlags, splitWords, UsageError, type FlagSpec } from '../flags';
import { plain, stderrLogger } from '../terminal';
import { sessionNamed, storeFlag, withWriter } from '../storeFlags';

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'workspace', value: 'DIR', required: true, help: 'folder in which the files are restored' },
  { name: 'before', value: 'MESSAGE', help: 'the files as they were before this message: its number (show --files tells it) or its uuid' },
  { name: 'undo', help: 'take the last restore back instead' },
  { name: 'dry-run', help: 'only say what would be done' },
  { name: 'json', help: 'one JSON object: restored, and files with path, action and reason' },
];

export const restoreFilesHelp = `threadkeeper restore-files <session>: the files that tools have changed, as they were before a message.

${flagHelp(specs)}

What somebody has changed since is merged where that is clean; else the file is left as it is and named. All files are restored or none;
the conversation stays as it is. Exit code 0 when it was done, 3 when files were left because of changes since; 2 for a command line that
cannot be run, 1 when it failed: nothing was changed then, or standard error names the file that could not be put back.`;

/** Resolves with the exit code. */
export async function restoreFilesCommand(args: readonly string[]): Promise<number> {
  const { words, rest } = splitWords(args, specs);
  const flags = parseFlags(rest, specs);
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) throw new UsageError('Name one session.');
  const isUndo = flags['undo'] !== undefined;
  if (isUndo === (flags['before'] !== undefined)) throw new UsageError('Give --before MESSAGE, or --undo.');
  const root = resolve(flags['workspace']!);
  return withWriter(flags['store']!, 'restore-files', async (store) => {
    const session = await sessionNamed(store, name);
    const log = stderrLogger([]);
    await resumeRestores(rewindFolder(store), store, log);
    const restorer = new FileRestorer({
      store,
      folders: () => [{ name: basename(root), root: root.replaceAll('\\', '/') }],
      storage: rewindFolder(store),
      ids: new UuidV7(),
      now: Date.now,
      log,
    });
    const plan = isUndo
      ? await restorer.planUndo(session.uuid)
      : await restorer.planBefore(session.uuid, await messageNamed(store, flags['before']!));
    if (!plan) throw new Error('There is no restore to undo: files were not restored, or have been changed by tools since.');
    const isDry = flags['dry-run'] !== undefined;
    const { files: done } = isDry
      ? { files: [] }
      : await restorer.apply(plan, {}).catch((error: unknown) => {
          throw new Error(restoreProblemText(error), { cause: error });
        });
    process.stdout.write(flags['json'] === undefined ? said(plan, isDry ? null : changedText(done)) : asJson(plan, !isDry));
    return plan.files.some(({ action }) => action === 'ask' || action === 'blocked') ? 3 : 0;
  });
}

async function messageNamed(store: SessionStore, name: string): Promise<string> {
  const number = /^#?(\d+)$/.exec(name)?.[1];
  const [entry] = number === undefined ? await store.entries([name]) : await store.entriesBySeq([Number(number)]);
  if (!entry) throw new Error(`There is no message ${name} in this store.`);
  return entry.uuid;
}

function said({ files, uncovered }: RestorePlan, done: string | null): string {
  const lines = files.map(({ path, action, to, isMerged, reason }) =>
    action === 'ask' || action === 'blocked'
      ? `left      ${path}: ${reason === null ? '' : planReasonText(reason)}`
      : `${to === null ? 'delete  ' : isMerged ? 'merge   ' : 'restore '}  ${path}`,
  );
  const open = uncovered.map(({ path, reason }) => `uncovered ${path === '' ? '' : `${path}: `}${uncoveredText(reason)}`);
  const end = done === null ? [] : [files.length === 0 ? 'No file has to change.' : `Restored: ${done}`];
  return `${[...lines, ...open, ...end].map(plain).join('\n')}\n`;
}

function asJson({ files, uncovered }: RestorePlan, restored: boolean): string {
  const listed = files.map(({ path, action, isMerged, reason }) => ({ path, action, merged: isMerged, reason }));
  return `${JSON.stringify({ restored, files: listed, uncovered })}\n`;
}
