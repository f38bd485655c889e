import type { SessionPolicy } from '../core/context/resolvePolicy';
import type { CurrentChat } from './currentChat';
import type { LooseSession } from './looseSession';

export interface SessionChoicesDeps {
  readonly current: CurrentChat;
  readonly loose: LooseSession;
  /** Another model may answer from here on. */
  readonly connectionChanged: () => Promise<void>;
}

/** What the user has chosen for the session on show, or for the one that the next message begins. Setting rejects with `StoreError`. */
export class SessionChoices {
  constructor(private readonly deps: SessionChoicesDeps) {}

  /** `provider/model`, or null when the settings decide. */
  get model(): string | null {
    return (this.deps.current.chat ?? this.deps.loose).model;
  }

  async setModel(model: string | null): Promise<void> {
    const { current, loose, connectionChanged } = this.deps;
    await current.open();
    if (current.chat) await current.chat.setModel(model);
    else loose.model = model;
    await connectionChanged();
  }

  /** Null: whatever the settings say. */
  get policy(): string | null {
    const { current, loose } = this.deps;
    const policy = current.chat ? current.chat.session.policy : loose.policy;
    return (policy as SessionPolicy | null)?.preset ?? null;
  }

  async setPolicy(policy: SessionPolicy | null): Promise<void> {
    const { current, loose } = this.deps;
    await current.open();
    if (current.chat) await current.chat.conversation.setPolicy(policy);
    else loose.policy = policy;
  }
}
