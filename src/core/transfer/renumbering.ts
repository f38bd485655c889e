import { requestIn } from '../session/carriedRequest';
import type { EntryContent } from '../session/entry';
import { attachmentNote } from '../session/userMessage';
import { indented } from '../frames/frames';
import { english } from '../l10n';

/**
 * Summaries cite entries by their number in the store (`#12`). Where an import has to give out other numbers, the citations follow
 * them, so that they still lead to what they are about. What a summary holds word for word, beside the entry it comes from, stays as it
 * is: `#12` in it is an issue or a commit's title.
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
        summaryText: this.aroundLines(content.summaryText, linesIn(content.summary), notesIn(content.summary)),
        ...(content.summary === undefined ? {} : { summary: this.inValue(content.summary) }),
      };
    if (content.type === 'branch_summary') return { ...content, text: this.aroundQuotes(content.text) };
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

  /** In a text without the summary that `renderFoldedState` has made it from: what is said word for word begins with its entry. */
  private aroundQuotes(text: string): string {
    const parts = text.split(/^((?:- |## The .*)\(#\d+[,)].*(?:\n {2}.*)*)$/m);
    return parts.map((part, at) => (at % 2 === 0 ? this.inText(part) : part.replace(/\(#\d+/, (ref) => this.inText(ref)))).join('');
  }

  private inValue(value: unknown): unknown {
    if (typeof value === 'string') return this.inText(value);
    if (Array.isArray(value)) return value.map((one) => this.inValue(one));
    if (typeof value !== 'object' || value === null) return value;
    const isVerbatim = (name: string) => isLine(value) && verbatim.includes(name);
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, isVerbatim(name) ? one : this.inValue(one)]));
  }

  /** The lines stand in the text as `renderFoldedState` and `renderWorkLedger` write them. */
  private aroundLines(text: string, lines: readonly Line[], notes: readonly string[]): string {
    const asNow = new Map([
      ...notes.map((note): [string, string] => [note, note]),
      ...lines.flatMap((line): [string, string][] => {
        const now = renderings({ ref: this.inText(line.ref), text: line.text });
        return renderings(line).map((before, at) => [before, now[at]!]);
      }),
    ]);
    if (asNow.size === 0) return this.inText(text);
    // The longest first: one may begin like another.
    const longest = [...asNow.keys()].sort((a, b) => b.length - a.length).map((one) => one.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    const parts = text.split(new RegExp(`(${longest.join('|')})`));
    return parts.map((part) => asNow.get(part) ?? this.inText(part)).join('');
  }
}

/** What somebody said, word for word, and the entry it comes from. */
interface Line {
  readonly ref: string;
  readonly text: string;
}

/** A line keeps these as they are: what was attached to a request has names of its own. */
const verbatim = ['text', 'attachments', 'leftOut'];

function isLine(value: object): value is Line {
  return 'ref' in value && typeof value.ref === 'string' && 'text' in value && typeof value.text === 'string';
}

/** Those in whose words a number could be taken for a citation. */
function linesIn(value: unknown): Line[] {
  if (typeof value !== 'object' || value === null) return [];
  if (!Array.isArray(value) && isLine(value)) return /#\d/.test(value.text) ? [value] : [];
  return Object.values(value).flatMap(linesIn);
}

/** What names the attachments of the request, in which a number is part of a name. */
function notesIn(summary: unknown): string[] {
  const { attachments = [], leftOut = [] } = requestIn(summary) ?? {};
  return [...attachments, ...leftOut].map((one) => attachmentNote([one]));
}

function renderings({ ref, text }: Line): string[] {
  const shown = indented(text);
  return [`(${ref}) ${shown}`, `(${ref}, verbatim)\n  ${shown}`, `${shown} (${ref})`];
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
