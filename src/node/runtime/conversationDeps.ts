import type { ConversationDeps } from '../../core/chat/conversationDeps';
import type { ApprovalRule } from '../../core/chat/turn/approvals';
import type { ApprovalQuestion, Tool } from '../../core/tools/tool';
import type { AskWhenFull, ReviewCompaction } from '../../core/chat/turn/turn';
import type { ModelBinding } from '../../core/context/engine';
import { resolveSessionPolicy, type PolicyChoice } from '../../core/context/policy/resolvePolicy';
import type { CostOf } from '../../core/cost/prices';
import { memoryHead } from '../../core/memory/memoryHead';
import { createMemoryTool } from '../../core/memory/memoryTool';
import type { Logger, MemoryNotes, SessionStore, TextAnalyst, TokenCounter } from '../../core/ports';
import { createRecallTool } from '../../core/recall/recallTool';
import { skillList, type Skill } from '../../core/skills/skill';
import { createSkillTool } from '../../core/skills/skillTool';
import type { Session } from '../../core/session/session';
import { WorkspacePins } from '../memory/workspacePins';
import { newSeal } from './newSeal';
import { systemClock } from './systemClock';
import { UuidV7 } from './uuidV7';

export interface ConversationParts {
  readonly store: SessionStore;
  readonly counter: TokenCounter;
  readonly notes: MemoryNotes;
  readonly log: Logger;
  /** UUID of the session: the one recall searches first. */
  readonly session: string;
  readonly approvalRule: (question: ApprovalQuestion) => ApprovalRule;
  readonly maxRounds: () => number;
  /** Beside the notes and recall. */
  readonly tools: () => readonly Tool[];
  /** Of other extensions and servers; omitted: none. */
  readonly otherTools?: () => readonly Tool[];
  /** Omitted: a policy that asks gets a summary. */
  readonly askWhenFull?: AskWhenFull;
  readonly reviewCompaction?: ReviewCompaction;
  readonly instructions: () => string;
  /** As they were when the session was opened. */
  readonly skills: readonly Skill[];
  /** Omitted: a summary of a branch that is left is never offered. */
  readonly offerBranchSummary?: () => boolean;
  /** What the settings or the command line say; a session's own policy goes before it. */
  readonly policy: () => PolicyChoice;
  readonly costOf: CostOf;
  readonly resolveModel: (session: Session) => Promise<ModelBinding>;
  readonly analyst: TextAnalyst;
  /** Of the workspace: files in them can be pinned. */
  readonly folders: () => readonly string[];
}

/** What a conversation needs, from the parts that the command line and the extension have in common. */
export function conversationDeps(parts: ConversationParts): ConversationDeps {
  return {
    store: parts.store,
    counter: parts.counter,
    clock: systemClock,
    ids: new UuidV7(),
    log: parts.log,
    costOf: parts.costOf,
    tools: (notify) => [
      createMemoryTool(parts.notes, ({ path, op, bytes }) => notify({ type: 'memory_written', path, op, bytes })),
      createRecallTool({ store: parts.store, session: () => parts.session, newSeal }),
      ...(parts.skills.length > 0 ? [createSkillTool(parts.skills)] : []),
      ...parts.tools(),
    ],
    otherTools: parts.otherTools ?? (() => []),
    approvalRule: parts.approvalRule,
    maxRounds: parts.maxRounds,
    ...(parts.askWhenFull ? { askWhenFull: parts.askWhenFull } : {}),
    ...(parts.reviewCompaction ? { reviewCompaction: parts.reviewCompaction } : {}),
    // Among the instructions, because a change of those is recorded: what was thought before it is not sent along any more.
    instructions: () => [parts.instructions(), skillList(parts.skills)].filter((part) => part.trim() !== '').join('\n\n'),
    ...(parts.offerBranchSummary ? { offerBranchSummary: parts.offerBranchSummary } : {}),
    memoryHead: () => memoryHead(parts.notes),
    resolveModel: parts.resolveModel,
    policy: (session) => {
      const { policy, problems } = resolveSessionPolicy(parts.policy(), session.policy);
      for (const { setting, message } of problems) parts.log.debug('policy_value_not_usable', { session: session.id, setting, detail: message });
      return policy;
    },
    random: Math.random,
    analyst: parts.analyst,
    pinnedFiles: new WorkspacePins(parts.folders),
  };
}
