/** What a row shows besides itself. */
export interface RowContext {
  readonly expanded: boolean;
  /** The last row that says something, while nothing runs: only there does trying again make sense. */
  readonly last: boolean;
  /** The newest live compaction: only that one can be undone. */
  readonly undoable: boolean;
  /** Name to show above the row when the speaker changes with it. */
  readonly speaker: string | null;
  readonly toggle: () => void;
  /** Nothing runs: the conversation can go another way from here. */
  readonly canBranch: boolean;
  readonly label: string | null;
  /** The message is being written anew. */
  readonly editing: boolean;
  readonly edit: () => void;
}
