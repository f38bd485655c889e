import type { ImportReport } from '../../../core/transfer/importReport';
import { UuidV7 } from '../../runtime/ids';
import { joinStore, type JoinedPort } from '../../store/client/storePort';
import type { ImportFormat } from './importFormats';
import { importFiles, type ImportOptions, type ImportProgress } from './importFiles';

export interface ImportRequest {
  readonly paths: readonly string[];
  /** Instead of what the content says. */
  readonly format?: ImportFormat;
  /** Opens sealed files. */
  readonly passphrase?: string;
  readonly store: JoinedPort;
}

/** How often progress is told at most, in milliseconds. */
const tellEveryMs = 100;

/** What the thread of `importInThread` does. */
export async function importTask(
  { paths, format, passphrase, store }: ImportRequest,
  {
    wasmFile,
    signal,
    poll,
    onOutcome,
    onProgress,
  }: Required<Pick<ImportOptions, 'wasmFile' | 'signal' | 'poll' | 'onOutcome' | 'onProgress'>>,
): Promise<ImportReport> {
  let toldAt = -Infinity;
  const tell = (progress: ImportProgress) => {
    if (performance.now() - toldAt < tellEveryMs) return;
    toldAt = performance.now();
    onProgress(progress);
  };
  try {
    return await importFiles(paths, {
      store: joinStore(store),
      ids: new UuidV7(),
      now: Date.now,
      wasmFile,
      signal,
      poll,
      onOutcome,
      ...(format === undefined ? {} : { format }),
      ...(passphrase === undefined ? {} : { passphrase }),
      onProgress: tell,
    });
  } finally {
    store.port.close();
  }
}
