import { elementsOf, notSearched, reachablePercent, type Reach } from './measure/continuity';
import type { Cut } from './ladder/cutPoint';
import { isUserMessage, type ContentOf, type EntryOf, type StoredEntry, type Continuity } from '../session/entry';
import { carriedRequest, fittingRequest, renderFoldedState } from './ledgers/foldedState';
import { requestIn, type CarriedRequest } from '../session/carriedRequest';
import type { Fold } from './ladder/fold';
import { maskedEntries, newStubs, scaledToWindow, toldStubs } from './ladder/mask';
import type { SummaryCall } from './summary/summaryWriter';
import { itemsOf } from './measure/textAnalysis';
import type { ContextEngine } from '../context/engine';
import { errorText } from '../errors';
import type { Clock, IdSource, Logger, SessionStore, TextAnalysis, TextAnalyst, TokenCounter } from '../ports';
import { liveCompaction } from '../session/liveCompaction';
import { todoListOf } from '../todo/todoList';
import type { UsageRecord } from '../cost/usage';
import type { BranchState } from '../chat/branchState';
import type { ConversationEvent } from '../chat/events';
import type { Pins } from '../context/pins';

export interface RecordDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly store: Pick<SessionStore, 'search'>;
  readonly counter: TokenCounter;
  readonly analyst: TextAnalyst;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Logger;
  readonly pins: Pins;
  readonly emit: (event: ConversationEvent) => void;
}

type Content = ContentOf<'compaction'>;

/** What is known about a compaction before it is measured. */
export type RecordFacts = Pick<Content, 'trigger' | 'tokensBefore' | 'rung'> &
  Partial<Pick<Content, 'instructions' | 'note' | 'supersedes' | 'previous' | 'coversFrom' | 'firstKeptEntry' | 'needsSummaryRetry'>> & {
    readonly startedAt: number;
    readonly holdsTurn: boolean;
  };

/** Searches that the continuity score may make. */
const mostSearches = 24;
const recordFlags = { display: true, modelFacing: false };

/** Measures a fold as the record it would become, and appends it. History is untouched until then. */
export class CompactionRecorder {
  private recordedAt = 0;

  constructor(private readonly deps: RecordDeps) {}

  /**
   * As it would be stored, with the size of the context after it. `told`: what the summary was written of in the prompt, also where that
   * stays; old results of it give way to stubs, which costs no cache that the compaction does not cost anyway.
   */
  async draft(fold: Fold, cut: Cut, facts: RecordFacts, told: readonly StoredEntry[] = []): Promise<Content> {
    const { branch, engine, pins, clock, ids } = this.deps;
    const isMessage = (entry: StoredEntry) => entry.content.type === 'message';
    const before = liveCompaction(branch.entries);
    const masked = maskedEntries(branch.entries);
    const carried = cut.kept.filter(({ uuid }) => masked.has(uuid)).map(({ uuid }) => uuid);
    const isTold = new Set(told.map(({ uuid }) => uuid));
    const { masking } = engine.policy.compaction;
    const { fresh } = masking.enabled
      ? newStubs(
          cut.kept.filter(({ uuid }) => !masked.has(uuid)),
          {
            ...masking,
            protectTokens: scaledToWindow(masking.protectTokens, engine.budget.effective),
            tokensOf: branch.tokensOf,
            isTold: ({ uuid }) => isTold.has(uuid),
          },
        )
      : { fresh: [] };
    const stubs = toldStubs(branch.entries);
    const keptMasked = [...carried, ...fresh];
    const maskedTold = carried.every((uuid) => isTold.has(uuid) || stubs.has(uuid));
    const durationMs = clock.now() - facts.startedAt;
    const { startedAt: _, holdsTurn, ...rest } = facts;
    const requestChars = engine.budget.oversized * 3;
    const request = carriedRequest(cut.currentRequest, requestChars) ?? requestBefore(cut, before, requestChars);
    const todos = todoListOf(branch.entries);
    // The list as it stands now: a state that was written before has one of its time.
    const { todos: _todos, ...state } = fold.folded;
    const folded = { ...state, ...(request ? { request } : {}), ...(todos.length > 0 ? { todos } : {}) };
    const content: Content = {
      type: 'compaction',
      operationId: ids.next(),
      summaryText: renderFoldedState(folded, null, requestChars, await pins.text()),
      summary: folded,
      firstKeptEntry: cut.firstKept?.uuid ?? null,
      coversFrom: cut.folded[0]?.uuid ?? null,
      tokensAfter: 0,
      messagesBefore: cut.folded.filter(isMessage).length + cut.kept.filter(isMessage).length,
      messagesAfter: cut.kept.filter(isMessage).length,
      model: fold.model,
      durationMs,
      heldMs: holdsTurn ? durationMs : 0,
      needsSummaryRetry: fold.rung === 'extractive' || fold.rung === 'truncate',
      previous: before?.uuid ?? null,
      placement: engine.policy.compaction.placement,
      cost: null,
      ...(fold.note ? { note: fold.note } : {}),
      ...(fold.audit ? { audit: fold.audit } : {}),
      ...(keptMasked.length > 0 ? { masked: keptMasked, maskedTold } : {}),
      ...rest,
    };
    return this.measured(content);
  }

  /** With the size of the context that it would lead to. */
  async measured(content: Content): Promise<Content> {
    const { branch, engine, counter } = this.deps;
    const [summaryTokens] = await counter.count([content.summaryText]).catch(() => [engine.estimate(content.summaryText)]);
    const trial: StoredEntry = { ...branch.draft(content, recordFlags), tokenEstimate: summaryTokens ?? null, seq: 0 };
    return { ...content, tokensAfter: engine.measure([...branch.entries, trial]).used };
  }

  /**
   * What of the folded range survived; null where that is not known, because the range was not read: a turn that waits
   * (`isAwaited`) is not held for reading it, nor for searching, which takes up to some seconds on a busy machine. Then `reach` is
   * what was found out meanwhile.
   */
  async continuity(fold: Fold, cut: Cut, summaryText: string, isAwaited: boolean, reach: Reach | null = null): Promise<Continuity | null> {
    const { analyst } = this.deps;
    const analysis = fold.analysis ?? (isAwaited ? null : await analyst.analyse(itemsOf(cut.folded), 0));
    if (!analysis) return null;
    const elements = elementsOf(cut.folded, analysis);
    const found = reach ?? (isAwaited ? notSearched : await this.reachOf(cut, analysis));
    return { inContextPercent: await analyst.inContext(elements, summaryText), elements: elements.length, ...found };
  }

  /** The same before there is a record, and before anybody waits for one. */
  async expectedContinuity(fold: Fold, cut: Cut): Promise<Continuity | null> {
    return this.continuity(fold, cut, renderFoldedState(fold.folded, null, 0, await this.deps.pins.text().catch(() => '')), false);
  }

  /** Whether the folded range is found again; `analysis` spares reading it. Never rejects. */
  async reachOf(cut: Cut, analysis?: Pick<TextAnalysis, 'identifiers' | 'decisions'>): Promise<Reach> {
    const { branch, store, analyst, log } = this.deps;
    try {
      const read = analysis ?? (await analyst.analyse(itemsOf(cut.folded), 0));
      return await reachablePercent(elementsOf(cut.folded, read), branch.session.uuid, store, mostSearches);
    } catch (error) {
      log.warn('continuity_not_measured', { detail: errorText(error) });
      return notSearched;
    }
  }

  /**
   * Record, pointer and what it cost in one transaction; `paidBefore`: what has been recorded already. Rejects with `StoreError`, and then
   * nothing has changed.
   */
  async append(content: Content, calls: readonly SummaryCall[], paidBefore: number | null = 0): Promise<EntryOf<'compaction'>> {
    const { branch, engine, emit } = this.deps;
    const usage = calls.map((call) => this.usageOf(call));
    const costs = calls.map((call) => branch.costOf(call.provider, call.model, call.usage));
    const stored = await branch.append({ ...content, cost: sumOf([paidBefore, ...costs]) }, { ...recordFlags, usage });
    await branch.settleCounts().catch(() => undefined);
    engine.recounted();
    for (const [index, { model, usage: used }] of calls.entries())
      emit({ type: 'usage_reported', model, usage: used, kind: 'compaction', cost: costs[index] ?? null });
    emit({ type: 'entry_appended', entry: stored });
    return stored as EntryOf<'compaction'>;
  }

  /** What was written before anybody needed it, with what it cost. It changes no prompt. Rejects with `StoreError`. */
  async appendPrepared(
    content: Omit<ContentOf<'prepared_summary'>, 'cost'>,
    calls: readonly SummaryCall[],
  ): Promise<ContentOf<'prepared_summary'>> {
    const { branch, emit } = this.deps;
    const costs = calls.map((call) => branch.costOf(call.provider, call.model, call.usage));
    const whole = { ...content, cost: sumOf(costs) };
    await branch.append(whole, {
      display: false,
      modelFacing: false,
      parent: content.reads.through,
      usage: calls.map((call) => this.usageOf(call)),
    });
    for (const [index, { model, usage }] of calls.entries())
      emit({ type: 'usage_reported', model, usage, kind: 'compaction', cost: costs[index] ?? null });
    return whole;
  }

  /** Requests that led to no record are paid for all the same. Never rejects. */
  async spend(calls: readonly SummaryCall[]): Promise<void> {
    const { branch, emit, log } = this.deps;
    const { leaf } = branch;
    if (calls.length === 0 || leaf === null) return;
    try {
      await branch.spend(calls.map((call) => ({ entry: leaf, ...this.usageOf(call) })));
      for (const { provider, model, usage } of calls)
        emit({ type: 'usage_reported', model, usage, kind: 'compaction', cost: branch.costOf(provider, model, usage) });
    } catch (error) {
      log.warn('usage_not_saved', { detail: errorText(error) });
    }
  }

  /** A request is known by its time: what a compaction and a checkpoint that are cancelled together have used is two. */
  private usageOf({ provider, model, usage, sentAt }: SummaryCall): Omit<UsageRecord, 'entry'> {
    this.recordedAt = Math.max(sentAt, this.recordedAt + 1);
    return { provider, model, kind: 'compaction', ...usage, cost: null, at: this.recordedAt };
  }
}

/** Null where a price is not known. */
function sumOf(costs: readonly (number | null)[]): number | null {
  return costs.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);
}

/** A second cut inside of one turn has its request in the state alone, and after a restart not in memory either. */
function requestBefore({ folded, kept }: Cut, before: EntryOf<'compaction'> | null, maxChars: number): CarriedRequest | undefined {
  if (kept.length === 0 || folded.some(isUserMessage) || kept.some(isUserMessage)) return undefined;
  const request = requestIn(before?.content.summary);
  return request && fittingRequest(request, maxChars);
}
