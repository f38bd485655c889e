import type { KeyFact, SessionStore, TextAnalysis } from '../../ports';
import { tokenizeTerms } from '../../recall/tokenizeTerms';
import { splitSentences } from '../../recall/splitText';
import { isUserMessage, entryText, type StoredEntry, type Continuity } from '../../session/entry';
import type { ExtractiveItem, ExtractiveLine } from './extractive';

/** Whether the folded range is found again. */
export type Reach = Pick<Continuity, 'reachablePercent' | 'searched'>;

export const notSearched: Reach = { reachablePercent: null, searched: 0 };

const weights: Readonly<Record<KeyFact['kind'], number>> = { request: 3, decision: 3, identifier: 2, detail: 1 };
const mostDecisions = 60;
const mostIdentifiers = 400;
const decided =
  /\b(?:decid(?:e|ed|ing)|we(?:'ll| will| should)? (?:use|go with|keep|switch)|let'?s (?:use|go with|keep)|instead of|agreed|must(?: not)?|never|always)\b|决定|改用|必须|不要|采用/iu;

/** User requests, decisions, identifiers, numbers and names of a folded range. */
export function elementsOf(
  folded: readonly StoredEntry[],
  { identifiers, decisions }: Pick<TextAnalysis, 'identifiers' | 'decisions'>,
): KeyFact[] {
  const requests = folded
    .filter(isUserMessage)
    .map((entry) => ({ kind: 'request' as const, entryId: entry.uuid, text: entryText(entry.content).trim().slice(0, 300) }));
  const named = identifiers
    .slice(0, mostIdentifiers)
    .map(
      ({ kind, text, entryId }): KeyFact => ({
        kind: kind === 'path' || kind === 'url' || kind === 'code' ? 'identifier' : 'detail',
        text,
        entryId,
      }),
    );
  return [
    ...requests.filter(({ text }) => text !== ''),
    ...decisions.map((decision) => ({ kind: 'decision' as const, ...decision })),
    ...named,
  ];
}

/** What the assistant settled, in its own sentences; the newest. */
export function decisionsOf(items: readonly ExtractiveItem[]): readonly ExtractiveLine[] {
  const decisions: ExtractiveLine[] = [];
  for (const { role, entryId, text: whole } of items) {
    const text = whole.slice(0, 20_000);
    if (role !== 'assistant' || !decided.test(text)) continue;
    for (const { start, end } of splitSentences(text)) {
      const sentence = text.slice(start, end);
      if (decided.test(sentence)) decisions.push({ entryId, text: sentence });
    }
  }
  return decisions.slice(-mostDecisions);
}

/**
 * Sentences count as present when most of their terms are; identifiers when they stand there literally. 75 to 200 ms for what 490 KB
 * of conversation leave (a busy machine, 2026): programs run it in a worker (see `TextAnalyst`).
 */
export function inContextPercent(elements: readonly KeyFact[], leftBehind: string): number {
  const terms = new Set(tokenizeTerms(leftBehind));
  const has = ({ kind, text }: KeyFact) => {
    if (kind === 'identifier' || kind === 'detail') return leftBehind.includes(text);
    const wanted = tokenizeTerms(text);
    return wanted.length === 0 || wanted.filter((term) => terms.has(term)).length >= 0.7 * wanted.length;
  };
  return share(elements, has);
}

/** Asks the search for a spread sample of the elements: found means that an entry which has it is among the best ten. */
export async function reachablePercent(
  elements: readonly KeyFact[],
  session: string,
  store: Pick<SessionStore, 'search'>,
  most: number,
): Promise<Reach> {
  const step = Math.max(1, elements.length / Math.max(1, most));
  const sample: KeyFact[] = [];
  for (let at = 0; at < elements.length && sample.length < most; at += step) sample.push(elements[Math.floor(at)]!);
  const found = new Set<KeyFact>();
  for (const element of sample) {
    const { hits } = await store.search({ text: element.text, session, limit: 10 });
    if (hits.some((hit) => hit.entry === element.entryId || hit.text.includes(element.text))) found.add(element);
  }
  return { reachablePercent: sample.length === 0 ? null : share(sample, (element) => found.has(element)), searched: sample.length };
}

function share(elements: readonly KeyFact[], has: (element: KeyFact) => boolean): number {
  let all = 0;
  let present = 0;
  for (const element of elements) {
    all += weights[element.kind];
    if (has(element)) present += weights[element.kind];
  }
  return all === 0 ? 100 : Math.round((present / all) * 100);
}
