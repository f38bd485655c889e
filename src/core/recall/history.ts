import { isUserMessage, entryText, kindOf, type EntryContent, type StoredEntry } from '../session/entry';
import { skillType } from '../skills/skill';
import type { Rankable } from './rankPassages';
import { splitPassages } from './splitText';
import type { SessionStore } from '../ports';

export interface HistoryPassage extends Rankable {
  readonly entry: StoredEntry;
  /** Which of the entry's passages it is, the first 0, and of how many. */
  readonly part: number;
  readonly parts: number;
  /** Where `text` lies in the entry's text, and how long that is. */
  readonly start: number;
  readonly length: number;
}

export const recallToolName = 'recall';
export const offlineProvider = 'offline';

/** Whether recall answers with it. An answer of offline mode quotes what is searched here, and so does what recall itself has found. */
export function isRecallable(content: EntryContent): boolean {
  if (content.type === 'message') return content.provider !== offlineProvider;
  if (content.type === 'tool_call' || content.type === 'tool_result') return content.name !== recallToolName;
  return kindOf(content).isFound;
}

export function speaker(content: EntryContent): string {
  switch (content.type) {
    case 'message':
      return content.role;
    case 'tool_call':
      return `call of ${content.name}`;
    case 'tool_result':
      return content.status === 'ok' ? `result of ${content.name}` : `result of ${content.name} (${content.status})`;
    case 'custom_message':
      return content.customType === skillType ? content.customType : 'custom message';
    default:
      return content.type.replace('_', ' ');
  }
}

/** The passages of an entry in their order; none of one that recall does not answer with. */
export function passagesOf(entry: StoredEntry): HistoryPassage[] {
  if (!isRecallable(entry.content)) return [];
  const text = entryText(entry.content);
  const spans = splitPassages(text);
  return spans.map(({ start, end }, part) => ({
    entry,
    part,
    parts: spans.length,
    text: text.slice(start, end),
    start,
    length: text.length,
    group: entry.session,
    at: entry.createdAt,
    opens: part === 0 && entry.content.type === 'message',
  }));
}

/** A tool loop and notices may stand between the question and the leaf. */
const maxSteps = 100;

/** UUID of the newest message of the user on the branch of the session: what is being answered. Null when there is none nearby. */
export async function newestQuestion(store: Pick<SessionStore, 'session' | 'entries'>, session: string): Promise<string | null> {
  let at = (await store.session(session))?.leaf ?? null;
  for (let i = 0; i < maxSteps && at !== null; i++) {
    const [entry] = await store.entries([at]);
    if (entry && isUserMessage(entry)) return entry.uuid;
    at = entry?.parent ?? null;
  }
  return null;
}
