import { maskRung, type MaskRungDeps } from './maskRung';
import { checkpointRung, keepRung, passagesRung, shortenRung, truncateRung, type PlainRungDeps } from './plainRungs';
import type { Rung } from './rung';
import { modelRung, readyRung, waitRung, type SummaryRungDeps } from './summaryRungs';

/**
 * Every way of making room, in the order in which they are tried.
 *
 *   rung        costs     is tried when                                      yields
 *   mask        nothing   automatic, the policy masks                        stubs for old tool results, if that is enough
 *   shorten     reading   nothing to fold, and it does not fit               the newest of the state before
 *   ready       nothing   a summary was written in the background            that summary
 *   wait        nothing   one is being written, and there is room            nothing now: it is used by a later request
 *   checkpoint  reading   the policy prefers them; one covers enough         what the snapshot says, and passages of the rest
 *   model       request   a model may write                                  its summary, or why there is none
 *   keep        nothing   the policy keeps all without a summary; room       nothing now: the next message tries again
 *   passages    reading   nobody can write, or nobody could                  verbatim passages; marked for a summary later
 *   truncate    nothing   a turn has to go on, or it was chosen              the newest messages behind a stub
 */
export function ladder(deps: MaskRungDeps & SummaryRungDeps & PlainRungDeps): readonly Rung[] {
  return [
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
