import { t } from '../../src/protocol/l10n';
import { visibleText } from '../../src/protocol/figures';
import type { TranscriptRow } from '../../src/protocol/messages';
import { compactionSentence } from './rows/compactionRow';

const longest = 1000;

/** A row in words for the announcer; empty for what is not worth interrupting for. */
export function spokenRow(row: TranscriptRow): string {
  switch (row.kind) {
    case 'assistant':
      return t('Answer: {0}', plainText(row.markdown));
    case 'error':
      return t('Error: {0}', row.text);
    case 'compaction':
      return compactionSentence(row);
    case 'checkpoint':
      return t('Snapshot saved');
    case 'branch_summary':
      return t('The branch you left has been summarized');
    case 'skill':
      return t('Read the skill {0}', row.title);
    case 'undo':
      return t('Compaction undone');
    case 'nudge':
      return t('Memory reminder at {0} percent', Math.round(row.percent));
    case 'info':
      return row.text;
    case 'user':
    case 'thinking':
      return '';
    case 'tool':
      return row.approval ? t('Permission needed: {0}. Allow or deny it in the conversation.', visibleText(row.approval.title)) : '';
  }
}

/** Markdown without what would be read out as punctuation; code is named, not read. */
function plainText(markdown: string): string {
  const text = withoutFences(markdown)
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/[*_`#>|~]+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > longest ? t('{0}… The rest is in the conversation.', text.slice(0, longest)) : text;
}

function withoutFences(markdown: string): string {
  let open: string | null = null;
  return markdown
    .split('\n')
    .flatMap((line): string[] => {
      const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (open !== null) {
        if (fence?.startsWith(open)) open = null;
        return [];
      }
      if (fence === undefined) return [line];
      open = fence;
      return [t('Code block.')];
    })
    .join('\n');
}
