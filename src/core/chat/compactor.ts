import { cutPoint, type Cut } from '../compaction/cutPoint';
import { emptyFoldedState, FoldedState, renderFoldedState } from '../compaction/foldedState';
import { fold, foldByExtraction, foldByTruncation, type Fold, type FoldRequest } from '../compaction/ladder';
import type { ContextEngine } from '../context/engine';
import type { Clock, IdSource, Logger, TokenCounter } from '../ports';
import type { ContentOf, StoredEntry } from '../session/entry';
import { liveCompaction } from '../session/liveCompaction';
import type { BranchState } from './branchState';
import type { ConversationEvent } from './events';

export type CompactionEntry = StoredEntry & { readonly content: ContentOf<'compaction'> };

export interface CompactionResult {
  readonly entry: CompactionEntry | null;
  /** Why nothing was folded, in words for the user; null when it was. */
  readonly message: string | null;
}

export interface CompactionOptions {
  readonly trigger: ContentOf<'compaction'>['trigger'];
  readonly instructions: string | null;
  /** A turn is waiting for it. */
  readonly holdsTurn: boolean;
}

export interface CompactionSignals {
  /** Ends it without a record. */
  readonly stop: AbortSignal;
  /** Gives up on the summariser and takes the next rung. */
  readonly skip?: AbortSignal;
}

interface CompactorDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Logger;
  readonly emit: (event: ConversationEvent) => void;
}

/** Folding has to pay: a record that saves less than this share of the context is not made. */
const leastSaving = 0.1;
/** Of what is folded, the state before included; the user's words and exact passages beside it come to as much again. */
const longestSummary = 0.25;
const leastSummary = 200;
const lastTurn = { userTurns: 1 };

/** Runs one compaction: cut, summarise down the ladder, check that it helped, record. History is untouched until the record. */
export class Compactor {
  constructor(private readonly deps: CompactorDeps) {}

  /** Rejects only with `StoreError`; whatever the summariser does ends in a lower rung. */
  async run(options: CompactionOptions, { stop, skip }: CompactionSignals): Promise<CompactionResult> {
    const { engine, clock, emit, log } = this.deps;
    const startedAt = clock.now();
    const tokensBefore = engine.measure().used;
    const end = (result: CompactionResult): CompactionResult => {
      emit({ type: 'compaction_ended', ...result });
      return result;
    };
    const cuts = this.cuts(options.trigger);
    if (cuts.length === 0) return end({ entry: null, message: nothingToFold });
    emit({ type: 'compaction_started', trigger: options.trigger, tokensBefore });
    log.info('compaction_triggered', { trigger: options.trigger, tokensBefore });

    for await (const candidate of this.candidates(cuts, options, AbortSignal.any(skip ? [stop, skip] : [stop]))) {
      if (stop.aborted) return end({ entry: null, message: 'Cancelled: nothing was changed.' });
      const content = await this.content(candidate.fold, candidate.cut, options, tokensBefore, startedAt);
      const pays = content.tokensAfter <= tokensBefore * (1 - leastSaving);
      const fits = options.trigger === 'manual' || content.tokensAfter <= engine.budget.limit;
      if (!pays || !fits) continue;
      const entry = await this.record(content, candidate.fold);
      log.info('context_compacted', { rung: content.rung, tokensBefore, tokensAfter: content.tokensAfter, messagesBefore: content.messagesBefore, messagesAfter: content.messagesAfter });
      return end({ entry, message: null });
    }
    log.info('compaction_ineffective', { trigger: options.trigger, tokensBefore });
    return end({ entry: null, message: 'Folding the older messages would not make the context noticeably smaller, so everything stays as it is.' });
  }

  /** The policy's cut, then those that keep less; nothing at all is kept only for a user who asks. Without those that cannot pay. */
  private cuts(trigger: CompactionOptions['trigger']): readonly Cut[] {
    const { branch, engine } = this.deps;
    const { keep } = engine.policy.compaction;
    const worthwhile = engine.rawRequestTokens() * leastSaving;
    const cuts = (trigger === 'manual' ? [keep, lastTurn, null] : [keep, lastTurn]).flatMap((one) => {
      const cut = cutPoint(branch.entries, { keep: one, tokens: one === keep ? engine.keepTokens() : engine.budget.keep, tokensOf: branch.tokensOf });
      return cut ? [cut] : [];
    });
    const saving = (cut: Cut) => cut.folded.reduce((sum, entry) => sum + branch.tokensOf(entry), 0) * (1 - 2 * longestSummary);
    return cuts.filter((cut) => saving(cut) > worthwhile);
  }

  private foldRequest(cut: Cut, options: CompactionOptions, signal: AbortSignal): FoldRequest {
    const { branch, engine, log } = this.deps;
    const live = liveCompaction(branch.entries);
    const tokens = cut.folded.reduce((sum, entry) => sum + branch.tokensOf(entry), live ? branch.tokensOf(live) : 0);
    const stored = FoldedState.safeParse(live?.content.summary);
    const previous = live ? (stored.success ? stored.data : { ...emptyFoldedState, raw: live.content.summaryText }) : null;
    return {
      cut,
      previous,
      // A summary as long as what it stands for would help nobody: short ranges get a short one.
      maxSummaryTokens: Math.min(engine.budget.maxSummary, Math.max(leastSummary, Math.floor(tokens * longestSummary))),
      instructions: options.instructions,
      summarizer: engine.binding.summarizer,
      estimate: engine.estimate,
      log,
      signal,
    };
  }

  /** Best first: each is tried only when the one before did not help enough. A model is asked once. */
  private async *candidates(cuts: readonly Cut[], options: CompactionOptions, signal: AbortSignal): AsyncGenerator<{ fold: Fold; cut: Cut }> {
    let note: string | null = null;
    for (const [index, cut] of cuts.entries()) {
      const request = this.foldRequest(cut, options, signal);
      if (index === 0 && request.summarizer) {
        const best = await fold(request);
        yield { fold: best, cut };
        note = best.note ?? "The model's summary was too long to help.";
        if (best.rung !== 'model') continue;
      }
      yield { fold: foldByExtraction({ ...request, maxSummaryTokens: Math.floor(request.maxSummaryTokens / (note ? 2 : 1)) }, note), cut };
    }
    // Nobody asks for a compaction in order to lose the summary: that is only better than not being able to go on.
    if (options.trigger === 'manual') return;
    const { branch, engine } = this.deps;
    const cut = cutPoint(branch.entries, { keep: lastTurn, tokens: Math.floor(engine.budget.keep / 4), tokensOf: branch.tokensOf });
    if (cut) yield { fold: foldByTruncation(this.foldRequest(cut, options, signal), note), cut };
  }

  private async content(result: Fold, cut: Cut, options: CompactionOptions, tokensBefore: number, startedAt: number): Promise<ContentOf<'compaction'>> {
    const { branch, engine, counter, clock, ids } = this.deps;
    const oversizedChars = engine.budget.oversized * 3;
    const summaryText = renderFoldedState(result.folded, cut.currentRequest, oversizedChars);
    const [summaryTokens] = await counter.count([summaryText]).catch(() => [engine.estimate(summaryText)]);
    const isMessage = (entry: StoredEntry) => entry.content.type === 'message';
    const durationMs = clock.now() - startedAt;
    const draft: ContentOf<'compaction'> = {
      type: 'compaction',
      operationId: ids.next(),
      summaryText,
      placement: engine.policy.compaction.placement,
      summary: result.folded,
      firstKeptEntry: cut.firstKept?.uuid ?? null,
      coversFrom: cut.folded[0]?.uuid ?? null,
      tokensBefore,
      tokensAfter: 0,
      messagesBefore: cut.folded.filter(isMessage).length + cut.kept.filter(isMessage).length,
      messagesAfter: cut.kept.filter(isMessage).length,
      trigger: options.trigger,
      rung: result.rung,
      model: result.model,
      durationMs,
      heldMs: options.holdsTurn ? durationMs : 0,
      needsSummaryRetry: result.rung !== 'model',
      ...(result.note ? { note: result.note } : {}),
      ...(options.instructions ? { instructions: options.instructions } : {}),
    };
    const trial: StoredEntry = { ...branch.draft(draft, recordFlags), tokenEstimate: summaryTokens ?? null, seq: 0 };
    const after = engine.measure([...branch.entries, trial]);
    return { ...draft, tokensAfter: after.used };
  }

  private async record(content: ContentOf<'compaction'>, result: Fold): Promise<CompactionEntry> {
    const { branch, engine, clock, emit } = this.deps;
    const { provider, id } = engine.binding.info;
    const model = result.model ?? id;
    const usage = result.usage.map((u) => ({ provider, model, kind: 'compaction' as const, ...u, cost: null, at: clock.now() }));
    const stored = await branch.append(content, { ...recordFlags, usage });
    await branch.settleCounts().catch(() => undefined);
    engine.recounted();
    for (const u of result.usage) emit({ type: 'usage_reported', model, usage: u, kind: 'compaction' });
    emit({ type: 'entry_appended', entry: stored });
    return stored as CompactionEntry;
  }
}

const recordFlags = { display: true, modelFacing: false };
const nothingToFold = 'There is nothing to compact: the conversation is as short as what a compaction would keep.';
