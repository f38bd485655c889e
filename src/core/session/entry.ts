import * as z from 'zod/mini';
import { Attachment, attachmentNote } from './userMessage';
import { FileChanges } from '../rewind/fileChanges';

/**
 * One node of a session's append-only tree. Nothing rewrites or deletes an entry: a change of mind is another entry, and
 * what the model is sent is a projection over the branch from the root to the active leaf.
 */
export interface NewEntry {
  /** UUID v7, made by the caller, so that appending the same entry twice is harmless. */
  readonly uuid: string;
  readonly session: string;
  /** The entry this one follows; null for a root. May belong to another session (a fork shares its ancestors). */
  readonly parent: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Whether the projection may send it to a model. */
  readonly modelFacing: boolean;
  /** Whether the transcript shows it. */
  readonly display: boolean;
  /** Tokens of the text as our tokenizer counts them (not calibrated); null while not yet counted. */
  readonly tokenEstimate: number | null;
  /** Where the entry came from when it was imported; unique per store. */
  readonly sourceId?: string | null;
  readonly content: EntryContent;
}

/** An entry as the store returns it; `seq` grows with every append of the store. */
export interface StoredEntry extends NewEntry {
  readonly seq: number;
}

/** What an identifier audit found: measured when a range is folded, stored with its record. */
export const Audit = z.object({
  /** Identifiers that had to survive. */
  checked: z.number(),
  inSummary: z.number(),
  /** These are in the model's text or in what stands beside it (ledgers, passages, the list of identifiers). */
  leftBehind: z.number(),
  /** The most important of those that did not; recall finds them. */
  missing: z.array(z.string()),
  /** The model was asked a second time. */
  repaired: z.boolean(),
  /** Ids that the model cited and that no entry has: they were replaced or taken out. */
  unknownIds: z.optional(z.array(z.string())),
});
export type Audit = z.infer<typeof Audit>;

/** How much of a folded range survived, measured and not claimed. */
export const Continuity = z.object({
  /** Weighted share that is in what was left behind. */
  inContextPercent: z.number(),
  /** Weighted share of a sample that a search finds again; null when nothing was searched. */
  reachablePercent: z.nullable(z.number()),
  elements: z.number(),
  searched: z.number(),
});
export type Continuity = z.infer<typeof Continuity>;

const message = z.object({
  type: z.literal('message'),
  role: z.enum(['user', 'assistant']),
  text: z.string(),
  attachments: z.optional(z.array(Attachment)),
  provider: z.optional(z.string()),
  model: z.optional(z.string()),
  /** Set when the answer ended before it was complete; the text is what the user had seen. */
  interrupted: z.optional(z.enum(['stopped', 'disconnected', 'crashed'])),
  stopReason: z.optional(z.string()),
});

const thinking = z.object({
  type: z.literal('thinking'),
  text: z.string(),
  /** Opaque proof of origin; the provider refuses the block when anything before it has changed. */
  signature: z.optional(z.string()),
  redactedData: z.optional(z.string()),
  /** It was thought below this system text (systemPrompt.ts): the provider refuses it below another. */
  promptId: z.optional(z.string()),
  provider: z.optional(z.string()),
  model: z.optional(z.string()),
  durationMs: z.optional(z.number()),
  interrupted: z.optional(z.enum(['stopped', 'disconnected', 'crashed'])),
});

const toolCall = z.object({
  type: z.literal('tool_call'),
  callId: z.string(),
  name: z.string(),
  input: z.unknown(),
  provider: z.optional(z.string()),
  model: z.optional(z.string()),
});

const toolResult = z.object({
  type: z.literal('tool_result'),
  callId: z.string(),
  name: z.string(),
  text: z.string(),
  status: z.enum(['ok', 'error', 'denied', 'interrupted']),
  /** The model is sent only the beginning and the end of a longer text; when omitted, the policy says what becomes of long messages. */
  shownTokens: z.optional(z.number()),
  /** Images that the tool returned; the text names them. */
  attachments: z.optional(z.array(Attachment)),
});

const nudge = z.object({
  type: z.literal('nudge'),
  /** The threshold that was crossed, in percent of the effective window. */
  percent: z.number(),
  text: z.string(),
  injectAs: z.enum(['system', 'user']),
  /** Sent as a message of the system's where the provider takes it; left out in older entries, so that what was sent stays as it was. */
  asMessage: z.optional(z.literal(true)),
  usedTokens: z.number(),
});

/** What one compaction did. It is a projection record: the entries it folds stay where they are. */
const compaction = z.object({
  type: z.literal('compaction'),
  /** Makes recording idempotent: a second record of the same operation is refused. */
  operationId: z.string(),
  summaryText: z.string(),
  /** Where the summary stands in the prompt, for as long as this record is the live one; omitted: `history-pair`. */
  placement: z.optional(z.enum(['history-pair', 'system-message', 'system-block', 'first-message'])),
  /** The structured state the text was rendered from, when the rung made one. */
  summary: z.optional(z.unknown()),
  /** First entry that stays verbatim; null when everything before the record is folded. */
  firstKeptEntry: z.nullable(z.string()),
  /** First entry of the folded range. */
  coversFrom: z.nullable(z.string()),
  tokensBefore: z.number(),
  tokensAfter: z.number(),
  messagesBefore: z.number(),
  messagesAfter: z.number(),
  /**
   * `cold`: the provider's prompt cache had expired. `edit` and `retry` put a better summary in the place of another record's: nothing
   * further is folded.
   */
  trigger: z.enum(['automatic', 'manual', 'overflow', 'cold', 'edit', 'retry']),
  rung: z.enum(['mask', 'checkpoint', 'prepared', 'model', 'extractive', 'truncate']),
  model: z.nullable(z.string()),
  durationMs: z.number(),
  /** How long a user's turn waited for it. */
  heldMs: z.number(),
  needsSummaryRetry: z.boolean(),
  /** Why a better rung was not reached, in words for the user. */
  note: z.optional(z.string()),
  instructions: z.optional(z.string()),
  /** The user has put the summary into other words before it was applied. Absent in records of older versions, and of an `edit`. */
  edited: z.optional(z.boolean()),
  supersedes: z.optional(z.nullable(z.string())),
  /** The record whose state this one merged; null or absent when it was the first. */
  previous: z.optional(z.nullable(z.string())),
  /** Tool results that are sent as stubs; a later record carries those that it keeps. */
  masked: z.optional(z.array(z.string())),
  /** The summary tells of all of them: it was written while they stood in the prompt. */
  maskedTold: z.optional(z.boolean()),
  /** All requests made for it cost so many US dollars; null when a price is not known. */
  cost: z.optional(z.nullable(z.number())),
  audit: z.optional(Audit),
  continuity: z.optional(Continuity),
});

const compactionUndone = z.object({
  type: z.literal('compaction_undone'),
  target: z.string(),
  /** Size of the restored context in tokens; automatic compaction waits until it has grown from here. */
  tokensRestored: z.number(),
});

const checkpoint = z.object({
  type: z.literal('checkpoint'),
  summary: z.string(),
  topics: z.array(z.string()),
  keyDecisions: z.array(z.string()),
  openQuestions: z.array(z.string()),
  tokensAtCheckpoint: z.number(),
  messagesAtCheckpoint: z.number(),
  /** Last entry it describes; everything before it on the branch is described too. */
  coversThrough: z.string(),
  model: z.optional(z.string()),
});

/** Written before anybody needed it. It folds nothing; a compaction may use it for as long as what it has read is unchanged. */
const preparedSummary = z.object({
  type: z.literal('prepared_summary'),
  /** The state that would be left behind. */
  folded: z.unknown(),
  model: z.nullable(z.string()),
  note: z.optional(z.string()),
  audit: z.optional(Audit),
  /** The record before it and the form of summaries. */
  basis: z.string(),
  /** So many of the entries that are sent, from the first one on, up to `through`; `digest` tells them from others. */
  reads: z.object({ count: z.number(), through: z.string(), digest: z.string() }),
  /** Digest of the notes. */
  notes: z.string(),
  /** Size of the context then, and of what it would have come down to with all of it folded. */
  tokensBefore: z.number(),
  tokensAfter: z.number(),
  /** So many tokens of what had been said last would have stayed word for word beside it. */
  keeps: z._default(z.number(), 0),
  /** US dollars; null when a price is not known. */
  cost: z.nullable(z.number()),
});

/** A side question that a call has put (core/aside): a mark on the call, with all that was read and said. It is in no prompt. */
const sideQuestion = z.object({
  type: z.literal('side_question'),
  question: z.string(),
  /** Everything of it as Markdown, for people. */
  text: z.string(),
  outcome: z.enum(['answered', 'stopped', 'failed']),
  provider: z.string(),
  model: z.string(),
  requests: z.number(),
  calls: z.number(),
  /** Tokens of what its tools have returned. */
  read: z.number(),
  /** Tokens of its requests, as they were billed. */
  input: z.number(),
  output: z.number(),
  /** US dollars; null when a price is not known. */
  cost: z.nullable(z.number()),
});

/** The session was handed over to another program up to the entry that this is a mark on; what is said there comes back behind it. */
const handedOver = z.object({
  type: z.literal('handed_over'),
  program: z.string(),
  /** The program calls the session so. */
  id: z.string(),
  /** Which entry each record of what was written was made from, by the id that the importer gives it. */
  records: z.record(z.string(), z.string()),
});

const entryContent = z.discriminatedUnion('type', [
  message,
  thinking,
  toolCall,
  toolResult,
  nudge,
  compaction,
  compactionUndone,
  checkpoint,
  preparedSummary,
  sideQuestion,
  handedOver,
  z.object({ type: z.literal('usage_note'), text: z.string() }),
  z.object({ type: z.literal('memory_note'), text: z.string() }),
  z.object({ type: z.literal('branch_summary'), text: z.string(), branchLeaf: z.string() }),
  z.object({ type: z.literal('label'), target: z.string(), label: z.string() }),
  z.object({ type: z.literal('model_change'), provider: z.string(), model: z.string() }),
  z.object({ type: z.literal('thinking_level_change'), level: z.string() }),
  z.object({ type: z.literal('instructions_change'), text: z.string() }),
  z.object({ type: z.literal('tools_change'), enabled: z.array(z.string()) }),
  z.object({ type: z.literal('session_info'), title: z.string() }),
  FileChanges,
  /** A turn that ended in an error; shown in the transcript, never sent to a model. */
  z.object({ type: z.literal('custom'), customType: z.string(), data: z.unknown() }),
  z.object({ type: z.literal('custom_message'), customType: z.string(), text: z.string() }),
]);

export const EntryContent = entryContent;
export type EntryContent = z.infer<typeof entryContent>;
export type EntryType = EntryContent['type'];
export type ContentOf<T extends EntryType> = Extract<EntryContent, { type: T }>;
export type EntryOf<T extends EntryType> = StoredEntry & { readonly content: ContentOf<T> };

export function isEntryOf<T extends EntryType>(entry: StoredEntry, type: T): entry is EntryOf<T> {
  return entry.content.type === type;
}

export function isUserMessage(entry: StoredEntry): entry is EntryOf<'message'> {
  return entry.content.type === 'message' && entry.content.role === 'user';
}

/** `customType` of what a store gives for an entry whose content cannot be read. It is shown, and never sent to a model. */
export const damagedType = 'damaged';

export function isDamaged({ content }: StoredEntry): boolean {
  return content.type === 'custom' && content.customType === damagedType;
}

/** What one kind of entry is, for everything that treats kinds differently; what a model is sent of it says the projection. */
interface EntryKind {
  /** The property that holds its text: counted, kept apart from the rest and compressed. Null: it has none, or several make it up. */
  readonly text: string | null;
  /** Whether it is a mark on the tree, which never moves the leaf and never becomes the parent of another entry. */
  readonly isMark: boolean;
  /** Whether search and recall answer with it: what was said, called and returned. Summaries and reminders are made from that. */
  readonly isFound: boolean;
  /** Whether an earlier prompt is no longer a prefix of the next one behind it: the declared prefix breaks. */
  readonly breaksPrefix: boolean;
  /** Whether the user can take it out of the context by itself; notes, reminders and summaries are the program's own. */
  readonly isExcludable: boolean;
  /** Whether its content says how large the context was. */
  readonly tellsSize: boolean;
  /** Whether it makes a row of the transcript by itself. */
  readonly hasOwnRow: boolean;
  /** Whether a reader tells it apart as something that was said; what else stands behind one belongs to it. */
  readonly isSaid: boolean;
}

const plain: EntryKind = {
  text: null,
  isMark: false,
  isFound: false,
  breaksPrefix: false,
  isExcludable: false,
  tellsSize: false,
  hasOwnRow: true,
  isSaid: false,
};

/** The one table of kinds: a kind that is added to the union of entries does not compile until it stands here. */
const entryKinds: Readonly<Record<EntryType, EntryKind>> = {
  message: { ...plain, text: 'text', isFound: true, isExcludable: true, isSaid: true },
  thinking: { ...plain, text: 'text' },
  tool_call: { ...plain, isFound: true, isExcludable: true },
  tool_result: { ...plain, text: 'text', isFound: true, isExcludable: true, hasOwnRow: false },
  nudge: { ...plain, text: 'text' },
  compaction: { ...plain, text: 'summaryText', breaksPrefix: true, tellsSize: true },
  compaction_undone: { ...plain, breaksPrefix: true, tellsSize: true },
  checkpoint: { ...plain, text: 'summary', isMark: true, tellsSize: true },
  prepared_summary: { ...plain, isMark: true, hasOwnRow: false },
  side_question: { ...plain, text: 'text', isMark: true, hasOwnRow: false },
  handed_over: { ...plain, isMark: true, hasOwnRow: false },
  usage_note: { ...plain, text: 'text' },
  memory_note: { ...plain, text: 'text', isFound: true },
  branch_summary: { ...plain, text: 'text', isFound: true, isExcludable: true, isSaid: true },
  label: { ...plain, text: 'label', isMark: true, isFound: true, hasOwnRow: false },
  model_change: { ...plain, breaksPrefix: true },
  thinking_level_change: { ...plain, breaksPrefix: true },
  instructions_change: { ...plain, text: 'text', breaksPrefix: true },
  tools_change: { ...plain, breaksPrefix: true },
  session_info: { ...plain, text: 'title', isMark: true, hasOwnRow: false },
  file_changes: { ...plain, isMark: true, hasOwnRow: false },
  custom: { ...plain, tellsSize: true },
  custom_message: { ...plain, text: 'text', isFound: true, isSaid: true },
};

/** The kinds of which something holds, in the order of the table. */
export function kindsWhere(holds: (kind: EntryKind) => boolean): ReadonlySet<EntryType> {
  return new Set((Object.keys(entryKinds) as EntryType[]).filter((type) => holds(entryKinds[type])));
}

/** A kind that a newer version has added is a plain one here. */
export function kindOf({ type }: Pick<EntryContent, 'type'>): EntryKind {
  return (entryKinds as Partial<typeof entryKinds>)[type] ?? plain;
}

/** The kinds that are marks. */
export const markTypes = kindsWhere(({ isMark }) => isMark);

/** The searchable, countable text of an entry; empty for entries without any. */
export function entryText(content: EntryContent): string {
  if (content.type === 'tool_call') return `${content.name} ${JSON.stringify(content.input)}`;
  if (content.type === 'message' && content.attachments) return `${content.text}\n${attachmentNote(content.attachments)}`.trim();
  const { text } = kindOf(content);
  return text === null ? '' : String((content as Readonly<Record<string, unknown>>)[text]);
}

/** What no number, name of a constant or pair of brackets takes more than, with the comma behind it, in characters of JSON. */
const ofAnyOther = 26;

/**
 * Characters that a content has as JSON at most, before any of them is escaped: whatever its type, since what is kept raw, or a call is
 * given, may be the largest of all. Not by `JSON.stringify`, which would write all of it once more.
 */
export function contentSize(content: EntryContent): number {
  let size = 0;
  const left: unknown[] = [content];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') size += value.length + 3;
    else size += ofAnyOther;
    if (Array.isArray(value)) for (const one of value as unknown[]) left.push(one);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, one] of Object.entries(value)) {
        size += name.length + 4;
        left.push(one);
      }
    }
  }
  return size;
}
