import type { SessionStore } from '../../../core/ports';

/** What an import asks of a store. */
export type ImportStore = Pick<
  SessionStore,
  | 'createSession'
  | 'session'
  | 'updateSession'
  | 'importEntries'
  | 'knownSources'
  | 'knownOperations'
  | 'usageRecords'
  | 'entries'
  | 'commonAncestor'
  | 'branchSteps'
  | 'moveLeaf'
  | 'putBlob'
  | 'restoreSession'
  | 'append'
  | 'purge'
  | 'pins'
  | 'savePin'
  | 'saveSummaryRetry'
>;

/** What an import is given beside its source. */
export interface ImportContext {
  /** How the source is called in reports. */
  readonly source: string;
  readonly signal?: AbortSignal;
  /** `ImportOptions.poll` */
  readonly poll?: () => void;
  readonly onRecord?: () => void;
  /** How far it has come, in units of the source's own. */
  readonly onProgress?: (done: number, total: number) => void;
}
