import type { ConversationDeps } from '../../core/chat/conversation';
import type { Approve } from '../../core/chat/toolRun';
import type { ModelBinding } from '../../core/context/engine';
import type { Policy } from '../../core/context/policy';
import { memoryHead } from '../../core/memory/memoryHead';
import { createMemoryTool } from '../../core/memory/memoryTool';
import type { Logger, MemoryNotes, SessionStore, TokenCounter } from '../../core/ports';
import { createRecallTool } from '../../core/recall/recallTool';
import type { Session } from '../../core/session/session';
import { systemClock } from './systemClock';
import { UuidV7 } from './uuidV7';

export interface ConversationParts {
  readonly store: SessionStore;
  readonly counter: TokenCounter;
  readonly notes: MemoryNotes;
  readonly log: Logger;
  /** UUID of the session: the one recall searches first. */
  readonly session: string;
  readonly approve: Approve;
  readonly instructions: string;
  readonly policy: () => Policy;
  readonly resolveModel: (session: Session) => Promise<ModelBinding>;
}

/** What a conversation needs, from the parts that the command line and the extension have in common. */
export function conversationDeps(parts: ConversationParts): ConversationDeps {
  return {
    store: parts.store,
    counter: parts.counter,
    clock: systemClock,
    ids: new UuidV7(),
    log: parts.log,
    tools: (notify) => [
      createMemoryTool(parts.notes, ({ path, op, bytes }) => notify({ type: 'memory_written', path, op, bytes })),
      createRecallTool({ store: parts.store, session: () => parts.session }),
    ],
    approve: parts.approve,
    instructions: parts.instructions,
    memoryHead: () => memoryHead(parts.notes),
    resolveModel: parts.resolveModel,
    policy: parts.policy,
    random: Math.random,
  };
}
