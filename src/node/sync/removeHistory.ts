import type { SyncSetup } from '../../core/sync/syncStore';
import { HistoryDirectory } from './historyDirectory';
import { openEngine, type EngineAccess } from './openEngine';

/**
 * Removes what the engine has of a history, for all devices: those that synchronize it are told that there is none, and keep what they
 * have. Rejects with `EngineError` where the engine does not let go of it; then some of it may be gone, and the next attempt goes on.
 */
export async function removeHistory(
  { history, name, engine: address }: SyncSetup,
  /** What the phrase stands for; null: it is not here, and the name stays in the list of histories, sealed. */
  entropy: Uint8Array | null,
  access: Pick<EngineAccess, 'bundles' | 'password'>,
): Promise<void> {
  if (entropy) {
    const directory = await HistoryDirectory.open(address, entropy, { ...access, create: true });
    try {
      await directory.forget(name, history);
    } finally {
      await directory.close();
    }
  }
  const engine = await openEngine(address, { ...access, history, create: false });
  try {
    await engine.dropAll();
  } finally {
    await engine.close();
  }
}
