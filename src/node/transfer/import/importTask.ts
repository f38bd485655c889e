import type { MessagePort } from 'node:worker_threads';
import type { ImportReport } from '../../../core/transfer/importReport';
import { UuidV7 } from '../../runtime/uuidV7';
import { StorePort } from '../../store/client/storePort';
import type { ImportFormat } from './detectFormat';
import { importFiles, type ImportOptions, type ImportProgress } from './importFiles';
import { importStoreOf } from './importStore';

export interface ImportRequest {
  readonly paths: readonly string[];
  /** Instead of what the content says. */
  readonly format?: ImportFormat;
  /** The port leads to the store (`StoreClient.openPort`). */
  readonly port: MessagePort;
}

/** How often progress is told at most, in milliseconds. */
const tellEveryMs = 100;

/** What the thread of `importInThread` does. */
export async function importTask(
  { paths, format, port }: ImportRequest,
  {
    wasmFile,
    signal,
    poll,
    onOutcome,
    onProgress,
  }: Required<Pick<ImportOptions, 'wasmFile' | 'signal' | 'poll' | 'onOutcome' | 'onProgress'>>,
): Promise<ImportReport> {
  const access = new StorePort(port);
  let toldAt = -Infinity;
  const tell = (progress: ImportProgress) => {
    if (performance.now() - toldAt < tellEveryMs) return;
    toldAt = performance.now();
    onProgress(progress);
  };
  try {
    return await importFiles(paths, {
      store: importStoreOf(access),
      ids: new UuidV7(),
      now: Date.now,
      wasmFile,
      signal,
      poll,
      onOutcome,
      ...(format === undefined ? {} : { format }),
      onProgress: tell,
    });
  } finally {
    access.close();
  }
}
