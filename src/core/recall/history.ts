import { isUserMessage, type EntryContent, type StoredEntry } from '../session/entry';
import { entryText, kindOf } from '../session/entryKinds';
import { skillType } from '../skills/skill';
import type { Rankable } from './rankPassages';
import { splitPassages } from './splitPassages';

export interface HistoryPassage extends Rankable {
  readonly entry: StoredEntry;
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

/** The last one first: rankers take what is newer before what is older. */
export function passagesOf(entry: StoredEntry): HistoryPassage[] {
  if (!isRecallable(entry.content)) return [];
  const text = entryText(entry.content);
  const byUser = isUserMessage(entry);
  const asks = entry.content.type === 'message' && /[?？]\s*$/.test(text);
  return splitPassages(text)
    .map(({ start, end }) => ({
      entry,
      text: text.slice(start, end),
      start,
      length: text.length,
      group: entry.session,
      at: entry.createdAt,
      byUser,
      asks,
    }))
    .reverse();
}
