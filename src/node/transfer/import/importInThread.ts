import type { SessionStore } from '../../../core/ports';
import { ReportBuilder, type ImportReport } from '../../../core/transfer/importReport';
import { StoreClient } from '../../store/client/openStore';
import { importThrough, type TaskOptions } from '../../store/client/storeTask';
import type { ImportProgress } from './importFiles';
import type { ImportRequest } from './importTask';

/**
 * `importFiles` in a thread of its own, which talks to the thread of the store: this one neither reads nor parses nor hands anything on.
 * When aborted it resolves all the same, with a report of what is stored by then.
 */
export async function importInThread(
  store: SessionStore,
  paths: readonly string[],
  { format, passphrase, ...options }: TaskOptions<ImportProgress> & Pick<ImportRequest, 'format' | 'passphrase'>,
): Promise<ImportReport> {
  if (!(store instanceof StoreClient)) throw new Error('Only a store that has a thread of its own can be reached from another one');
  if (options.signal?.aborted) return new ReportBuilder().report(true);
  const request = { paths, ...(format === undefined ? {} : { format }), ...(passphrase === undefined ? {} : { passphrase }) };
  return importThrough(store.openPort(), request, options);
}
