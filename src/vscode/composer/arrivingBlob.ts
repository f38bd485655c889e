import type { SessionStore } from '../../core/ports';

/** Milliseconds; the view waits longer. */
const patience = 20_000;

/**
 * The bytes of an attachment. Those that are still on their way from another device are fetched before everything else, and waited for;
 * undefined: they are not there.
 */
export async function arrivingBlob(
  store: Pick<SessionStore, 'blob' | 'onDidChange' | 'syncAskAttachment'>,
  hash: string,
): Promise<Uint8Array | undefined> {
  const bytes = await store.blob(hash);
  if (bytes || !(await store.syncAskAttachment(hash))) return bytes;
  return new Promise((resolve) => {
    const end = (found: Uint8Array | undefined) => {
      clearTimeout(timer);
      changes.dispose();
      resolve(found);
    };
    const look = () =>
      void store.blob(hash).then(
        (found) => found && end(found),
        () => undefined,
      );
    const timer = setTimeout(() => end(undefined), patience);
    const changes = store.onDidChange(look);
    // It may have come before anybody listened.
    look();
  });
}
