import type { CompactionResult } from '../../core/chat/events';
import type { CompactionPreview } from '../../core/context/contextManager';
import { editableText, FoldedState, readableSummary } from '../../core/compaction/ledgers/foldedState';
import { shown, t, wholeNumber } from '../../core/l10n';
import { speaker } from '../../core/recall/history';
import { entryText, type ContentOf, type StoredEntry } from '../../core/session/entry';
import { oneLine } from '../plainText';
import { keptDetails, summaryMethod, unknownCitations } from '../../protocol/compactionTexts';
import { shortTokens } from '../../protocol/figures';

/** The lines around what can be edited. */
const begins = () => `<!-- ${t('The summary begins here.')} -->`;
const ends = () => `<!-- ${t('The summary ends here.')} -->`;
/** Entries listed by name; the rest are counted. */
const mostListed = 40;
const lineLength = 110;

/** Markdown about a compaction that has not been made; `entries` are those it would fold and keep. */
export function compactionPreviewText(
  preview: CompactionPreview & { readonly content: ContentOf<'compaction'> },
  entries: ReadonlyMap<string, StoredEntry>,
): string {
  const { content, folds, stays } = preview;
  const { tokensBefore, tokensAfter, summaryText, continuity, note, audit } = content;
  const editable = editableSummary(content);
  const beside = besideSummary(summaryText, editable);
  const citations = unknownCitations(audit?.unknownIds ?? []);
  return [
    `# ${t('What compacting now would do')}`,
    t('Nothing has changed yet. Apply it, or close this document to leave the conversation as it is.'),
    [
      `- ${t('{0} → {1} tokens', wholeNumber(tokensBefore), wholeNumber(tokensAfter))}`,
      `- ${foldText(content.messagesBefore - content.messagesAfter)}`,
      `- ${stayText(content.messagesAfter)}`,
      `- ${summaryMethod(content)}`,
      `- ${keptDetails(continuity ?? null)}`,
      ...(citations === '' ? [] : [`- ${citations}`]),
      ...(note ? [`- ${shown(note)}`] : []),
    ].join('\n'),
    `## ${t('The summary')}\n\n${t('You can change it here before you apply it.')}\n\n${begins()}\n${editable}\n${ends()}`,
    ...(beside === '' ? [] : [`## ${t('What is kept beside the summary, word for word')}\n\n${quoted(beside)}`]),
    `## ${t('What is compacted')}\n\n${t('The originals stay in the history and in the transcript.')}\n\n${listed(folds, entries)}`,
    `## ${t('What stays')}\n\n${listed(stays, entries)}`,
    '',
  ].join('\n\n');
}

/** The part of a compaction's summary that the user may rewrite. */
function editableSummary({ summary, summaryText }: ContentOf<'compaction'>): string {
  const folded = FoldedState.safeParse(summary);
  return folded.success ? editableText(folded.data) : summaryText;
}

/** What the user has made of the summary in a preview; null when the lines around it are gone. */
export function summaryIn(preview: string): string | null {
  const from = preview.indexOf(begins());
  const to = preview.lastIndexOf(ends());
  return from === -1 || to < from ? null : preview.slice(from + begins().length, to).trim();
}

/** Passages have another form in the prompt than they have for the user: then all of it is shown. */
function besideSummary(summaryText: string, editable: string): string {
  return summaryText.trim() === editable.trim()
    ? ''
    : readableSummary(summaryText)
        .replace(editable, '')
        .replace(/\n{3,}/g, '\n\n')
        .trim();
}

function foldText(count: number): string {
  return t(count === 1 ? '{0} message goes into the summary' : '{0} messages go into the summary', wholeNumber(count));
}

function stayText(count: number): string {
  return t(count === 1 ? '{0} message stays word for word' : '{0} messages stay word for word', wholeNumber(count));
}

function listed(uuids: readonly string[], entries: ReadonlyMap<string, StoredEntry>): string {
  if (uuids.length === 0) return t('Nothing.');
  const lines = uuids.slice(0, mostListed).flatMap((uuid) => {
    const entry = entries.get(uuid);
    return entry ? [`- #${entry.seq} ${speaker(entry.content)}: ${oneLine(entryText(entry.content), lineLength)}`] : [];
  });
  const more = uuids.length - mostListed;
  return [...lines, ...(more > 0 ? [`- ${t('and {0} more', wholeNumber(more))}`] : [])].join('\n');
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}

/** One line about a compaction, for surfaces that show no card. */
export function compactionText({ messagesBefore, messagesAfter, tokensBefore, tokensAfter }: ContentOf<'compaction'>): string {
  const folded = messagesBefore - messagesAfter;
  return t(
    folded === 1
      ? 'Compacted {0} message: {1} → {2} tokens. Nothing was deleted.'
      : 'Compacted {0} messages: {1} → {2} tokens. Nothing was deleted.',
    folded,
    shortTokens(tokensBefore),
    shortTokens(tokensAfter),
  );
}

/** Why there was nothing to do, or null; throws what has failed. */
export function orFault({ message, isNothing }: Pick<CompactionResult, 'message' | 'isNothing'>): string | null {
  if (message !== null && !isNothing) throw new Error(shown(message));
  return message && shown(message);
}
