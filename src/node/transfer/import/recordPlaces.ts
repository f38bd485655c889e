import { english } from '../../../core/l10n';
import { markTypes } from '../../../core/session/entry';
import { isSaneTime } from '../../../core/session/session';
import { CallIds } from '../../../core/transfer/callIds';
import type { KindCounter } from '../../../core/transfer/importReport';
import type { RecordPart, SourceRecord, SourceSession } from '../../../core/transfer/sourceRecord';
import { namesOf, type SourceNames } from './formerEntries';
import { cutToFit, mostBytes } from './partSize';

/** Where a record has its place: the entries that it became, by source id. */
interface Place {
  readonly first: string | null;
  readonly last: string | null;
  /** What follows the record follows this entry; null: the root. One object for a record and all that have become part of it. */
  readonly end: { entry: string | null };
  readonly index: number;
  readonly aside: boolean;
}

/** A part of a record that can be stored. */
export interface Ready extends SourceNames {
  readonly parent: string | null;
  readonly at: number;
  readonly part: RecordPart;
  /** `cutToFit` */
  readonly size: number;
  /** `SourceRecord.entry` */
  readonly entry: string | undefined;
}

/**
 * The tree of the records of one source, as they come: parents that come later, never, or in a circle are waited for and then repaired.
 * Each part is told when its place is known, parents first.
 */
export class RecordPlaces {
  private readonly places = new Map<string, Place>();
  /** Hashes of the records so far, by id. */
  private readonly seen = new Map<string, string>();
  private readonly waiting = new Map<string, { readonly record: SourceRecord; readonly index: number }[]>();
  private newest: Place | null = null;
  private newestAside: Place | null = null;
  private hasSpoken = false;
  /** A record that the source names, until another comes that is said. */
  leaf: string | null | undefined;
  /** The user's. */
  firstWords = '';
  /** When the newest record was written, or the session begun. */
  lastAt: number;
  private count = 0;
  private readonly callIds = new CallIds((kind) => this.repairs.add(kind));

  constructor(
    private readonly format: string,
    private readonly session: SourceSession,
    private readonly repairs: KindCounter,
    private readonly onReady: (ready: Ready) => void,
  ) {
    this.lastAt = this.sane(session.createdAt) ?? 0;
  }

  /** Whether records wait for their parents. */
  get isWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /** Source id of the first or last entry of a record; null where there is none. */
  sourceOf(record: string, end: 'first' | 'last'): string | null {
    return this.places.get(record)?.[end] ?? null;
  }

  /** Source id of the entry that the source goes on from; null: its root. */
  get leafSource(): string | null {
    if (this.leaf === null) return null;
    const place = typeof this.leaf === 'string' ? this.places.get(this.leaf) : undefined;
    return (place ?? this.newest ?? this.newestAside)?.end.entry ?? null;
  }

  add(record: SourceRecord): void {
    const index = this.count++;
    const seen = this.seen.get(record.id);
    if (seen === record.hash) return this.repairs.add(english('repeated record'));
    if (seen !== undefined) {
      this.repairs.add(english('duplicate id'));
      return this.add({ ...record, id: `${record.id}~${record.hash}` });
    }
    this.seen.set(record.id, record.hash);
    if (record.parts.some(({ display, modelFacing }) => display || modelFacing)) this.leaf = undefined;
    if (record.parent === undefined || record.parent === null || this.places.has(record.parent)) this.place(record, index);
    else this.wait(record.parent, record, index);
  }

  private sane(at: number | null | undefined): number | null {
    if (at === null || at === undefined || isSaneTime(at)) return at ?? null;
    this.repairs.add(english('impossible time'));
    return null;
  }

  private wait(parent: string, record: SourceRecord, index: number): void {
    const list = this.waiting.get(parent);
    if (list) list.push({ record, index });
    else this.waiting.set(parent, [{ record, index }]);
  }

  /** Gives the record its entries, and then those that have waited for it; not by recursion, for a chain may be as long as the file. */
  private place(first: SourceRecord, firstIndex: number, firstParent?: string | null): void {
    const stack: { readonly record: SourceRecord; readonly index: number; readonly parent?: string | null | undefined }[] = [
      { record: first, index: firstIndex, parent: firstParent },
    ];
    for (let next = stack.pop(); next; next = stack.pop()) {
      const { record, index } = next;
      this.placeOne(record, index, next.parent);
      const followers = this.waiting.get(record.id);
      this.waiting.delete(record.id);
      // One by one: more may have waited than a call takes arguments (some 120,000).
      for (const follower of followers?.reverse() ?? []) stack.push(follower);
    }
  }

  private placeOne(record: SourceRecord, index: number, parentEntry?: string | null): void {
    const before = record.aside ? this.newestAside : this.newest;
    // What a program notes before anything is said is no branch of its own.
    const host =
      record.parent === undefined || (record.parent === null && !this.hasSpoken)
        ? before
        : record.parent === null
          ? null
          : (this.places.get(record.parent) ?? null);
    let tip = parentEntry === undefined ? (host?.end.entry ?? null) : parentEntry;
    let first: string | null = null;
    const at = (this.lastAt = this.sane(record.at) ?? this.lastAt);
    for (const [i, one] of record.parts.entries()) {
      const whole = { ...one, content: this.callIds.apply(one.content) };
      const { part, size } = cutToFit(whole);
      if (part !== whole) this.repairs.add(english('larger than {0} MB, left out', mostBytes / 2 ** 20));
      const names = namesOf(this.format, this.session.id, record, i);
      const { sourceId } = names;
      this.onReady({ ...names, parent: tip, at, part, size, entry: record.entry });
      if (markTypes.has(part.content.type)) continue;
      first ??= sourceId;
      tip = sourceId;
      if (this.firstWords === '' && part.display && part.content.type === 'message' && part.content.role === 'user')
        this.firstWords = part.content.text;
    }
    const end = record.parent === undefined && host ? host.end : { entry: tip };
    end.entry = tip;
    const place: Place = { first: first ?? tip, last: tip, end, index, aside: record.aside === true };
    this.hasSpoken ||= record.parts.some(({ display, modelFacing }) => display && modelFacing);
    this.places.set(record.id, place);
    if (place.aside) this.newestAside = place;
    else if (!this.newest || index >= this.newest.index) this.newest = place;
  }

  /** Gives those that still wait a place where the source has none for them. */
  repairWaiting(): void {
    for (;;) {
      const left = [...this.waiting.values()].flat().sort((a, b) => a.index - b.index);
      const [earliest] = left;
      if (!earliest) return;
      const { record, index } = earliest;
      const parent = record.parent ?? '';
      const list = (this.waiting.get(parent) ?? []).filter((one) => one !== earliest);
      if (list.length > 0) this.waiting.set(parent, list);
      else this.waiting.delete(parent);
      this.repairs.add(left.some((one) => one.record.id === parent) ? english('circle of parents') : english('missing parent'));
      this.place(record, index, this.before(index));
    }
  }

  /** What the record before it in the source became, so that the conversation stays one. */
  private before(index: number): string | null {
    let best: Place | null = null;
    for (const place of this.places.values()) if (place.index < index && (!best || place.index > best.index)) best = place;
    return best?.end.entry ?? null;
  }
}
