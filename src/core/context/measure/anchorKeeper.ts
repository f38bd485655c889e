import type { ContextEngine } from '../engine';
import { errorText } from '../../errors';
import type { Clock, Logger } from '../../ports';
import { liveCompaction } from '../../session/liveCompaction';
import type { BranchState } from '../../chat/branchState';

export interface AnchorKeeperDeps {
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
export class AnchorKeeper {
  private asked = '';
  private readonly closed = new AbortController();

  constructor(private readonly deps: AnchorKeeperDeps) {}

  /** True when the size of the context is known better now. Never rejects; a refusal is not repeated for the same prompt. */
  async restore(): Promise<boolean> {
    const { branch, engine, clock, log } = this.deps;
    const { client, info } = engine.binding;
    const { leaf } = branch;
    // Before the first answer nothing is known about the connection, and the next request measures anyway.
    if (!client.countTokens || leaf === null || !this.deps.canWrite() || !hasBeenAnswered(branch) || engine.measure().anchored) return false;
    const prompt = `${info.provider}/${info.id} ${leaf}`;
    if (prompt === this.asked) return false;
    this.asked = prompt;
    try {
      const tokens = (await client.countTokens(await engine.request(), this.closed.signal)) - engine.framingTokens();
      if (this.closed.signal.aborted || branch.leaf !== leaf || engine.binding.info.id !== info.id) return false;
      await branch.recordUsage({ entry: leaf, provider: info.provider, model: info.id, kind: 'count', input: tokens, output: 0, cacheRead: 0, cacheWrite: 0, cost: null, at: clock.now() });
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
