import { timeText } from '../recall/dateText';
import type { ContentOf, StoredEntry } from '../session/entry';

/** What a reader of a transcript sees of an entry, before it is Markdown or HTML. */
export interface TranscriptBlock {
  readonly kind: 'user' | 'assistant' | 'thinking' | 'tool' | 'note';
  readonly heading: string;
  readonly at: number;
  /** `markdown`: as the speaker wrote it. `verbatim`: every character as it is. */
  readonly parts: readonly { readonly format: 'markdown' | 'verbatim'; readonly text: string }[];
  readonly attachments: NonNullable<ContentOf<'message'>['attachments']>;
  /** Shown folded where that is possible. */
  readonly folded: boolean;
}

/** Null for what only the program reads. */
export function transcriptBlock({ content, createdAt: at }: StoredEntry): TranscriptBlock | null {
  const block = (kind: TranscriptBlock['kind'], heading: string, parts: TranscriptBlock['parts'], folded = false): TranscriptBlock => ({ kind, heading, at, parts: parts.filter(({ text }) => text !== ''), attachments: [], folded });
  const markdown = (text: string) => ({ format: 'markdown', text }) as const;
  const verbatim = (text: string) => ({ format: 'verbatim', text }) as const;
  switch (content.type) {
    case 'message': {
      const ended = content.interrupted === undefined ? [] : [markdown(`*This answer was interrupted (${content.interrupted}).*`)];
      const heading = content.role === 'user' ? 'You' : (content.model ?? 'Assistant');
      return { ...block(content.role, heading, [markdown(content.text), ...ended]), attachments: content.attachments ?? [] };
    }
    case 'thinking':
      return content.text === '' ? null : block('thinking', 'Thinking', [markdown(content.text)], true);
    case 'tool_call':
      return block('tool', `Used ${content.name}`, [verbatim(JSON.stringify(content.input, null, 2) ?? '')], true);
    case 'tool_result':
      return block('tool', `Result of ${content.name}${content.status === 'ok' ? '' : ` (${content.status})`}`, [verbatim(content.text)], true);
    case 'compaction':
      return block('note', `Compacted: ${content.messagesBefore.toLocaleString('en')} messages, ${content.tokensBefore.toLocaleString('en')} tokens before, ${content.tokensAfter.toLocaleString('en')} after`, [markdown(content.summaryText)], true);
    case 'compaction_undone':
      return block('note', 'Compaction undone', []);
    case 'checkpoint':
      return block('note', 'Checkpoint', [markdown(content.summary)], true);
    case 'nudge':
      return block('note', `Asked for notes at ${content.percent} %`, [markdown(content.text)], true);
    case 'branch_summary':
      return block('note', 'Summary of another branch', [markdown(content.text)], true);
    case 'memory_note':
    case 'usage_note':
      return block('note', content.type === 'memory_note' ? 'Notes at hand' : 'Context usage', [markdown(content.text)], true);
    case 'custom_message':
      return block('note', content.customType, [markdown(content.text)], true);
    case 'label':
      return block('note', content.label === '' ? 'Label removed' : `Label: ${content.label}`, []);
    case 'model_change':
      return block('note', `Model: ${content.model}`, []);
    case 'thinking_level_change':
      return block('note', `Thinking: ${content.level}`, []);
    case 'instructions_change':
      return block('note', 'Instructions changed', [verbatim(content.text)], true);
    case 'tools_change':
      return block('note', `Tools: ${content.enabled.join(', ')}`, []);
    case 'session_info':
      return block('note', `Title: ${content.title}`, []);
    case 'custom':
      return block('note', content.customType, [verbatim(JSON.stringify(content.data, null, 2) ?? '')], true);
  }
}

/** `2026-11-20 14:03 to 2026-11-21 09:00 · 12 messages`. */
export function transcriptSpan(createdAt: number, updatedAt: number, messages: number): string {
  return `${timeText(createdAt)} to ${timeText(updatedAt)} · ${messages.toLocaleString('en')} ${messages === 1 ? 'message' : 'messages'}`;
}
