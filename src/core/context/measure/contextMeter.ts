import type { BranchState } from '../../chat/branchState';
import type { ConversationEvent } from '../../chat/events';
import type { ContextEngine } from '../engine';
import { CancelledError, errorText } from '../../errors';
import type { Clock, Logger, TokenCounter } from '../../ports';
import type { Attachment } from '../../session/userMessage';
import { liveCompaction } from '../../session/liveCompaction';
import type { ContextSnapshot } from './snapshot';

interface ContextMeterDeps {
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
    if (this.closed) return;
    const { snapshot } = this;
    const numbers = JSON.stringify({ ...snapshot, updatedAt: 0 });
    if (numbers === this.lastNumbers) return;
    this.lastNumbers = numbers;
    this.deps.emit({ type: 'context_changed', snapshot });
  }

  /** Shows the size that the draft will be sent with. Resolves with whether some of it is too long to be sent whole. */
  async measureDraft(text: string, attachments: readonly Attachment[]): Promise<boolean> {
    const version = ++this.draftVersion;
    const [tokens] = text === '' ? [0] : await this.deps.counter.count([text]);
    if (version !== this.draftVersion) return false;
    const isCut = this.deps.engine.setDraft(tokens ?? 0, attachments);
    this.tell();
    return isCut;
  }

  /** It is an entry now. */
  draftSent(): void {
    this.draftVersion++;
    this.deps.engine.setDraft(0, []);
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
    try {
      if (await branch.outline()) this.branchChanged();
      else await this.settleCompactions();
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
    const isMore = await engine
      .settleCompactions()
      .catch((error: unknown) => (log.warn('compactions_not_counted', { detail: errorText(error) }), false));
    if (isMore) this.tell();
  }

  close(): void {
    this.closed = true;
    this.anchor.close();
  }
}

interface AnchorKeeperDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether a measurement can be stored. */
  readonly canWrite: () => boolean;
}

/**
 * After a compaction, an undo or a change of model nothing that the provider has reported measures the prompt any more. Where it
 * can count, it is asked once per such prompt while the conversation is idle, and its answer is what sizes are counted from.
 */
class AnchorKeeper {
  private asked = '';
  private readonly closed = new AbortController();

  constructor(private readonly deps: AnchorKeeperDeps) {}

  /** True when the size of the context is known better now. Never rejects; a refusal is not repeated for the same prompt. */
  async restore(): Promise<boolean> {
    const { branch, engine, clock, log } = this.deps;
    const { client, info } = engine.binding;
    const { leaf } = branch;
    // Before the first answer nothing is known about the connection, and the next request measures anyway.
    if (!client.countTokens || leaf === null || !this.deps.canWrite() || !hasBeenAnswered(branch) || engine.measure().anchored)
      return false;
    // What no window holds need not be read to be refused.
    if (!branch.isWhole && engine.estimatedTokens() > info.window) return false;
    const prompt = `${info.provider}/${info.id} ${leaf}`;
    if (prompt === this.asked) return false;
    this.asked = prompt;
    try {
      await branch.whole();
      if (this.closed.signal.aborted || branch.leaf !== leaf) return false;
      const tokens = (await client.countTokens(await engine.request(), this.closed.signal)) - engine.framingTokens();
      if (this.closed.signal.aborted || branch.leaf !== leaf || engine.binding.info.id !== info.id) return false;
      await branch.recordUsage({
        entry: leaf,
        provider: info.provider,
        model: info.id,
        kind: 'count',
        input: tokens,
        output: 0,
        cacheRead: 0,
        cacheWrite: 0,
        cost: null,
        at: clock.now(),
      });
      log.debug('context_counted', { model: info.id, tokens });
      return true;
    } catch (error) {
      log.debug('context_not_counted', { model: info.id, detail: errorText(error) });
      return false;
    }
  }

  close(): void {
    this.closed.abort();
  }
}

function hasBeenAnswered({ entries }: BranchState): boolean {
  return liveCompaction(entries) !== null || entries.some(({ content }) => content.type === 'message' && content.role === 'assistant');
}

/** How long a provider of which nothing else is known may keep a prompt. */
const cachedMs = 5 * 60_000;

/** Dollars that the next request of a conversation takes before anything is answered; null where no price is known. */
export function leastCost(branch: BranchState, engine: ContextEngine, now: number): number | null {
  const { used, anchored } = engine.measure();
  const { provider, id } = engine.binding.info;
  const { next } = engine.cache(now);
  if (next) return next[next.expects]!.cost;
  const lastUsage = branch.measurement(engine.binding.info);
  const isCached = anchored && lastUsage?.kind === 'turn' && now - lastUsage.at < cachedMs;
  const cacheRead = isCached ? Math.min(used, lastUsage.input + lastUsage.cacheRead + lastUsage.cacheWrite) : 0;
  return branch.costOf(provider, id, { input: used - cacheRead, output: 0, cacheRead, cacheWrite: 0 });
}
