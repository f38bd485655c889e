import type { SessionPolicy } from '../../core/context/policy/resolvePolicy';
import { parseThinkingLevel, type ModelInfo, type ThinkingLevel } from '../../core/models/modelInfo';
import { isPlanning, modeChange } from '../../core/plan/planMode';
import type { ActiveChat, Addressee } from './activeChat';
import { heedsFiles, instructionFilesKey } from './instructionSwitch';
import type { NewSessionDraft } from './newSessionDraft';

export interface SessionChoicesDeps {
  readonly current: ActiveChat;
  readonly newSession: NewSessionDraft;
  /** Another model may answer from here on. */
  readonly connectionChanged: () => Promise<void>;
}

/**
 * What the user has chosen for the session on show, or for the one that the next message begins. Where choosing takes a while, it is said
 * for which session. Setting rejects with `StoreError`.
 */
export class SessionChoices {
  constructor(private readonly deps: SessionChoicesDeps) {}

  /** The choices are for a session that has no message yet. */
  get areForNewSession(): boolean {
    return this.deps.current.chat === null;
  }

  /** `provider/model`, or null when the settings decide. */
  get model(): string | null {
    return (this.deps.current.chat ?? this.deps.newSession).model;
  }

  async setModel(model: string | null, session?: Addressee): Promise<void> {
    const { current, newSession, connectionChanged } = this.deps;
    await current.change(async (chat) => {
      if (chat) await chat.conversation.setModel(model);
      else newSession.model = model;
    }, session);
    await connectionChanged();
  }

  /** What is known of the model that answers next. */
  get modelInfo(): ModelInfo {
    const { current, newSession } = this.deps;
    return current.chat ? current.chat.conversation.model.info : newSession.modelInfo;
  }

  /** Null: whatever the settings say. */
  get policy(): string | null {
    const { current, newSession } = this.deps;
    const policy = current.chat ? current.chat.session.policy : newSession.policy;
    return (policy as SessionPolicy | null)?.preset ?? null;
  }

  async setPolicy(policy: SessionPolicy | null): Promise<void> {
    const { current, newSession } = this.deps;
    await current.change(async (chat) => {
      if (chat) await chat.conversation.setPolicy(policy);
      else newSession.policy = policy;
    });
  }

  /** Null: as the model does by itself. */
  get thinkingLevel(): ThinkingLevel | null {
    const { current, newSession } = this.deps;
    return current.chat ? parseThinkingLevel(current.chat.session.thinkingLevel) : newSession.thinkingLevel;
  }

  /** Names of the tools that are on in a session without a message; null: the usual ones. */
  get toolsOfNewSession(): readonly string[] | null {
    return this.deps.newSession.tools;
  }

  setToolsOfNewSession(names: readonly string[]): void {
    this.deps.newSession.tools = names;
  }

  /** Whether the workspace's instruction files count. */
  get heedsInstructionFiles(): boolean {
    const { current, newSession } = this.deps;
    return current.chat ? heedsFiles(current.chat.session.metadata) : newSession.heedsInstructionFiles;
  }

  async setHeedsInstructionFiles(heeds: boolean): Promise<void> {
    const { current, newSession } = this.deps;
    await current.change(async (chat) => {
      if (chat) await chat.conversation.changeDetails({ metadata: { [instructionFilesKey]: heeds ? null : false } });
      else newSession.heedsInstructionFiles = heeds;
    });
  }

  /** Plan mode is on. */
  get planning(): boolean {
    const { current, newSession } = this.deps;
    return current.chat ? isPlanning(current.chat.session.metadata) : newSession.planning;
  }

  async setPlanning(planning: boolean, session?: Addressee): Promise<void> {
    const { current, newSession } = this.deps;
    await current.change(async (chat) => {
      if (chat) await chat.conversation.changeDetails({ metadata: modeChange(planning) });
      else newSession.planning = planning;
    }, session);
  }

  /** Rejects, in words for the user, while another window answers in the session. */
  async setThinkingLevel(level: ThinkingLevel | null): Promise<void> {
    const { current, newSession } = this.deps;
    await current.change(async (chat) => {
      if (!chat) newSession.thinkingLevel = level;
      else if (level !== parseThinkingLevel(chat.session.thinkingLevel)) {
        const problem = await chat.conversation.setThinkingLevel(level);
        if (problem !== null) throw new Error(problem);
      }
    });
  }
}
