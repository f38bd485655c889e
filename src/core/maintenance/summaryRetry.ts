/** A compaction whose summary is to be made again by a model. */
export interface SummaryRetry {
  /** UUID of the compaction's entry. */
  readonly compaction: string;
  readonly session: string;
  readonly nextAt: number;
  readonly attempts: number;
}
