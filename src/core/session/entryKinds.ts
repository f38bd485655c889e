import { attachmentNote } from './attachment';
import type { EntryContent, EntryType } from './entry';

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
export const entryKinds: Readonly<Record<EntryType, EntryKind>> = {
  message: { ...plain, text: 'text', isFound: true, isExcludable: true, isSaid: true },
  thinking: { ...plain, text: 'text' },
  tool_call: { ...plain, isFound: true, isExcludable: true },
  tool_result: { ...plain, text: 'text', isFound: true, isExcludable: true, hasOwnRow: false },
  nudge: { ...plain, text: 'text' },
  compaction: { ...plain, text: 'summaryText', breaksPrefix: true, tellsSize: true },
  compaction_undone: { ...plain, breaksPrefix: true, tellsSize: true },
  checkpoint: { ...plain, text: 'summary', isMark: true, tellsSize: true },
  usage_note: { ...plain, text: 'text' },
  memory_note: { ...plain, text: 'text', isFound: true },
  branch_summary: { ...plain, text: 'text', isFound: true, isExcludable: true, isSaid: true },
  label: { ...plain, text: 'label', isMark: true, isFound: true, hasOwnRow: false },
  model_change: { ...plain, breaksPrefix: true },
  thinking_level_change: { ...plain, breaksPrefix: true },
  instructions_change: { ...plain, text: 'text', breaksPrefix: true },
  tools_change: { ...plain, breaksPrefix: true },
  session_info: { ...plain, text: 'title', isMark: true, hasOwnRow: false },
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
