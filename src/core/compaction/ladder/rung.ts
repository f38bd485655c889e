import type { Summarizer } from '../../ports';
import type { ContentOf } from '../../session/entry';
import type { SummaryCall } from '../summary/summaryWriter';
import type { SummaryJob } from '../summary/summaryJob';
import type { RecordFacts } from '../compactionRecorder';
import type { Cut } from './cutPoint';
import type { Fold } from './fold';

/** What one compaction starts from, the same for every rung; `failure` and `spent` are what the rungs before have come to. */
export interface Situation {
  readonly options: CompactionOptions;
  readonly signals: Required<CompactionSignals>;
  readonly startedAt: number;
  /** Tokens of the context. */
  readonly used: number;
  /** The context does not fit the model: then whatever makes it fit is worth it. */
  readonly isOver: boolean;
  /** Nothing has to give yet: the request could be sent as it is. */
  readonly hasRoom: boolean;
  /** Where the policy would cut, the cut that keeps most first; none: there is nothing to fold. */
  readonly cuts: readonly Cut[];
  /** Who may write a summary, the first first. */
  readonly chain: readonly Summarizer[];
  /** No summary is wanted: the policy or the user has chosen so. */
  readonly truncates: boolean;
  /** Why no model has written a summary, in words for the user; null while none has failed. */
  failure: string | null;
  /** A summary was written, and none of what it led to was taken. */
  wasTooLong: boolean;
  /** Dollars of what was paid for and recorded before; null where a price is not known. */
  paidBefore: number | null;
  /** What was paid for on the way to a record. */
  readonly spent: SummaryCall[];
  /** The user has been told that a compaction runs. */
  isAnnounced: boolean;
}

/** What a rung comes to: a fold to be judged, a record that it has judged itself, or that nothing is to be folded now. */
export type Step = FoldStep | { readonly record: ContentOf<'compaction'> } | { readonly stays: string };

export interface FoldStep {
  readonly fold: Fold;
  readonly cut: Cut;
  /** The job that wrote the fold, for a range that may be shorter than the cut's by now. */
  readonly job?: SummaryJob;
  /** The fold is taken only when nothing is due any more after it: the rung has another one. */
  readonly hasToReach?: boolean;
}

/** One way of making room. The ladder is a list of these, and one loop (`Compactor.run`) tries them in order. */
export interface Rung {
  readonly name: 'edited' | 'mask' | 'shorten' | 'ready' | 'wait' | 'checkpoint' | 'model' | 'keep' | 'passages' | 'truncate';
  /** What it takes: nothing, a look at every folded text, or a request to a model that somebody pays for. */
  readonly costs: 'nothing' | 'reading' | 'request';
  /** Whether it may be tried; it decides, and changes nothing. */
  readonly mayTry: (situation: Situation) => boolean;
  /** What it yields, best first: each is judged before the next is made. */
  readonly tries: (situation: Situation) => AsyncGenerator<Step>;
}

/** What a record says of the situation that it was made in. */
export function factsOf({ options, used, startedAt, truncates }: Situation): Omit<RecordFacts, 'rung'> {
  return {
    trigger: options.trigger,
    tokensBefore: used,
    startedAt,
    holdsTurn: options.holdsTurn,
    ...(options.instructions ? { instructions: options.instructions } : {}),
    // What was chosen is not made good for later.
    ...(truncates ? { needsSummaryRetry: false } : {}),
  };
}

/** What is asked of one compaction. */
export interface CompactionOptions {
  readonly trigger: Extract<ContentOf<'compaction'>['trigger'], 'automatic' | 'manual' | 'overflow' | 'cold'>;
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
