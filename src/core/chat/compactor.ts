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

/** Runs one compaction: cut, summarise down the ladder, check that it helped, record. History is untouched until the record. */
export class Compactor {
  constructor(private readonly deps: CompactorDeps) {}

  /** Rejects only with `StoreError`; whatever the summariser does ends in a lower rung. */
  async run(options: CompactionOptions, signal: AbortSignal): Promise<CompactionResult> {
    const { engine, clock, emit, log } = this.deps;
    const startedAt = clock.now();
    const tokensBefore = engine.measure().used;
    const end = (result: CompactionResult): CompactionResult => {
      emit({ type: 'compaction_ended', ...result });
      return result;
    };
    const cut = this.chooseCut(options.trigger);
    if (!cut) return end({ entry: null, message: nothingToFold });
    emit({ type: 'compaction_started', trigger: options.trigger, tokensBefore });
    log.info('compaction_triggered', { trigger: options.trigger, tokensBefore });

    const request = this.foldRequest(cut, options, signal);
    for await (const candidate of this.candidates(request)) {
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

  /** The policy's cut; a user who asks for a compaction of a short conversation gets one that keeps less. */
  private chooseCut(trigger: CompactionOptions['trigger']): Cut | null {
    const { branch, engine } = this.deps;
    const { userTurns } = engine.policy.compaction.keep;
    const total = branch.entries.reduce((sum, entry) => sum + branch.tokensOf(entry), 0);
    const tries = trigger === 'manual' ? [userTurns, 1, 0] : [userTurns, 1];
    for (const turns of tries) {
      const cut = cutPoint(branch.entries, { userTurns: turns, tokens: engine.budget.keep, tokensOf: branch.tokensOf });
      if (cut && cut.folded.reduce((sum, entry) => sum + branch.tokensOf(entry), 0) > total * leastSaving) return cut;
    }
    return null;
  }

  private foldRequest(cut: Cut, options: CompactionOptions, signal: AbortSignal): FoldRequest {
    const { branch, engine, log } = this.deps;
    const live = liveCompaction(branch.entries);
    const stored = FoldedState.safeParse(live?.content.summary);
    const previous = live ? (stored.success ? stored.data : { ...emptyFoldedState, raw: live.content.summaryText }) : null;
    return {
      cut,
      previous,
      maxSummaryTokens: engine.budget.maxSummary,
      instructions: options.instructions,
      summarizer: engine.binding.summarizer,
      estimate: engine.estimate,
      log,
      signal,
    };
  }

  /** Best first: each is tried only when the one before did not help enough. */
  private async *candidates(request: FoldRequest): AsyncGenerator<{ fold: Fold; cut: Cut }> {
    const best = await fold(request);
    yield { fold: best, cut: request.cut };
    const note = best.note ?? (best.rung === 'model' ? "The model's summary was too long to help." : null);
    if (best.rung === 'model') yield { fold: foldByExtraction({ ...request, maxSummaryTokens: Math.floor(request.maxSummaryTokens / 2) }, note), cut: request.cut };
    const { branch, engine } = this.deps;
    const tight = cutPoint(branch.entries, { userTurns: 1, tokens: Math.floor(engine.budget.keep / 4), tokensOf: branch.tokensOf });
    if (tight) yield { fold: foldByTruncation({ ...request, cut: tight }, note), cut: tight };
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
