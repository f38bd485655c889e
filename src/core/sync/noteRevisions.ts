import { mergeNote, type MergedNote } from './noteMerge';

/** What a note was changed to, and from what: the revisions that whoever changed it had in front of them, merged. */
export interface NoteRevision {
  readonly id: string;
  readonly parents: readonly string[];
  /** Null: it was deleted. */
  readonly text: string | null;
  readonly tick: number;
}

export interface NoteState extends MergedNote {
  /** Revisions that nobody has gone on from, in the order in which they are merged. */
  readonly heads: readonly string[];
}

/**
 * What the revisions of one note come to. Merging makes no revision of its own: whoever holds the same ones has the same text, so that
 * nothing needs to be told of it and no two devices answer each other for ever. The parents of each are among them.
 */
export function noteState(revisions: readonly NoteRevision[]): NoteState {
  const byId = new Map(revisions.map((one) => [one.id, one]));
  const followed = new Set(revisions.flatMap(({ parents }) => parents));
  const heads = revisions.filter(({ id }) => !followed.has(id)).map(({ id }) => id);
  return new Merger(byId).merge(heads);
}

class Merger {
  private readonly ancestry = new Map<string, ReadonlySet<string>>();
  private readonly merged = new Map<string, NoteState>();

  constructor(private readonly byId: ReadonlyMap<string, NoteRevision>) {}

  merge(ids: readonly string[]): NoteState {
    const heads = [...ids].sort((a, b) => this.order(a, b));
    const name = heads.join(' ');
    const known = this.merged.get(name);
    if (known) return known;
    const [first, ...others] = heads;
    let text = first === undefined ? null : this.byId.get(first)!.text;
    let both = 0;
    const seen = new Set(first === undefined ? [] : this.ancestors(first));
    for (const head of others) {
      const common = [...this.ancestors(head)].filter((id) => seen.has(id));
      const step = mergeNote(this.merge(this.newest(common)).text, text, this.byId.get(head)!.text);
      text = step.text;
      both += step.both;
      for (const id of this.ancestors(head)) seen.add(id);
    }
    const state = { heads, text, both };
    this.merged.set(name, state);
    return state;
  }

  /** Keeps the ones that none of the others comes from. */
  private newest(ids: readonly string[]): readonly string[] {
    const followed = new Set(ids.flatMap((id) => this.byId.get(id)!.parents));
    return ids.filter((id) => !followed.has(id));
  }

  /** Itself among them. */
  private ancestors(id: string): ReadonlySet<string> {
    const known = this.ancestry.get(id);
    if (known) return known;
    const all = new Set([id]);
    for (const one of all) for (const parent of this.byId.get(one)?.parents ?? []) all.add(parent);
    this.ancestry.set(id, all);
    return all;
  }

  private order(a: string, b: string): number {
    const [first, second] = [this.byId.get(a)!, this.byId.get(b)!];
    return first.tick - second.tick || (a < b ? -1 : 1);
  }
}
