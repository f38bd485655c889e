import { fenced } from '../base/fence';
import { listed, t, wholeNumber } from '../l10n';
import { readableSummary } from '../compaction/ledgers/foldedState';
import { modeText, modeTold } from '../plan/planMode';
import { timeText } from '../recall/dateText';
import { fileChangeList, fileChangesText } from '../rewind/fileTexts';
import type { ContentOf, StoredEntry } from '../session/entry';
import { programOf } from './programs';

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
  const block = (kind: TranscriptBlock['kind'], heading: string, parts: TranscriptBlock['parts'], folded = false): TranscriptBlock => ({
    kind,
    heading,
    at,
    parts: parts.filter(({ text }) => text !== ''),
    attachments: [],
    folded,
  });
  const markdown = (text: string) => ({ format: 'markdown', text }) as const;
  const verbatim = (text: string) => ({ format: 'verbatim', text }) as const;
  switch (content.type) {
    case 'message': {
      const ended = content.interrupted === undefined ? [] : [markdown(`*${interruptionText(content.interrupted)}*`)];
      const heading = content.role === 'user' ? t('You') : (content.model ?? t('Assistant'));
      return { ...block(content.role, heading, [markdown(content.text), ...ended]), attachments: content.attachments ?? [] };
    }
    case 'thinking':
      return content.text === '' ? null : block('thinking', t('Thinking'), [markdown(content.text)], true);
    case 'tool_call':
      return block('tool', t('Used {0}', content.name), [verbatim(JSON.stringify(content.input, null, 2) ?? '')], true);
    case 'tool_result': {
      const { status, name } = content;
      const heading = status === 'ok' ? t('Result of {0}', name) : t('Result of {0} ({1})', name, statusText(status));
      return { ...block('tool', heading, [verbatim(content.text)], true), attachments: content.attachments ?? [] };
    }
    case 'compaction':
      return block(
        'note',
        t(
          'Compacted: {0} messages, {1} tokens before, {2} after',
          wholeNumber(content.messagesBefore - content.messagesAfter),
          wholeNumber(content.tokensBefore),
          wholeNumber(content.tokensAfter),
        ),
        [markdown(readableSummary(content.summaryText))],
        true,
      );
    case 'compaction_undone':
      return block('note', t('Compaction undone'), []);
    case 'checkpoint':
      return block('note', t('Snapshot'), [markdown(content.summary)], true);
    case 'nudge':
      return block('note', t('Asked for notes at {0}%', content.percent), [markdown(content.text)], true);
    case 'branch_summary':
      return block('note', t('Summary of another branch'), [markdown(readableSummary(content.text))], true);
    case 'memory_note':
      return block('note', t('Notes at hand'), [markdown(content.text)], true);
    case 'usage_note': {
      const mode = modeTold(content.text);
      return block('note', mode === null ? t('Context usage') : modeText(mode), [markdown(content.text)], true);
    }
    case 'custom_message':
      return block('note', content.customType, [markdown(content.text)], true);
    case 'label':
      return block('note', content.label === '' ? t('Label removed') : t('Label: {0}', content.label), []);
    case 'model_change':
      return block('note', t('Model: {0}', content.model), []);
    case 'thinking_level_change':
      return block('note', t('Thinking: {0}', content.level), []);
    case 'instructions_change':
      return block('note', t('Instructions changed'), [verbatim(content.text)], true);
    case 'tools_change':
      return block('note', t('Tools: {0}', listed(content.enabled)), []);
    case 'file_changes':
      return block('note', fileChangesText(content), [markdown(fileChangeList(content))], true);
    case 'session_info':
      return block('note', t('Title: {0}', content.title), []);
    case 'prepared_summary':
      return block(
        'note',
        t('Summary prepared: {0} tokens before, {1} after', wholeNumber(content.tokensBefore), wholeNumber(content.tokensAfter)),
        [],
      );
    case 'side_question':
      return block('note', t('Side question: {0} tokens read', wholeNumber(content.read)), [markdown(content.text)], true);
    case 'handed_over':
      return block('note', t('Handed over to {0}', programOf(content.program)?.name ?? content.program), []);
    case 'custom':
      return block('note', content.customType, [verbatim(JSON.stringify(content.data, null, 2) ?? '')], true);
    default: {
      const newer: { readonly type: string } = content satisfies never;
      return block('note', newer.type, [verbatim(JSON.stringify(newer, null, 2))], true);
    }
  }
}

export function interruptionText(reason: NonNullable<ContentOf<'message'>['interrupted']>): string {
  switch (reason) {
    case 'stopped':
      return t('Stopped');
    case 'disconnected':
      return t('Connection lost');
    case 'crashed':
      return t('Interrupted by a restart');
  }
}

function statusText(status: Exclude<ContentOf<'tool_result'>['status'], 'ok'>): string {
  switch (status) {
    case 'error':
      return t('failed');
    case 'denied':
      return t('not allowed');
    case 'interrupted':
      return t('interrupted');
  }
}

/** `2026-11-20 14:03 to 2026-11-21 09:00 · 12 messages`. */
export function transcriptSpan(createdAt: number, updatedAt: number, messages: number): string {
  return `${t('{0} to {1}', timeText(createdAt), timeText(updatedAt))} · ${t(messages === 1 ? '{0} message' : '{0} messages', wholeNumber(messages))}`;
}

/** Headings of messages are of level 2; what a message itself heads with `#` may be larger, and stays as it was written. */
export function blockMarkdown({ kind, heading, at, parts, attachments }: TranscriptBlock): string {
  const title =
    kind === 'user' || kind === 'assistant'
      ? `## ${escapeLine(heading)} · ${timeText(at)}`
      : `**${escapeLine(heading)}** · ${timeText(at)}`;
  const body = parts.map(({ format, text }) =>
    format === 'verbatim' ? fenced(text) : kind === 'user' || kind === 'assistant' ? text : quoted(text),
  );
  const files = attachments.map(({ name, mime }) => `- ${t('attached: {0} ({1})', escapeLine(name), mime)}`).join('\n');
  return [title, ...body, ...(files === '' ? [] : [files])].join('\n\n');
}

/** Returns Markdown of one line that means nothing but itself. */
export function escapeLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|]/g, '\\$&');
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}
