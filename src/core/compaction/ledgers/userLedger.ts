import * as z from 'zod/mini';
import { wholeCharacters } from '../../context/projection/excerpt';
import { isUserMessage, entryText, type StoredEntry } from '../../session/entry';
import { extractIdentifiers } from '../measure/identifiers';
import { entryRef } from '../summary/prompts';
import { splitSentences } from '../../recall/splitText';

export const LedgerLine = z.object({ ref: z.string(), text: z.string() });
export type LedgerLine = z.infer<typeof LedgerLine>;

/** Sentences of one message of the user that may have to outlive it. */
export interface UserSentences {
  /** Meant to hold on. */
  readonly orders: readonly string[];
  /** Give a name, a number or a path. */
  readonly values: readonly string[];
}

export interface UserLedger {
  /** What the user said in the folded ranges, verbatim; long messages as head and tail. */
  readonly ledger: readonly LedgerLine[];
  /** User messages that no longer fit, by id. */
  readonly earlier: readonly string[];
  /** Sentences of those messages that are meant to hold on, whole. */
  readonly orders: readonly LedgerLine[];
  /** Sentences of those messages that give a name, a number or a path, whole. */
  readonly values: readonly LedgerLine[];
}

/**
 * Characters of one message in the ledger, tried in turn until all fit: long pastes give way before short orders do. Measured on
 * two real coding sessions of 137k and 375k tokens, a ledger at the first step takes 2.7k–3.1k tokens.
 */
const clipSteps = [1_200, 600, 300, 160];
/** Shares of the budget for sentences that stay when the messages around them are shortened or named by id only. */
const shares = { orders: 0.3, values: 0.4 };
/** Share of the budget for the newest messages where not all fit: clipped, they say little, and each prompt pays for them. */
const newestShare = 0.5;
/** Longer sentences, and more of them, are an account of something rather than a value. */
const longestValue = 160;
const mostValues = 3;

/** 3 ms per message (a busy machine, 2026): 80 messages of 5 KB held a turn for 0.3 s where it waited for them. */
export function userSentences(text: string): UserSentences {
  return { orders: standingOrders(text), values: exactValues(text) };
}

/**
 * Every user message of the folded range, added to what earlier compactions carried. When even short clips do not fit the budget,
 * the newest are spelled out and the older ones named by id: none disappears without a trace. Standing orders and exact values are
 * kept apart from the messages they stand in, the newest of those that do not fit their share. Measured over 300 turns with 60 such
 * values, eight compactions and a summariser that forgets: 13 were left in the prompt without this. `found`: the sentences of
 * messages that have been read before, by entry.
 */
export function extendLedger(
  previous: UserLedger,
  folded: readonly StoredEntry[],
  budgetTokens: number,
  estimate: (text: string) => number,
  found: ReadonlyMap<string, UserSentences> = new Map(),
): { ledger: LedgerLine[]; earlier: string[]; orders: LedgerLine[]; values: LedgerLine[] } {
  // What stayed verbatim although a prepared summary had read it is folded a second time.
  const known = new Set([...previous.ledger.map(({ ref }) => ref), ...previous.earlier]);
  const messages = folded.filter((entry) => isUserMessage(entry) && entryText(entry.content).trim() !== '' && !known.has(entryRef(entry)));
  const added = messages.map((entry): LedgerLine => ({ ref: entryRef(entry), text: entryText(entry.content).trim() }));
  const picked = messages.map((entry, index) => ({
    ref: entryRef(entry),
    ...(found.get(entry.uuid) ?? userSentences(added[index]!.text)),
  }));
  const cost = (lines: readonly LedgerLine[]) => lines.reduce((sum, { text }) => sum + estimate(text) + 8, 0);
  const sentences = (kind: keyof UserSentences) =>
    newestWithin(
      distinct([...previous[kind], ...picked.flatMap(({ ref, ...of }) => of[kind].map((text) => ({ ref, text })))]),
      budgetTokens * shares[kind],
      cost,
    );
  const orders = sentences('orders');
  const values = sentences('values');
  const all = [...previous.ledger, ...added];
  const earlier = (dropped: readonly LedgerLine[]) => [...new Set([...previous.earlier, ...dropped.map(({ ref }) => ref)])];
  for (const length of clipSteps) {
    const ledger = all.map(({ ref, text }) => ({ ref, text: clip(text, length) }));
    if (cost(ledger) + cost(unseen(ledger, orders)) + cost(unseen(ledger, values)) <= budgetTokens)
      return { ledger, earlier: earlier([]), orders, values };
  }
  const shortest = all.map(({ ref, text }) => ({ ref, text: clip(text, clipSteps.at(-1)!) }));
  const ledger = newestWithin(shortest, Math.max(0, budgetTokens * newestShare - cost(orders) - cost(values)), cost);
  return { ledger, earlier: earlier(shortest.slice(0, shortest.length - ledger.length)), orders, values };
}

/** The sentences that cannot be read in the ledger itself. */
export function unseen(ledger: readonly LedgerLine[], sentences: readonly LedgerLine[]): LedgerLine[] {
  const shown = ledger.map(({ text }) => text).join('\n');
  return sentences.filter(({ text }) => !shown.includes(text));
}

/** Names in the middle of a sentence are everywhere; what cannot be guessed again is what counts. */
function exactValues(text: string): readonly string[] {
  return ownSentences(text, longestValue)
    .filter((sentence) =>
      extractIdentifiers(sentence).some(
        ({ kind, text: found }) => kind !== 'name' && kind !== 'quoted' && (kind !== 'number' || found.length >= 3),
      ),
    )
    .slice(-mostValues);
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

/**
 * How people say what is to hold from then on, in English and Chinese. Wide on purpose: a sentence too many costs twenty tokens, a
 * rule that is lost costs the user's trust, and searching finds a rule only when somebody thinks of looking (measured: 6 %).
 */
const cues = [
  /\b(?:always|never|must(?:n['’]t)?|shall|from now on|from here on|going forward|in (?:the )?future|every time|whenever|each time|by default|no longer|at all times|under no circumstances)\b/i,
  /\b(?:standing )?(?:rule|rules|convention|constraint|requirement|policy)\b\s*(?:#?\d+\s*)?(?::|is\b|are\b)/i,
  /\b(?:do not|don['’]t|make sure|be sure|remember (?:to|that)|keep in mind|stick to|i prefer|we prefer|i want you to|only use|avoid)\b/i,
  /总是|永远|始终|不要|别再|不得|禁止|必须|务必|一定要|以后|今后|从现在(?:起|开始)|每次|每当|一律|默认|长期|规则|约定|请记住|记得|我(?:更)?喜欢|都用|都要|只用|避免/,
];

/** Longer sentences are pasted text rather than an order. */
const longestOrder = 300;
const mostPerMessage = 5;
/** Only the ends of a long message are the user's own words; a paste stands between or behind them. */
const ownWords = 600;

/** The sentences of a user's message that sound as if they were meant to hold beyond it; verbatim, in order. */
export function standingOrders(text: string): string[] {
  return ownSentences(text, longestOrder)
    .filter((sentence) => cues.some((cue) => cue.test(sentence)))
    .slice(0, mostPerMessage);
}

/** The statements of a user's message, those of a paste left out; verbatim, in order, each once. */
function ownSentences(text: string, longest: number): string[] {
  const parts = text.length <= 2 * ownWords ? [text] : [text.slice(0, ownWords), text.slice(-ownWords)];
  const sentences = parts.flatMap((part) => splitSentences(part).map(({ start, end }) => part.slice(start, end)));
  return [...new Set(sentences)].filter((sentence) => sentence.length <= longest && !/[?？]$/.test(sentence));
}
