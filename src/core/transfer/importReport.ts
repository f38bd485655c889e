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
}

export interface CountedKind {
  readonly kind: string;
  readonly count: number;
}

export interface ImportReport {
  readonly sessions: readonly ImportedSession[];
  /** Files that gave nothing, and why. */
  readonly failed: readonly { readonly source: string; readonly reason: string }[];
  /** The user stopped it; what had been read until then is stored. */
  readonly cancelled: boolean;
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
