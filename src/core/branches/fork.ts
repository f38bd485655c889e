/** A place where the branch that is read parts from others of its session. */
export interface Fork {
  /** The first entry after it, on the branch that is read. */
  readonly entry: string;
  /** `seq` of that entry. */
  readonly seq: number;
  /** The first entries of all branches that begin there, `entry` among them, oldest first. */
  readonly branches: readonly string[];
}
