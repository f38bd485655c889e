import type { Logger, Summarizer, TextAnalyst } from '../../ports';
import { ModelError } from '../../chat/modelError';
import { CancelledError, errorText } from '../../errors';
import type { Frames } from '../../frames/frames';
import { english } from '../../l10n';
import type { ContentOf, EntryOf, StoredEntry } from '../../session/entry';
import { wholeCharacters } from '../../context/excerpt';
import type { Audit } from '../../session/fidelity';
import { criticalIdentifiers, identifierAppendix, missingFrom } from '../measure/audit';
import { renderCheckpoint } from '../checkpoints/checkpointText';
import { checkCitations, knownRefs, type CheckedText, type Written } from '../summary/citations';
import type { Continuation } from '../summary/continuation';
import type { Cut } from './cutPoint';
import type { Failover, FailoverRule } from '../summary/failover';
import { emptyFoldedState, renderFoldedState, stateText, type FoldedState } from '../ledgers/foldedState';
import { extendLedger } from '../ledgers/userLedger';
import { entryRef } from '../summary/prompts';
import type { SummaryFormat } from '../summary/summaryFormat';
import { SummaryWriter, type SummaryCall } from '../summary/summaryWriter';
import { itemsOf, joined, nothingFound, type TextAnalysis } from '../measure/textAnalysis';
import { extendWorkLedger } from '../ledgers/workLedger';

export interface FoldRequest {
  readonly frames: Frames;
  readonly cut: Cut;
  readonly previous: FoldedState | null;
  readonly maxSummaryTokens: number;
  /** For what the ledgers are shares of: with every compaction they have more to carry, whatever the length of the range. */
  readonly ledgerTokens: number;
  readonly instructions: string | null;
  readonly format: SummaryFormat;
  /** The state before was made for a larger window, and does not fit: only the newest of it is carried. */
  readonly shortens?: boolean;
  readonly estimate: (text: string) => number;
  readonly analyst: TextAnalyst;
  readonly log: Logger;
}

export interface ModelFoldRequest extends FoldRequest {
  readonly chain: readonly Summarizer[];
  readonly failover: Failover;
  readonly rule: FailoverRule;
  /** The range in the conversation's own prompt, where a summariser may go on from that. */
  readonly continuation: Continuation | null;
  /** Nobody is there to be asked for consent. */
  readonly background: boolean;
  readonly signal: AbortSignal;
  /** A summariser has begun to answer. */
  readonly onLife?: () => void;
  readonly spent: (call: SummaryCall) => void;
}

export interface Fold {
  readonly folded: FoldedState;
  readonly rung: Extract<ContentOf<'compaction'>['rung'], 'checkpoint' | 'model' | 'extractive' | 'truncate'>;
  readonly model: string | null;
  /** Why a better rung was not reached; null when none is better. */
  readonly note: string | null;
  readonly audit: Audit | null;
  /** Of the folded range, for the continuity score; null when nobody has looked. */
  readonly analysis: Pick<TextAnalysis, 'identifiers' | 'decisions'> | null;
}

/** Of the summary's budget: what stands beside a model's text. */
const shares = { ledger: 0.75, work: 0.4, passages: 0.15, identifiers: 0.1 };
/** Of the identifiers that have to survive: below the first a repair is asked for, below the second the summary is refused. */
const auditShare = { repair: 0.8, refuse: 0.5 };

/** Every summariser of the chain in turn. Rejects with `CancelledError`, or with an Error that says why each of them failed. */
export async function foldByChain(request: ModelFoldRequest): Promise<Fold> {
  const reasons: string[] = [];
  for (const summarizer of request.failover.order(request.chain, request.rule)) {
    if (request.background && summarizer.needsConsent) continue;
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
  throw new Error(reasons.join('; ') || english('no summariser may be used without asking'));
}

/** Nothing is wrong with who was not asked at all. */
export function isBudget(error: unknown): boolean {
  return ModelError.is(error) && error.failure.reason === 'budget';
}

/** Rung 3: one summariser, checked before it is believed. */
async function foldByModel(request: ModelFoldRequest, summarizer: Summarizer): Promise<Fold> {
  const { cut, format, maxSummaryTokens, estimate } = request;
  const previous = request.previous ?? emptyFoldedState;
  const writer = new SummaryWriter({ ...request, summarizer });
  const analysing = request.analyst.analyse(itemsOf(cut.folded), Math.floor(maxSummaryTokens * shares.passages));
  const judge = async (text: string) => {
    const analysis = await analysing;
    const beside = ledgers(request, previous, analysis);
    const read = format.read(text);
    const { checked, unknown } = cited(request, read, previous, analysis);
    const audited = withIdentifiers(request, { ...beside, ...checked }, previous, analysis, unknown);
    const survived = audited.audit.checked === 0 ? 1 : audited.audit.leftBehind / audited.audit.checked;
    const tooLong = estimate(text) > 1.5 * maxSummaryTokens + 200;
    const flaws = [...read.flaws, ...(survived < auditShare.repair ? ['Names, paths and values are missing.'] : []), ...(tooLong ? [`It is too long: at most ${maxSummaryTokens} tokens.`] : [])];
    return { ...audited, flaws, inForm: read.inForm, usable: read.usable && survived >= auditShare.refuse };
  };
  // Words that are no summary would be the conversation going on.
  const accepts = async (text: string) => {
    const { inForm, usable } = await judge(text);
    return inForm && usable;
  };
  let answer = (await writer.continued(request.continuation, accepts)) ?? (await writer.write(cut.folded, previousText(previous)));
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
  return { folded: verdict.folded, rung: 'model', model: summarizer.model, note: null, audit: { ...verdict.audit, repaired }, analysis: await analysing };
}

/** Rung 1: a checkpoint stands for everything it covers, what came after it is folded without a model. Nothing is waited for. */
export async function foldByCheckpoint(request: FoldRequest, checkpoint: EntryOf<'checkpoint'>): Promise<Fold> {
  const { cut, maxSummaryTokens } = request;
  const previous = request.previous ?? emptyFoldedState;
  const covered = cut.folded.findIndex(({ uuid }) => uuid === checkpoint.content.coversThrough);
  // No passages of what the checkpoint tells of.
  const [told, delta] = await Promise.all([request.analyst.analyse(itemsOf(cut.folded.slice(0, covered + 1)), 0), request.analyst.analyse(itemsOf(cut.folded.slice(covered + 1)), Math.floor(maxSummaryTokens / 2))]);
  const analysis = joined(told, delta);
  const { checked, unknown } = cited(request, { state: null, raw: renderCheckpoint(checkpoint.content) }, previous, analysis);
  const { folded, audit } = withIdentifiers(request, { ...ledgers(request, previous, analysis), ...checked }, previous, analysis, unknown);
  return { folded, rung: 'checkpoint', model: checkpoint.content.model ?? null, note: null, audit, analysis };
}

/** How much of what is to be folded a checkpoint describes: 0–1 of its tokens. */
export function coverage({ folded }: Pick<Cut, 'folded'>, checkpoint: EntryOf<'checkpoint'>, tokensOf: (entry: StoredEntry) => number): number {
  const end = folded.findIndex(({ uuid }) => uuid === checkpoint.content.coversThrough);
  const sum = (entries: readonly StoredEntry[]) => entries.reduce((total, entry) => total + tokensOf(entry), 0);
  return end === -1 ? 0 : sum(folded.slice(0, end + 1)) / Math.max(1, sum(folded));
}

/** Rung 4: verbatim passages, no model. Never fails. */
export async function foldByExtraction(request: FoldRequest, note: string | null): Promise<Fold> {
  const { cut, maxSummaryTokens, ledgerTokens, estimate } = request;
  const previous = request.previous ?? emptyFoldedState;
  const analysis = await request.analyst.analyse(itemsOf(cut.folded), maxSummaryTokens);
  const state: FoldedState = {
    ...ledgers(request, previous, analysis),
    ...(request.shortens ? shortened(previous, ledgerTokens, estimate) : { state: previous.state, raw: previous.raw }),
    lines: newestWithin([...previous.lines, ...withRefs(analysis.lines, cut.folded)], maxSummaryTokens, estimate),
  };
  const { folded, audit } = withIdentifiers(request, state, previous, analysis);
  return { folded, rung: 'extractive', model: null, note, audit, analysis };
}

/** Rung 5: ids of the user's messages, the work ledger, and nothing else. Always fits. */
export function foldByTruncation(request: FoldRequest, note: string | null): Fold {
  const previous = request.previous ?? emptyFoldedState;
  const small = { ...request, ledgerTokens: request.ledgerTokens / 3 };
  const folded: FoldedState = { ...emptyFoldedState, ...ledgers(small, previous, nothingFound) };
  return { folded, rung: 'truncate', model: null, note, audit: null, analysis: null };
}

/** The newest of each list of a state, word for word, or the end of a text. */
function shortened({ state, raw }: FoldedState, budget: number, estimate: (text: string) => number): Pick<FoldedState, 'state' | 'raw'> {
  const tokens = estimate(stateText({ ...emptyFoldedState, state, raw }));
  if (tokens <= budget) return { state, raw };
  const newest = (lines: readonly string[], share: number) => newestWithin(lines.map((text) => ({ ref: '', text })), budget * share, estimate).map(({ text }) => text);
  return {
    state: state && { ...state, logos: newest(state.logos, 0.7), pathos: newest(state.pathos, 0.15), abstract: newest(state.abstract, 0.15) },
    raw: raw && `[…] ${wholeCharacters(raw, raw.length - Math.floor((raw.length * budget) / tokens), raw.length)}`,
  };
}

/** Everything beside a summary that no model has a part in. */
function ledgers({ cut, ledgerTokens, estimate }: FoldRequest, previous: FoldedState, analysis: TextAnalysis): FoldedState {
  return {
    ...emptyFoldedState,
    ...extendLedger(previous, cut.folded, ledgerTokens * shares.ledger, estimate, new Map(analysis.sentences.map((found) => [found.entryId, found]))),
    work: extendWorkLedger(previous.work, cut.folded, ledgerTokens * shares.work, estimate),
    lines: withRefs(analysis.lines, cut.folded),
  };
}

/** What a model wrote, with the ids that it cites checked. Entries that stay may be cited too. */
function cited({ cut }: FoldRequest, written: Written, previous: FoldedState, analysis: TextAnalysis): CheckedText<Written> {
  const refs = new Map(cut.folded.map((entry) => [entry.uuid, entryRef(entry)]));
  return checkCitations({ state: written.state, raw: written.raw }, knownRefs([...cut.folded, ...cut.kept], previous), analysis.identifiers, (id) => refs.get(id));
}

/** Adds the identifiers that nothing else mentions, and says what is still missing then. */
function withIdentifiers({ cut, maxSummaryTokens, estimate }: FoldRequest, state: FoldedState, previous: FoldedState, analysis: TextAnalysis, unknownIds: readonly string[] = []) {
  const budget = Math.max(60, maxSummaryTokens * shares.identifiers);
  const critical = criticalIdentifiers(analysis.identifiers, Math.max(8, Math.min(80, Math.floor(maxSummaryTokens / 25))));
  const rendered = renderFoldedState({ ...state, identifiers: [] }, null, 0);
  const missing = missingFrom(critical, rendered);
  const refs = new Map(cut.folded.map((entry) => [entry.uuid, entryRef(entry)]));
  const fresh = identifierAppendix(missing, (id) => refs.get(id) ?? id, budget, estimate);
  const carried = previous.identifiers.filter(({ text }) => !rendered.includes(text));
  const identifiers = newestWithin([...carried, ...fresh], Math.max(budget, fresh.reduce((sum, { text }) => sum + estimate(text) + 8, 0)), estimate);
  const lost = missingFrom(missing, identifiers.map(({ text }) => text).join('\n'));
  const audit: Audit = {
    checked: critical.length,
    inSummary: critical.length - missingFrom(critical, stateText(state)).length,
    leftBehind: critical.length - lost.length,
    missing: lost.slice(0, 20).map(({ text }) => text),
    repaired: false,
    ...(unknownIds.length > 0 ? { unknownIds: unknownIds.slice(0, 20) } : {}),
  };
  return { folded: { ...state, identifiers }, audit, missing };
}

/** A state as it is given to be merged. Passages of an earlier range are facts of it: a state merged without them would lose what only they say. */
export function previousText({ state, raw, lines }: FoldedState): string | null {
  const passages = lines.map(({ ref, text }) => `${text} (${ref})`);
  if (state) return JSON.stringify({ ...state, logos: [...state.logos, ...passages] });
  return [raw ?? '', ...passages].filter((part) => part !== '').join('\n') || null;
}

function withRefs(lines: readonly { entryId: string; text: string }[], entries: readonly StoredEntry[]) {
  const refs = new Map(entries.map((entry) => [entry.uuid, entryRef(entry)]));
  return lines.map(({ entryId, text }) => ({ ref: refs.get(entryId) ?? entryId, text }));
}

function newestWithin(lines: FoldedState['lines'], budget: number, estimate: (text: string) => number): FoldedState['lines'] {
  let used = 0;
  let from = lines.length;
  while (from > 0 && (used += estimate(lines[from - 1]!.text) + 8) <= budget) from--;
  return lines.slice(from);
}
