import type { ContextEngine } from '../engine';
import type { ContextSnapshot } from './snapshot';
import { CancelledError, errorText } from '../../errors';
import type { Clock, Logger, TokenCounter } from '../../ports';
import { attachmentTokens, type Attachment } from '../../session/attachment';
import { AnchorKeeper } from './anchorKeeper';
import type { BranchState } from '../../chat/branchState';
import type { ConversationEvent } from '../../chat/events';

export interface ContextMeterDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether a measurement can be stored. */
  readonly canWrite: () => boolean;
  readonly emit: (event: ConversationEvent) => void;
}

/** Tells the size of the context whenever it has changed, and replaces what is estimated of it by counts and measurements. */
export class ContextMeter {
  private readonly anchor: AnchorKeeper;
  private closed = false;
  /** Grows with every draft and every send: a count that comes back late is dropped. */
  private draftVersion = 0;
  /** The last snapshot told to anyone, without its time: what has not changed is not told again. */
  private lastNumbers = '';

  constructor(private readonly deps: ContextMeterDeps) {
    this.anchor = new AnchorKeeper(deps);
  }

  get snapshot(): ContextSnapshot {
    return this.deps.engine.snapshot(this.deps.clock.now());
  }

  tell(): void {
    const { snapshot } = this;
    const numbers = JSON.stringify({ ...snapshot, updatedAt: 0 });
    if (numbers === this.lastNumbers) return;
    this.lastNumbers = numbers;
    this.deps.emit({ type: 'context_changed', snapshot });
  }

  /** Shows the draft's size. */
  async measureDraft(text: string, attachments: readonly Attachment[]): Promise<void> {
    const version = ++this.draftVersion;
    const [tokens] = text === '' ? [0] : await this.deps.counter.count([text]);
    if (version !== this.draftVersion) return;
    this.deps.engine.setDraft(attachments.reduce((sum, attachment) => sum + attachmentTokens(attachment), tokens ?? 0));
    this.tell();
  }

  /** It is an entry now. */
  draftSent(): void {
    this.draftVersion++;
    this.deps.engine.setDraft(0);
  }

  /** The branch in memory has grown, or is another one now. */
  branchChanged(): void {
    this.deps.engine.recounted();
    this.tell();
    void this.settleCompactions();
  }

  /** Replaces estimates by counts in the background, once the tokenizer is there. Never rejects. */
  async settle(): Promise<void> {
    const { branch, engine, log } = this.deps;
    await this.settleCompactions();
    try {
      await engine.countPrompt();
      await branch.settleCounts();
      engine.recounted();
      this.tell();
      await this.restoreAnchor();
    } catch (error) {
      if (CancelledError.is(error)) return;
      log.warn('token_count_failed', { detail: errorText(error) });
    }
  }

  /** Has the provider measure a prompt that nothing measures any more; for a conversation in which nothing runs. Never rejects. */
  async restoreAnchor(): Promise<void> {
    if (!this.closed && (await this.anchor.restore())) this.tell();
  }

  private async settleCompactions(): Promise<void> {
    const { engine, log } = this.deps;
    const isMore = await engine.settleCompactions().catch((error: unknown) => (log.warn('compactions_not_counted', { detail: errorText(error) }), false));
    if (isMore && !this.closed) this.tell();
  }

  close(): void {
    this.closed = true;
    this.anchor.close();
  }
}
