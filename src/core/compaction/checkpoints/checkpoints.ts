import { checkpointDue, newestOnBranch, soundCheckpoints } from './checkpointDue';
import { checkpointSystem, parseCheckpoint, renderCheckpoint } from './checkpointText';
import type { Failover } from '../summary/summaryJob';
import { checkpointFormat } from '../summary/listFormats';
import { isBudget } from '../ladder/foldByChain';
import { isProse } from '../summary/summaryFormat';
import { SummaryWriter, type SummaryCall } from '../summary/summaryWriter';
import { itemsOf } from '../measure/textAnalysis';
import type { ContextEngine } from '../../context/engine';
import { CancelledError, errorText } from '../../errors';
import { english } from '../../l10n';
import type { Clock, Logger, SessionStore, TextAnalyst } from '../../ports';
import { isEntryOf, type EntryOf } from '../../session/entry';
import { leftOutEntries, liveCompaction, verbatimEntries } from '../../session/liveCompaction';
import type { BranchState } from '../../chat/branchState';
import type { CompactionRecorder } from '../compactionRecorder';
import { continuationOf } from '../summary/continuation';
import type { ConversationEvent } from '../../chat/events';

export interface CheckpointsDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly store: Pick<SessionStore, 'page'>;
  readonly failover: Failover;
  readonly clock: Clock;
  readonly recorder: CompactionRecorder;
  /** A compaction by the snapshot will ask the same analyst. */
  readonly analyst: TextAnalyst;
  readonly log: Logger;
  readonly emit: (event: ConversationEvent) => void;
  /** A summary of the whole context will be prepared before it is needed: then no snapshot has to stand in for one. */
  readonly willPrepare: () => boolean;
}

export interface CheckpointResult {
  readonly entry: EntryOf<'checkpoint'> | null;
  /** Why none was written, in words for the user; null when one was. */
  readonly message: string | null;
  /** Nothing has failed: there was nothing to write, or it was not wanted any more. */
  readonly isNothing?: boolean;
}

const pageSize = 200;
const mostTokens = 2_000;

/** Turns after which a failed one is tried again: the first number, and twice as many after every further failure, up to the second. */
const [firstPause, longestPause] = [2, 64];

/**
 * Rolling snapshots of a branch, written in the background by a summariser; they fold nothing and are never deleted. One that fails
 * is tried again after some turns, each time after twice as many: every attempt sends the whole conversation.
 */
export class Checkpoints {
  private loaded: Promise<readonly EntryOf<'checkpoint'>[]> | null = null;
  /** Failures in a row in the background, and turns that have to pass before the next attempt. */
  private failures = 0;
  private pause = 0;
  private running: { readonly abort: AbortController; readonly done: Promise<CheckpointResult> } | null = null;

  constructor(private readonly deps: CheckpointsDeps) {}

  /** Resolves to those of this branch that a compaction could use. */
  async list(): Promise<readonly EntryOf<'checkpoint'>[]> {
    const loading = (this.loaded ??= this.load());
    try {
      return soundCheckpoints(this.deps.branch.entries, await loading);
    } catch (error) {
      if (this.loaded === loading) this.loaded = null;
      throw error;
    }
  }

  /** Begins one when the policy says so. Never rejects; resolves when it is known whether one is begun, not when it is written. */
  async writeIfDue(): Promise<void> {
    const { branch, engine, log, willPrepare } = this.deps;
    const { checkpoint } = engine.policy;
    if (!checkpoint.enabled || this.running || willPrepare()) return;
    this.pause = Math.max(0, this.pause - 1);
    try {
      const { used } = engine.measure();
      const { everyUserTurns, minTokens } = checkpoint;
      const rule = { thresholds: engine.budget.checkpoints, everyUserTurns, minTokens };
      if (this.pause === 0 && checkpointDue(branch.entries, await this.list(), used, rule) && !this.running) void this.start(true);
    } catch (error) {
      log.warn('checkpoint_failed', { detail: errorText(error) });
    }
  }

  /** Writes one now. Never rejects. */
  write(): Promise<CheckpointResult> {
    return this.running?.done ?? this.start(false);
  }

  /** There may be others: the branch is another one, has one more, or another window has worked on it. */
  forget(): void {
    this.loaded = null;
  }

  cancel(): void {
    this.running?.abort.abort();
  }

  private noteOutcome(isWritten: boolean): void {
    this.failures = isWritten ? 0 : this.failures + 1;
    this.pause = isWritten ? 0 : Math.min(longestPause, firstPause * 2 ** (this.failures - 1));
  }

  private start(background: boolean): Promise<CheckpointResult> {
    const abort = new AbortController();
    const done = this.attempt(background, abort.signal)
      .then((result) => {
        if (background || result.entry) this.noteOutcome(result.entry !== null);
        return result;
      })
      .catch((error: unknown): CheckpointResult => {
        if (CancelledError.is(error)) return { entry: null, message: english('Cancelled. No snapshot was saved.'), isNothing: true };
        this.deps.log.warn('checkpoint_failed', { detail: errorText(error) });
        return { entry: null, message: english('The snapshot could not be saved: {0}.', errorText(error)) };
      })
      .finally(() => (this.running = null));
    this.running = { abort, done };
    return done;
  }

  private async attempt(background: boolean, signal: AbortSignal): Promise<CheckpointResult> {
    const { branch, engine, failover, recorder, analyst, clock, log, emit } = this.deps;
    await branch.whole();
    const entries = branch.entries;
    const leftOut = leftOutEntries(entries);
    const live = verbatimEntries(entries).filter((entry) => entry.modelFacing && !leftOut.has(entry.uuid));
    const last = live.at(-1);
    const before = newestOnBranch(live, await this.list());
    const since = before ? live.slice(live.findIndex(({ uuid }) => uuid === before.content.coversThrough) + 1) : live;
    if (!last || since.length === 0) return { entry: null, message: english('Nothing new since the last snapshot.'), isNothing: true };
    const { used } = engine.measure();
    const previous = before ? renderCheckpoint(before.content) : (liveCompaction(entries)?.content.summaryText ?? null);
    // What the checkpoint before covers stands in the prompt as it was said.
    const continuation = await continuationOf({ branch, engine, range: live, transcript: since, previous, now: clock.now() });
    const reasons: string[] = [];
    for (const summarizer of failover.order(await engine.summarizers(), engine.policy.summarizer)) {
      if (background && summarizer.needsConsent) continue;
      const calls: SummaryCall[] = [];
      try {
        const format = {
          system: checkpointSystem,
          schema: checkpointFormat.schema,
          closing: (tokens: number) => `Write the JSON object of the checkpoint now. At most ${tokens} tokens.`,
          read: () => ({ state: null, raw: null, flaws: [], inForm: true, usable: true }),
        };
        const writer = new SummaryWriter({
          frames: branch.frames,
          summarizer,
          format,
          maxSummaryTokens: Math.min(mostTokens, engine.budget.maxSummary),
          instructions: null,
          estimate: engine.estimate,
          background,
          now: () => clock.now(),
          log,
          signal,
          spent: (call) => calls.push(call),
        });
        const answer =
          (await writer.continued(continuation, (text) => text.includes('{') && parseCheckpoint(text) !== undefined)) ??
          (await writer.write(since, previous || null));
        const state = parseCheckpoint(answer);
        if (!state || (!answer.includes('{') && !isProse(answer))) throw new Error(english('the answer was not a snapshot'));
        if (signal.aborted) throw new CancelledError();
        const messages = entries.filter(({ content }) => content.type === 'message').length;
        const content = {
          type: 'checkpoint' as const,
          ...state,
          tokensAtCheckpoint: used,
          messagesAtCheckpoint: messages,
          coversThrough: last.uuid,
          model: summarizer.model,
        };
        // It hangs off the last that it knew of: by now the branch may have grown, something been excluded in another window, or another
        // branch be active.
        const entry = (await branch.append(content, {
          display: true,
          modelFacing: false,
          parent: entries.at(-1)!.uuid,
        })) as EntryOf<'checkpoint'>;
        failover.succeeded(summarizer);
        this.forget();
        log.info('checkpoint_created', { tokens: used, messages, model: summarizer.model });
        emit({ type: 'entry_appended', entry });
        // While nobody waits: a compaction by it finds its range read.
        if (engine.policy.compaction.preferCheckpoint) void analyst.analyse(itemsOf(live), 0);
        return { entry, message: null };
      } catch (error) {
        if (CancelledError.is(error) || signal.aborted) throw new CancelledError();
        if (!isBudget(error)) failover.failed(summarizer);
        reasons.push(`${summarizer.model}: ${errorText(error)}`);
      } finally {
        await recorder.spend(calls);
      }
    }
    return {
      entry: null,
      message:
        reasons.length === 0
          ? english('No model is available to write a snapshot.')
          : english('The snapshot could not be saved: {0}.', reasons.join('; ')),
    };
  }

  /** Back to the first entry that is sent verbatim: an older checkpoint covers nothing that could be folded. */
  private async load(): Promise<readonly EntryOf<'checkpoint'>[]> {
    const { branch, store } = this.deps;
    const found: EntryOf<'checkpoint'>[] = [];
    const oldest = branch.entries[0]?.seq ?? 0;
    for (let before: string | undefined; ; ) {
      const page = await store.page(branch.session.uuid, { limit: pageSize, ...(before === undefined ? {} : { before }) });
      found.unshift(...page.entries.filter((entry): entry is EntryOf<'checkpoint'> => isEntryOf(entry, 'checkpoint')));
      const first = page.entries[0];
      if (!page.hasMore || !first || first.seq <= oldest) return found;
      before = first.uuid;
    }
  }
}
