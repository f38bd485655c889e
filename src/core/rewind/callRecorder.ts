import type { Tool } from '../tools/tool';
import type { RecordedChanges } from './fileChanges';

/**
 * Sees what calls do to files. Calls that change anything run one at a time, so what is seen while one runs is its doing. Never makes a
 * call fail: what cannot be seen or kept is named among `uncovered`.
 */
export interface CallRecorder {
  /** Runs a call, and resolves or rejects as it does. */
  around<T>(tool: Pick<Tool, 'name' | 'access'>, run: () => Promise<T>): Promise<T>;
  /** What has been done since this was asked last. */
  take(): RecordedChanges;
}
