/** Something that compaction never folds. */
export interface Pin {
  readonly session: string;
  readonly kind: 'entry' | 'file' | 'text';
  /** Entry uuid, path, or the text itself. */
  readonly target: string;
  /** The content had this hash when it was pinned; null where there is none. */
  readonly contentHash: string | null;
  readonly at: number;
}
