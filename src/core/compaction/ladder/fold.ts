import type { Frames } from '../../frames/frames';
import type { Logger, TextAnalysis, TextAnalyst } from '../../ports';
import type { ContentOf, StoredEntry, Audit, EntryOf } from '../../session/entry';
import { emptyFoldedState, renderFoldedState, stateText, type FoldedState } from '../ledgers/foldedState';
import { extendLedger } from '../ledgers/userLedger';
import { extendWorkLedger } from '../ledgers/workLedger';
import { criticalIdentifiers, identifierAppendix, missingFrom } from '../measure/identifiers';
import { itemsOf, joined, nothingFound } from '../measure/textAnalysis';
import { checkCitations, knownRefs, type CheckedText, type Written } from '../summary/citations';
import { entryRef } from '../summary/prompts';
import type { SummaryFormat } from '../summary/summaryFormat';
import type { Cut } from './cutPoint';
import { wholeCharacters } from '../../context/projection/excerpt';
import { renderCheckpoint } from '../checkpoints/checkpointText';

export interface FoldRequest {
  readonly frames: Frames;
  readonly cut: Cut;
  /** Results of the range that stand in the prompt as stubs, because the state before tells of them. */
  readonly stubs: ReadonlySet<string>;
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

export interface Fold {
  readonly folded: FoldedState;
  readonly rung: Extract<ContentOf<'compaction'>['rung'], 'checkpoint' | 'model' | 'extractive' | 'truncate'>;
  readonly model: string | null;
  /** Why a better rung was not reached; null when none is better. */
  readonly note: string | null;
  readonly audit: Audit | null;
  /** What was found in the folded range, for the continuity score; null when nobody has looked. */
  readonly analysis: Pick<TextAnalysis, 'identifiers' | 'decisions'> | null;
}

/** Shares of the summary's budget for what stands beside a model's text. */
export const shares = { ledger: 0.75, work: 0.25, passages: 0.15, identifiers: 0.1 };
/** Everything beside a summary that no model has a part in. */
export function ledgers({ cut, ledgerTokens, estimate }: FoldRequest, previous: FoldedState, analysis: TextAnalysis): FoldedState {
  const found = new Map(analysis.sentences.map((sentences) => [sentences.entryId, sentences]));
  return {
    ...emptyFoldedState,
    ...extendLedger(previous, cut.folded, ledgerTokens * shares.ledger, estimate, found),
    work: extendWorkLedger(previous.work, cut.folded, ledgerTokens * shares.work, estimate),
    lines: withRefs(analysis.lines, cut.folded),
  };
}

/** What a model wrote, with the ids that it cites checked. Entries that stay may be cited too. */
export function cited({ cut }: FoldRequest, written: Written, previous: FoldedState, analysis: TextAnalysis): CheckedText<Written> {
  const refs = new Map(cut.folded.map((entry) => [entry.uuid, entryRef(entry)]));
  const known = knownRefs([...cut.folded, ...cut.kept], previous);
  return checkCitations({ state: written.state, raw: written.raw }, known, analysis.identifiers, (id) => refs.get(id));
}

/** Adds the identifiers that nothing else mentions, and says what is still missing then. */
export function withIdentifiers(
  { cut, maxSummaryTokens, estimate }: FoldRequest,
  state: FoldedState,
  previous: FoldedState,
  analysis: TextAnalysis,
  unknownIds: readonly string[] = [],
) {
  const budget = Math.max(60, maxSummaryTokens * shares.identifiers);
  const critical = criticalIdentifiers(analysis.identifiers, Math.max(8, Math.min(80, Math.floor(maxSummaryTokens / 25))));
  const rendered = renderFoldedState({ ...state, identifiers: [] }, null, 0);
  const missing = missingFrom(critical, rendered);
  const refs = new Map(cut.folded.map((entry) => [entry.uuid, entryRef(entry)]));
  const fresh = identifierAppendix(missing, (id) => refs.get(id) ?? id, budget, estimate);
  const carried = previous.identifiers.filter(({ text }) => !rendered.includes(text));
  const needed = fresh.reduce((sum, { text }) => sum + estimate(text) + 8, 0);
  const identifiers = newestWithin([...carried, ...fresh], Math.max(budget, needed), estimate);
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

/**
 * A state as it is given to be merged. Passages of an earlier range are facts of it: a state merged without them would lose what only
 * they say. So are exact values of the user that no text of a model has yet: they stand beside the state only until newer ones need
 * their room. Measured over 300 hurried turns whose summaries come late, with 60 such values: 25 were lost in the last prompt without
 * this, none with it.
 */
export function previousText(folded: FoldedState): string | null {
  const { state, raw, lines, values } = folded;
  const told = [stateText(folded), ...lines.map(({ text }) => text)].join('\n');
  const untold = values.filter(({ text }) => !told.includes(text));
  const passages = [...untold, ...lines].map(({ ref, text }) => `${text} (${ref})`);
  if (state) return JSON.stringify({ ...state, logos: [...state.logos, ...passages] });
  return [raw ?? '', ...passages].filter((part) => part !== '').join('\n') || null;
}

function withRefs(lines: readonly { entryId: string; text: string }[], entries: readonly StoredEntry[]) {
  const refs = new Map(entries.map((entry) => [entry.uuid, entryRef(entry)]));
  return lines.map(({ entryId, text }) => ({ ref: refs.get(entryId) ?? entryId, text }));
}

export function newestWithin(lines: FoldedState['lines'], budget: number, estimate: (text: string) => number): FoldedState['lines'] {
  let used = 0;
  let from = lines.length;
  while (from > 0 && (used += estimate(lines[from - 1]!.text) + 8) <= budget) from--;
  return lines.slice(from);
}

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
