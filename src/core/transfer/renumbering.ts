import type { EntryContent } from '../session/entry';
import { english } from '../l10n';

/**
 * Summaries cite entries by their number in the store (`#12`). Where an import has to give out other numbers, the citations follow
 * them, so that they still lead to what they are about.
 */
export class Renumbering {
  private readonly numbers = new Map<number, number>();
  private changed = false;

  note(before: number, now: number): void {
    this.numbers.set(before, now);
    this.changed ||= before !== now;
  }

  apply(content: EntryContent): EntryContent {
    if (!this.changed) return content;
    if (content.type === 'compaction')
      return {
        ...content,
        summaryText: this.inText(content.summaryText),
        ...(content.summary === undefined ? {} : { summary: this.inValue(content.summary) }),
      };
    if (content.type === 'prepared_summary') return { ...content, folded: this.inValue(content.folded) };
    if (content.type === 'checkpoint') {
      const all = (lines: readonly string[]) => lines.map((line) => this.inText(line));
      return {
        ...content,
        summary: this.inText(content.summary),
        topics: all(content.topics),
        keyDecisions: all(content.keyDecisions),
        openQuestions: all(content.openQuestions),
      };
    }
    return content;
  }

  private inText(text: string): string {
    return text.replace(/#(\d+)\b/g, (cited, number: string) => {
      const now = this.numbers.get(Number(number));
      return now === undefined ? cited : `#${now}`;
    });
  }

  private inValue(value: unknown): unknown {
    if (typeof value === 'string') return this.inText(value);
    if (Array.isArray(value)) return value.map((one) => this.inValue(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.inValue(one)]));
  }
}

interface Node {
  readonly uuid: string;
  readonly parent: string | null;
}

/**
 * Parents before what follows them, otherwise in the order given. A parent that is nowhere, and one entry of every circle, is
 * replaced by the entry before it in the list, so that the conversation stays one; an entry whose uuid came before is left out.
 */
export async function* inParentOrder<T extends Node>(
  entries: readonly T[],
  isElsewhere: (parent: string) => Promise<boolean>,
  repaired: (kind: string) => void,
): AsyncGenerator<T, void, void> {
  const byUuid = new Map<string, T>();
  for (const entry of entries) {
    if (byUuid.has(entry.uuid)) repaired(english('duplicate id'));
    else byUuid.set(entry.uuid, entry);
  }
  const placed = new Set<string>();
  let last: string | null = null;
  for (const start of byUuid.values()) {
    const chain: T[] = [];
    const inChain = new Set<string>();
    let entry: T | undefined = start;
    // Up to something that has been placed, or that is a root.
    while (entry && !placed.has(entry.uuid) && !inChain.has(entry.uuid)) {
      chain.push(entry);
      inChain.add(entry.uuid);
      entry = entry.parent === null ? undefined : byUuid.get(entry.parent);
    }
    for (const one of chain.reverse()) {
      const { parent } = one;
      const isThere = parent === null || placed.has(parent) || (!byUuid.has(parent) && (await isElsewhere(parent)));
      if (!isThere) repaired(parent !== null && byUuid.has(parent) ? english('circle of parents') : english('missing parent'));
      yield isThere ? one : { ...one, parent: last };
      placed.add(one.uuid);
      last = one.uuid;
    }
  }
}
