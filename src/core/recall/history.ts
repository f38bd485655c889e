import { entryText, type EntryContent, type StoredEntry } from '../session/entry';
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

/** Whether recall answers with it: what was said, called and returned. Summaries, nudges and checkpoints are made from that. */
export function isRecallable(content: EntryContent): boolean {
  switch (content.type) {
    // An answer of offline mode quotes what is searched here.
    case 'message':
      return content.provider !== offlineProvider;
    case 'memory_note':
    case 'branch_summary':
    case 'custom_message':
    case 'label':
      return true;
    case 'tool_call':
    case 'tool_result':
      return content.name !== recallToolName;
    default:
      return false;
  }
}

export function speaker(content: EntryContent): string {
  switch (content.type) {
    case 'message':
      return content.role;
    case 'tool_call':
      return `call of ${content.name}`;
    case 'tool_result':
      return content.status === 'ok' ? `result of ${content.name}` : `result of ${content.name} (${content.status})`;
    default:
      return content.type.replace('_', ' ');
  }
}

/** The last one first: rankers take what is newer before what is older. */
export function passagesOf(entry: StoredEntry): HistoryPassage[] {
  if (!isRecallable(entry.content)) return [];
  const text = entryText(entry.content);
  const byUser = entry.content.type === 'message' && entry.content.role === 'user';
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
