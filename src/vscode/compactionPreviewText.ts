import type { CompactionPreview } from '../core/chat/contextTools';
import { speaker } from '../core/recall/history';
import { entryText, type ContentOf, type StoredEntry } from '../core/session/entry';
import { methodText } from './compactionText';

/** Entries listed by name; the rest are counted. */
const mostListed = 40;
const lineLength = 110;

/** Markdown about a compaction that has not been made; `entries` are those it would fold and keep. */
export function compactionPreviewText(preview: CompactionPreview & { readonly content: ContentOf<'compaction'> }, entries: ReadonlyMap<string, StoredEntry>): string {
  const { content, folds, stays } = preview;
  const { tokensBefore, tokensAfter, summaryText, continuity, note } = content;
  return [
    '# What compacting now would do',
    'Nothing has changed yet. Apply it, or close this document to leave the conversation as it is.',
    [
      `- ${tokensBefore.toLocaleString('en')} → ${tokensAfter.toLocaleString('en')} tokens`,
      `- ${messages(content.messagesBefore - content.messagesAfter)} ${content.messagesBefore - content.messagesAfter === 1 ? 'folds' : 'fold'} into the summary, ${messages(content.messagesAfter)} ${content.messagesAfter === 1 ? 'stays' : 'stay'} word for word`,
      `- ${methodText(content)}`,
      ...(continuity ? [`- continuity ${Math.round(continuity.inContextPercent)} %: so much of what mattered is in the summary`] : []),
      ...(note ? [`- ${note}`] : []),
    ].join('\n'),
    `## The summary\n\n${quoted(summaryText)}`,
    `## What folds\n\nThe originals stay in the history and in the transcript.\n\n${listed(folds, entries)}`,
    `## What stays\n\n${listed(stays, entries)}`,
    '',
  ].join('\n\n');
}

function messages(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'message' : 'messages'}`;
}

function listed(uuids: readonly string[], entries: ReadonlyMap<string, StoredEntry>): string {
  if (uuids.length === 0) return 'Nothing.';
  const lines = uuids.slice(0, mostListed).flatMap((uuid) => {
    const entry = entries.get(uuid);
    return entry ? [`- #${entry.seq} ${speaker(entry.content)}: ${oneLine(entryText(entry.content), lineLength)}`] : [];
  });
  const more = uuids.length - mostListed;
  return [...lines, ...(more > 0 ? [`- and ${more.toLocaleString('en')} more`] : [])].join('\n');
}

/** The first words of a text, in one line. */
export function oneLine(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

function quoted(text: string): string {
  return text.split('\n').map((line) => `> ${line}`.trimEnd()).join('\n');
}
