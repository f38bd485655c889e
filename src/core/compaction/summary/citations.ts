import { entryText, type StoredEntry } from '../../session/entry';
import { findIdentifiers, type FoldedIdentifier } from '../measure/identifiers';
import type { FoldedState } from '../ledgers/foldedState';
import { entryRef } from './prompts';

export interface CheckedText<T> {
  readonly checked: T;
  /** Ids that were cited and are none, each once. */
  readonly unknown: readonly string[];
}

/** What a model wrote about a range. */
export type Written = Pick<FoldedState, 'state' | 'raw'>;

const reference = /#\d+/g;
/** Nothing but ids: `(#3)`, `(#3, #5)`, `[#3–#9]`, `（见 #3）`. */
const citation = /([([（【])((?:see |cf\. |见 ?|参见 ?)?#\d+(?:(?:\s|[,;、，；–-]|and|to|和|至)*#\d+)*)([)\]）】])/g;
const nowhere = 'no such entry';

/**
 * The ids that a model cites, against those that there are: one that nothing bears is replaced by the entry which has what the line
 * names, and where there is none the line says so: an invented id would make a claim look proven, and recall would find nothing.
 * `#12` in the conversation's own words (an issue, a commit's title) is a quotation and stays.
 */
export function checkCitations(
  written: Written,
  known: ReadonlySet<string>,
  identifiers: readonly FoldedIdentifier[],
  refOf: (entryId: string) => string | undefined,
): CheckedText<Written> {
  const unknown = new Set<string>();
  // Few summaries cite what is not there, and a range may have tens of thousands of identifiers.
  let byText: ReadonlyMap<string, string> | null = null;
  const places = () => (byText ??= new Map(identifiers.map(({ text, entryId }) => [text, entryId])));
  const check = (line: string): string => {
    if (![...line.matchAll(reference)].some(([ref]) => !known.has(ref))) return line;
    for (const [ref] of line.matchAll(reference)) if (!known.has(ref)) unknown.add(ref);
    const source = sourceOf(line, places(), refOf) ?? nowhere;
    const cited = line.replace(citation, (whole, open: string, inside: string, close: string) => {
      const refs = [...inside.matchAll(reference)].map(([ref]) => ref);
      const held = refs.filter((ref) => known.has(ref));
      return held.length === refs.length ? whole : `${open}${held.length > 0 ? held.join(', ') : source}${close}`;
    });
    return cited.replace(reference, (ref) => (known.has(ref) ? ref : source === nowhere ? `[${nowhere}]` : source));
  };
  const { state, raw } = written;
  const checked = {
    state: state && {
      logos: state.logos.map(check),
      pathos: state.pathos.map(check),
      abstract: state.abstract.map(check),
      conversation_summary: check(state.conversation_summary),
    },
    raw: raw && raw.split('\n').map(check).join('\n'),
  };
  return { checked, unknown: [...unknown] };
}

/** Whatever may be cited about these entries: themselves, what the state before them cites, and what they quote. */
export function knownRefs(entries: readonly StoredEntry[], previous: FoldedState): ReadonlySet<string> {
  const quoted = [JSON.stringify(previous), ...entries.map(({ content }) => entryText(content))].flatMap((text) =>
    [...text.matchAll(reference)].map(([ref]) => ref),
  );
  return new Set([...entries.map(entryRef), ...quoted]);
}

/** The entry that most of what a line names stands in; undefined when it names nothing that is known. */
function sourceOf(line: string, places: ReadonlyMap<string, string>, refOf: (entryId: string) => string | undefined): string | undefined {
  const votes = new Map<string, number>();
  for (const { text } of findIdentifiers(line)) {
    const ref = places.has(text) ? refOf(places.get(text)!) : undefined;
    if (ref !== undefined) votes.set(ref, (votes.get(ref) ?? 0) + 1);
  }
  return [...votes].sort(([, a], [, b]) => b - a)[0]?.[0];
}
