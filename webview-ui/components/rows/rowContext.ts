/** What a row shows besides itself. */
export interface RowContext {
  readonly expanded: boolean;
  /** The last row while nothing runs: only there does trying again make sense. */
  readonly last: boolean;
  /** The newest live compaction: only that one can be undone. */
  readonly undoable: boolean;
  /** Name to show above the row when the speaker changes with it. */
  readonly speaker: string | null;
  readonly toggle: () => void;
}
