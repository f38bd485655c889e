import { ModelError } from '../../models/modelEvent';
import { CancelledError, errorText } from '../../errors';
import { english } from '../../l10n';
import type { Summarizer, TextAnalysis } from '../../ports';
import { emptyFoldedState } from '../ledgers/foldedState';
import { itemsOf } from '../measure/textAnalysis';
import type { Continuation } from '../summary/continuation';
import type { Failover, FailoverRule } from '../summary/summaryJob';
import { SummaryWriter, type SummaryCall } from '../summary/summaryWriter';
import { cited, ledgers, previousText, shares, withIdentifiers, type Fold, type FoldRequest } from './fold';

export interface ModelFoldRequest extends FoldRequest {
  readonly chain: readonly Summarizer[];
  readonly failover: Failover;
  readonly rule: FailoverRule;
  /** The range in the conversation's own prompt, where a summariser may go on from that. */
  readonly continuation: Continuation | null;
  /** Nothing is asked of a summariser that cannot go on from it. */
  readonly continuesOnly?: boolean;
  /** Nobody is there to be asked for consent. */
  readonly background: boolean;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** A summariser has begun to answer. */
  readonly onLife?: () => void;
  readonly spent: (call: SummaryCall) => void;
  /** The range has been read, whatever becomes of the summary. */
  readonly onRead?: (analysis: TextAnalysis) => void;
}

/** Shares of the identifiers that have to survive: below the first a repair is asked for, below the second the summary is refused. */
const auditShare = { repair: 0.8, refuse: 0.5 };

/** Every summariser of the chain in turn. Rejects with `CancelledError`, or with an Error that says why each of them failed. */
export async function foldByChain(request: ModelFoldRequest): Promise<Fold> {
  const reasons: string[] = [];
  for (const summarizer of request.failover.order(request.chain, request.rule)) {
    if (request.background && summarizer.needsConsent) continue;
    if (request.continuesOnly && summarizer.continuesFrom !== request.continuation?.from) continue;
    try {
      const fold = await foldByModel(request, summarizer);
      request.failover.succeeded(summarizer);
      return fold;
    } catch (error) {
      if (CancelledError.is(error) || request.signal.aborted) throw new CancelledError();
      if (!isBudget(error)) request.failover.failed(summarizer);
      reasons.push(`${summarizer.model}: ${errorText(error)}`);
      request.log.warn('summary_failed', { model: summarizer.model, detail: errorText(error) });
    }
  }
  throw new Error(reasons.join('; ') || english('no summarizer may be used without asking'));
}

/** Nothing is wrong with who was not asked at all. */
export function isBudget(error: unknown): boolean {
  return ModelError.is(error) && (error.failure.reason === 'budget' || error.failure.reason === 'cost_limit');
}

/** Rung 3: one summariser, checked before it is believed. */
async function foldByModel(request: ModelFoldRequest, summarizer: Summarizer): Promise<Fold> {
  const { cut, format, maxSummaryTokens, estimate } = request;
  const previous = request.previous ?? emptyFoldedState;
  const writer = new SummaryWriter({ ...request, summarizer });
  // What a stub left out is in the state before, and was looked for when that was written.
  const standing = cut.folded.filter(({ uuid }) => !request.stubs.has(uuid));
  const analysing = request.analyst.analyse(itemsOf(standing), Math.floor(maxSummaryTokens * shares.passages));
  if (request.onRead) void analysing.then(request.onRead);
  const judge = async (text: string) => {
    const analysis = await analysing;
    const beside = ledgers(request, previous, analysis);
    const read = format.read(text);
    const { checked, unknown } = cited(request, read, previous, analysis);
    const audited = withIdentifiers(request, { ...beside, ...checked }, previous, analysis, unknown);
    const survived = audited.audit.checked === 0 ? 1 : audited.audit.leftBehind / audited.audit.checked;
    const tooLong = estimate(text) > 1.5 * maxSummaryTokens + 200;
    const flaws = [
      ...read.flaws,
      ...(survived < auditShare.repair ? ['Names, paths and values are missing.'] : []),
      ...(tooLong ? [`It is too long: at most ${maxSummaryTokens} tokens.`] : []),
    ];
    return { ...audited, flaws, inForm: read.inForm, usable: read.usable && survived >= auditShare.refuse };
  };
  // Words that are no summary would be the conversation going on.
  const accepts = async (text: string) => {
    const { inForm, usable } = await judge(text);
    return inForm && usable;
  };
  const continued = await writer.continued(request.continuation, accepts);
  if (continued === null && request.continuesOnly) throw new Error(english('the summary was not usable: {0}', ''));
  let answer = continued ?? (await writer.write(cut.folded, previousText(previous)));
  let verdict = await judge(answer);
  const repaired = verdict.flaws.length > 0;
  if (repaired) {
    try {
      answer = await writer.repair(answer, verdict.flaws, verdict.missing);
      const second = await judge(answer);
      if (second.usable && (!verdict.usable || second.flaws.length <= verdict.flaws.length)) verdict = second;
    } catch (error) {
      if (!verdict.usable || request.signal.aborted) throw error;
    }
  }
  if (!verdict.usable) throw new Error(english('the summary was not usable: {0}', verdict.flaws.join(' ')));
  return {
    folded: verdict.folded,
    rung: 'model',
    model: summarizer.model,
    note: null,
    audit: { ...verdict.audit, repaired },
    analysis: await analysing,
  };
}
