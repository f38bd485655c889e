import type { SyncSetup, SyncStore } from '../../core/sync/syncStore';
import type { SyncSecrets } from './syncSecrets';

/**
 * What another window of this workspace has set up in the store; null: nothing. What the command line has set up has its phrase in a file
 * of its own and is left to it, and so is a backup of a time before somebody has left.
 */
export async function setUpElsewhere(
  store: Pick<SyncStore, 'syncSetup'>,
  secrets: Pick<SyncSecrets, 'isUsed'>,
  workspace: string | null,
): Promise<SyncSetup | null> {
  const setup = await store.syncSetup();
  if (!setup || !(await secrets.isUsed(setup, workspace))) return null;
  // Who leaves lets go of the store first, so what it says now decides: the secrets may be those from before.
  const now = await store.syncSetup();
  return now?.history === setup.history && now.engine === setup.engine ? now : null;
}
