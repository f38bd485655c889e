import { timeText } from '../recall/dateText';
import { entryText, type StoredEntry } from '../session/entry';
import type { Session } from '../session/session';

/** Characters of a past chat's newest messages, and of what Git has changed. */
const bounds = { chat: 24_000, changes: 100_000 };

/** A past chat as something that goes with a message: its summary, where it has one, and its newest messages. */
export function pastChatText({ id, title }: Pick<Session, 'id' | 'title'>, entries: readonly StoredEntry[]): string {
  const summary = entries.findLast(({ content }) => content.type === 'compaction');
  const said = entries.flatMap(({ content, createdAt }) =>
    content.type === 'message' ? [`${content.role}, ${timeText(createdAt)}:\n${entryText(content)}`] : [],
  );
  const parts = [`Past chat ${id}: ${title}`, ...(summary ? [`Summary:\n${entryText(summary.content)}`] : [])];
  return [...parts, endOf(said.join('\n\n'), bounds.chat)].join('\n\n');
}

/** One entry of a past chat. */
export function pastEntryText(session: Pick<Session, 'id' | 'title'> | undefined, { content, createdAt }: StoredEntry): string {
  return `From ${session ? `${session.id}: ${session.title}` : 'a past chat'}, ${timeText(createdAt)}:\n\n${entryText(content)}`;
}

/** A diff, cut where it is no longer read. */
export function changesText(diff: string): string {
  if (diff.length <= bounds.changes) return diff;
  return `${diff.slice(0, bounds.changes)}\n[… ${diff.length - bounds.changes} more characters are left out …]`;
}

/** The end of a text, which says that something stood before. */
export function endOf(text: string, most: number): string {
  return text.length <= most ? text : `[… ${text.length - most} characters before are left out …]\n${text.slice(-most)}`;
}
