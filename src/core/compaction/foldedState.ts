import * as z from 'zod/mini';
import { wholeCharacters } from '../context/excerpt';
import type { StoredEntry } from '../session/entry';
import { isUserMessage } from './cutPoint';
import { entryRef } from './prompts';
import { renderSessionState, SessionState } from './sessionState';
import { emptyWorkLedger, renderWorkLedger, WorkLedger } from './workLedger';

const line = z.object({ ref: z.string(), text: z.string() });
export type LedgerLine = z.infer<typeof line>;

/** What a folded range leaves behind, kept with the compaction so that the next one can merge it. */
export const FoldedState = z.object({
  /** Made by a model; null on the rungs without one. */
  state: z.nullable(SessionState),
  /** A model's answer that was no JSON; kept as it is. */
  raw: z.nullable(z.string()),
  /** Verbatim passages of the folded range: all there is on the extractive rung, the identifiers' lines beside a model's state. */
  lines: z.array(line),
  /** What the user said in the folded ranges, verbatim. */
  ledger: z.array(line),
  /** User messages that no longer fit the ledger, by id. */
  earlier: z.array(z.string()),
  work: z._default(WorkLedger, emptyWorkLedger),
  /** Identifiers that nothing else here mentions, by entry. */
  identifiers: z._default(z.array(line), []),
});
export type FoldedState = z.infer<typeof FoldedState>;

export const emptyFoldedState: FoldedState = { state: null, raw: null, lines: [], ledger: [], earlier: [], work: emptyWorkLedger, identifiers: [] };

/**
 * Characters of one message in the ledger, tried in turn until all fit: long pastes give way before short orders do. Measured on
 * two real coding sessions of 137k and 375k tokens, a ledger at the first step takes 2.7k–3.1k tokens.
 */
const clipSteps = [1_200, 600, 300, 160];

/**
 * Every user message of the folded range, added to what earlier compactions carried. When even short clips do not fit the budget,
 * the newest are spelled out and the older ones named by id: none disappears without a trace.
 */
export function extendLedger(previous: FoldedState, folded: readonly StoredEntry[], budgetTokens: number, estimate: (text: string) => number): Pick<FoldedState, 'ledger' | 'earlier'> {
  const added = folded.flatMap((entry): LedgerLine[] =>
    isUserMessage(entry) && entry.content.type === 'message' && entry.content.text.trim() !== '' ? [{ ref: entryRef(entry), text: entry.content.text.trim() }] : [],
  );
  const all = [...previous.ledger, ...added];
  const cost = ({ text }: LedgerLine) => estimate(text) + 8;
  let clipped = all;
  for (const length of clipSteps) {
    clipped = all.map(({ ref, text }) => ({ ref, text: clip(text, length) }));
    if (clipped.reduce((sum, line) => sum + cost(line), 0) <= budgetTokens) return { ledger: clipped, earlier: previous.earlier };
  }
  let used = 0;
  let from = clipped.length;
  while (from > 0 && (used += cost(clipped[from - 1]!)) <= budgetTokens) from--;
  return { ledger: clipped.slice(from), earlier: [...previous.earlier, ...clipped.slice(0, from).map(({ ref }) => ref)] };
}

/** Two thirds head, a quarter tail. */
function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = wholeCharacters(text, 0, Math.floor(length * 0.67));
  const tail = wholeCharacters(text, text.length - Math.floor(length * 0.25), text.length);
  return `${head} [… ${text.length - head.length - tail.length} characters …] ${tail}`;
}

/** The text that stands in the prompt: state, user ledger, work ledger, pins, passages; then the request being worked on, if its turn was cut. */
export function renderFoldedState(folded: FoldedState, currentRequest: StoredEntry | null, oversizedChars: number, pins = ''): string {
  const list = (title: string, lines: readonly LedgerLine[]) => (lines.length === 0 ? [] : [`## ${title}`, ...lines.map(({ ref, text }) => `- (${ref}) ${text}`)].join('\n'));
  return [
    'Earlier messages of this conversation are folded into this state. They still exist: recall {"query": …} searches them, recall {"entryIds": ["#12"]} reads the entries whose ids are cited here.',
    stateText(folded),
    list('What the user said (verbatim)', folded.ledger),
    folded.earlier.length === 0 ? '' : `The user's earlier messages, through recall: ${abbreviate(folded.earlier)}`,
    renderWorkLedger(folded.work),
    pins,
    list('Also mentioned', folded.identifiers),
    list(folded.state || folded.raw ? 'Exact passages' : 'Passages (verbatim)', folded.lines),
    requestText(currentRequest, oversizedChars),
  ]
    .flat()
    .filter((part) => part !== '')
    .join('\n\n');
}

/** What a model or the user wrote; empty on the rungs without one. */
export function stateText({ state, raw }: FoldedState): string {
  return [state ? renderSessionState(state) : '', raw ?? ''].filter((part) => part !== '').join('\n\n');
}

function abbreviate(refs: readonly string[]): string {
  return refs.length <= 40 ? refs.join(', ') : `${refs.slice(0, 20).join(', ')} … ${refs.slice(-20).join(', ')} (${refs.length})`;
}

function requestText(entry: StoredEntry | null, maxChars: number): string {
  if (entry?.content.type !== 'message') return '';
  const { text } = entry.content;
  const head = Math.floor(maxChars * 0.7);
  const shown =
    text.length <= maxChars
      ? text
      : `${wholeCharacters(text, 0, head)}\n[… the rest: recall ${entryRef(entry)} …]\n${wholeCharacters(text, text.length - (maxChars - head), text.length)}`;
  return `## The request you are working on (${entryRef(entry)}, verbatim)\n${shown}`;
}
