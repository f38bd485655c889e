import type { StoredEntry } from '../../session/entry';
import { entryText } from '../../session/entryKinds';
import type { FoldedIdentifier } from './audit';
import { decisionsOf } from './continuity';
import { extractiveSummary, type ExtractiveItem, type ExtractiveLine } from './extractive';
import { findIdentifiers } from './identifiers';
import { userSentences, type UserSentences } from '../ledgers/userLedger';

/** Characters of an entry that are searched for identifiers at a time, up to the next end of a line that is near. */
const perPiece = 60_000;
const nearestEnd = 2_000;

/** Passages of a folded range, and what must not be lost of it: all that takes more than a look at every entry. */
export interface TextAnalysis {
  readonly lines: readonly ExtractiveLine[];
  readonly identifiers: readonly FoldedIdentifier[];
  /** They come from the user's messages. */
  readonly sentences: readonly (UserSentences & { readonly entryId: string })[];
  /** They come from the assistant's messages. */
  readonly decisions: readonly ExtractiveLine[];
}

export const nothingFound: TextAnalysis = { lines: [], identifiers: [], sentences: [], decisions: [] };

/** One or two seconds per million characters (a busy machine, 2026), most of it for the passages: programs run it in a worker (see `TextAnalyst`). */
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
