import { join } from 'node:path';
import type { VerifyReport } from '../../core/maintenance/reports';
import { english } from '../../core/l10n';
import type { Restored } from '../../node/store/repair/restoreStore';
import { backUpFolder, restoreFile, verifyFile, verifyFolder, type TaskOptions } from '../../node/store/client/storeTask';

type Options = Pick<TaskOptions, 'onProgress' | 'signal'>;

/** Work on whole histories, in a worker each. */
export class StoreTasks {
  private readonly workerFile: string;

  /** `distDir`: where the workers lie. */
  constructor(distDir: string) {
    this.workerFile = join(distDir, 'storeTaskWorker.js');
  }

  verify(folder: string, options: Options): Promise<VerifyReport> {
    return verifyFolder(folder, { ...options, workerFile: this.workerFile });
  }

  verifyFile(file: string, options: Options): Promise<VerifyReport> {
    return verifyFile(file, { ...options, workerFile: this.workerFile });
  }

  /** Replaces a file that exists. */
  backUp(folder: string, target: string, options: Options): Promise<VerifyReport> {
    return backUpFolder(folder, target, { ...options, workerFile: this.workerFile, overwrite: true });
  }

  /** `salvage`: of a backup that SQLite cannot open, what can be read. */
  restore(folder: string, backup: string, { salvage }: { readonly salvage: boolean }): Promise<Restored> {
    return restoreFile(folder, backup, { workerFile: this.workerFile, label: english('VS Code window, restoring'), salvage });
  }
}
