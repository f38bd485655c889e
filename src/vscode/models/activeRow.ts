/**
 * Which row of a list has the focus while the list is replaced by longer ones.
 *
 *   settled ──place──▶ placed ──moved to the placed row, or anywhere but the first──▶ settled
 *
 * VS Code goes to the first row of a new list before it goes where it is told, and reports both some time later: a report of the first
 * row that comes before that of the placed one is nobody's move.
 */
export class ActiveRow<T extends object> {
  private placed: { readonly row: T; readonly first: T | undefined } | null = null;

  /** `wanted` is the key of the row that has the focus at first. */
  constructor(
    private wanted: string,
    private readonly keyOf: (row: T) => string,
  ) {}

  /** The row of a new list that gets the focus; undefined leaves that to VS Code. */
  place(rows: readonly T[]): T | undefined {
    const row = rows.find((one) => this.keyOf(one) === this.wanted);
    this.placed = row ? { row, first: rows[0] } : null;
    return row;
  }

  /** VS Code reports where the focus is. */
  moved(row: T): void {
    if (this.placed && row === this.placed.first && row !== this.placed.row) return;
    this.placed = null;
    this.wanted = this.keyOf(row);
  }
}
