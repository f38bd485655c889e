import { entryText, type StoredEntry } from '../../session/entry';
import { findIdentifiers, type FoldedIdentifier } from './identifiers';
import { decisionsOf, inContextPercent } from './continuity';
import { extractiveSummary, type ExtractiveItem } from './extractive';
import { userSentences } from '../ledgers/userLedger';
import { estimateTokens } from '../../context/measure/estimateTokens';
import type { TextAnalysis, TextAnalyst } from '../../ports';

/** Characters of an entry that are searched for identifiers at a time, up to the next end of a line that is near. */
const perPiece = 60_000;
const nearestEnd = 2_000;

export const nothingFound: TextAnalysis = { lines: [], identifiers: [], sentences: [], decisions: [] };

/**
 * One or two seconds per million characters (a busy machine, 2026), most of it for the passages: programs run it in a worker (see
 * `TextAnalyst`).
 */
export function analyseText(items: readonly ExtractiveItem[], budgetTokens: number, estimate: (text: string) => number): TextAnalysis {
  return {
    lines: budgetTokens > 0 ? extractiveSummary(items, budgetTokens, estimate).lines : [],
    identifiers: identifiersOf(items),
    sentences: items.flatMap(({ role, entryId, text }) => (role === 'user' ? [{ entryId, ...userSentences(text.trim()) }] : [])),
    decisions: decisionsOf(items),
  };
}

/** Joins the analyses of two parts that follow each other and were read apart. */
export function joined(first: TextAnalysis, second: TextAnalysis): TextAnalysis {
  const identifiers = new Map(first.identifiers.map((one) => [one.text, one]));
  for (const one of second.identifiers) {
    const known = identifiers.get(one.text);
    identifiers.set(one.text, known ? { ...known, count: known.count + one.count, byUser: known.byUser || one.byUser } : one);
  }
  return {
    lines: [...first.lines, ...second.lines],
    identifiers: [...identifiers.values()],
    sentences: [...first.sentences, ...second.sentences],
    decisions: [...first.decisions, ...second.decisions],
  };
}

export function itemsOf(entries: readonly StoredEntry[]): ExtractiveItem[] {
  return entries
    .filter((entry) => entry.content.type === 'message' || entry.content.type === 'tool_result')
    .map((entry) => ({
      entryId: entry.uuid,
      role: entry.content.type === 'message' ? entry.content.role : ('tool' as const),
      text: entryText(entry.content),
      at: entry.createdAt,
    }));
}

function identifiersOf(items: readonly ExtractiveItem[]): FoldedIdentifier[] {
  const found = new Map<string, { kind: FoldedIdentifier['kind']; text: string; entryId: string; count: number; byUser: boolean }>();
  for (const { entryId, role, text } of items) {
    for (const { kind, text: identifier } of pieces(text).flatMap((piece) => findIdentifiers(piece))) {
      const known = found.get(identifier);
      if (known) {
        known.count++;
        known.byUser ||= role === 'user';
      } else if (role !== 'tool') found.set(identifier, { kind, text: identifier, entryId, count: 1, byUser: role === 'user' });
    }
  }
  return [...found.values()];
}

/** All of a text, parted where no identifier is. */
function pieces(text: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const wanted = from + perPiece;
    const near = text.slice(wanted, wanted + nearestEnd).search(/\s/);
    const to = wanted >= text.length ? text.length : wanted + Math.max(0, near);
    parts.push(text.slice(from, to));
    from = to;
  }
  return parts;
}

/** Where there is no worker: seconds per million characters on the thread that asks. */
export const inProcessAnalyst: TextAnalyst = {
  analyse: async (items, budgetTokens) => analyseText(items, budgetTokens, estimateTokens),
  inContext: async (elements, leftBehind) => inContextPercent(elements, leftBehind),
};

/**
 * Remembers the range that was read last without passages. A checkpoint's range is read when it is written, so that a turn which waits
 * for a compaction by it does not wait for that: measured with 260 KB of tool results, 0.4 s of 0.46 s (a busy machine, 2026).
 */
export class RememberingAnalyst implements TextAnalyst {
  private last: { readonly entries: string; readonly analysis: Promise<TextAnalysis> } | null = null;

  constructor(private readonly analyst: TextAnalyst) {}

  analyse(...[items, budgetTokens]: Parameters<TextAnalyst['analyse']>): Promise<TextAnalysis> {
    if (budgetTokens > 0) return this.analyst.analyse(items, budgetTokens);
    const entries = items.map(({ entryId }) => entryId).join();
    if (this.last?.entries !== entries) this.last = { entries, analysis: this.analyst.analyse(items, 0) };
    return this.last.analysis;
  }

  inContext(...args: Parameters<TextAnalyst['inContext']>): Promise<number> {
    return this.analyst.inContext(...args);
  }
}
