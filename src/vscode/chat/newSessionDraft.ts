import * as z from 'zod/mini';
import { SessionPolicy } from '../../core/context/policy/resolvePolicy';
import { thinkingLevels, type ModelInfo, type ThinkingLevel } from '../../core/models/modelInfo';
import { errorText } from '../../core/errors';
import type { Logger } from '../../core/ports';
import { Attachment, isBlank, joinedWritten, nothingWritten, type Written } from '../../core/session/userMessage';
import type { Connection } from '../../protocol/messages';
import type { WindowState } from './windowState';
import type { ModelSource } from '../models/modelSource';

const State = z.object({
  draft: z.object({ text: z.string(), attachments: z.array(Attachment) }),
  /** `provider/model`; null: whatever the settings say. */
  model: z.nullable(z.string()),
  policy: z.nullable(SessionPolicy),
  thinkingLevel: z.nullable(z.enum(thinkingLevels)),
  /** Names of the tools that are on; null or absent: the usual ones. */
  tools: z.optional(z.nullable(z.array(z.string()))),
  /** False: the workspace's instruction files do not count in it. */
  instructionFiles: z.optional(z.nullable(z.boolean())),
  /** True: it begins in Plan mode. */
  planning: z.optional(z.nullable(z.boolean())),
});
/** As much of another version's state as is the user's own work. */
const Text = z.object({ draft: z.object({ text: z.string() }) });

interface State {
  readonly draft: Written;
  readonly model: string | null;
  readonly policy: SessionPolicy | null;
  readonly thinkingLevel: ThinkingLevel | null;
  readonly tools?: readonly string[] | null | undefined;
  readonly instructionFiles?: boolean | null | undefined;
  readonly planning?: boolean | null | undefined;
}

const blank: State = {
  draft: nothingWritten,
  model: null,
  policy: null,
  thinkingLevel: null,
  tools: null,
  instructionFiles: null,
  planning: null,
};

/**
 * What is known of a session that begins with its first message: what is written for it, what was chosen, and what will answer. Kept
 * outside of the store, which has no place for a session that may never be: it is there again when the window is reloaded.
 */
export class NewSessionDraft {
  private state: State;
  private resolved: ModelInfo | null = null;
  /** The newest question which model it will be: an answer to an older one may come after it. */
  private asked = 0;

  constructor(
    private readonly models: ModelSource,
    private readonly memory: Pick<WindowState, 'newSessionDraft' | 'setNewSessionDraft'>,
    private readonly log: Logger,
  ) {
    this.state = parsed(memory.newSessionDraft());
  }

  get draft(): Written {
    return this.state.draft;
  }

  set draft(draft: Written) {
    this.change({ draft });
  }

  get model(): string | null {
    return this.state.model;
  }

  set model(model: string | null) {
    this.change({ model });
  }

  get policy(): SessionPolicy | null {
    return this.state.policy;
  }

  set policy(policy: SessionPolicy | null) {
    this.change({ policy });
  }

  get thinkingLevel(): ThinkingLevel | null {
    return this.state.thinkingLevel;
  }

  set thinkingLevel(thinkingLevel: ThinkingLevel | null) {
    this.change({ thinkingLevel });
  }

  get tools(): readonly string[] | null {
    return this.state.tools ?? null;
  }

  set tools(tools: readonly string[] | null) {
    this.change({ tools });
  }

  get heedsInstructionFiles(): boolean {
    return this.state.instructionFiles !== false;
  }

  set heedsInstructionFiles(heeds: boolean) {
    this.change({ instructionFiles: heeds ? null : false });
  }

  get planning(): boolean {
    return this.state.planning === true;
  }

  set planning(planning: boolean) {
    this.change({ planning: planning ? true : null });
  }

  get connection(): Connection {
    return this.models.connection(this.modelInfo);
  }

  get modelInfo(): ModelInfo {
    return this.resolved ?? this.models.fallback(this.model).info;
  }

  /** Asks which model it will be. Never rejects: until then it is what the table says. */
  async resolve(): Promise<void> {
    this.resolved = null;
    const asked = ++this.asked;
    try {
      const { info } = await this.models.resolve(this.model);
      if (asked === this.asked) this.resolved = info;
    } catch (error) {
      this.log.debug('model_unresolved', { detail: errorText(error) });
    }
  }

  /** Puts what was written for a session that is gone in front of what is written here. */
  adopt(draft: Written): void {
    this.draft = joinedWritten(draft, this.draft);
  }

  clear(): void {
    this.change(blank);
    this.resolved = null;
    this.asked++;
  }

  private change(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    const { draft, ...choices } = this.state;
    const isEmpty = isBlank(draft) && Object.values(choices).every((choice) => (choice ?? null) === null);
    void this.memory.setNewSessionDraft(isEmpty ? undefined : this.state);
  }
}

function parsed(value: unknown): State {
  const state = State.safeParse(value);
  if (state.success) return state.data;
  const { data } = Text.safeParse(value);
  return data ? { ...blank, draft: { ...nothingWritten, ...data.draft } } : blank;
}
