import * as z from 'zod/mini';
import { wholeCharacters } from '../context/excerpt';
import type { StoredEntry } from '../session/entry';
import { isUserMessage } from './cutPoint';
import { entryRef } from './prompts';
import { standingOrders } from './standingOrders';

export const LedgerLine = z.object({ ref: z.string(), text: z.string() });
export type LedgerLine = z.infer<typeof LedgerLine>;

export interface UserLedger {
  /** What the user said in the folded ranges, verbatim; long messages as head and tail. */
  readonly ledger: readonly LedgerLine[];
  /** User messages that no longer fit, by id. */
  readonly earlier: readonly string[];
  /** Sentences of those messages that are meant to hold on, whole. */
  readonly orders: readonly LedgerLine[];
}

/**
 * Characters of one message in the ledger, tried in turn until all fit: long pastes give way before short orders do. Measured on
 * two real coding sessions of 137k and 375k tokens, a ledger at the first step takes 2.7k–3.1k tokens.
 */
const clipSteps = [1_200, 600, 300, 160];
/** Of the budget, for standing orders: they stay when the messages around them are shortened or named by id only. */
const ordersShare = 0.4;

/**
 * Every user message of the folded range, added to what earlier compactions carried. When even short clips do not fit the budget,
 * the newest are spelled out and the older ones named by id: none disappears without a trace. Standing orders are kept apart from
 * the messages they stand in, the newest of those that do not fit `ordersShare`.
 */
export function extendLedger(previous: UserLedger, folded: readonly StoredEntry[], budgetTokens: number, estimate: (text: string) => number): { ledger: LedgerLine[]; earlier: string[]; orders: LedgerLine[] } {
  const added = folded.flatMap((entry): LedgerLine[] =>
    isUserMessage(entry) && entry.content.type === 'message' && entry.content.text.trim() !== '' ? [{ ref: entryRef(entry), text: entry.content.text.trim() }] : [],
  );
  const cost = (lines: readonly LedgerLine[]) => lines.reduce((sum, { text }) => sum + estimate(text) + 8, 0);
  const all = [...previous.ledger, ...added];
  const given = distinct([...previous.orders, ...added.flatMap(({ ref, text }) => standingOrders(text).map((order) => ({ ref, text: order })))]);
  const orders = newestWithin(given, budgetTokens * ordersShare, cost);
  const earlier = (dropped: readonly LedgerLine[]) => [...new Set([...previous.earlier, ...dropped.map(({ ref }) => ref)])];
  for (const length of clipSteps) {
    const ledger = all.map(({ ref, text }) => ({ ref, text: clip(text, length) }));
    if (cost(ledger) + cost(unseenOrders({ ledger, orders })) <= budgetTokens) return { ledger, earlier: earlier([]), orders };
  }
  const shortest = all.map(({ ref, text }) => ({ ref, text: clip(text, clipSteps.at(-1)!) }));
  const ledger = newestWithin(shortest, budgetTokens - cost(orders), cost);
  return { ledger, earlier: earlier(shortest.slice(0, shortest.length - ledger.length)), orders };
}

/** The standing orders that cannot be read in the ledger itself. */
export function unseenOrders({ ledger, orders }: Pick<UserLedger, 'ledger' | 'orders'>): LedgerLine[] {
  const shown = ledger.map(({ text }) => text).join('\n');
  return orders.filter(({ text }) => !shown.includes(text));
}

/** An order that is given again counts from then. */
function distinct(lines: readonly LedgerLine[]): LedgerLine[] {
  return lines.filter(({ text }, index) => lines.findLastIndex((line) => line.text === text) === index);
}

function newestWithin(lines: readonly LedgerLine[], budget: number, cost: (lines: readonly LedgerLine[]) => number): LedgerLine[] {
  let from = lines.length;
  for (let used = 0; from > 0; from--) if ((used += cost([lines[from - 1]!])) > budget) break;
  return lines.slice(from);
}

/** Two thirds head, a quarter tail. */
function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = wholeCharacters(text, 0, Math.floor(length * 0.67));
  const tail = wholeCharacters(text, text.length - Math.floor(length * 0.25), text.length);
  return `${head} [… ${text.length - head.length - tail.length} characters …] ${tail}`;
}
