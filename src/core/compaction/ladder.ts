import type { Logger, Summarizer, TokenUsage } from '../ports';
import { CancelledError, errorText } from '../errors';
import { entryText, type ContentOf, type StoredEntry } from '../session/entry';
import type { Cut } from './cutPoint';
import { extractiveSummary } from './extractive';
import { emptyFoldedState, extendLedger, type FoldedState } from './foldedState';
import { entryRef, renderEntry, summaryPrompt, summarySystem } from './prompts';
import { parseSessionState } from './sessionState';

export interface FoldRequest {
  readonly cut: Cut;
  readonly previous: FoldedState | null;
  readonly maxSummaryTokens: number;
  readonly instructions: string | null;
  readonly summarizer: Summarizer | null;
  readonly estimate: (text: string) => number;
  readonly log: Logger;
  /** Aborted: leave the model rung at once and use the next one. */
  readonly signal: AbortSignal;
}

export interface Fold {
  readonly folded: FoldedState;
  readonly rung: Extract<ContentOf<'compaction'>['rung'], 'model' | 'extractive' | 'truncate'>;
  readonly model: string | null;
  /** Why the model rung was not reached; null when it was. */
  readonly note: string | null;
  readonly usage: readonly TokenUsage[];
}

/** Share of the summary's budget for the user's own words, and for exact passages beside a model's state. */
const ledgerShare = 0.75;
const passageShare = 0.15;

/** Rung 3: the summariser. Rejects with whatever the summariser rejected with, or with an Error that says what was wrong. */
export async function foldByModel(request: FoldRequest, summarizer: Summarizer): Promise<Fold> {
  const previous = request.previous ?? emptyFoldedState;
  const usage: TokenUsage[] = [];
  let answer = previous.state ? JSON.stringify(previous.state) : (previous.raw ?? (previous.lines.map(({ ref, text }) => `(${ref}) ${text}`).join('\n') || null));
  for (const part of parts(request, summarizer)) {
    const prompt = summaryPrompt({ previous: answer, transcript: part, instructions: request.instructions, maxTokens: request.maxSummaryTokens });
    const result = await summarizer.summarize({ system: summarySystem, prompt, maxTokens: request.maxSummaryTokens + 1_000 }, request.signal);
    usage.push(result.usage);
    if (result.text.trim() === '') throw new Error('the summary came back empty');
    answer = result.text.trim();
  }
  const state = parseSessionState(answer ?? '') ?? null;
  const passages = extractiveSummary(items(request.cut.folded), Math.floor(request.maxSummaryTokens * passageShare), request.estimate);
  const folded: FoldedState = {
    state,
    raw: state ? null : answer,
    lines: withRefs(passages.lines, request.cut.folded),
    ...extendLedger(previous, request.cut.folded, request.maxSummaryTokens * ledgerShare, request.estimate),
  };
  return { folded, rung: 'model', model: summarizer.model, note: null, usage };
}

/** Rung 4: verbatim passages, no model. Never fails. */
export function foldByExtraction(request: FoldRequest, note: string | null): Fold {
  const previous = request.previous ?? emptyFoldedState;
  const passages = extractiveSummary(items(request.cut.folded), request.maxSummaryTokens, request.estimate);
  const fresh = withRefs(passages.lines, request.cut.folded);
  const folded: FoldedState = {
    state: previous.state,
    raw: previous.raw,
    lines: newestWithin([...previous.lines, ...fresh], request.maxSummaryTokens, request.estimate),
    ...extendLedger(previous, request.cut.folded, request.maxSummaryTokens * ledgerShare, request.estimate),
  };
  return { folded, rung: 'extractive', model: null, note, usage: [] };
}

/** Rung 5: ids of the user's messages and nothing else. Always fits. */
export function foldByTruncation(request: FoldRequest, note: string | null): Fold {
  const previous = request.previous ?? emptyFoldedState;
  const folded: FoldedState = { ...emptyFoldedState, ...extendLedger(previous, request.cut.folded, request.maxSummaryTokens / 4, request.estimate) };
  return { folded, rung: 'truncate', model: null, note, usage: [] };
}

/** The best rung that works. Never rejects: whatever the summariser does, its aborted signal included, ends in the extractive rung. */
export async function fold(request: FoldRequest): Promise<Fold> {
  if (!request.summarizer) return foldByExtraction(request, null);
  try {
    return await foldByModel(request, request.summarizer);
  } catch (error) {
    const note = CancelledError.is(error) || request.signal.aborted ? 'The summary by the model was cancelled.' : `The model could not summarise: ${errorText(error)}`;
    request.log.warn('summary_failed', { model: request.summarizer.model, detail: note });
    return foldByExtraction(request, note);
  }
}

/** Splits the transcript at entry boundaries so that every part, the state so far and the answer fit the summariser. */
function parts({ cut, maxSummaryTokens, estimate }: FoldRequest, summarizer: Summarizer): string[] {
  // A tenth of the window stays free: the estimate is ours, the limit is theirs.
  const room = Math.max(1_000, Math.floor(summarizer.contextTokens * 0.9) - 2 * maxSummaryTokens - 2_000) / 1.3;
  const maxChars = Math.floor(room * 2);
  const out: string[] = [];
  let current: string[] = [];
  let used = 0;
  for (const entry of cut.folded) {
    const text = renderEntry(entry, Math.min(maxChars, 40_000));
    const tokens = estimate(text);
    if (current.length > 0 && used + tokens > room) {
      out.push(current.join('\n\n'));
      current = [];
      used = 0;
    }
    current.push(text);
    used += tokens;
  }
  if (current.length > 0) out.push(current.join('\n\n'));
  return out;
}

function items(entries: readonly StoredEntry[]) {
  return entries
    .filter((entry) => entry.content.type === 'message' || entry.content.type === 'tool_result')
    .map((entry) => ({
      entryId: entry.uuid,
      role: entry.content.type === 'message' ? entry.content.role : ('tool' as const),
      text: entryText(entry.content),
      at: entry.createdAt,
    }));
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
