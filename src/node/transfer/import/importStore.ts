import type { SessionStore } from '../../../core/ports';
import type { StorePort } from '../../store/client/storePort';

/** What an import asks of a store. */
export type ImportStore = Pick<
  SessionStore,
  | 'createSession'
  | 'session'
  | 'updateSession'
  | 'importEntries'
  | 'knownSources'
  | 'usageRecords'
  | 'entries'
  | 'commonAncestor'
  | 'branchSteps'
  | 'moveLeaf'
  | 'putBlob'
  | 'restoreSession'
  | 'append'
  | 'purge'
  | 'savePin'
  | 'saveSummaryRetry'
>;

export function importStoreOf(port: StorePort): ImportStore {
  return {
    createSession: port.forward('createSession'),
    session: port.forward('session'),
    updateSession: port.forward('updateSession'),
    importEntries: port.forward('importEntries'),
    knownSources: port.forward('knownSources'),
    usageRecords: port.forward('usageRecords'),
    entries: port.forward('entries'),
    commonAncestor: port.forward('commonAncestor'),
    branchSteps: port.forward('branchSteps'),
    moveLeaf: port.forward('moveLeaf'),
    putBlob: port.forward('putBlob'),
    restoreSession: port.forward('restoreSession'),
    append: port.forward('append'),
    purge: port.forward('purge'),
    savePin: port.forward('savePin'),
    saveSummaryRetry: port.forward('saveSummaryRetry'),
  };
}
