import { wholeCharacters } from '../../context/projection/excerpt';
import type { EntryOf, StoredEntry } from '../../session/entry';
import { renderCheckpoint } from '../checkpoints/checkpointText';
import { emptyFoldedState, stateText, type FoldedState } from '../ledgers/foldedState';
import { itemsOf, joined, nothingFound, type TextAnalysis } from '../measure/textAnalysis';
import type { Cut } from './cutPoint';
import { cited, ledgers, newestWithin, withIdentifiers, withRefs, type Fold, type FoldRequest } from './fold';

/** Rung 1: a checkpoint stands for everything it covers, what came after it is folded without a model. Nothing is waited for. */
export async function foldByCheckpoint(request: FoldRequest, checkpoint: EntryOf<'checkpoint'>): Promise<Fold> {
  const { cut, maxSummaryTokens } = request;
  const previous = request.previous ?? emptyFoldedState;
  const covered = cut.folded.findIndex(({ uuid }) => uuid === checkpoint.content.coversThrough);
  // No passages of what the checkpoint tells of.
  const [told, delta] = await Promise.all([
    request.analyst.analyse(itemsOf(cut.folded.slice(0, covered + 1)), 0),
    request.analyst.analyse(itemsOf(cut.folded.slice(covered + 1)), Math.floor(maxSummaryTokens / 2)),
  ]);
  const analysis = joined(told, delta);
  const { checked, unknown } = cited(request, { state: null, raw: renderCheckpoint(checkpoint.content) }, previous, analysis);
  const { folded, audit } = withIdentifiers(request, { ...ledgers(request, previous, analysis), ...checked }, previous, analysis, unknown);
  return { folded, rung: 'checkpoint', model: checkpoint.content.model ?? null, note: null, audit, analysis };
}

/** How much of what is to be folded a checkpoint describes: 0–1 of its tokens. */
export function coverage(
  { folded }: Pick<Cut, 'folded'>,
  checkpoint: EntryOf<'checkpoint'>,
  tokensOf: (entry: StoredEntry) => number,
): number {
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

/**
 * A summary that a model has written for the beginning of the request's range; the rest of it is folded without a model. More was
 * said while it was written than may stay, and asking again would only be late again: the next summary merges these passages.
 */
export async function foldFurther(request: FoldRequest, fold: Fold, toldThrough: StoredEntry): Promise<Fold> {
  const { cut, maxSummaryTokens } = request;
  const rest = cut.folded.slice(cut.folded.findIndex(({ uuid }) => uuid === toldThrough.uuid) + 1);
  const half = Math.floor(maxSummaryTokens / 2);
  const further = await foldByExtraction(
    { ...request, cut: { ...cut, folded: rest }, previous: fold.folded, maxSummaryTokens: half },
    fold.note,
  );
  const read = further.analysis as TextAnalysis;
  const analysis = fold.analysis && joined({ ...nothingFound, ...fold.analysis }, read);
  return { ...further, rung: fold.rung, model: fold.model, audit: fold.audit, analysis };
}

/** The newest of each list of a state, word for word, or the end of a text. */
function shortened({ state, raw }: FoldedState, budget: number, estimate: (text: string) => number): Pick<FoldedState, 'state' | 'raw'> {
  const tokens = estimate(stateText({ ...emptyFoldedState, state, raw }));
  if (tokens <= budget) return { state, raw };
  const newest = (lines: readonly string[], share: number) =>
    newestWithin(
      lines.map((text) => ({ ref: '', text })),
      budget * share,
      estimate,
    ).map(({ text }) => text);
  return {
    state: state && {
      ...state,
      logos: newest(state.logos, 0.7),
      pathos: newest(state.pathos, 0.15),
      abstract: newest(state.abstract, 0.15),
    },
    raw: raw && `[…] ${wholeCharacters(raw, raw.length - Math.floor((raw.length * budget) / tokens), raw.length)}`,
  };
}
