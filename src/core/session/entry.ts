import * as z from 'zod/mini';
import { Attachment } from './attachment';
import { Audit, Continuity } from './fidelity';

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
  /** `edit` and `retry` put a better summary in the place of another record's: nothing further is folded. */
  trigger: z.enum(['automatic', 'manual', 'overflow', 'edit', 'retry']),
  rung: z.enum(['mask', 'checkpoint', 'prepared', 'model', 'extractive', 'truncate']),
  model: z.nullable(z.string()),
  durationMs: z.number(),
  /** How long a user's turn waited for it. */
  heldMs: z.number(),
  needsSummaryRetry: z.boolean(),
  /** Why a better rung was not reached, in words for the user. */
  note: z.optional(z.string()),
  instructions: z.optional(z.string()),
  supersedes: z.optional(z.nullable(z.string())),
  /** The record whose state this one merged; null or absent when it was the first. */
  previous: z.optional(z.nullable(z.string())),
  /** Tool results that are sent as stubs; a later record carries those that it keeps. */
  masked: z.optional(z.array(z.string())),
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

const entryContent = z.discriminatedUnion('type', [
  message,
  thinking,
  toolCall,
  toolResult,
  nudge,
  compaction,
  compactionUndone,
  checkpoint,
  z.object({ type: z.literal('usage_note'), text: z.string() }),
  z.object({ type: z.literal('memory_note'), text: z.string() }),
  z.object({ type: z.literal('branch_summary'), text: z.string(), branchLeaf: z.string() }),
  z.object({ type: z.literal('label'), target: z.string(), label: z.string() }),
  z.object({ type: z.literal('model_change'), provider: z.string(), model: z.string() }),
  z.object({ type: z.literal('thinking_level_change'), level: z.string() }),
  z.object({ type: z.literal('instructions_change'), text: z.string() }),
  z.object({ type: z.literal('tools_change'), enabled: z.array(z.string()) }),
  z.object({ type: z.literal('session_info'), title: z.string() }),
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
