import * as z from 'zod/mini';
import { wholeCharacters } from '../context/excerpt';
import type { StoredEntry } from '../session/entry';
import { isUserMessage } from './cutPoint';
import { entryRef } from './prompts';
import { renderSessionState, SessionState } from './sessionState';

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
});
export type FoldedState = z.infer<typeof FoldedState>;

export const emptyFoldedState: FoldedState = { state: null, raw: null, lines: [], ledger: [], earlier: [] };

/** Long pastes keep their head and tail in the ledger; the id leads to the rest. */
const maxLedgerChars = 1_200;

/**
 * Every user message of the folded range, added to what earlier compactions carried. When the budget is short the newest are
 * spelled out and the older ones named by id: none disappears without a trace.
 */
export function extendLedger(previous: FoldedState, folded: readonly StoredEntry[], budgetTokens: number, estimate: (text: string) => number): Pick<FoldedState, 'ledger' | 'earlier'> {
  const added = folded.flatMap((entry): LedgerLine[] =>
    isUserMessage(entry) && entry.content.type === 'message' && entry.content.text.trim() !== '' ? [{ ref: entryRef(entry), text: clip(entry.content.text.trim()) }] : [],
  );
  const all = [...previous.ledger, ...added];
  let used = 0;
  let from = all.length;
  while (from > 0) {
    used += estimate(all[from - 1]!.text) + 8;
    if (used > budgetTokens) break;
    from--;
  }
  return { ledger: all.slice(from), earlier: [...previous.earlier, ...all.slice(0, from).map(({ ref }) => ref)] };
}

function clip(text: string): string {
  if (text.length <= maxLedgerChars) return text;
  const head = wholeCharacters(text, 0, 800);
  const tail = wholeCharacters(text, text.length - 300, text.length);
  return `${head} [… ${text.length - head.length - tail.length} characters …] ${tail}`;
}

/** The text that stands in the prompt: state, user ledger, passages; then the request being worked on, if its turn was cut. */
export function renderFoldedState(folded: FoldedState, currentRequest: StoredEntry | null, oversizedChars: number): string {
  const list = (title: string, lines: readonly LedgerLine[]) => (lines.length === 0 ? [] : [`## ${title}`, ...lines.map(({ ref, text }) => `- (${ref}) ${text}`)].join('\n'));
  return [
    'Earlier messages of this conversation are folded into this state. They still exist: recall {"query": …} searches them, recall {"entryIds": ["#12"]} reads the entries whose ids are cited here.',
    folded.state ? renderSessionState(folded.state) : '',
    folded.raw ?? '',
    list('What the user said (verbatim)', folded.ledger),
    folded.earlier.length === 0 ? '' : `The user's earlier messages, through recall: ${abbreviate(folded.earlier)}`,
    list(folded.state || folded.raw ? 'Exact passages' : 'Passages (verbatim)', folded.lines),
    requestText(currentRequest, oversizedChars),
  ]
    .flat()
    .filter((part) => part !== '')
    .join('\n\n');
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
