import { english } from '../../l10n';
import type { BackgroundSummary } from '../summary/backgroundSummary';
import type { SummaryJob } from '../summary/summaryJob';
import { foldFurther } from './foldWithoutModel';
import type { FoldPlanner } from './foldPlanner';
import type { FoldStep, Rung, Situation } from './rung';

export interface SummaryRungDeps {
  readonly planner: FoldPlanner;
  readonly background: BackgroundSummary;
}

/** A turn waits no longer than this for a summariser from which nothing comes, and neither does what comes behind its answer. */
const patienceMs = 2_000;

const stillWriting = english('The summary is still being written. It is used as soon as it is there.');

/** A summary that was written in the background is there. */
export function readyRung({ planner, background }: SummaryRungDeps): Rung {
  return {
    name: 'ready',
    costs: 'nothing',
    mayTry: (situation) => wantsModel(situation) && background.state(situation.options.instructions) === 'ready',
    async *tries(situation) {
      const job = background.usable(situation.options.instructions)!;
      situation.spent.push(...background.takeCalls());
      yield* stepsOf(job, situation, planner);
      situation.wasTooLong = true;
    },
  };
}

/** Nothing overflows yet: the summary that is being written is there for a later request. It is paid for, and better than a snapshot. */
export function waitRung({ background }: SummaryRungDeps): Rung {
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
export function modelRung({ planner, background }: SummaryRungDeps): Rung {
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
        yield* stepsOf(job, situation, planner);
        situation.wasTooLong = true;
        return;
      }
      situation.failure = background.tellFailure();
    },
  };
}

const tooLate = english('The summariser did not answer in time.');
const givenUp = english('The summary by the model was cancelled.');

function wantsModel({ cuts, chain, truncates }: Situation): boolean {
  return cuts.length > 0 && chain.length > 0 && !truncates;
}

/** The summary in front of what is kept now. Where too much has been said since it was begun, the rest is folded without a model. */
async function* stepsOf(job: SummaryJob, { options }: Situation, planner: FoldPlanner): AsyncGenerator<FoldStep> {
  const { fold } = job;
  if (!fold) return;
  const last = job.cut.folded.at(-1)!;
  const cuts = planner.cutsFor(job.cut, fold.folded, options.trigger);
  const steps: FoldStep[] = [];
  for (const cut of cuts) {
    const isTold = cut.folded.at(-1)?.uuid === last.uuid || !cut.folded.some(({ uuid }) => uuid === last.uuid);
    const step: FoldStep = { fold: isTold ? fold : await foldFurther(planner.request(cut, options.instructions), fold, last), cut, job };
    steps.push(step);
    yield { ...step, hasToReach: true };
  }
  // None comes down far enough: then whichever comes down furthest.
  yield* steps.reverse();
}
