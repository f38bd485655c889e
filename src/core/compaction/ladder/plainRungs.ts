import type { BranchState } from '../../chat/branchState';
import type { ContextEngine } from '../../context/engine';
import { english } from '../../l10n';
import type { EntryOf } from '../../session/entry';
import { verbatimEntries } from '../../session/liveCompaction';
import { newestOnBranch } from '../checkpoints/checkpointDue';
import type { CompactionRecorder } from '../compactionRecorder';
import { isUserMessage, type Cut } from './cutPoint';
import type { FoldPlanner } from './foldPlanner';
import { coverage, foldByCheckpoint, foldByExtraction, foldByTruncation } from './foldWithoutModel';
import { factsOf, type Rung, type Situation } from './rung';

export interface PlainRungDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly planner: FoldPlanner;
  readonly recorder: CompactionRecorder;
  /** Newest last; of this session, on any branch. */
  readonly checkpoints: () => Promise<readonly EntryOf<'checkpoint'>[]>;
}

const tooLongState = english(
  'The summary was longer than what this model takes beside the newest messages, so the oldest of it is not sent.',
);
const tooLongSummary = english("The model's summary was too long to help.");

/**
 * What stands in front of the newest turn is the state alone, and it was made for a larger window: it is shortened for a model that
 * takes less.
 */
export function shortenRung({ branch, engine, planner, recorder }: PlainRungDeps): Rung {
  return {
    name: 'shorten',
    costs: 'reading',
    mayTry: ({ cuts, isOver }) => cuts.length === 0 && isOver && planner.live !== null,
    async *tries(situation) {
      const kept = verbatimEntries(branch.entries);
      // In the middle of a turn its request may stand in the state.
      const currentRequest = kept.some(isUserMessage) ? null : (branch.entries.findLast(isUserMessage) ?? null);
      const cut: Cut = { folded: [], firstKept: kept[0] ?? null, kept, currentRequest };
      const request = { ...planner.request(cut, null), shortens: true };
      for (const fold of [await foldByExtraction(request, tooLongState), foldByTruncation(request, tooLongState)]) {
        const record = await recorder.draft(fold, cut, {
          ...factsOf(situation),
          rung: fold.rung,
          coversFrom: planner.live!.content.coversFrom,
        });
        if (record.tokensAfter <= engine.budget.limit) yield { record };
      }
    },
  };
}

/** A snapshot tells of most of what is folded; what came after it is folded without a model. */
export function checkpointRung({ engine, planner, checkpoints }: PlainRungDeps): Rung {
  return {
    name: 'checkpoint',
    costs: 'reading',
    mayTry: ({ options, cuts, chain, truncates }) =>
      engine.policy.compaction.preferCheckpoint && options.trigger !== 'manual' && cuts.length > 0 && chain.length > 0 && !truncates,
    async *tries({ cuts, options }) {
      const cut = cuts[0]!;
      const newest = newestOnBranch(cut.folded, await checkpoints());
      const covers = newest && coverage(cut, newest, planner.tokensOf()) >= engine.policy.compaction.minCheckpointCoverage;
      if (newest && covers) yield { fold: await foldByCheckpoint(planner.request(cut, options.instructions), newest), cut };
    },
  };
}

/** The policy would rather keep everything than go on without a summary, as long as everything can be sent. */
export function keepRung({ engine }: PlainRungDeps): Rung {
  return {
    name: 'keep',
    costs: 'nothing',
    mayTry: ({ cuts, chain, truncates, hasRoom }) =>
      engine.policy.compaction.whenFails === 'keep' && hasRoom && cuts.length > 0 && chain.length > 0 && !truncates,
    async *tries(situation) {
      yield { stays: english('{0} The conversation stays as it is, and the next message tries again.', whyNoSummary(situation) ?? '') };
    },
  };
}

/** Verbatim passages stand in for a summary. */
export function passagesRung({ engine, planner }: PlainRungDeps): Rung {
  return {
    name: 'passages',
    costs: 'reading',
    mayTry: ({ options, cuts, chain, truncates }) =>
      cuts.length > 0 &&
      !truncates &&
      (chain.length === 0 || engine.policy.compaction.whenFails === 'extract' || options.trigger === 'manual'),
    async *tries(situation) {
      const { options, cuts, used } = situation;
      const why = whyNoSummary(situation);
      for (const cut of cuts) {
        const request = planner.request(cut, options.instructions);
        // They stand in until a model has written a summary: half of its room is enough for that.
        yield {
          fold: await foldByExtraction({ ...request, maxSummaryTokens: Math.floor(request.maxSummaryTokens * (why ? 0.5 : 1)) }, why),
          cut,
        };
      }
      const least = cuts.at(-1)!;
      const isTooMuch = options.trigger !== 'manual' && used > engine.budget.limit;
      if (isTooMuch)
        yield {
          fold: await foldByExtraction({ ...planner.request(least, options.instructions), shortens: true }, why ?? tooLongState),
          cut: least,
        };
    },
  };
}

/**
 * The oldest messages give way to a stub. Nobody asks for a compaction in order to lose the summary: that is only better than not
 * being able to go on, or what the user has chosen. Chosen, it keeps what the policy keeps.
 */
export function truncateRung({ planner }: PlainRungDeps): Rung {
  return {
    name: 'truncate',
    costs: 'nothing',
    mayTry: ({ options, cuts }) => options.trigger !== 'manual' && cuts.length > 0,
    async *tries(situation) {
      const why = whyNoSummary(situation);
      for (const cut of [...(situation.truncates ? situation.cuts : []), ...planner.emergencyCuts()]) {
        yield { fold: foldByTruncation(planner.request(cut, null), why), cut };
      }
    },
  };
}

/** Null where no summary was wanted, or nobody is there to write one. */
function whyNoSummary({ chain, truncates, failure, wasTooLong }: Situation): string | null {
  if (chain.length === 0 || truncates) return null;
  return failure ?? (wasTooLong ? tooLongSummary : null);
}
