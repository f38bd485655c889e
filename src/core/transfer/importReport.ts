/** What became of one session of a source. */
export interface ImportedSession {
  readonly uuid: string;
  /** `YYYYMMDD_NNN`. */
  readonly id: string;
  readonly title: string;
  /** File or folder, as it was given. */
  readonly source: string;
  readonly format: string;
  /** `known`: nothing was new. */
  readonly outcome: 'new' | 'extended' | 'known';
  readonly entriesAdded: number;
  readonly entriesKnown: number;
  /** It is in the trash here, and stays there. */
  readonly trashed: boolean;
  /** Records that this program does not know, or could not read: stored as they are, not sent to a model. */
  readonly keptRaw: readonly CountedKind[];
  /** What had to be repaired, and how often: a parent that is not there, a circle. */
  readonly repaired: readonly CountedKind[];
  /** Files that were pinned where it was exported and are not pinned here; left out when there are none. */
  readonly unpinned?: readonly string[];
}

export interface CountedKind {
  readonly kind: string;
  readonly count: number;
}

/** A file or folder of which something, or all, is not here, and why. */
export interface NotImported {
  readonly source: string;
  readonly reason: string;
}

export interface ImportReport {
  readonly sessions: readonly ImportedSession[];
  /** Should have been imported: what the user has named, what is damaged, and every file that only sessions are called like (`.jsonl`). */
  readonly failed: readonly NotImported[];
  /** Found in a folder and left where it is, since it is something else by its content, or lies where nothing is looked for. */
  readonly passedOver: readonly NotImported[];
  /** The user stopped it; what had been read until then is stored. */
  readonly cancelled: boolean;
}

/** What there is to tell while an import goes on. */
export type ImportOutcome =
  | { readonly type: 'begun'; readonly source: string }
  | { readonly type: 'session'; readonly session: ImportedSession }
  | ({ readonly type: 'failed' | 'passedOver' } & NotImported);

/** Puts a report together, also that of an import which never comes to its end. */
export class ReportBuilder {
  private readonly sessions: ImportedSession[] = [];
  private readonly failed: NotImported[] = [];
  private readonly passedOver: NotImported[] = [];
  /** The file that is being read. */
  current: string | null = null;

  add(outcome: ImportOutcome): void {
    switch (outcome.type) {
      case 'begun':
        this.current = outcome.source;
        break;
      case 'session':
        this.sessions.push(outcome.session);
        break;
      case 'failed':
      case 'passedOver':
        this[outcome.type].push({ source: outcome.source, reason: outcome.reason });
    }
  }

  report(cancelled: boolean): ImportReport {
    return { sessions: [...this.sessions], failed: [...this.failed], passedOver: [...this.passedOver], cancelled };
  }
}

/** Counts by kind, in the order of their first appearance. */
export class KindCounter {
  private readonly counts = new Map<string, number>();

  add(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  get list(): CountedKind[] {
    return [...this.counts].map(([kind, count]) => ({ kind, count }));
  }
}
