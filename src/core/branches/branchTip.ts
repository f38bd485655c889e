/** Where one branch of a session's tree ends. */
export interface BranchTip {
  readonly leaf: string;
  /** When the leaf was made. */
  readonly at: number;
  /** Messages from the root to the leaf, with those of the session that a fork comes from. */
  readonly messages: number;
  /**
   * What the user said first after the branch parted from the active one, or first of all on the active branch and where nothing
   * is shared; at most 200 characters. Null when the user said nothing there.
   */
  readonly firstText: string | null;
  /** The last entry that it shares with the active branch; null for the active one and for a branch with a root of its own. */
  readonly forkPoint: string | null;
  /** Whether the session stands here. The active leaf is listed also when other entries follow it. */
  readonly active: boolean;
  /** The label nearest to the leaf, on the part that `firstText` is from. */
  readonly label: string | null;
}
