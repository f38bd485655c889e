import { readFile } from 'node:fs/promises';
import { commands, env, window } from 'vscode';
import { t } from '../../core/l10n';
import { isEphemeral } from '../../node/store/client/ephemeralStorage';
import { commandIds } from '../manifest';

const containers: ReadonlySet<string> = new Set(['dev-container', 'attached-container', 'codespaces', 'k8s-container']);

/** Says, once for each place, that a history in a container without a volume goes when the container is built anew. */
export async function warnOfEphemeralStorage(
  folder: string,
  wasTold: (folder: string) => boolean,
  told: (folder: string) => Promise<void>,
): Promise<void> {
  if (!containers.has(env.remoteName ?? '') || wasTold(folder)) return;
  const mounts = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  if (!isEphemeral(folder, mounts)) return;
  await told(folder);
  const backUp = t('Back Up History…');
  const text = t(
    'This history is kept inside the container ({0}) and is gone when the container is built anew. Mount a volume there, or back it up before you rebuild.',
    folder,
  );
  if ((await window.showWarningMessage(text, backUp)) === backUp) await commands.executeCommand(commandIds.backUpHistory);
}
