import type { SessionStore } from '../../../core/ports';
import { StoreClient } from '../../store/client/openStore';
import { watchThrough, type TaskOptions } from '../../store/client/storeTask';
import type { WatchEvent, WatchRequest } from './watchTask';

/**
 * Follows other programs in a thread of its own, which talks to the thread of the store, until the signal stops it. `store` is to be a
 * connection of its own: a conversation that is open in this process learns what is new as it learns what another window writes.
 */
export function watchInThread(
  store: SessionStore,
  request: Omit<WatchRequest, 'store'>,
  options: Pick<TaskOptions, 'workerFile' | 'signal'> & { readonly onEvent: (event: WatchEvent) => void },
): Promise<void> {
  if (!(store instanceof StoreClient)) throw new Error('Only a store that has a thread of its own can be reached from another one');
  return watchThrough(store.openPort(), request, options);
}
