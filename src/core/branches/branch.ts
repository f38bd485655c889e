import type { UsageRecord } from '../cost/usage';
import type { EntryOf, EntryType, StoredEntry } from '../session/entry';
import type { Session } from '../session/session';

/** The part of a branch that the projection can reach, root side first. */
export interface LiveBranch {
  readonly session: Session;
  /**
   * From the first kept entry of the newest compaction that is neither undone nor superseded (or from the root when there is
   * none) up to the leaf; the compaction entry itself stands among them where it was appended.
   */
  readonly entries: readonly StoredEntry[];
  /** Some of `entries` were read without their texts; absent when none was. */
  readonly outline?: BranchOutline;
  /** There is more above the first of `entries`. */
  readonly isCut?: boolean;
  /** The newest usage of kind `turn` or `count` that was reported for one of `entries`. */
  readonly lastUsage: UsageRecord | null;
  /** The newest summary that was prepared on this branch and is our own: whether it can still be used is another question. */
  readonly prepared: EntryOf<'prepared_summary'> | null;
  /** The newest requests that led to one of `entries` and that a provider may have kept the prompt of, in the order of their recording. */
  readonly requests: readonly UsageRecord[];
  /** A session keeps the same one: it marks the frames of its prompt (core/frames/frames.ts). Nobody else may learn it. */
  readonly seal: string;
}

/** How far a branch is read. Omitted: all of it. */
export interface BranchReach {
  /** Characters, from the leaf upwards. */
  readonly texts: number;
  /** What is older comes as an outline; else it does not come at all. */
  readonly outline: boolean;
}

/**
 * The older part of a branch whose texts are left where they are until somebody asks for them (`SessionStore.entries`). What shapes a
 * prompt is there: sizes, kinds, records of compactions, marks. Of a message, a thought, a call and a result only the text is missing.
 */
export interface BranchOutline {
  /** So many of the first entries. */
  readonly count: number;
  /** The `tokenEstimate` of these is a guess from the length of their text: they have not been counted. */
  readonly guessed: readonly string[];
}

/** One entry of a branch, without what it says. */
export interface BranchStep {
  readonly entry: string;
  readonly type: EntryType;
  readonly at: number;
  readonly modelFacing: boolean;
  /** Our own count, not calibrated; null while not yet counted. */
  readonly tokens: number | null;
  /** What the provider reported for the request that led to it, answer included; null when nothing was. */
  readonly measured: number | null;
}

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

/** A place where the branch that is read parts from others of its session. */
export interface Fork {
  /** The first entry after it, on the branch that is read. */
  readonly entry: string;
  /** `seq` of that entry. */
  readonly seq: number;
  /** The first entries of all branches that begin there, `entry` among them, oldest first. */
  readonly branches: readonly string[];
}

export interface TranscriptPage {
  /** Entries of the branch with `display`, oldest first, with the side entries (checkpoints, labels) that hang off them. */
  readonly entries: readonly StoredEntry[];
  readonly hasMore: boolean;
  /** Among the entries of the page, those without `display` included. */
  readonly forks: readonly Fork[];
  /** First entries of the branches that go on from the active leaf; only of the newest page. */
  readonly beyondLeaf: readonly string[];
  /** A page that begins within a turn has these: the message that began it, and what its calls before the page did to files. */
  readonly earlier?: readonly StoredEntry[];
}
