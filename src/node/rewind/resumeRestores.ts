import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../core/errors';
import type { Logger, SessionStore } from '../../core/ports';
import { livenessOf } from '../store/sharing/processIdentity';
import { realDisk, type RestoreDisk } from './restoreDisk';
import { clean, finish, rollBack, runningRestores } from './restoreFiles';
import { Journal } from './restoreJournal';

/** A restore takes seconds: what has the number of its process after this long is another one. */
const longestMs = 600_000;

/**
 * Ends what a crash has left of restores: one that the history tells of stays, any other is taken back. What somebody has changed since
 * stays. Never rejects: what cannot be ended now is tried at the next start, and before the next restore, which it would take back
 * otherwise.
 */
export async function resumeRestores(
  storage: string,
  store: Pick<SessionStore, 'entries'>,
  log: Pick<Logger, 'warn' | 'info'>,
  disk: RestoreDisk = realDisk,
): Promise<{ readonly ended: number; readonly failed: readonly unknown[] }> {
  const folder = join(storage, 'restores');
  let ended = 0;
  const failed: unknown[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith('.json')) continue;
    const at = join(folder, name);
    try {
      const journal = Journal.parse(JSON.parse(await readFile(at, 'utf8')));
      if (runningRestores.has(journal.id)) continue;
      // Its owner lived when it was last written: where the system tells no more of a process, that says in which start of the machine.
      const { mtimeMs } = await stat(at);
      const liveness = livenessOf(journal.owner, mtimeMs);
      if (liveness === 'alive' || (liveness === 'there' && Date.now() - mtimeMs < longestMs)) continue;
      const isToGoBack = journal.phase === 'applying' ? !(await isRecorded(journal, store)) : journal.phase === 'rolling_back';
      if (isToGoBack) {
        await rollBack(journal, disk);
        await finish(journal, at, disk);
      } else await clean(journal, at, disk);
      ended++;
      log.info('restore_ended', { phase: journal.phase, files: journal.files.length });
    } catch (error) {
      failed.push(error);
      log.warn('restore_not_ended', { detail: errorText(error) });
    }
  }
  return { ended, failed };
}

async function isRecorded({ mark }: Journal, store: Pick<SessionStore, 'entries'>): Promise<boolean> {
  return mark !== undefined && (await store.entries([mark])).length > 0;
}
