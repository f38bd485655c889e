import type { Summarizer } from '../ports';
import type { ContentOf } from '../session/entry';

/** What is asked of one compaction. */
export interface CompactionOptions {
  readonly trigger: Extract<ContentOf<'compaction'>['trigger'], 'automatic' | 'manual' | 'overflow'>;
  readonly instructions: string | null;
  /** A turn is waiting for it. */
  readonly holdsTurn: boolean;
  /** The compaction is made without a summary, whatever the policy says: the user chose so. */
  readonly truncates?: boolean;
  /** The user has seen a preview and said yes: that is what is made, and no mask in its place. */
  readonly isReviewed?: boolean;
  /** What the user has made of the summary in that preview. */
  readonly summary?: string;
  /** These are asked before those of the policy: the model that wrote the conversation, when the next one has a smaller window. */
  readonly summarizers?: readonly Summarizer[];
}

export interface CompactionSignals {
  /** Ends it without a record. */
  readonly stop: AbortSignal;
  /** Gives up on the summariser and takes the next rung. */
  readonly skip?: AbortSignal;
}
