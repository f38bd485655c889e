import type { ModelBinding } from '../context/engine';
import type { CacheTime } from '../context/measure/snapshot';
import type { CostOf } from '../cost/prices';
import type { Policy } from '../context/policy/policy';
import type { Clock, IdSource, Logger, PinnedFiles, SessionStore, TextAnalyst, TokenCounter } from '../ports';
import type { CallRecorder } from '../rewind/callRecorder';
import type { Session } from '../session/session';
import type { ApprovalQuestion, Tool } from '../tools/tool';
import type { ApprovalRule } from './turn/approvals';
import type { ConversationEvent } from './events';
import type { AskWhenFull, ReviewCompaction } from './turn/turn';

export interface ConversationDeps {
  readonly store: SessionStore;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Logger;
  /** For how long a provider is paid to keep a prompt; omitted: decided by the rhythm of the person. */
  readonly cacheTime?: () => CacheTime | 'automatic';
  /** Omitted: nobody knows what requests cost. */
  readonly costOf?: CostOf;
  /** What the model may call; `notify` tells the surfaces what a tool did. Asked once, when the session is opened. */
  readonly tools: (notify: (event: ConversationEvent) => void) => readonly Tool[];
  /** Whether the model may have side questions answered in contexts of their own; omitted: no. */
  readonly sideQuestions?: boolean;
  /** Omitted: what calls do to files is not recorded. */
  readonly recorder?: CallRecorder;
  /** Tools of other extensions and servers as they are now: only what the user chooses of them is used. */
  readonly otherTools: () => readonly Tool[];
  /** Whether a tool's question is put to the user; asked before each call that has one. */
  readonly approvalRule: (question: ApprovalQuestion, tool: string) => ApprovalRule;
  /** Model steps with calls in one turn, after which the user is asked whether to go on. */
  readonly maxRounds: () => number;
  /** Whether the model is told of what a message clearly refers to and has not before it; omitted: no. */
  readonly recallHints?: () => boolean;
  /** Omitted: a policy that asks gets a summary. */
  readonly askWhenFull?: AskWhenFull;
  /** Omitted: a policy that has each compaction looked at first makes them at once. */
  readonly reviewCompaction?: ReviewCompaction;
  /** The user's standing instructions as they are now; asked with every turn. */
  readonly instructions: () => string;
  /** Index and head of the notes, at most about 1,000 tokens; null when there are none. */
  readonly memoryHead: () => Promise<string | null>;
  /** The model that the next request goes to. Rejects with `ModelError` for one that nobody knows. */
  readonly resolveModel: (session: Session) => Promise<ModelBinding>;
  /** How the context of the session is managed from the next request on. */
  readonly policy: (session: Session) => Policy;
  /** Whether to offer a summary of a branch that is left. Omitted: never. */
  readonly offerBranchSummary?: () => boolean;
  /** 0–1; spreads retries. */
  readonly random: () => number;
  readonly analyst: TextAnalyst;
  /** Null where there is no workspace. */
  readonly pinnedFiles: PinnedFiles | null;
}
