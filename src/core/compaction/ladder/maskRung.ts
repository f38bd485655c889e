import type { BranchState } from '../../chat/branchState';
import type { ContextEngine } from '../../context/engine';
import type { ContentOf } from '../../session/entry';
import { verbatimEntries } from '../../session/liveCompaction';
import type { CompactionRecorder } from '../compactionRecorder';
import { emptyFoldedState } from '../ledgers/foldedState';
import type { Cut } from './cutPoint';
import type { Fold } from './fold';
import type { FoldPlanner } from './foldPlanner';
import { maskPlan } from './mask';
import { factsOf, type Rung, type Situation } from './rung';

export interface MaskRungDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly planner: FoldPlanner;
  readonly recorder: CompactionRecorder;
}

/**
 * Where a context has to come down to for masking alone to be worth it: share of the trigger. Whatever is left has to be written to
 * the provider's cache again (1.25 per token) and buys room up to the trigger; at half of it a mask costs 1.25 per token of room, as
 * much as a summary of everything. Measured over 150 turns with three tool results each in a 100,000-token window: at 0.8 a mask
 * every few turns, 16 compactions and 20.6M tokens sent.
 */
const maskedEnough = 0.5;

/** Old tool results give way to stubs, and everything else stays as it is. */
export function maskRung(deps: MaskRungDeps): Rung {
  const { engine } = deps;
  return {
    name: 'mask',
    costs: 'nothing',
    mayTry: ({ options }) => options.trigger === 'automatic' && !options.isReviewed && engine.policy.compaction.masking.enabled,
    async *tries(situation) {
      const record = await masked(deps, situation);
      if (record && record.tokensAfter <= (engine.budget.target ?? engine.budget.trigger * maskedEnough)) yield { record };
    },
  };
}

async function masked({ branch, engine, planner, recorder }: MaskRungDeps, situation: Situation): Promise<ContentOf<'compaction'> | null> {
  const { masking } = engine.policy.compaction;
  // The policy's figures are for a window of 200,000.
  const scaled = (tokens: number) => Math.min(tokens, Math.floor((tokens / 200_000) * engine.budget.effective));
  const limits = {
    protectTokens: scaled(masking.protectTokens),
    protectUserTurns: masking.protectUserTurns,
    minGain: scaled(masking.minGainTokens),
  };
  const plan = maskPlan(branch.entries, { ...limits, tokensOf: branch.tokensOf });
  if (!plan) return null;
  const { live } = planner;
  const kept = verbatimEntries(branch.entries);
  const cut: Cut = { folded: [], firstKept: kept[0] ?? null, kept, currentRequest: null };
  const unused: Fold = {
    folded: planner.previousState() ?? emptyFoldedState,
    rung: 'model',
    model: null,
    note: null,
    audit: null,
    analysis: null,
  };
  const draft = await recorder.draft(unused, cut, { ...factsOf(situation), rung: 'mask' });
  // The state of the record before it stands on: a mask folds nothing.
  return recorder.measured({
    ...draft,
    summaryText: live?.content.summaryText ?? '',
    summary: live?.content.summary,
    coversFrom: live?.content.coversFrom ?? null,
    needsSummaryRetry: live?.content.needsSummaryRetry ?? false,
    masked: [...plan.masked],
  });
}
