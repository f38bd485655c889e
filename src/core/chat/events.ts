import type { FoldSaving } from '../cost/returns';
import type { ContextSnapshot } from '../context/measure/snapshot';
import type { ModelFailureReason, TokenUsage } from '../models/modelEvent';
import type { Pin } from '../session/storage';
import type { TranscriptPage } from '../branches/branch';
import type { ContentOf, EntryOf, StoredEntry } from '../session/entry';
import type { QueuedMessage } from '../session/userMessage';
import type { Session } from '../session/session';
import type { ApprovalQuestion } from '../tools/tool';
import { english } from '../l10n';

export type TurnPhase = 'preparing' | 'compacting' | 'waiting' | 'streaming' | 'tools' | 'retrying' | 'stopping';

/** Why a turn did not end well; the model's reasons, or one of ours. */
export type TurnErrorReason = ModelFailureReason | 'store' | 'too_long' | 'elsewhere' | 'rounds' | 'internal';

export interface TurnError {
  readonly reason: TurnErrorReason;
  /** One or two sentences for the user: what happened, and what to do. */
  readonly message: string;
  /** The provider's own words, or what failed below: for those who want to know. */
  readonly detail?: string;
}

/**
 * What happens in a conversation, in order. Every surface (view, status bar, command line, tests) lives on these; `*_appended`
 * means durable.
 */
export type ConversationEvent =
  | { readonly type: 'turn_started'; readonly id: string }
  | { readonly type: 'phase_changed'; readonly id: string; readonly phase: TurnPhase }
  | { readonly type: 'entry_appended'; readonly entry: StoredEntry }
  /** Text of a block that is still streaming; `entryId` is the uuid the finished entry will have. Already durable. */
  | {
      readonly type: 'text_delta';
      readonly entryId: string;
      readonly block: 'message' | 'thinking';
      readonly model: string;
      readonly text: string;
    }
  /** The streaming block became no entry: nothing of it had been shown. */
  | { readonly type: 'live_dropped'; readonly entryId: string }
  | {
      readonly type: 'retry_scheduled';
      readonly id: string;
      readonly attempt: number;
      readonly at: number;
      readonly delayMs: number;
      readonly reason: ModelFailureReason;
    }
  | {
      readonly type: 'usage_reported';
      readonly model: string;
      readonly usage: TokenUsage;
      readonly kind: 'turn' | 'compaction' | 'aside';
      readonly cost: number | null;
    }
  /** A call (the uuid of its entry) waits for the user's answer. */
  | { readonly type: 'approval_requested'; readonly call: string; readonly tool: string; readonly question: ApprovalQuestion }
  | { readonly type: 'approval_settled'; readonly call: string }
  /** What a running call has printed since the last one. */
  | { readonly type: 'tool_output'; readonly call: string; readonly text: string }
  | { readonly type: 'memory_written'; readonly path: string; readonly op: string; readonly bytes: number }
  /** The policy leaves it to the user what happens now; the turn waits for the answer. */
  | { readonly type: 'context_full'; readonly id: string; readonly used: number; readonly effective: number; readonly limit: number }
  | { readonly type: 'context_full_answered'; readonly id: string }
  | { readonly type: 'compaction_started'; readonly trigger: ContentOf<'compaction'>['trigger']; readonly tokensBefore: number }
  | {
      readonly type: 'compaction_ended';
      readonly entry: (StoredEntry & { readonly content: ContentOf<'compaction'> }) | null;
      readonly message: string | null;
    }
  /** All there are now. */
  | { readonly type: 'pins_changed'; readonly pins: readonly Pin[] }
  /** What compactions on a return have saved, by what was billed. */
  | { readonly type: 'savings_changed'; readonly savings: readonly FoldSaving[] }
  | { readonly type: 'context_changed'; readonly snapshot: ContextSnapshot }
  | { readonly type: 'queue_changed'; readonly queue: readonly QueuedMessage[] }
  /** Another window works in this session, or (null) no longer does; what it appends and streams is told as well. */
  | { readonly type: 'elsewhere_changed'; readonly holder: string | null }
  /**
   * The session stands on another branch, here or by another window: everything that was told about the old one is void. `page`: its
   * newest.
   */
  | { readonly type: 'branch_replaced'; readonly page: TranscriptPage }
  /** The branch that was left last had work which this one has not, and a summary of it is on offer or being made; null: no longer. */
  | { readonly type: 'branch_left'; readonly left: { readonly messages: number; readonly summarizing: boolean } | null }
  /** Nothing runs or waits any more: `isBusy` says so from now on, which it does not yet when the last turn has ended. */
  | { readonly type: 'became_idle' }
  | { readonly type: 'session_changed'; readonly session: Session }
  | { readonly type: 'turn_ended'; readonly id: string; readonly ok: boolean; readonly text: string; readonly error: TurnError | null };

/** `customType` of the entry that records a turn's error in the transcript. */
export const turnErrorType = 'turn_error';

export interface TurnOutcome {
  readonly ok: boolean;
  readonly text: string;
  readonly error: TurnError | null;
}

export interface SendOutcome extends TurnOutcome {
  readonly id: string;
  /** False when the turn was never begun: refused, taken out of the queue, or the conversation was closed. */
  readonly begun: boolean;
}

/** Called when a message is on disk or in the queue, for a retry when it is under way; not for a turn that ends before that. */
export type Accepted = () => void;

/** Resolves when what `start` begins is accepted, or was cancelled; rejects, in words for the user, when it ends with an error before. */
export function untilAccepted(start: (accepted: Accepted) => Promise<SendOutcome>): Promise<void> {
  return new Promise((resolve, reject) => {
    start(resolve).then(({ error }) => (error && error.reason !== 'cancelled' ? reject(new Error(error.message)) : resolve()), reject);
  });
}

export const outOfQueue: TurnError = { reason: 'cancelled', message: english('Taken out of the queue.') };
export const elsewhere: TurnError = {
  reason: 'elsewhere',
  message: english('Another window is answering in this session. Try again when it has finished.'),
};

export function notBegun(id: string, error: TurnError): SendOutcome {
  return { id, begun: false, ok: false, text: '', error };
}

export interface CompactionResult {
  readonly entry: EntryOf<'compaction'> | null;
  /** Why nothing was folded, in words for the user; null when it was. */
  readonly message: string | null;
  /** Nothing has failed: there was nothing to do, or it was not wanted any more. */
  readonly isNothing?: boolean;
}

export function noRecord(message: string): CompactionResult {
  return { entry: null, message };
}
