import type { AttachmentKept, CarriedEntry, Change, EntriesAppended, NoteWritten, SessionBegun, Stamp } from './change';
import { isLater, leafRegister } from './change';

/** One replica's rows, as far as merging needs them. Every call is part of one transaction. */
export interface MergeTarget {
  /** This replica's own. */
  readonly device: string;
  /** No tick that is given out from now on is lower. */
  observe(tick: number): void;
  isPurged(session: string): boolean;
  hasSession(session: string): boolean;
  beginSession(session: SessionBegun): void;
  createdAt(session: string): number;
  /** The session that the entry belongs to; undefined when it is not there. */
  ownerOf(entry: string): string | undefined;
  /** Its parent and its session are there. */
  insert(session: string, entry: CarriedEntry): void;
  /** A repair, here or elsewhere, has made up for it. */
  isStandIn(entry: string): boolean;
  /** Puts it in place of what stands in for it; its parent is there. Returns what is to be merged again, as its branch is another now. */
  replace(session: string, entry: CarriedEntry): readonly { readonly change: Change; readonly device: string }[];
  addUsage(session: string, usage: EntriesAppended['usage']): void;
  /** Gives an entry that several sessions share to another of them. */
  handOver(entry: string, session: string): void;
  stampOf(session: string, register: string): Stamp | undefined;
  setRegister(session: string, register: string, value: unknown, stamp: Stamp): void;
  leafOf(session: string): string | null;
  isAncestor(ancestor: string, entry: string): boolean;
  /** The session is being worked in: its leaf is to stay, and what moves it waits (`needsFree`). */
  isHeld(session: string): boolean;
  /** Another device stands there, and this one does not go there by itself: for the user to be told. */
  standsElsewhere(session: string, leaf: string, stamp: Stamp): void;
  keepAttachment(attachment: AttachmentKept): void;
  hasNote(revision: string): boolean;
  /** The revisions that it comes from are there. */
  keepNote(note: NoteWritten): void;
  /** Takes the session away and leaves a mark that it was purged. */
  purge(session: string): void;
  /** Keeps the change until `needs`, an entry, a session or a note's revision, is there. */
  wait(needs: string, change: Change, device: string): void;
  /** What has waited for it, which it no longer does. */
  takeWaiting(needs: string): readonly { readonly change: Change; readonly device: string }[];
}

/**
 * Merges a change that `device` has made. Doing so twice, or in any order, comes to the same rows: entries are a union, registers belong
 * to whoever set them last, a purge wins over everything of its session, and what needs something that is not there yet waits for it.
 */
export function mergeChange(target: MergeTarget, change: Change, device: string): void {
  const left: { readonly change: Change; readonly device: string }[] = [{ change, device }];
  for (let next = left.shift(); next; next = left.shift()) left.push(...mergeOne(target, next.change, next.device));
}

/** Returns what no longer waits. */
function mergeOne(target: MergeTarget, change: Change, device: string): readonly { readonly change: Change; readonly device: string }[] {
  if (change.kind === 'purge') {
    if (!target.isPurged(change.session)) target.purge(change.session);
    return [];
  }
  if (change.kind === 'note') return mergeNoteWritten(target, change, device);
  if (target.isPurged(change.session)) return [];
  if (change.kind === 'session') {
    if (target.hasSession(change.session)) return [];
    target.beginSession(change);
    return target.takeWaiting(change.session);
  }
  if (!target.hasSession(change.session)) {
    target.wait(change.session, change, device);
    return [];
  }
  switch (change.kind) {
    case 'entries':
      return mergeEntries(target, change, device);
    case 'registers':
      for (const { name, value, tick } of change.values) mergeRegister(target, change.session, name, value, { tick, device });
      return [];
    case 'attachment':
      target.keepAttachment(change);
      return [];
  }
}

function mergeEntries(target: MergeTarget, { session, entries, usage, leaf }: EntriesAppended, device: string) {
  const freed: { readonly change: Change; readonly device: string }[] = [];
  for (const entry of entries) {
    const owner = target.ownerOf(entry.uuid);
    const replaces = owner !== undefined && entry.standsIn !== true && target.isStandIn(entry.uuid);
    if (owner !== undefined && !replaces) {
      // Forks share ancestors, and after a purge several devices may each have handed one on: the oldest session gets it everywhere.
      if (isOlder(target, session, owner)) target.handOver(entry.uuid, session);
      continue;
    }
    if (entry.parent !== null && target.ownerOf(entry.parent) === undefined) {
      target.wait(entry.parent, { kind: 'entries', session, entries: [entry], usage: [] }, device);
      continue;
    }
    if (replaces) freed.push(...target.replace(session, entry));
    else target.insert(session, entry);
    freed.push(...target.takeWaiting(entry.uuid));
  }
  target.addUsage(session, usage);
  if (leaf) mergeRegister(target, session, leafRegister, leaf.value, { tick: leaf.tick, device });
  return freed;
}

function mergeNoteWritten(target: MergeTarget, note: NoteWritten, device: string) {
  target.observe(note.tick);
  if (target.hasNote(note.revision)) return [];
  const missing = note.parents.find((parent) => !target.hasNote(parent));
  if (missing !== undefined) {
    target.wait(needsNote(missing), note, device);
    return [];
  }
  target.keepNote(note);
  return target.takeWaiting(needsNote(note.revision));
}

function isOlder(target: MergeTarget, a: string, b: string): boolean {
  const [first, second] = [target.createdAt(a), target.createdAt(b)];
  return first === second ? a < b : first < second;
}

function mergeRegister(target: MergeTarget, session: string, name: string, value: unknown, stamp: Stamp): void {
  target.observe(stamp.tick);
  const known = target.stampOf(session, name);
  if (known && !isLater(stamp, known)) {
    if (name === leafRegister && typeof value === 'string' && stamp.device !== target.device) target.standsElsewhere(session, value, stamp);
    return;
  }
  if (name !== leafRegister) return target.setRegister(session, name, value, stamp);
  if (typeof value !== 'string') return;
  const needs = target.isHeld(session) ? needsFree(session) : target.ownerOf(value) === undefined ? value : null;
  if (needs !== null) return target.wait(needs, { kind: 'registers', session, values: [{ name, value, tick: stamp.tick }] }, stamp.device);
  // Who has said nothing here since follows the other device wherever it went; who has follows it onward and else stays where they are.
  const leaf = target.leafOf(session);
  const follows = leaf === null || known === undefined || known.device !== target.device || target.isAncestor(leaf, value);
  if (follows) target.setRegister(session, name, value, stamp);
  else target.standsElsewhere(session, value, stamp);
}

/** What a change of the leaf waits for while somebody works in the session. */
export function needsFree(session: string): string {
  return `free ${session}`;
}

function needsNote(revision: string): string {
  return `note ${revision}`;
}
