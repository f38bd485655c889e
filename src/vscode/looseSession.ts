import type { SessionPolicy } from '../core/context/resolvePolicy';
import type { Logger } from '../core/ports';
import { nothingWritten, type Written } from '../core/session/attachment';
import { errorText } from '../core/errors';
import type { Connection } from '../protocol/messages';
import type { ModelSource } from './modelSource';

/** What is known of a session that begins with its first message: text, model, and what will answer. */
export class LooseSession {
  draft: Written = nothingWritten;
  /** `provider/model`; null: whatever the settings say. */
  model: string | null = null;
  policy: SessionPolicy | null = null;
  private resolved: Connection | null = null;

  constructor(
    private readonly models: ModelSource,
    private readonly log: Logger,
  ) {}

  get connection(): Connection {
    return this.resolved ?? this.models.connection(this.models.fallback(this.model).info);
  }

  /** Asks which model it will be. Never rejects: until then it is what the table says. */
  async resolve(): Promise<void> {
    this.resolved = null;
    try {
      this.resolved = this.models.connection((await this.models.resolve(this.model)).info);
    } catch (error) {
      this.log.debug('model_unresolved', { detail: errorText(error) });
    }
  }

  clear(): void {
    this.draft = nothingWritten;
    this.model = null;
    this.policy = null;
    this.resolved = null;
  }
}
