import { english } from '../l10n';
import type { EntryContent } from '../session/entry';

/**
 * Ids of tool calls as a provider takes them: of letters that it knows, and each once in a session. Programs put two ids into one
 * (`call_1|fc_2`), and local models count them anew by the turn; a prompt with either is refused. A result belongs to the last call
 * of its id before it.
 */
export class CallIds {
  /** How often each was taken again. */
  private readonly taken = new Map<string, number>();
  /** What became of an id of the source. */
  private readonly current = new Map<string, string>();

  constructor(private readonly repaired: (kind: string) => void) {}

  apply(content: EntryContent): EntryContent {
    if (content.type === 'tool_result') return { ...content, callId: this.current.get(content.callId) ?? plain(content.callId) };
    if (content.type !== 'tool_call') return content;
    const id = plain(content.callId);
    if (id !== content.callId) this.repaired(english('call id of a form that providers refuse'));
    const callId = this.unused(id);
    if (callId !== id) this.repaired(english('repeated call id'));
    this.current.set(content.callId, callId);
    return { ...content, callId };
  }

  private unused(id: string): string {
    let again = this.taken.get(id);
    let candidate = id;
    while (this.taken.has(candidate)) candidate = `${id}_${(again = (again ?? 0) + 1) + 1}`;
    if (again !== undefined) this.taken.set(id, again);
    if (candidate !== id || again === undefined) this.taken.set(candidate, 0);
    return candidate;
  }
}

function plain(id: string): string {
  return id === '' ? 'call' : id.replace(/[^\w-]/g, '_');
}
