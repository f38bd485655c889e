import type { ModelBinding } from '../context/engine';
import type { Policy } from '../context/policy';
import type { Clock, IdSource, Logger, PinnedFiles, SessionStore, TextAnalyst, TokenCounter, Tool } from '../ports';
import type { Session } from '../session/session';
import type { ConversationEvent } from './events';
import type { Approve } from './toolRun';
import type { AskWhenFull } from './turn';

export interface ConversationDeps {
  readonly store: SessionStore;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Logger;
  /** What the model may call; `notify` tells the surfaces what a tool did. Asked once, when the session is opened. */
  readonly tools: (notify: (event: ConversationEvent) => void) => readonly Tool[];
  readonly approve: Approve;
  /** Omitted: a policy that asks gets a summary. */
  readonly askWhenFull?: AskWhenFull;
  /** The user's standing instructions as they are now; asked with every turn. */
  readonly instructions: () => string;
  /** Index and head of the notes, at most about 1,000 tokens; null when there are none. */
  readonly memoryHead: () => Promise<string | null>;
  /** The model that the next request goes to. Rejects with `ModelError` for one that nobody knows. */
  readonly resolveModel: (session: Session) => Promise<ModelBinding>;
  /** How the context of the session is managed from the next request on. */
  readonly policy: (session: Session) => Policy;
  /** 0–1; spreads retries. */
  readonly random: () => number;
  readonly analyst: TextAnalyst;
  /** Null where there is no workspace. */
  readonly pinnedFiles: PinnedFiles | null;
}
