import * as z from 'zod/mini';
import { UsageRow } from '../cost/usageRow';
import { EntryContent } from '../session/entry';

/** The highest form of what is sealed that is read here. A record of a higher one is carried on unopened. */
export const changeVersion = 2;

/**
 * When something was set: `tick` is a hybrid logical clock, milliseconds × 1024 or one more than any tick that was seen, and `device`
 * decides between two that are equal.
 */
export const Stamp = z.object({ tick: z.int(), device: z.string() });
export type Stamp = z.infer<typeof Stamp>;

const sessionBegun = z.object({
  kind: z.literal('session'),
  session: z.string(),
  /** The id and the key on the device where it began; each is kept where it is free. */
  id: z.string(),
  key: z.string(),
  cwd: z.nullable(z.string()),
  createdAt: z.number(),
  parentSession: z.nullable(z.string()),
  forkEntry: z.nullable(z.string()),
});
export type SessionBegun = z.infer<typeof sessionBegun>;

/** An entry as it is carried: without what a store derives from others, and with the number it has where it was written. */
export const CarriedEntry = z.object({
  uuid: z.string(),
  parent: z.nullable(z.string()),
  createdAt: z.number(),
  modelFacing: z.boolean(),
  display: z.boolean(),
  tokenEstimate: z.nullable(z.number()),
  sourceId: z.optional(z.nullable(z.string())),
  seq: z.int(),
  /** Numbers that a summary cites (`#12`), as they are where it was written, and the entries of its branch that they stand for. */
  cites: z.optional(z.array(z.tuple([z.int(), z.string()]))),
  /** A repair has made up for it: whoever has it, or gets it from elsewhere, keeps that. */
  standsIn: z.optional(z.literal(true)),
  content: EntryContent,
});
export type CarriedEntry = z.infer<typeof CarriedEntry>;

const entriesAppended = z.object({
  kind: z.literal('entries'),
  session: z.string(),
  /** Each after its parent, where that is among them. */
  entries: z.array(CarriedEntry),
  usage: z.array(UsageRow),
  /** Where the device stands after them; a record of its own for it was an eighth of a turn's bytes. */
  leaf: z.optional(z.object({ value: z.string(), tick: z.int() })),
});
export type EntriesAppended = z.infer<typeof entriesAppended>;

/** Values that the last one who set them decides: titles, marks, metadata by key, pins, and where the device stands in the session. */
const registersSet = z.object({
  kind: z.literal('registers'),
  session: z.string(),
  values: z.array(z.object({ name: z.string(), value: z.unknown(), tick: z.int() })),
});
export type RegistersSet = z.infer<typeof registersSet>;

/** Bytes that entries name by their hash, or one of `of` pieces of them: those stand in a log of their own, each in its place. */
const attachmentKept = z.object({
  kind: z.literal('attachment'),
  session: z.string(),
  hash: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  mime: z.string(),
  base64: z.string(),
  of: z.optional(z.int().check(z.positive())),
});
export type AttachmentKept = z.infer<typeof attachmentKept>;

/** The session is gone for good, everywhere. Entries that another session stands on are told again as that one's. */
const sessionPurged = z.object({ kind: z.literal('purge'), session: z.string() });

/** A note was written, or deleted, by somebody who had `parents` in front of them (noteRevisions.ts). It belongs to no session. */
const noteWritten = z.object({
  kind: z.literal('note'),
  session: z.literal(''),
  path: z.string(),
  revision: z.string(),
  parents: z.array(z.string()),
  text: z.nullable(z.string()),
  tick: z.int(),
});
export type NoteWritten = z.infer<typeof noteWritten>;

export const Change = z.discriminatedUnion('kind', [
  sessionBegun,
  entriesAppended,
  registersSet,
  attachmentKept,
  sessionPurged,
  noteWritten,
]);
export type Change = z.infer<typeof Change>;

/** The lowest form in which all of it is understood: a program of form 1 would take what stands in for an entry for the entry itself. */
export function versionOf(change: Change): number {
  return change.kind === 'entries' && change.entries.some(({ standsIn }) => standsIn) ? 2 : 1;
}

/** The leaf of a session: the one register that is not simply taken over (merge.ts). */
export const leafRegister = 'leaf';

export function isLater(a: Stamp, b: Stamp): boolean {
  return a.tick === b.tick ? a.device > b.device : a.tick > b.tick;
}
