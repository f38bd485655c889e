import type { StoredEntry } from '../session/entry';
import type { Fork } from './branch';

export interface TranscriptPage {
  /** Entries of the branch with `display`, oldest first, with the side entries (checkpoints, labels) that hang off them. */
  readonly entries: readonly StoredEntry[];
  readonly hasMore: boolean;
  /** Among the entries of the page, those without `display` included. */
  readonly forks: readonly Fork[];
  /** First entries of the branches that go on from the active leaf; only of the newest page. */
  readonly beyondLeaf: readonly string[];
}
