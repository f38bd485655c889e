import type { ConversationDeps } from '../../core/chat/conversationDeps';
import type { Tool } from '../../core/tools/tool';
import { resolveSessionPolicy, type PolicyChoice } from '../../core/context/policy/resolvePolicy';
import { memoryHead } from '../../core/memory/notes';
import { createMemoryTool } from '../../core/memory/memoryTool';
import type { MemoryNotes } from '../../core/ports';
import { createRecallTool, type RecallDependencies } from '../../core/recall/recallTool';
import { skillList, createSkillTool, type Skill } from '../../core/skills/skill';
import { createTodoTool } from '../../core/todo/todoTool';
import type { WorkspaceFolder } from '../../core/tools/guard/workspacePath';
import { WorkspacePins } from '../memory/workspaceTexts';
import { newSeal, UuidV7 } from './ids';
import { systemClock } from './systemClock';

/** What is made here of the parts below. */
type Made = 'clock' | 'ids' | 'tools' | 'instructions' | 'memoryHead' | 'policy' | 'random' | 'pinnedFiles' | 'sideQuestions';

/** Everything else goes into a conversation as it is. */
export interface ConversationParts extends Omit<ConversationDeps, Made | 'otherTools'>, Partial<Pick<ConversationDeps, 'otherTools'>> {
  readonly notes: MemoryNotes;
  /** Recall searches the session with this UUID first. */
  readonly session: string;
  /** Recall may read these other workspaces. */
  readonly elsewhere?: NonNullable<RecallDependencies['elsewhere']>;
  /** These tools stand beside the notes and recall. */
  readonly tools: () => readonly Tool[];
  readonly instructions: () => string;
  /** The skills are as they were when the session was opened. */
  readonly skills: readonly Skill[];
  /** What the settings or the command line say; a session's own policy goes before it. */
  readonly policy: () => PolicyChoice;
  /** Files in these folders of the workspace can be pinned. */
  readonly folders: () => readonly WorkspaceFolder[];
}

/** What a conversation needs, from the parts that the command line and the extension have in common. */
export function conversationDeps({
  notes,
  session: own,
  elsewhere = () => null,
  tools,
  instructions,
  skills,
  policy,
  folders,
  ...shared
}: ConversationParts): ConversationDeps {
  return {
    otherTools: () => [],
    ...shared,
    clock: systemClock,
    ids: new UuidV7(),
    tools: (notify) => [
      createMemoryTool(notes, ({ path, op, bytes }) => notify({ type: 'memory_written', path, op, bytes })),
      createRecallTool({ store: shared.store, session: () => own, newSeal, elsewhere }),
      createTodoTool(),
      ...(skills.length > 0 ? [createSkillTool(skills)] : []),
      ...tools(),
    ],
    // Skills stand among the instructions, because a change of those is recorded: what was thought before it is not sent along any more.
    instructions: () => [instructions(), skillList(skills)].filter((part) => part.trim() !== '').join('\n\n'),
    memoryHead: () => memoryHead(notes),
    policy: (session) => {
      const { policy: resolved, problems } = resolveSessionPolicy(policy(), session.policy);
      for (const { setting, message } of problems)
        shared.log.debug('policy_value_not_usable', { session: session.id, setting, detail: message });
      return resolved;
    },
    random: Math.random,
    sideQuestions: true,
    pinnedFiles: new WorkspacePins(folders),
  };
}
