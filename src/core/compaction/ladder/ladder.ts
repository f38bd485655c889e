import { factsOf, type Rung, type Situation, type FoldStep } from './rung';
import type { BranchState } from '../../chat/branchState';
import type { ContextEngine } from '../../context/engine';
import { isUserMessage, type ContentOf, type EntryOf } from '../../session/entry';
import { verbatimEntries } from '../../session/liveCompaction';
import type { CompactionRecorder } from '../compactionRecorder';
import { emptyFoldedState } from '../ledgers/foldedState';
import { sentEntries, type Cut } from './cutPoint';
import { coverage, foldByCheckpoint, foldByExtraction, foldByTruncation, foldFurther, type Fold } from './fold';
import type { FoldPlanner } from './foldPlanner';
import { maskPlan, scaledToWindow } from './mask';
import { english } from '../../l10n';
import { newestOnBranch } from '../checkpoints/checkpointDue';
import type { BackgroundSummary } from '../summary/backgroundSummary';
import type { SummaryJob } from '../summary/summaryJob';

export interface LadderDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly planner: FoldPlanner;
  readonly recorder: CompactionRecorder;
  /** Newest last; of this session, on any branch. */
  readonly checkpoints: () => Promise<readonly EntryOf<'checkpoint'>[]>;
  readonly background: BackgroundSummary;
  /** What the last preview showed. */
  readonly previewed: () => Previewed | null;
}

/** A fold that was shown and not recorded, with what it was made of. */
export interface Previewed {
  readonly fold: Fold;
  readonly cut: Cut;
  readonly basis: string;
  /** It wrote the fold; none did where no model could be asked. */
  readonly job?: SummaryJob;
}

/**
 * Every way of making room, in the order in which they are tried.
 *
 *   rung        costs     is tried when                                      yields
 *   edited      nothing   the user has changed the summary of a preview      the fold of that preview, or why it fits no more
 *   mask        nothing   automatic, the policy masks; a snapshot            stubs for old tool results that it tells of, if that is
 *                                                                            enough
 *   shorten     reading   nothing to fold, and it does not fit               the newest of the state before
 *   ready       nothing   a summary was written in the background            that summary
 *   wait        nothing   one is being written, and there is room            nothing now: it is used by a later request
 *   checkpoint  reading   the policy prefers them; one covers enough         what the snapshot says, and passages of the rest
 *   model       request   a model may write                                  its summary, or why there is none
 *   keep        nothing   the policy keeps all without a summary; room       nothing now: the next message tries again
 *   passages    reading   nobody can write, or nobody could                  verbatim passages; marked for a summary later
 *   truncate    nothing   a turn has to go on, or it was chosen              the newest messages behind a stub
 */
export function ladder(deps: LadderDeps): readonly Rung[] {
  return [
    editedRung(deps),
    maskRung(deps),
    shortenRung(deps),
    readyRung(deps),
    waitRung(deps),
    checkpointRung(deps),
    modelRung(deps),
    keepRung(deps),
    passagesRung(deps),
    truncateRung(deps),
  ];
}

const previewOutdated = english(
  'The messages of this preview have been compacted or changed since. Make a new preview, and copy your summary into it. Nothing was compacted.',
);

/** A summary that a user has written stands for what its preview showed: what was said since stays, or is folded without a model. */
function editedRung({ branch, planner, background, previewed }: LadderDeps): Rung {
  return {
    name: 'edited',
    costs: 'nothing',
    mayTry: ({ options }) => options.summary !== undefined,
    async *tries(situation) {
      const shown = previewed();
      const sent = sentEntries(branch.entries);
      const isSame = shown?.basis === background.basis() && shown.cut.folded.every(({ uuid }, index) => sent[index]?.uuid === uuid);
      // A turn has previewed it just now, and has to go on with what the other rungs make of it.
      const isByHand = situation.options.trigger === 'manual';
      if (!shown || !isSame) return isByHand ? yield { stays: previewOutdated } : undefined;
      const { job } = shown;
      situation.spent.push(...(job?.calls.splice(0) ?? []));
      if (job) situation.paidBefore = job.kept ? job.kept.cost : 0;
      yield* stepsOf(shown, situation, planner);
      if (isByHand) yield { stays: notWorthIt };
    },
  };
}

/**
 * Where a context has to come down to for masking alone to be worth it: share of the trigger. Whatever is left has to be written to
 * the provider's cache again (1.25 per token) and buys room up to the trigger; at half of it a mask costs 1.25 per token of room, as
 * much as a summary of everything. Measured over 150 turns with three tool results each in a 100,000-token window: at 0.8 a mask
 * every few turns, 16 compactions and 20.6M tokens sent.
 */
const maskedEnough = 0.5;

/** Old tool results give way to stubs, and everything else stays as it is. */
function maskRung(deps: LadderDeps): Rung {
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

async function masked(
  { branch, engine, planner, recorder, checkpoints }: LadderDeps,
  situation: Situation,
): Promise<ContentOf<'compaction'> | null> {
  const { masking } = engine.policy.compaction;
  const sent = sentEntries(branch.entries);
  const newest = newestOnBranch(sent, await checkpoints());
  const through = sent.findIndex(({ uuid }) => uuid === newest?.content.coversThrough);
  const told = new Set(sent.slice(0, through + 1).map(({ uuid }) => uuid));
  const plan = maskPlan(branch.entries, {
    protectTokens: scaledToWindow(masking.protectTokens, engine.budget.effective),
    protectUserTurns: masking.protectUserTurns,
    minGain: scaledToWindow(masking.minGainTokens, engine.budget.effective),
    tokensOf: branch.tokensOf,
    isTold: ({ uuid }) => told.has(uuid),
  });
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
    // The snapshot tells of them, and that is no part of the prompt.
    maskedTold: false,
  });
}

const tooLongState = english(
  'The summary was longer than what this model takes beside the newest messages, so the oldest of it is not sent.',
);
export const notWorthIt = english('Compacting would not make the context noticeably smaller, so nothing was changed.');
const tooLongSummary = english("The model's summary was too long to help.");

/**
 * What stands in front of the newest turn is the state alone, and it was made for a larger window: it is shortened for a model that
 * takes less.
 */
function shortenRung({ branch, engine, planner, recorder }: LadderDeps): Rung {
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
function checkpointRung({ engine, planner, checkpoints }: LadderDeps): Rung {
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
function keepRung({ engine }: LadderDeps): Rung {
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
function passagesRung({ engine, planner }: LadderDeps): Rung {
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
function truncateRung({ planner }: LadderDeps): Rung {
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

/** A turn waits no longer than this for a summariser from which nothing comes, and neither does what comes behind its answer. */
const patienceMs = 2_000;

const stillWriting = english('The summary is still being written. It is used as soon as it is there.');

/** A summary that was written in the background is there. */
function readyRung({ planner, background }: LadderDeps): Rung {
  return {
    name: 'ready',
    costs: 'nothing',
    mayTry: (situation) => wantsModel(situation) && background.state(situation.options.instructions) === 'ready',
    async *tries(situation) {
      const job = background.usable(situation.options.instructions)!;
      situation.spent.push(...background.takeCalls());
      situation.paidBefore = job.kept ? job.kept.cost : 0;
      if (job.fold) yield* stepsOf({ fold: job.fold, cut: job.cut, job }, situation, planner);
      situation.wasTooLong = true;
    },
  };
}

/** Nothing overflows yet: the summary that is being written is there for a later request. It is paid for, and better than a snapshot. */
function waitRung({ background }: LadderDeps): Rung {
  return {
    name: 'wait',
    costs: 'nothing',
    mayTry: (situation) => wantsModel(situation) && situation.hasRoom && background.state(situation.options.instructions) === 'writing',
    async *tries() {
      yield { stays: stillWriting };
    },
  };
}

/** A summariser is asked now, once a turn; a turn goes on without it when nothing comes. */
function modelRung({ planner, background }: LadderDeps): Rung {
  return {
    name: 'model',
    costs: 'request',
    mayTry: (situation) => wantsModel(situation) && background.state(situation.options.instructions) !== 'ready',
    async *tries(situation) {
      const { options, signals, hasRoom, cuts, spent } = situation;
      const failed = options.trigger === 'manual' ? null : background.tellFailure();
      if (failed !== null) {
        spent.push(...background.takeCalls());
        situation.failure = failed;
        return;
      }
      const own = { instructions: options.instructions, first: options.summarizers ?? [], inPrompt: options.trigger !== 'overflow' };
      const job = background.usable(options.instructions) ?? background.begin(cuts[0]!, own);
      const waited = await job.wait(options.trigger === 'manual' ? null : patienceMs, signals.skip);
      if (waited === 'late' && hasRoom) return yield { stays: stillWriting };
      spent.push(...background.takeCalls());
      if (waited !== 'ended') background.giveUp(waited === 'late' ? tooLate : givenUp);
      else if (job.fold) {
        yield* stepsOf({ fold: job.fold, cut: job.cut, job }, situation, planner);
        situation.wasTooLong = true;
        return;
      }
      situation.failure = background.tellFailure();
    },
  };
}

const tooLate = english('The summarizer did not answer in time.');
const givenUp = english('The summary by the model was cancelled.');

function wantsModel({ cuts, chain, truncates }: Situation): boolean {
  return cuts.length > 0 && chain.length > 0 && !truncates;
}

/** The summary in front of what is kept now. Where too much has been said since it was begun, the rest is folded without a model. */
async function* stepsOf(
  { fold, cut: written, job }: Pick<Previewed, 'fold' | 'cut' | 'job'>,
  { options }: Situation,
  planner: FoldPlanner,
): AsyncGenerator<FoldStep> {
  const last = written.folded.at(-1)!;
  const cuts = planner.cutsFor(written, fold.folded, options.trigger);
  const steps: FoldStep[] = [];
  for (const cut of cuts) {
    const isTold = cut.folded.at(-1)?.uuid === last.uuid || !cut.folded.some(({ uuid }) => uuid === last.uuid);
    const own = isTold ? fold : await foldFurther(planner.request(cut, options.instructions), fold, last);
    const step: FoldStep = { fold: own, cut, ...(job ? { job } : {}) };
    steps.push(step);
    yield { ...step, hasToReach: true };
  }
  // None comes down far enough: then whichever comes down furthest.
  yield* steps.reverse();
}
