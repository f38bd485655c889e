import type { IdentifierKind } from './identifiers';

/** An identifier of the folded range, with how often and by whom it was said. */
export interface FoldedIdentifier {
  readonly kind: IdentifierKind;
  readonly text: string;
  /** Names the first entry that has it. */
  readonly entryId: string;
  readonly count: number;
  readonly byUser: boolean;
}

/** What must survive literally: at most so many, the most often said first, those of the user counting fourfold. */
export function criticalIdentifiers(identifiers: readonly FoldedIdentifier[], most = 80): FoldedIdentifier[] {
  const weight = ({ count, byUser }: FoldedIdentifier) => Math.min(count, 5) * (byUser ? 4 : 1);
  return identifiers
    .filter(
      ({ kind, count, byUser }) => kind === 'path' || kind === 'url' || kind === 'code' || (kind === 'number' && (byUser || count > 1)),
    )
    .sort((a, b) => weight(b) - weight(a))
    .slice(0, most);
}

/** Which of them a text does not have, case and all. */
export function missingFrom<T extends { readonly text: string }>(identifiers: readonly T[], text: string): T[] {
  return identifiers.filter((identifier) => !text.includes(identifier.text));
}

export interface IdentifierLine {
  readonly ref: string;
  readonly text: string;
}

/** The missing ones with the ids of their entries, as many as fit: what makes a summary complete without asking a model again. */
export function identifierAppendix(
  missing: readonly FoldedIdentifier[],
  refOf: (entryId: string) => string,
  budgetTokens: number,
  estimate: (text: string) => number,
): IdentifierLine[] {
  const byEntry = new Map<string, string[]>();
  let used = 0;
  for (const { text, entryId } of missing) {
    if (text.length > 200) continue;
    const cost = estimate(text) + (byEntry.has(entryId) ? 1 : 6);
    if (used + cost > budgetTokens) continue;
    used += cost;
    byEntry.set(entryId, [...(byEntry.get(entryId) ?? []), text]);
  }
  return [...byEntry].map(([entryId, texts]) => ({ ref: refOf(entryId), text: texts.join(', ') }));
}
