import type { SearchHit } from '../../../core/session/searchQuery';
import type { EntryContent } from '../../../core/session/entry';

export function roleOf(content: EntryContent): SearchHit['role'] {
  if (content.type === 'message') return content.role;
  return content.type === 'tool_call' || content.type === 'tool_result' ? 'tool' : 'note';
}
